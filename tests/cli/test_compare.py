"""ltr compare: two runs on the lists that both were measured on."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_rel

from ltr.runs import Run
from tests.cli.conftest import Ltr, write_letor


@pytest.fixture
def pair(workplace: Path, here: Path) -> Path:
    """A folder with copies of both runs, to be changed."""
    shutil.copytree(workplace / "runs", here / "runs")
    return here


def values(run: str, metric: str) -> dict[str, float]:
    rows = Run(f"runs/{run}").read_per_query("test")
    return {row["query"]: row["value"] for row in rows if row["metric"] == metric and row["value"] is not None}


def row_of(out: str, metric: str) -> list[str]:
    (line,) = [line for line in out.splitlines() if line.startswith(f"│ {metric} ")]
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_the_table_holds_what_the_files_say(ltr: Ltr, at_work: Path) -> None:
    status, out, err = ltr("compare", "first", "second")
    assert status == 0, err
    first, second = values("first", "ndcg-linear@5"), values("second", "ndcg-linear@5")
    a, b = np.array([first[query] for query in first]), np.array([second[query] for query in first])
    _, one, other, difference, _, p, _, counts, lists = row_of(out, "ndcg-linear@5")
    assert [float(one), float(other)] == pytest.approx([a.mean(), b.mean()], abs=5.1e-5)
    assert float(difference) == pytest.approx((a - b).mean(), abs=5.1e-5)
    assert float(p) == pytest.approx(ttest_rel(a, b).pvalue, abs=5.1e-5)
    assert counts == f"{(a > b).sum()}/{(a == b).sum()}/{(a < b).sum()}"
    assert lists == str(len(a))
    assert "difference = first minus second, paired by query; BCa bootstrap" in out
    assert "ndcg-linear@5: " in out
    assert "2 metrics were looked at: p-values are not corrected for that." in out
    assert "ndcg@5 gain=y discount=1/log2(1+r) ideal=judged unjudged=zero ties=average empty=skip" in out


def test_a_run_against_itself(ltr: Ltr, at_work: Path) -> None:
    _, out, _ = ltr("compare", "first", "first", "metrics=[mrr]")
    assert "mrr: the two do not differ on any of these" in out
    assert "were looked at" not in out


def test_rows_in_another_order_and_missing_queries(ltr: Ltr, pair: Path) -> None:
    _, before, _ = ltr("compare", "first", "second", "metrics=[mrr]")
    path = pair / "runs/second/per_query.test.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *reversed(lines)]) + "\n")
    _, after, _ = ltr("compare", "first", "second", "metrics=[mrr]")
    assert after == before
    path.write_text("\n".join([header, *[line for line in lines if not re.match("s2q[01],", line)]]) + "\n")
    _, fewer, _ = ltr("compare", "first", "second", "metrics=[mrr]")
    assert "left out: 2 queries that second lacks (s2q0, s2q1)" in fewer.splitlines()


def edit_info(run: Path, **facts: object) -> None:
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(info | facts))


def test_a_metric_that_means_two_things_is_refused(ltr: Ltr, pair: Path) -> None:
    edit_info(
        pair / "runs/second",
        conventions={"mrr": "mrr relevant=y>=2 ideal=judged unjudged=zero ties=average empty=skip"},
    )
    status, out, err = ltr("compare", "first", "second", "metrics=[mrr]")
    assert (status, out) == (1, "")
    assert err == (
        "ltr: mrr means two things in these runs, so they are not compared: relevant=y>=1 against relevant=y>=2\n"
    )


def test_runs_without_a_common_metric_say_what_differs(ltr: Ltr, pair: Path) -> None:
    for metric, other in (("ndcg-linear@5", "ndcg@10"), ("mrr", "ap")):
        path = pair / "runs/second/per_query.test.csv"
        path.write_text(path.read_text().replace(f",{metric},", f",{other},"))
    edit_info(pair / "runs/second", conventions={})
    status, _, err = ltr("compare", "first", "second")
    assert status == 1
    assert err.startswith("ltr: the runs share no metric")
    assert "ndcg@5 against ndcg@10; gain=y against gain=2^y-1\n" in err


def test_other_documents_under_the_same_query_are_refused(ltr: Ltr, pair: Path) -> None:
    path = pair / "runs/second/per_query.test.csv"
    path.write_text(re.sub(r"^(s2q0,mrr,[\d.]*),\d+,", r"\1,99,", path.read_text(), flags=re.MULTILINE))
    status, _, err = ltr("compare", "first", "second")
    assert status == 1
    assert re.match(r"ltr: query s2q0 has \d documents in first and 99 documents in second: the runs were", err)


def test_other_labels_under_the_same_query_are_refused(ltr: Ltr, pair: Path) -> None:
    """A label map changes what a metric measures, though queries and documents are the same."""
    files = [f"data.{split}={name}" for split, name in (("train", "train.txt"), ("test", "test.txt"))]
    for place, name in enumerate(("train", "test")):
        write_letor(pair / f"{name}.txt", 8, seed=place)
    quick = ("data=letor", *files, "metric=mrr", "metrics=[]", "model=linear", "trainer.max_epochs=1")
    assert ltr("train", *quick, "name=plain")[0] == 0
    assert ltr("train", *quick, "data.labels={0:0,1:1,2:1,3:1}", "name=mapped")[0] == 0
    status, out, err = ltr("compare", "plain", "mapped")
    assert (status, out) == (1, "")
    hashes = [Run(f"runs/{name}").read_info()["data"]["test"]["hash"][:8] for name in ("plain", "mapped")]
    assert err == (
        "ltr: the runs were measured on different test data, so they are not compared: "
        f"plain on {pair}/test.txt (hash {hashes[0]}), mapped on {pair}/test.txt (hash {hashes[1]})\n"
    )


def set_weights(run: Path, weights: dict[str, float]) -> None:
    rows = Run(run).read_per_query("test")
    Run(run).write_per_query("test", [row | {"weight": weights.get(row["query"], 1.0)} for row in rows])


def test_weighted_lists_are_compared_by_their_weights(ltr: Ltr, pair: Path) -> None:
    first = values("first", "mrr")
    weights = {query: 1.0 + place for place, query in enumerate(first)}
    for name in ("first", "second"):
        set_weights(pair / "runs" / name, weights)
    status, out, err = ltr("compare", "first", "second", "metrics=[mrr]")
    assert status == 0, err
    row = row_of(out, "mrr")
    mean = np.average([first[query] for query in first], weights=[weights[query] for query in first])
    assert float(row[1]) == pytest.approx(mean, abs=5.1e-5)
    assert row[5:7] == ["-", "-"]
    assert "no test of weighted lists" in out
    set_weights(pair / "runs/second", weights | {"s2q0": 9.0})
    status, _, err = ltr("compare", "first", "second", "metrics=[mrr]")
    assert status == 1
    assert err.startswith("ltr: query s2q0 has weight 1 in first and weight 9 in second: the runs were measured")


def test_lists_without_any_weight_are_refused(ltr: Ltr, pair: Path) -> None:
    for name in ("first", "second"):
        set_weights(pair / "runs" / name, dict.fromkeys(values("first", "mrr"), 0.0))
    status, _, err = ltr("compare", "first", "second", "metrics=[mrr]")
    assert (status, err) == (1, "ltr: mrr: every test list that the runs share has weight 0\n")


def test_a_value_that_is_no_number_is_named(ltr: Ltr, pair: Path) -> None:
    run = Run(pair / "runs/second")
    rows = run.read_per_query("test")
    run.write_per_query("test", [row | ({"value": float("nan")} if row["query"] == "s2q3" else {}) for row in rows])
    status, _, err = ltr("compare", "first", "second", "metrics=[mrr]")
    assert (status, err) == (1, f"ltr: {run.path} has no number but nan as mrr of test query s2q3\n")


def test_a_metric_of_the_users_own_is_compared_by_what_run_json_says(ltr: Ltr, pair: Path) -> None:
    for name in ("first", "second"):
        run = Run(pair / "runs" / name)
        rows = [row | {"metric": "lost@10"} for row in run.read_per_query("test") if row["metric"] == "mrr"]
        run.write_per_query("test", rows)
        edit_info(run.path, conventions={"lost@10": "lost@10 mine"}, larger_is_better={"lost@10": False})
    status, out, err = ltr("compare", "first", "second")
    assert status == 0, err
    first, second = values("first", "lost@10"), values("second", "lost@10")
    won, lost = (sum(sign * (first[query] - second[query]) > 1e-12 for query in first) for sign in (-1, 1))
    counts = row_of(out, "lost@10")[7].split("/")
    assert (int(counts[0]), int(counts[2])) == (won, lost)
    assert out.endswith("lost@10 mine\n")
    edit_info(pair / "runs/first", larger_is_better={})
    status, _, err = ltr("compare", "first", "second")
    assert status == 1
    assert err.startswith(f"ltr: {pair}/runs/first/run.json does not say what lost@10 is: unknown metric 'lost@10'")


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["first"], 2, "second is required: text, as second=..."),
        (["first", "nope"], 1, "no run 'nope'"),
        (["first", "second", "metrics=[ap]"], 1, "{work}/runs/first has no ap on test; it has ndcg-linear@5, mrr"),
        (["first", "second", "split=train"], 2, "split: wanted 'validation' or 'test', got the text 'train'"),
    ],
)
def test_what_is_refused(ltr: Ltr, at_work: Path, words: list[str], status: int, message: str) -> None:
    found, out, err = ltr("compare", *words)
    assert (found, out) == (status, "")
    assert err.startswith(f"ltr: {message.format(work=at_work)}")

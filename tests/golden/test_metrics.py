"""Our metrics, under the convention of each library, against the values that it gave (metrics.json), and under every
rule of ours against brute force over all orders (edges.json)."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from ltr.data import DataError
from ltr.data.formats.trec import read_qrels, read_run
from ltr.evaluation import evaluate_lists, join
from ltr.metrics import Answer, Exp2, Measured, RankingMetric, answer, measure, parse

HERE = Path(__file__).parent
FIXTURES = json.loads((HERE / "losses" / "fixtures.json").read_text())["fixtures"]
PEERS = json.loads((HERE / "metrics.json").read_text())["cases"]
EDGES = json.loads((HERE / "edges.json").read_text())
OPTIONS: dict[str, dict[str, Any]] = {
    **{ties: {"ties": ties} for ties in ("average", "stable", "docid", "best", "worst")},
    "exp2": {"gain": Exp2()},
    "retrieved": {"ideal": "retrieved"},
    "condensed": {"unjudged": "ignored"},
    "rel2": {"threshold": 2},
}
NOTHING_IS_0 = {"dcg", "mrr", "precision", "success"}  # where nothing is relevant: 0 there, undefined and 0 here
WITH_VALUES = [case for case in EDGES["cases"] if "values" in case]
IN_FILES = [case for case in WITH_VALUES if case["id"] not in ("empty_list", "empty_qrels_query")]


@pytest.mark.parametrize("case", PEERS, ids=lambda case: f"{case['peer']} {case['metric']}")
def test_the_value_of_a_peer(case: dict[str, Any]) -> None:
    for fixture, value in case["values"].items():
        lists = FIXTURES[fixture]
        mean = parse(case["ours"]).mean(lists["scores"], lists["labels"], lists["mask"])
        assert mean.item() == pytest.approx(value, rel=1e-5, abs=1e-6), fixture


def under(rule: str) -> list[RankingMetric]:
    """The metrics of edges.json, under a rule where they know of it."""
    found = []
    for name in EDGES["metrics"]:
        metric = parse(name)
        known = {each.name for each in metric.options()} - ({"unjudged"} if metric.base == "judged" else set())
        found.append(replace(metric, **{key: value for key, value in OPTIONS[rule].items() if key in known}))
    return found


def numbers(table: dict[str, list[tuple[str, float | str]]], query: str) -> dict[str, float]:
    return {document: float(number) for document, number in table.get(query, [])}


def lists(case: dict[str, Any], rule: str, queries: list[str]) -> Answer:
    """A list a query: the documents of the run (the highest id first under `docid`), then the other judged ones.

    A negative label says that nobody judged the document."""
    rows = []
    for query in queries:
        run, label = numbers(case["run"], query), {d: y for d, y in numbers(case["qrels"], query).items() if y >= 0}
        documents = [*(sorted(run, reverse=True) if rule == "docid" else run), *(label.keys() - run.keys())]
        rows.append([(run.get(each, 0.0), label.get(each, 9.0), each in run, each in label) for each in documents])
    width = max(map(len, rows))
    mask = torch.tensor([[place < len(row) for place in range(width)] for row in rows])
    columns = torch.tensor([row + [(7.0, 7.0, True, True)] * (width - len(row)) for row in rows], dtype=torch.float64)
    scores, labels, retrieved, judged = columns.unbind(-1)
    return answer(scores, labels, mask, retrieved=retrieved, judged=judged, finite_scores=True)


def same(found: Any, wanted: float) -> bool:
    return bool(found.item() == pytest.approx(wanted, rel=1e-6, abs=1e-6))


def wrong(metrics: list[RankingMetric], found: list[Measured], wanted: dict[str, list[float | None]]) -> Iterator[str]:
    """Each value that is not as it is written in edges.json, query by query."""
    for row, (query, values) in enumerate(wanted.items()):
        for metric, (value, defined), expected in zip(metrics, found, values, strict=True):
            known = metric.base in NOTHING_IS_0 or bool(defined[row]) == (expected is not None)
            if not (known and same(value[row], expected or 0)):
                yield f"{metric} of {query}: wanted {expected}, got {value[row]}, {defined[row]}"


def expected(case: dict[str, Any], rule: str) -> tuple[list[RankingMetric], dict[str, list[float | None]]]:
    """The metrics, and their values by query; less those of labels that are too high for the gain."""
    metrics, rows = under(rule), case["values"]["average"] | case["values"].get(rule, {})
    kept = [place for place in range(len(metrics)) if "beyond" not in [row[place] for row in rows.values()]]
    return [metrics[place] for place in kept], {query: [row[i] for i in kept] for query, row in rows.items()}


@pytest.mark.parametrize("rule", EDGES["rules"])
@pytest.mark.parametrize("case", WITH_VALUES, ids=lambda case: case["id"])
def test_the_value_by_brute_force(case: dict[str, Any], rule: str) -> None:
    metrics, wanted = expected(case, rule)
    given = lists(case, rule, list(wanted))
    found = measure(metrics, given)
    if rule == "condensed":  # judged has no such option: its lists are condensed
        bare = given._replace(retrieved=given.retrieved & given.judged)
        found[-1] = measure(metrics[-1:], bare)[0]
    assert list(wrong(metrics, found, wanted)) == []


def test_a_gain_that_no_number_holds_is_an_error() -> None:
    case = next(case for case in WITH_VALUES if case["id"] == "label_1100")
    assert len(expected(case, "exp2")[0]) == 14
    with pytest.raises(ValueError, match="beyond float64; use ndcg, or dcg-linear or a table"):
        parse("dcg@5").measured(lists(case, "exp2", ["q1"]))


def files(case: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    """The case as qrels and a run."""
    judged = [f"{query} 0 {document} {label}\n" for query, rows in case["qrels"].items() for document, label in rows]
    ranked = [f"{query} Q0 {document} 0 {score} s\n" for query, rows in case["run"].items() for document, score in rows]
    (folder / "qrels").write_text("".join(judged).replace("True", "1").replace("False", "0"))
    (folder / "run").write_text("".join(ranked))
    return folder / "qrels", folder / "run"


@pytest.mark.parametrize("case", IN_FILES, ids=lambda case: case["id"])
def test_the_value_from_files(case: dict[str, Any], tmp_path: Path) -> None:
    """Read, joined and put in the order of ids by the toolkit; a query that the run lacks counts 0 there."""
    qrels, run = files(case, tmp_path)
    negative = min(0, *(label for rows in case["qrels"].values() for _, label in rows))
    joined = join(read_qrels(qrels, unjudged_label=negative or None), read_run(run).table)
    for rule in EDGES["rules"]:
        metrics, wanted = expected(case, rule)
        found = [Measured(each.value, each.defined) for each in evaluate_lists(joined, metrics).values]  # type: ignore[arg-type]
        if rule == "condensed":
            del metrics[-1], found[-1]
            wanted = {query: row[:-1] for query, row in wanted.items()}
        assert joined.query_ids == tuple(wanted)
        assert joined.missing == tuple(query for query in wanted if query not in case["run"])
        wrongs = list(wrong(metrics, found, wanted))
        assert [each for each in wrongs if not any(f"of {query}:" in each for query in joined.missing)] == [], rule


@pytest.mark.parametrize("rule", EDGES["rules"])
@pytest.mark.parametrize("case", [case for case in WITH_VALUES if "mean" in case], ids=lambda case: case["id"])
def test_the_mean_by_brute_force(case: dict[str, Any], rule: str) -> None:
    """Undefined lists count 0, 1, or not at all; a mean over no list is no number."""
    given = lists(case, rule, list(case["values"]["average"]))
    for metric, mean in zip(under(rule), case["mean"].get(rule, case["mean"]["average"]), strict=True):
        zero, one, skip = mean if isinstance(mean, list) else (mean, mean, mean)
        for empty, wanted in (("zero", zero), ("one", one), ("skip", skip)):
            if empty == "zero" or metric.base not in NOTHING_IS_0:
                values, counted = replace(metric, empty=empty).settle(*metric.measured(given))
                found = (values * counted).sum() / counted.sum()
                assert torch.isnan(found) if wanted is None else same(found, wanted), (metric, empty)


def test_every_case_says_what_it_wants() -> None:
    assert len(EDGES["cases"]) == 53
    assert [case["error"] for case in EDGES["cases"] if "error" in case] == [
        *("NaN label", "NaN score", "NaN score", "duplicate doc in the run"),
    ]
    rows = [row for case in WITH_VALUES for rule in case["values"].values() for row in rule.values()]
    assert {len(row) for row in rows} == {len(EDGES["metrics"])} == {15}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "nan_label",
            "qrels, line 2: wanted a label that is a number from 0 to 1e+30 (query q1, document d2), came 'NaN'",
        ),
        *(
            (name, "run, line 1: wanted a score that is a number (query q1, document d1), came 'NaN'")
            for name in ("nan_score_rel", "nan_score_nonrel")
        ),
        (
            "dup_doc_in_run",
            "run, line 3: wanted each document once in a query, came document d1 of query q1 again, first in line 1",
        ),
    ],
)
def test_what_is_an_error(name: str, message: str, tmp_path: Path) -> None:
    case = next(case for case in EDGES["cases"] if case["id"] == name)
    files(case, tmp_path)
    read = read_qrels if message.startswith("qrels") else read_run
    with pytest.raises(DataError, match=f"^{re.escape(f'{tmp_path}/{message}')}$"):
        read(tmp_path / message.partition(",")[0])

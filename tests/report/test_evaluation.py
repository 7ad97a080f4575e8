"""The page of ltr evaluate: what stands in its tables, and what is said below them."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest

from ltr.data import DataError
from ltr.evaluation import Evaluation, RankedLists, evaluate_lists, join
from ltr.report import evaluation
from ltr.report.evaluation import findings, print_evaluations, score_blocks, slice_blocks
from ltr.report.unjudged import Budget

METRICS = ["ndcg@2", "mrr"]


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # readline sets it unseen


def lists(*hits: int, kinds: dict[str, list[str | None]] | None = None) -> RankedLists:
    """Queries q0, q1, ... with a relevant document first (1), second (2), or none (0)."""
    labels = [int(hit == place) for hit in hits for place in (1, 2)]
    ids = [f"q{place}" for place in range(len(hits))]
    found = RankedLists.from_arrays(labels, [2, 1] * len(hits), np.repeat(ids, 2))
    return found if kinds is None else found.described_by(pl.DataFrame({"query": ids, **kinds}))


def table(*hits: int, metrics: list[str] = METRICS, kinds: dict[str, list[str | None]] | None = None) -> Evaluation:
    return evaluate_lists(lists(*hits, kinds=kinds), metrics)


def test_one_system_is_one_block_of_metrics() -> None:
    (block,), _ = score_blocks({"x": table(1, 2)})
    assert block.title == "metric"
    assert [label for label, _ in block.rows] == METRICS
    assert block.rows[1][1] == {
        "mean": "0.7500",
        "95 % interval": "0.5000 to 1.0000",
        "sd": "0.3536",
        "se": "0.2500",
        "n": "2",
        "floor": "0.7500",
        "ceiling": "1.0000",
        "unjudged": "-",
        "worst to best": "-",
    }


def test_several_systems_are_a_block_a_metric() -> None:
    blocks, _ = score_blocks({"x": table(1, 2), "y": table(1, 1)})
    assert [(block.title, [label for label, _ in block.rows]) for block in blocks] == [
        ("ndcg@2", ["x", "y"]), ("mrr", ["x", "y"]),
    ]  # fmt: skip


def test_unjudged_documents_stand_beside_the_mean() -> None:
    one = RankedLists.from_arrays([0, 1, 0], [3, 2, 1], judged=[False, True, False])
    (block,), _ = score_blocks({"x": evaluate_lists(one, ["mrr@2", "judged@2", "mrr"])})
    assert [(row["unjudged"], row["worst to best"]) for _, row in block.rows] == [
        ("50.0 %", "0.5000 to 1.0000"), ("50.0 %", "-"), ("66.7 %", "0.5000 to 1.0000"),
    ]  # fmt: skip
    (block,), said = score_blocks({"x": evaluate_lists(one, ["mrr"], aggregate="median")})
    assert (block.rows[0][1]["worst to best"], said) == ("-", [])


def many(unjudged: int) -> RankedLists:
    """One query with a relevant document between such that nobody judged."""
    judged = [False] * unjudged + [True] + [False] * unjudged
    return RankedLists.from_arrays(judged, range(len(judged), 0, -1), judged=judged)


@pytest.mark.parametrize("metrics", list(permutations(["ap", "tau", "ndcg", "mrr"])))
def test_what_was_too_much_work_is_said_whatever_the_order_of_metrics(
    metrics: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "Budget", lambda: Budget(2000))
    systems = {"x": evaluate_lists(many(1), metrics), "y": evaluate_lists(many(50), metrics)}
    blocks, said = score_blocks(systems)
    assert {(block.title, name) for block in blocks for name, row in block.rows if row["worst to best"] == "-"} == {
        ("ap", "y"), ("tau", "y")
    }  # fmt: skip
    first, second = [name for name in metrics if name in ("ap", "tau")]
    why = "there are too many unjudged documents"
    assert said == [f"worst to best was not worked out for {first} (y) and {second} (y): {why}."]
    assert score_blocks({"y": systems["y"]})[1] == [
        f"worst to best was not worked out for {first} and {second}: {why}."
    ]


@pytest.mark.parametrize(("unjudged", "said"), [(2, False), (80, True)])
def test_the_legend_tells_of_about_where_a_cell_says_it(
    unjudged: int, said: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    print_evaluations({"x": evaluate_lists(many(unjudged), ["ap"])})
    page = " ".join(capsys.readouterr().out.split())
    assert ("about 0." in page, "; about: the best that was found, not all labels were tried" in page) == (said, said)


def test_slices_of_one_system_and_of_several() -> None:
    kinds = {"type": ["shop", None, "web", "shop"], "date": ["2024-03-01", "2023-12-31", "2024-01-01", ""]}
    one = table(1, 2, 2, 2, metrics=["mrr"], kinds=kinds)
    (block,), left = slice_blocks({"x": one}, "type")
    assert (block.title, left) == ("mrr, type", [])
    assert [(label, row["mean"], row["n"]) for label, row in block.rows] == [
        ("shop", "0.7500", "2"), ("web", "0.5000", "1"), ("(missing)", "0.5000", "1"),
    ]  # fmt: skip
    (block,), _ = slice_blocks({"x": one}, "date:year")
    assert [label for label, _ in block.rows] == ["2023", "2024", "(missing)"]
    blocks, _ = slice_blocks({"x": one, "y": one}, "type")
    assert [block.title for block in blocks] == ["mrr, type shop", "mrr, type web", "mrr, type (missing)"]
    assert [label for label, _ in blocks[0].rows] == ["x", "y"]


def test_only_the_largest_slices_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "SLICES", 2)
    one = table(1, 2, 2, 2, 1, metrics=["mrr"], kinds={"type": ["a", "b", "c", "c", "b"]})
    (block,), left = slice_blocks({"x": one}, "type")
    assert [label for label, _ in block.rows] == ["b", "c"]
    assert left == ["1 more value of type, of fewer queries, is not shown."]


def test_stale_judgements_show_in_slices() -> None:
    one = RankedLists.from_arrays([1, 0, 1, 0], [2, 1, 2, 1], list("aabb"), judged=[True, True, True, False])
    one = one.described_by(pl.DataFrame({"query": ["a", "b"], "year": ["old", "new"]}))
    (block,), _ = slice_blocks({"x": evaluate_lists(one, ["mrr"])}, "year")
    assert [row["unjudged"] for _, row in block.rows] == ["0.0 %", "50.0 %"]


def test_a_slice_weighs_its_unjudged_share_as_the_whole_does() -> None:
    one = RankedLists.from_arrays([1, 0, 1, 0], [2, 1, 2, 1], list("aabb"), judged=[True, True, True, False])
    one = one.described_by(pl.DataFrame({"query": ["a", "b"], "type": ["x", "x"], "weight": [1.0, 3.0]}))
    table = {"x": evaluate_lists(one, ["mrr"])}
    (block,), _ = slice_blocks(table, "type")
    shares = [rows[0][1]["unjudged"] for rows in (block.rows, score_blocks(table)[0][0].rows)]
    assert shares == ["37.5 %", "37.5 %"]  # (1 * 0 + 3 * 1/2) / 4


def test_slices_that_cannot_be() -> None:
    one = table(1, 2, kinds={"type": ["a", "b"]})
    with pytest.raises(DataError, match=r"^wanted an attribute of the queries \(type\), came market$"):
        slice_blocks({"x": one}, "market")
    with pytest.raises(DataError, match=r"^by=year: wanted an ISO date such as 2024-03-01, query q0 has 'a'$"):
        slice_blocks({"x": one}, "type:year")


def test_what_is_as_it_should_be_is_not_mentioned() -> None:
    assert findings({"x": table(1, 2)}) == {"": []}
    assert findings({"x": table(1, 2), "y": table(2, 2)}) == {}


def judged_and_run(queries: str) -> Evaluation:
    qrels = pl.DataFrame({"query": ["a", "b", "c"], "document": ["x", "x", "x"], "label": [1, 1, 0]})
    run = pl.DataFrame({"query": ["a", "a", "c", "z"], "document": ["x", "y", "x", "x"], "score": [1.0, 1.0, 1.0, 1.0]})
    return evaluate_lists(join(qrels, run, queries=queries), ["mrr-docid", "p-docid@1"])


def test_every_finding_names_queries() -> None:
    assert findings({"x": judged_and_run("judged")})[""] == [
        "lacks 1 query that somebody judged (each counts 0): b",
        "has 1 query that nobody judged (left out): z",
        "equal scores in 1 of 3 queries: a; by their order mrr is 0.2500 to 0.5000",
        "no answer by mrr and precision@1 in 1 of 3 queries (left out): c; mrr would be 0.1667 as 0 and 0.5000 as 1",
    ]
    assert findings({"x": judged_and_run("intersection")})[""][0] == (
        "lacks 1 query that somebody judged (left out): b"
    )


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("mrr", "left out): q1; mrr would be 0.3333 as 0 and 0.6667 as 1"),
        ("mrr-zero", "each counts 0): q1; mrr would be 0.5000 left out and 0.6667 as 1"),
        ("mrr-one", "each counts 1): q1; mrr would be 0.5000 left out and 0.3333 as 0"),
    ],
)
def test_the_other_rules_for_lists_without_an_answer(rule: str, said: str) -> None:
    assert findings({"x": table(2, 0, 2, metrics=[rule])})[""] == [f"no answer by mrr in 1 of 3 queries ({said}"]


def test_what_holds_of_all_systems_is_said_once() -> None:
    tied = RankedLists.from_arrays([1, 0, 0, 0], [1, 1, 2, 1], ["q0", "q0", "q1", "q1"])
    assert findings({"x": table(1, 0), "y": evaluate_lists(tied, METRICS)}) == {
        "all systems": ["no answer by ndcg@2 and mrr in 1 of 2 queries (left out): q1"],
        "y": ["equal scores in 1 of 2 queries: q0; by their order ndcg@2 is 0.6309 to 1.0000"],
    }


def test_few_ties_are_not_worked_out() -> None:
    scores = [[2, 1]] * 199 + [[1, 1]]
    some = RankedLists.from_arrays([1, 0] * 200, np.ravel(scores), np.repeat(np.arange(200), 2))
    assert findings({"x": evaluate_lists(some, ["mrr"])})[""] == ["equal scores in 1 of 200 queries: 199"]


def test_a_legend_for_what_is_there_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_evaluations({"x": table(1, metrics=["mrr"])}, ["head"])
    assert (
        capsys.readouterr().out
        == """\
head

metric    mean  n   floor  ceiling
mrr     1.0000  1  0.7500   1.0000

n        lists that count
floor    what a random order of the same documents is worth
ceiling  what the best list of as many documents is worth

mrr relevant=y>=1 ideal=judged unjudged=zero ties=average empty=skip
"""
    )


def test_no_mean_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    for systems in ({"x": table(0, 0)}, {"x": table(0, 0), "y": table(0, 0)}):
        print_evaluations(systems, shown=1, by=None)
        assert "no answer by ndcg@2 and mrr in 2 of 2 queries (left out): q0, q1" in capsys.readouterr().out

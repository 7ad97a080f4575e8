"""What is said of a table before one believes it: each sentence whole, and none without a cause."""

from typing import Any

import polars as pl
import pytest

from ltr.evaluation import Evaluation, RankedLists, evaluate_lists, join, per_query
from ltr.evaluation.notes import tie_range
from ltr.metrics import parse

QRELS = pl.DataFrame({"query": list("aabc"), "document": list("1211"), "label": [1, 0, 1, 0]})
RUN = pl.DataFrame({"query": list("aacx"), "document": list("1211"), "score": [0.5, 0.5, 0.1, 0.3]})


def notes(*metrics: str, queries: str = "judged", others: bool = True, **how: Any) -> list[str]:
    return evaluate_lists(join(QRELS, RUN, queries=queries), metrics, **how).notes(others=others)


def of_arrays(labels: list[float], scores: list[float], queries: list[str], metric: str = "mrr") -> Evaluation:
    return evaluate_lists(RankedLists.from_arrays(labels, scores, queries), metric)


def test_every_finding_has_its_sentence() -> None:
    assert notes("mrr@2", "ap") == [
        "lacks 1 query that somebody judged (each counts 0): b",
        "has 1 query that nobody judged (left out): x",
        "equal scores in 1 of 3 queries: a; by their order mrr@2 is 0.2500 to 0.5000",
        "no answer by mrr@2 and ap in 1 of 3 queries (left out): c; mrr@2 would be 0.2500 as 0 and 0.5833 as 1",
    ]


def test_where_all_is_well_there_is_none() -> None:
    assert of_arrays([1, 0], [2, 1], ["a", "a"]).notes() == []


def test_a_query_that_is_left_out_is_not_said_to_count() -> None:
    assert notes("mrr", queries="intersection")[0] == "lacks 1 query that somebody judged (left out): b"


def test_a_missing_query_without_an_answer_is_not_said_to_count() -> None:
    lists = join(QRELS, RUN.filter(pl.col("query") == "a"), queries="judged")
    assert evaluate_lists(lists, ["mrr"]).notes(others=False)[0] == (
        "lacks 2 queries that somebody judged (each counts 0 where it has an answer): b, c"
    )


def test_metrics_of_other_rules_are_told_apart() -> None:
    *_, skipped, counted = notes("mrr", "mrr-zero", "precision@1", others=False)
    assert skipped == "no answer by mrr and precision@1 in 1 of 3 queries (left out): c"
    assert counted == "no answer by mrr-zero in 1 of 3 queries (each counts 0): c"


@pytest.mark.parametrize("how", ["median", "min"])
def test_only_a_mean_is_worked_out_under_another_rule(how: str) -> None:
    assert notes("mrr", aggregate=how)[2:] == [
        "equal scores in 1 of 3 queries: a",
        "no answer by mrr in 1 of 3 queries (left out): c",
    ]


def test_ties_that_cannot_move_the_mean_are_named_alone() -> None:
    assert of_arrays([1, 1], [1, 1], ["a", "a"]).notes() == ["equal scores in 1 of 1 query: a"]
    few = of_arrays([1, 0, *[1] * 150], [1, 1, *[1] * 150], ["a", "a", *map(str, range(150))])
    assert few.notes() == ["equal scores in 1 of 151 queries: a"]  # of so few lists that no mean turns on them


def test_a_list_that_weighs_nothing_changes_no_mean() -> None:
    lists = RankedLists.from_arrays([1, 0, 0], [3, 2, 1], ["a", "a", "b"], weight=[1, 0])
    assert evaluate_lists(lists, "mrr").notes() == ["no answer by mrr in 1 of 2 queries (left out): b"]


def test_many_queries_are_cut_short() -> None:
    (line,) = of_arrays([0] * 9, list(range(9)), list("abcdefghi")).notes()
    assert line.startswith("no answer by mrr in 9 of 9 queries (left out): a, b, c, d, e and 4 more; mrr would be ")


def test_the_ends_of_a_mean_by_the_order_of_ties() -> None:
    lists = RankedLists.from_arrays([1, 0, 0, 1], [1, 1, 2, 1], list("aabb"))
    assert tie_range(per_query(lists, [parse("mrr")])[0]) == ((1 / 2 + 1 / 2) / 2, (1 + 1 / 2) / 2)
    assert tie_range(per_query(lists, [parse("tau")])[0]) is None
    untied = RankedLists.from_arrays([0, 1], [2, 1])
    assert tie_range(per_query(untied, [parse("mrr")])[0]) == (1 / 2, 1 / 2)
    blank = RankedLists.from_arrays([0, 0], [1, 1])
    assert tie_range(per_query(blank, [parse("mrr")])[0]) is None

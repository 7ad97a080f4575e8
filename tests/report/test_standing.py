"""Which system is better, and what that hangs on."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from ltr.evaluation import Evaluation, RankedLists, evaluate_lists, join
from ltr.evaluation.aggregates import How
from ltr.report.standing import standing, tie_range
from ltr.report.unjudged import Budget


def system(
    hits: list[int], metric: str = "p@1", weight: list[float] | None = None, aggregate: How = "mean"
) -> Evaluation:
    """Queries with a relevant and another document each; a hit has the relevant one first."""
    labels = [label for hit in hits for label in (hit, 1 - hit)]
    lists = RankedLists.from_arrays(labels, [2, 1] * len(hits), np.repeat(np.arange(len(hits)), 2))
    lists = lists if weight is None else replace(lists, weight=np.array(weight))
    return evaluate_lists(lists, [metric], aggregate=aggregate)


def said(**systems: Evaluation) -> list[str]:
    return standing(systems, Budget())[1]


def test_one_system_stands_alone() -> None:
    assert standing({"a": system([1, 0])}, Budget()) == ([], [])


def test_the_best_stands_against_the_next_ones() -> None:
    systems = {name: system([1] * many + [0] * (10 - many)) for many, name in enumerate("abcdefgh")}
    (block,), sentences = standing(systems, Budget())
    assert block.title == "precision@1, h minus"
    assert [label for label, _ in block.rows] == list("gfedc")
    assert block.rows[1][1] == {
        "difference": "+0.2000",
        "95 % interval": "+0.0000 to +0.5000",
        "won/tied/lost": "2/8/0",
        "if all were judged": "-",
    }
    assert sentences == [
        "2 more systems stand further behind.",
        "10 lists are too few to name a winner: below 50, such intervals cover less than they say, and another draw of "
        "queries could turn any of these orders around.",
    ]


def test_less_is_better_where_the_metric_says_so() -> None:
    (block,), _ = standing({"a": system([1, 1, 0], "arp"), "b": system([1, 0, 0], "arp")}, Budget())
    assert block.title == "arp, a minus"
    ((name, row),) = block.rows
    assert (name, row["difference"], row["won/tied/lost"]) == ("b", "-0.3333", "1/2/0")


def test_from_fifty_lists_on_a_test_tells_systems_apart() -> None:
    best, near, far = [1] * 60, [1] * 58 + [0] * 2, [0] * 30 + [1] * 30
    assert said(a=system(best), b=system(far)) == ["a stands apart from b on queries like these, by a paired t-test."]
    assert said(b=system(near), a=system(best)) == ["These 60 lists do not tell a from b, by a paired t-test."]
    assert said(a=system(best), b=system(near), c=system(far)) == [
        "a stands apart from c on queries like these, by a paired t-test, corrected for 3 pairs (Bonferroni).",
        "These 60 lists do not tell a from b.",
    ]
    assert said(a=system(best), b=system([0] * 60)) == [
        "a stands apart from b on queries like these, by a paired t-test."  # the same difference on each list
    ]


def test_the_correction_counts_all_pairs() -> None:
    some = [0] * 6 + [1] * 54  # p = 0.0126 of one pair
    rest = {name: system([0] * 60) for name in "cde"}
    assert said(a=system([1] * 60), b=system(some))[0].startswith("a stands apart from b")
    assert said(a=system([1] * 60), b=system(some), **rest)[1] == "These 60 lists do not tell a from b."


def test_weighted_lists_have_no_test() -> None:
    weight = [2.0] * 30 + [1.0] * 30
    assert said(a=system([1] * 60, weight=weight), b=system([0] * 30 + [1] * 30, weight=weight)) == [
        "Weighted lists have no test here: the intervals alone say how far two stand apart."
    ]
    (block,), _ = standing({"a": system([1, 0], weight=[3, 1]), "b": system([0, 1], weight=[3, 1])}, Budget())
    assert block.rows[0][1]["difference"] == "+0.5000"


def joined(qrels: dict[str, dict[str, int | None]], run: dict[str, str], metric: str, source: str) -> Evaluation:
    """Documents of a run from the top down, a letter each."""
    judged = [(query, document, label) for query, each in qrels.items() for document, label in each.items()]
    ranked = [(query, each, -float(place)) for query, names in run.items() for place, each in enumerate(names)]
    columns = ["query", "document"]
    lists = join(
        pl.DataFrame(judged, schema=[*columns, "label"], orient="row"),
        pl.DataFrame(ranked, schema=[*columns, "score"], orient="row"),
        source=source,
    )
    return evaluate_lists(lists, [metric])


def test_labels_that_nobody_gave() -> None:
    qrels: dict[str, dict[str, int | None]] = {"1": {"r": 1, "n": 0}}
    runs = {"a": "rxn", "b": "xrn", "c": "nrx"}
    tables = {name: joined(qrels, {"1": run}, "mrr", name) for name, run in runs.items()}
    (block,), sentences = standing(tables, Budget())
    assert [row["if all were judged"] for _, row in block.rows] == ["+0.0000 to +0.5000", "+0.5000 to +0.5000"]
    assert len(sentences) == 1  # b can draw level, and not pass
    tables = {name: joined(qrels, {"1": run}, "p@1", name) for name, run in (("a", "yrn"), ("b", "xrn"), ("c", "rxn"))}
    _, sentences = standing({"a": tables["a"], "b": tables["b"]}, Budget())
    assert sentences[-1] == (
        "Labels for the unjudged documents could put b level with a or ahead: judge those documents before you decide."
    )
    (block,), sentences = standing({"a": tables["a"], "b": tables["b"]}, Budget(0))
    assert block.rows[0][1]["if all were judged"] == "?"
    assert sentences[-1] == (
        "Whether unjudged documents could turn a against b was not worked out: there are too many."
    )


def test_equal_scores_alone() -> None:
    tied = RankedLists.from_arrays([1, 0, 1, 0], [1, 1, 2, 1], [0, 0, 1, 1])
    other = RankedLists.from_arrays([0, 1, 1, 0], [2, 1, 2, 1], [0, 0, 1, 1])
    tables = {"a": evaluate_lists(tied, ["mrr"]), "b": evaluate_lists(other, ["mrr"])}
    assert tie_range(tables["a"].values[0]) == (0.75, 1)
    assert tie_range(tables["b"].values[0]) == (0.75, 0.75)
    assert tie_range(evaluate_lists(tied, ["tau"]).values[0]) is None
    assert standing(tables, Budget())[1][-1] == (
        "The order of documents with equal scores could turn a (0.7500 to 1.0000) and b (0.7500)."
    )
    assert len(standing({"a": tables["a"], "b": system([0, 0], "mrr")}, Budget())[1]) == 1  # 0.75 lies above 0.5


def test_queries_that_one_lacks() -> None:
    qrels: dict[str, dict[str, int | None]] = {query: {"r": 1, "n": 0} for query in "123"}
    a = joined(qrels, {"1": "nr", "2": "nr", "3": "rn"}, "mrr", "a")
    b = joined(qrels, {"1": "rn", "2": "nr"}, "mrr", "b")
    assert standing({"a": a, "b": b}, Budget())[1][-1] == (
        "Missing queries decide: on the 2 lists that both answered, b has 0.7500 and a 0.5000."
    )


def test_lists_that_count_for_one_alone() -> None:
    lists = RankedLists.from_arrays([1, 0, 0, 1], [2, 1, 2, 1], ["x", "x", "y", "y"])
    other = RankedLists.from_arrays([0, 1, 0, 0], [2, 1, 2, 1], ["x", "x", "y", "y"])
    tables = {"a": evaluate_lists(lists, ["mrr"]), "b": evaluate_lists(other, ["mrr"])}
    (block,), sentences = standing(tables, Budget())
    assert block.rows[0][1]["difference"] == "+0.5000"
    assert sentences[0] == "Compared on the lists that count for both: 1 for b."
    nothing = evaluate_lists(RankedLists.from_arrays([0], [1], ["x"]), ["mrr"])
    assert standing({"a": tables["a"], "b": nothing}, Budget()) == ([], [])
    strangers = evaluate_lists(RankedLists.from_arrays([1], [1], ["z"]), ["mrr"])
    assert standing({"a": tables["a"], "b": strangers}, Budget())[1] == []


@pytest.mark.parametrize("aggregate", ["median", "geometric"])
def test_means_are_compared_whatever_the_aggregate(aggregate: How) -> None:
    tables = {name: system(hits, aggregate=aggregate) for name, hits in (("a", [1, 1]), ("b", [1, 0]))}
    assert standing(tables, Budget())[0][0].title == "mean precision@1, a minus"

"""ltr/report/explain.py: the numbers of one query are the metrics' own, and what a change does is what it does."""

from dataclasses import replace
from math import log2

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import per_query
from ltr.metrics import DCG, METRICS, NDCG, Letor, Linear, RankingMetric, Reciprocal, parse
from ltr.report.changes import Delta
from ltr.report.explain import Explanation, explain

GRADES = [3, 1, 2, 0, 3]  # CONVENTIONS, worked values
GRADED = ("err", "gradedap")  # their top grade is declared
EVERY = [parse(f"{base}-max4" if base in GRADED else base) for base in METRICS]
PLAIN = NDCG(k=5)


def lists_of(grades: list[float], scores: list[float] | None = None) -> RankedLists:
    return RankedLists.from_arrays(grades, scores or list(range(len(grades), 0, -1)))


def worked(grades: list[float], *metrics: str, **change: object) -> Explanation:
    named = [parse(each) for each in metrics or ("ndcg@5",)]
    return explain(lists_of(grades), "0", PLAIN, named, **change)  # type: ignore[arg-type]


def delta(found: Explanation, metric: str) -> Delta:
    assert found.change is not None
    return next(each for each in found.change.deltas if each.metric == parse(metric))


# -- the worked example -----------------------------------------------------------------------------------------------


def test_the_worked_example() -> None:
    found = worked(GRADES)
    assert [row.position for row in found.rows] == [1, 2, 3, 4, 5]
    assert [row.grade for row in found.rows] == GRADES
    assert [row.gain for row in found.rows] == [7, 1, 3, 0, 7]
    assert [row.discount for row in found.rows] == pytest.approx([1 / log2(1 + rank) for rank in range(1, 6)])
    assert [row.worth for row in found.rows] == pytest.approx([7.000, 0.631, 1.500, 0.000, 2.708], abs=5e-4)
    assert [row.total for row in found.rows] == pytest.approx([7.000, 7.631, 9.131, 9.131, 11.839], abs=5e-4)
    assert [row.grade for row in found.ideal] == [3, 3, 2, 1, 0]
    assert (found.dcg, found.idcg) == pytest.approx((11.839, 13.347), abs=5e-4)
    assert found.value == pytest.approx(0.8870, abs=5e-5)
    assert found.rows[0].worth / found.dcg == pytest.approx(0.59, abs=5e-3)
    assert found.rows[4].discount / found.rows[0].discount == pytest.approx(0.39, abs=5e-3)
    assert (found.missed, found.left_out, found.scaled, found.change) == ((), 0, False, None)


def test_average_precision_and_pairs_of_the_worked_example() -> None:
    values = {each.metric.name: each.value for each in worked(GRADES, "ap", "pairs").values}
    assert values == pytest.approx({"ap": 0.95, "pairs": 5 / 9})


# -- the sums are the metrics' own ------------------------------------------------------------------------------------

answers = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.0]), min_size=n, max_size=n),
        st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.lists(st.sampled_from([0.0, 1.0, 3.0]), max_size=3),
    )
)
rules = st.builds(
    NDCG,
    k=st.sampled_from([None, 1, 2, 3, 5]),
    gain=st.sampled_from([NDCG().gain, Linear()]),
    discount=st.sampled_from([NDCG().discount, Letor(), Reciprocal()]),
    ties=st.sampled_from(["average", "docid", "stable", "worst", "best"]),
    unjudged=st.sampled_from(["zero", "ignored"]),
    ideal=st.sampled_from(["judged", "retrieved"]),
)


def joined(answer: tuple[list[float], list[float], list[bool], list[float]]) -> RankedLists | None:
    """A query of a run with its judgements: some of its documents are not judged, some judged ones not returned."""
    grades, scores, judged, missed = answer
    names = [f"d{place}" for place in range(len(grades))]
    known = [(name, grade) for name, grade, yes in zip(names, grades, judged, strict=True) if yes]
    known += [(f"m{place}", grade) for place, grade in enumerate(missed)]
    if not known:
        return None
    documents, labels = zip(*known, strict=True)
    qrels = pl.DataFrame({"query": ["q"] * len(known), "document": documents, "label": labels})
    return join(qrels, pl.DataFrame({"query": ["q"] * len(names), "document": names, "score": scores}))


def like(metric: NDCG) -> DCG:
    common = {name: getattr(metric, name) for name in ("k", "gain", "discount", "ties", "unjudged")}
    return DCG(**common)


@settings(max_examples=50)
@given(answers, rules)
def test_sums_and_values_are_those_of_evaluation(
    answer: tuple[list[float], list[float], list[bool], list[float]], metric: NDCG
) -> None:
    lists = joined(answer)
    ranked = sum(answer[2]) if metric.unjudged == "ignored" else len(answer[0])
    if lists is None or not ranked:
        return
    others = [replace(each, ties=metric.ties) for each in EVERY if each.base != "tau"]  # which has a rule of its own
    metrics: list[RankingMetric] = [metric, like(metric), *others]
    found = explain(lists, "q", metric, metrics)
    expected = [each.value[0] if each.defined[0] else None for each in per_query(lists, metrics)]
    assert [each.value for each in found.values] == pytest.approx(expected, nan_ok=True)
    assert found.value == found.values[0].value
    assert found.dcg == pytest.approx(sum(row.worth for row in found.rows))
    assert found.dcg == pytest.approx(found.values[1].value or 0)
    assert sum(row.worth for row in found.ideal) == pytest.approx(found.idcg)
    if found.value is not None:
        assert found.dcg / found.idcg == pytest.approx(found.value)
    assert len(found.rows) == ranked
    assert found.left_out == len(answer[0]) - ranked
    assert sorted(found.missed) == sorted(answer[3])


def test_tied_documents_share_the_mean_discount_of_their_positions() -> None:
    found = explain(lists_of([2, 0, 1, 3], [0.5, 0.9, 0.5, 0.1]), "0", NDCG(), [NDCG()])
    mean = (1 / log2(3) + 1 / log2(4)) / 2
    assert [row.grade for row in found.rows] == [0, 2, 1, 3]
    assert [row.block for row in found.rows] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert [row.discount for row in found.rows] == pytest.approx([1, mean, mean, 1 / log2(5)])


@pytest.mark.parametrize(
    ("ties", "order"), [("docid", "cbad"), ("stable", "abcd"), ("worst", "bacd"), ("best", "cabd")]
)
def test_the_positions_are_those_of_the_tie_rule(ties: str, order: str) -> None:
    table = pl.DataFrame(
        {"query": ["q"] * 4, "document": [*"abcd"], "score": [0.5, 0.5, 0.5, 0.1], "label": [1, 0, 2, 3]}
    )
    metric = parse(f"ndcg-{ties}")
    assert isinstance(metric, NDCG)
    found = explain(RankedLists.from_table(table), "q", metric, [metric])
    assert "".join(row.document or "" for row in found.rows) == order
    assert {row.block for row in found.rows} == {(1, 1), (2, 2), (3, 3), (4, 4)}


def test_what_nobody_judged_has_no_grade() -> None:
    qrels = pl.DataFrame({"query": ["q"] * 3, "document": [*"abm"], "label": [1, 0, 2]})
    run = pl.DataFrame({"query": ["q"] * 3, "document": [*"xab"], "score": [3, 2, 1]})
    found = explain(join(qrels, run), "q", NDCG(k=2), [parse("recall@2")], grade=[1, 2])
    assert [(row.document, row.grade) for row in found.rows] == [("x", None), ("a", 1), ("b", 0)]
    assert [row.grade for row in found.ideal] == [2, 1]
    assert found.missed == (2,)
    assert found.change is not None
    assert found.change.said == "the document at position 1 gets grade 2 instead of no grade"
    assert found.change.grades == (2, 1, 0)
    assert (delta(found, "recall@2").before, delta(found, "recall@2").after) == (1 / 2, 2 / 3)


def test_gains_beyond_all_numbers_are_parts_of_the_largest() -> None:
    found = worked([1999, 2000])
    assert found.scaled
    assert [row.gain for row in found.rows] == [0.5, 1]
    assert found.value == pytest.approx((0.5 + 1 / log2(3)) / (1 + 0.5 / log2(3)))


def test_a_list_without_an_answer() -> None:
    found = worked([0, 0], "ndcg@5", "mrr", grade=[2, 1])
    assert found.value is None
    assert [(each.value, each.moved_by) for each in found.values] == [(None, ()), (None, ())]
    assert [(each.before, each.after, each.by, each.moved) for each in found.change.deltas] == [  # type: ignore[union-attr]
        (None, pytest.approx(1 / log2(3)), None, True),
        (None, 0.5, None, True),
    ]
    assert delta(found, "mrr").why == "no answer before: undefined for a list with nothing relevant"
    assert (
        delta(worked([0, 0], "mrr", swap=[1, 2]), "mrr").why
        == "no answer before and after: undefined for a list with nothing relevant"
    )


# -- the positions that moved a metric --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metric", "positions"),
    [
        ("ndcg@5", (1, 2, 3, 5)),
        ("ndcg@3", (1, 2, 3)),
        ("ndcg", (1, 2, 3, 5)),
        ("mrr", (1,)),
        ("mrr-rel2", (1,)),
        ("ap-rel2", (1, 3, 5)),
        ("precision@2", (1, 2)),
        ("recall@3", (1, 2, 3)),
        ("success@5", ()),  # four relevant ones: it would be 1 without any single one
        ("success-rel3@3", (1,)),
    ],
)
def test_positions_that_moved_a_metric(metric: str, positions: tuple[int, ...]) -> None:
    assert worked(GRADES, metric).values[0].moved_by == positions


@settings(max_examples=50)
@given(answers)
def test_a_position_moved_dcg_if_it_adds_to_the_sum(
    answer: tuple[list[float], list[float], list[bool], list[float]],
) -> None:
    lists = joined(answer)
    if lists is None:
        return
    for metric in (NDCG(k=3), NDCG(k=3, ideal="judged", ties="docid")):
        found = explain(lists, "q", metric, [metric])
        adding = tuple(row.position for row in found.rows if row.worth > 0)
        assert found.values[0].moved_by == adding


def test_a_query_without_documents() -> None:
    qrels = pl.DataFrame({"query": ["q", "r"], "document": ["a", "a"], "label": [1, 1]})
    lists = join(qrels, pl.DataFrame({"query": ["q"], "document": ["a"], "score": [1.0]}), source="a.run")
    with pytest.raises(ValueError, match=r"^a\.run: wanted a list with documents, query r has none$"):
        explain(lists, "r", NDCG(), [NDCG()])


def test_many_documents_are_measured_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    grades = [1.0, 2.0, 0.0, 3.0] * 5
    whole = worked(grades, "ap", "ndcg@3")
    monkeypatch.setattr("ltr.report.explain.CELLS", 45)
    assert worked(grades, "ap", "ndcg@3").values == whole.values

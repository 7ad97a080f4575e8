"""Per-query values are the metric's own, and their means follow its rule for lists without an answer."""

from dataclasses import replace

import numpy as np
import pytest

from ltr.data import DataError, RankingData, synthetic
from ltr.evaluation import MetricValues, RankedLists, aggregate, interval, lists_of, per_query
from ltr.metrics import parse

LISTS = RankingData.from_arrays(
    np.zeros((7, 1)),
    [0, 1, 0, 0, 2, 0, 1],
    queries=["a", "a", "b", "b", "c", "c", "c"],
    weights={"a": 1, "b": 5, "c": 3},
)
SCORES = [2.0, 1.0, 0.0, 0.0, 1.0, 3.0, 2.0]  # first relevant: a at 2, b nowhere, c at 2


def measure(name: str) -> MetricValues:
    (values,) = per_query(lists_of(SCORES, LISTS), [parse(name)])
    return values


def pooled() -> RankedLists:
    """Four queries: a as judged in full; b with a relevant document left behind and an unjudged one on top; the run
    lacks c, which has a relevant document, and d, which has none."""
    return RankedLists(
        query_ids=("a", "b", "c", "d"),
        offsets=np.array([0, 2, 5, 5, 5]),
        score=np.array([2.0, 1.0, 3.0, 2.0, 2.0]),
        relevance=np.array([1.0, 0.0, 0.0, 1.0, 0.0]),
        weight=np.array([1.0, 2.0, 3.0, 4.0]),
        source="made",
        judged=np.array([True, True, False, True, True]),
        pool=np.array([1.0, 0.0, 1.0, 0.0, 2.0, 1.0, 0.0, 0.0]),
        pool_offsets=np.array([0, 2, 5, 7, 8]),
        missing=("c", "d"),
    )


def test_values_are_those_of_the_metric_list_by_list() -> None:
    data = synthetic(queries=30, documents=6, features=4).train
    scores = np.random.default_rng(0).random(len(data.relevance))
    metrics = [parse("ndcg@5"), parse("ap"), parse("mrr")]
    for values in per_query(lists_of(scores, data), metrics, cells=20):
        for query, (start, end) in enumerate(zip(data.offsets[:-1], data.offsets[1:], strict=True)):
            alone = values.metric(scores[start:end], data.relevance[start:end]).item()
            assert values.value[query] == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "mean", "lists"),
    [
        ("mrr", (1 * 0.5 + 3 * 0.5) / 4, 2),
        ("mrr-zero", (1 * 0.5 + 5 * 0 + 3 * 0.5) / 9, 3),
        ("mrr-one", (1 * 0.5 + 5 * 1 + 3 * 0.5) / 9, 3),
    ],
)
def test_the_mean_follows_the_rule_and_the_weights(name: str, mean: float, lists: int) -> None:
    summary = measure(name).summary()
    assert (summary.value, summary.lists, summary.undefined) == (pytest.approx(mean), lists, 1)


def test_a_skipped_list_has_no_value_in_the_table() -> None:
    assert [row.value for row in measure("mrr").rows()] == [0.5, None, 0.5]
    assert [row.value for row in measure("mrr-zero").rows()] == [0.5, 0.0, 0.5]
    assert [tuple(row) for row in measure("mrr").rows()][1] == ("b", "mrr", None, 2, False, 5.0)


def test_floor_and_ceiling_stand_beside_the_mean() -> None:
    summary = measure("precision@1").summary()
    assert summary.floor == pytest.approx((1 * 1 / 2 + 3 * 2 / 3) / 4)
    assert summary.ceiling == 1.0


def test_equal_scores_are_worth_a_random_order() -> None:
    (values,) = per_query(lists_of(np.zeros(7), LISTS), [parse("ndcg@2")])
    np.testing.assert_allclose(values.value, values.floor)
    assert values.summary().tied == 3
    assert measure("mrr").summary().tied == 1  # b


def test_no_list_with_an_answer_has_no_mean() -> None:
    blank = replace(LISTS, relevance=np.zeros(7))
    (values,) = per_query(lists_of(SCORES, blank), [parse("ap")])
    found = values.summary()
    assert np.isnan([found.value, found.sd, found.se, found.floor, found.ceiling]).all()
    assert (found.lists, found.undefined) == (0, 3)


def test_data_without_labels_and_strange_scores_are_refused() -> None:
    with pytest.raises(DataError, match="wanted labels to evaluate on, came data without labels"):
        lists_of(SCORES, replace(LISTS, labelled=False))
    with pytest.raises(DataError, match=r"wanted a score for each of 7 rows, came \(2,\)"):
        lists_of([1.0, 2.0], LISTS)


def test_a_score_that_is_nan_names_its_query() -> None:
    # metric-52: a NaN score is an error with query and count
    scores = [2.0, 1.0, 0.0, 0.0, 1.0, float("nan"), float("nan")]
    with pytest.raises(DataError, match=r"arrays, row 5 \(query c\): wanted a score, came nan \(2 in all\)"):
        lists_of(scores, LISTS)


def test_ties_by_document_id_go_by_the_ids_of_the_data() -> None:
    # metric-07: score descending, then document id descending as text: here c, b, a
    data = RankingData.from_arrays(np.zeros((3, 1)), [1, 0, 0], queries="qqq", document_ids=["a", "b", "c"])
    names = ["mrr-docid", "mrr-stable", "mrr"]
    found = per_query(lists_of([0.5, 0.5, 0.5], data), [parse(name) for name in names])
    assert [each.value[0] for each in found] == pytest.approx([1 / 3, 1, (1 + 1 / 2 + 1 / 3) / 3])


def test_a_query_that_the_run_lacks_counts_0_where_its_documents_would_have_had_an_answer() -> None:
    for name in ("mrr", "pairs", "auc", "bpref"):
        (values,) = per_query(pooled(), [parse(name)])
        assert values.defined.tolist()[2:] == [True, False], name  # c could have been answered, d could not
        assert values.value.tolist()[2:] == [0.0, 0.0], name
        assert [row.value for row in values.rows()][2:] == [0.0, None], name
    (values,) = per_query(pooled(), [parse("mrr")])
    assert values.summary().value == pytest.approx((1 * 1 + 2 * (1 / 2 + 1 / 3) / 2 + 3 * 0) / 6)
    assert [row.documents for row in values.rows()] == [2, 3, 0, 0]


def test_a_query_that_the_run_lacks_has_no_value_where_less_is_better() -> None:
    wanted = (
        r"^arp: less is better, so a query that the run lacks cannot count 0, and query c is one; "
        r"take the queries that both sides have \(queries=intersection\)$"
    )
    with pytest.raises(ValueError, match=wanted):
        per_query(pooled(), [parse("arp")])


def test_the_pool_holds_what_was_not_returned() -> None:
    found = {each.metric.name: each for each in per_query(pooled(), [parse("recall@9"), parse("ndcg@9")])}
    assert found["recall@9"].value.tolist() == [1.0, 1 / 2, 0.0, 0.0]
    ideal = (2**2 - 1) / np.log2(2) + (2**1 - 1) / np.log2(3)
    assert found["ndcg@9"].value[1] == pytest.approx((1 / np.log2(3) + 1 / np.log2(4)) / 2 / ideal)
    assert found["ndcg@9"].ceiling.tolist() == [1.0, 1.0, 1.0, 0.0]
    assert found["ndcg@9"].floor[2] == 0.0  # a random order of nothing
    assert found["recall@9"].floor[1] == 1 / 2


def test_no_value_lies_above_its_ceiling() -> None:
    """The ceiling of a query that the run lacks is that of its judged documents."""
    for name in ("precision", "f1", "ndcg@1", "ndcg-short0@3", "pairs", "tau"):
        (values,) = per_query(pooled(), [parse(name)])
        assert (values.value <= values.ceiling + 1e-12).all(), name
        assert (values.floor <= values.ceiling + 1e-12).all(), name
    (values,) = per_query(pooled(), [parse("precision")])
    assert values.ceiling.tolist() == [1 / 2, 2 / 3, 1 / 2, 0]
    weight = np.array([1, 2, 3])  # of those that count
    assert values.bounds()[1] == pytest.approx(weight @ [1 / 2, 2 / 3, 1 / 2] / 6) == values.summary().ceiling


def test_what_a_metric_refuses_names_source_and_query() -> None:
    wanted = r"^arrays, query c: err-max1: the top grade is declared to be 1, and a document has grade 2$"
    with pytest.raises(DataError, match=wanted):
        measure("err-max1")
    wanted = r"^made, query b: gain table: wanted whole labels 0 to 1, got 2$"
    with pytest.raises(DataError, match=wanted):  # of a document that was not returned
        per_query(pooled(), [parse("mrr"), parse("ndcg-table0_1")])


def test_weights_that_are_all_0_have_no_mean() -> None:
    blank = replace(pooled(), weight=np.zeros(4))
    with pytest.raises(DataError, match=r"^made: wanted a query with a weight above 0, came 0 for all 4$"):
        per_query(blank, [parse("mrr")])


def test_empty_error_names_the_query() -> None:
    with pytest.raises(ValueError, match=r"^mrr-error: query b of arrays has no answer, and empty=error refuses such"):
        measure("mrr-error")


@pytest.mark.parametrize(
    "name",
    ["precision@2", "precision-min@9", "precision", "recall@2", "recall-min@1", "recall", "f1@2", "f1", "ndcg@2",
     "ndcg", "ndcg-linear-short0@3", "dcg@2", "precision@2-l2", "ndcg-docid@1", "recall-condensed@1",
     "ndcg-retrieved@2"],
)  # fmt: skip
@pytest.mark.parametrize("ties", [False, True])
def test_numerator_over_denominator_is_the_value(name: str, ties: bool) -> None:
    random = np.random.default_rng(3)
    score = random.integers(0, 3, 60).astype(float) if ties else random.random(60)
    lists = RankedLists.from_arrays(
        random.integers(0, 4, 60), score, np.repeat(np.arange(12), 5), judged=random.random(60) < 0.7
    )
    for each in (lists, pooled()):
        (values,) = per_query(each, [parse(name)])
        assert values.fraction is not None
        over, under = values.fraction
        quotient = np.divide(over, under, out=np.zeros_like(over), where=under > 0)
        np.testing.assert_allclose(quotient, np.where(values.defined, values.value, 0), atol=1e-12)


def test_micro_pools_counts_over_lists() -> None:
    def micro(name: str) -> float:
        return measure(name).summary("micro").value

    assert micro("precision@1") == (1 * 0 + 3 * 0) / (1 * 1 + 3 * 1)
    assert micro("precision@2") == pytest.approx((1 * 1 + 3 * 1) / (1 * 2 + 3 * 2))
    assert micro("precision-zero@2") == pytest.approx((1 * 1 + 5 * 0 + 3 * 1) / (1 * 2 + 5 * 2 + 3 * 2))
    assert micro("precision-one@2") == pytest.approx((1 * 1 + 5 * 2 + 3 * 1) / (1 * 2 + 5 * 2 + 3 * 2))
    assert micro("recall@2") == pytest.approx((1 * 1 + 3 * 1) / (1 * 1 + 3 * 2))
    (values,) = per_query(pooled(), [parse("precision-min@9")])
    assert values.summary("micro").value == pytest.approx((1 * 1 + 2 * 1) / (1 * 2 + 2 * 3 + 3 * 0))
    assert micro("f1@2") == pytest.approx((1 * 2 * 1 + 3 * 2 * 1) / (1 * (2 + 1) + 3 * (2 + 2)))
    dcg = (1 / np.log2(3), 1 / np.log2(3) + 3 / np.log2(4))  # of a (0, 1) and of c, ranked 0, 1, 2
    assert micro("ndcg") == pytest.approx((dcg[0] + 3 * dcg[1]) / (1 * 1 + 3 * (3 + 1 / np.log2(3))))
    assert micro("dcg") == pytest.approx((dcg[0] + 3 * dcg[1]) / 4)
    with pytest.raises(ValueError, match=r"^mrr: micro pools numerators and denominators over lists, which precision"):
        micro("mrr")


def test_floor_and_ceiling_of_micro_are_pooled_too() -> None:
    found = measure("recall@1").summary("micro")
    assert found.floor == pytest.approx((1 * 1 / 2 + 3 * 2 / 3) / (1 * 1 + 3 * 2))
    assert found.ceiling == pytest.approx((1 * 1 + 3 * 1) / (1 * 1 + 3 * 2))


def test_a_summary_is_the_aggregate_of_what_counts() -> None:
    values = replace(measure("precision@2"), seed=2)
    for how in ("mean", "median", "geometric", "min"):
        found = values.summary(how)  # type: ignore[arg-type]
        wanted = aggregate(how, values.value, values.weight * values.counted, seed=2)  # type: ignore[arg-type]
        assert found[2:7] == (how, wanted.value, *map(pytest.approx, (wanted.sd,)), found.se, wanted.interval)
    assert replace(values, aggregate="min").summary() == values.summary("min")
    assert values.summary().interval == interval(values.value[[0, 2]], [1, 3], 2)


def test_a_summary_among_some_lists() -> None:
    found = measure("mrr-zero").summary(among=np.array([1, 2]))
    assert (found.value, found.lists, found.undefined, found.tied) == (pytest.approx((5 * 0 + 3 * 0.5) / 8), 2, 1, 1)


def test_a_metric_that_is_asked_for_twice_is_given_twice() -> None:
    first, second = per_query(lists_of(SCORES, LISTS), [parse("ap"), parse("ap")])
    assert first.value.tolist() == second.value.tolist()

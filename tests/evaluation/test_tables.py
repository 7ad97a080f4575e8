"""Per-query values are the metric's own, and their means follow its rule for lists without an answer."""

from dataclasses import replace

import numpy as np
import pytest

from ltr.data import DataError, RankingData, synthetic
from ltr.evaluation import MetricValues, per_query
from ltr.metrics import parse

LISTS = RankingData.from_arrays(
    np.zeros((7, 1)),
    [0, 1, 0, 0, 2, 0, 1],
    queries=["a", "a", "b", "b", "c", "c", "c"],
    weights={"a": 1, "b": 5, "c": 3},
)
SCORES = [2.0, 1.0, 0.0, 0.0, 1.0, 3.0, 2.0]  # first relevant: a at 2, b nowhere, c at 2


def measure(name: str) -> MetricValues:
    (values,) = per_query(SCORES, LISTS, [parse(name)])
    return values


def test_values_are_those_of_the_metric_list_by_list() -> None:
    data = synthetic(queries=30, documents=6, features=4).train
    scores = np.random.default_rng(0).random(len(data.relevance))
    metrics = [parse("ndcg@5"), parse("ap"), parse("mrr")]
    for values in per_query(scores, data, metrics, documents=20):
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
    assert (summary.mean, summary.lists, summary.undefined) == (pytest.approx(mean), lists, 1)


def test_a_skipped_list_has_no_value_in_the_table() -> None:
    assert [row.value for row in measure("mrr").rows()] == [0.5, None, 0.5]
    assert [row.value for row in measure("mrr-zero").rows()] == [0.5, 0.0, 0.5]
    assert [tuple(row) for row in measure("mrr").rows()][1] == ("b", "mrr", None, 2, False, 5.0)


def test_floor_and_ceiling_stand_beside_the_mean() -> None:
    summary = measure("precision@1").summary()
    assert summary.floor == pytest.approx((1 * 1 / 2 + 3 * 2 / 3) / 4)
    assert summary.ceiling == 1.0


def test_equal_scores_are_worth_a_random_order() -> None:
    (values,) = per_query(np.zeros(7), LISTS, [parse("ndcg@2")])
    np.testing.assert_allclose(values.value, values.floor)


def test_no_list_with_an_answer_has_no_mean() -> None:
    blank = replace(LISTS, relevance=np.zeros(7))
    (values,) = per_query(SCORES, blank, [parse("ap")])
    assert np.isnan(values.summary().mean)
    assert values.summary().lists == 0


def test_data_without_labels_and_strange_scores_are_refused() -> None:
    with pytest.raises(DataError, match="wanted labels to evaluate on, came data without labels"):
        per_query(SCORES, replace(LISTS, labelled=False), [parse("ap")])
    with pytest.raises(DataError, match=r"wanted a score for each of 7 rows, came \(2,\)"):
        per_query([1.0, 2.0], LISTS, [parse("ap")])


def test_a_score_that_is_nan_names_its_query() -> None:
    # metric-52: a NaN score is an error with query and count
    scores = [2.0, 1.0, 0.0, 0.0, 1.0, float("nan"), float("nan")]
    with pytest.raises(DataError, match=r"arrays, row 5 \(query c\): wanted a score, came nan \(2 in all\)"):
        per_query(scores, LISTS, [parse("mrr")])


def test_ties_by_document_id_go_by_the_ids_of_the_data() -> None:
    # metric-07: score descending, then document id descending as text: here c, b, a
    data = RankingData.from_arrays(np.zeros((3, 1)), [1, 0, 0], queries="qqq", document_ids=["a", "b", "c"])
    names = ["mrr-docid", "mrr-stable", "mrr"]
    found = per_query([0.5, 0.5, 0.5], data, [parse(name) for name in names])
    assert [each.value[0] for each in found] == pytest.approx([1 / 3, 1, (1 + 1 / 2 + 1 / 3) / 3])

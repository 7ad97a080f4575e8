"""Each point of a curve is the metric's own mean under that setting."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ltr.discounts import Geometric
from ltr.evaluation.curves import LABELS, curve
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import per_query
from ltr.metrics import parse

RANDOM = np.random.default_rng(0)
LISTS = RankedLists.from_arrays(
    RANDOM.choice([0, 0, 1, 2, 4], 200), RANDOM.random(200), np.repeat(np.arange(20), 10), weight=RANDOM.random(20)
)


@pytest.mark.parametrize(
    ("name", "over", "settings"),
    [
        ("ndcg@3", "k", [*map(str, range(1, 11))]),
        ("ndcg", "gain", ["exp2", "linear", "binary1", "binary2", "binary4"]),
        ("dcg@5", "discount", ["log2", "letor", "reciprocal", "geometric0.8"]),
        ("ap@5", "threshold", ["1", "2", "4"]),
        ("mrr-rel3", "threshold", ["1", "2", "3", "4"]),
        ("ndcg-geometric0.5", "discount", ["log2", "letor", "reciprocal", "geometric0.8", "geometric0.5"]),
        ("ndcg-binary3", "gain", ["exp2", "linear", "binary1", "binary2", "binary4", "binary3"]),
        ("recall", "k", [*map(str, range(1, 11)), "all"]),
        ("err-max4@30", "k", [*map(str, range(1, 11)), "30"]),
    ],
)
def test_each_point_is_the_mean_under_its_setting(name: str, over: Any, settings: list[str]) -> None:
    points = curve(LISTS, parse(name), over)
    assert [each.setting for each in points] == settings
    assert name in [each.metric for each in points] or over == "k"
    for point in points:
        summary = per_query(LISTS, [parse(point.metric)])[0].summary()
        assert (point.mean, point.lists, point.undefined) == (summary.value, summary.lists, summary.undefined)
        assert point.own == (point.metric == name)
        assert point.interval == summary.interval


def test_cutoffs_end_where_one_says_and_recall_never_falls() -> None:
    points = curve(LISTS, parse("recall@2"), "k", deepest=4)
    assert [each.setting for each in points] == ["1", "2", "3", "4", "5", "10"]  # steps of 1, 2, 5 to the longest list
    assert np.diff([each.mean for each in points]).min() >= 0


def test_labels_of_the_pool_count_and_of_many_only_some() -> None:
    pool = replace(LISTS, pool=np.append(LISTS.relevance, 9.0), pool_offsets=np.append(LISTS.offsets[:-1], 201))
    assert [each.setting for each in curve(pool, parse("precision@2"), "threshold")] == ["1", "2", "4", "9"]
    many = replace(LISTS, relevance=RANDOM.random(200))
    thresholds = [float(each.setting) for each in curve(many, parse("precision@2"), "threshold")]
    assert len(thresholds) == LABELS + 1
    assert thresholds[0] == many.relevance.min()
    assert thresholds[-1] == 1.0  # the metric's own


def test_an_option_that_a_metric_lacks_is_refused() -> None:
    for name, over, able in (
        ("rprec", "k", "ndcg, dcg, mrr, ap, "),
        ("ap", "gain", "ndcg, dcg$"),
        ("mrr", "discount", "ndcg, dcg$"),
        ("ndcg", "threshold", "mrr, ap, "),
    ):
        with pytest.raises(ValueError, match=rf"^{name}: has no {over} to vary; wanted one of {able}"):
            curve(LISTS, parse(name), over)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^over: wanted one of k, gain, discount, threshold, got 'ties'$"):
        curve(LISTS, parse("ndcg"), "ties")  # type: ignore[arg-type]


def test_the_metric_of_a_point_is_the_one_that_was_asked_for_but_for_the_option() -> None:
    points = curve(LISTS, parse("ndcg-linear-zero@3"), "discount")
    assert [parse(each.metric) for each in points][3] == replace(parse("ndcg-linear-zero@3"), discount=Geometric(0.8))

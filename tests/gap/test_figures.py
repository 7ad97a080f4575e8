"""Figures: means over the lists that they apply to, with the intervals of ltr.intervals."""

import numpy as np
import pytest
from scipy.stats import ttest_ind

from ltr.gap.figures import Figure, difference, figure
from ltr.intervals import interval


def test_it_is_the_weighted_mean_and_its_interval_over_the_lists_it_applies_to() -> None:
    values, weight = [0.1, np.nan, 0.5, 0.9, 7.0], [1.0, 1.0, 2.0, 1.0, 0.0]
    found = figure(values, "ndcg", weight, seed=3)
    low, high, _ = interval([0.1, 0.5, 0.9], [1.0, 2.0, 1.0], 3)
    assert found == Figure(pytest.approx((0.1 + 2 * 0.5 + 0.9) / 4), "ndcg", low, high, 3)


def test_where_nothing_applies_there_is_no_value() -> None:
    assert figure([np.nan, np.nan], "ndcg") == Figure(None, "ndcg")
    assert figure([], "ndcg") == Figure(None, "ndcg")


@pytest.mark.parametrize(("values", "sure"), [([0.5], True), ([0.5, 0.25], False)])
def test_one_list_or_no_wish_has_no_interval(values: list[float], sure: bool) -> None:
    found = figure(values, "ndcg", sure=sure)
    assert (found.value, found.low, found.high, found.lists) == (np.mean(values), None, None, len(values))


def test_a_row_has_every_field_by_name() -> None:
    assert figure([0.5], "nats").row() == {"value": 0.5, "unit": "nats", "low": None, "high": None, "lists": 1}


def test_a_difference_has_the_interval_of_welch() -> None:
    generator = np.random.default_rng(0)
    first, second = generator.normal(1, 2, 30), generator.normal(0, 1, 12)
    found = difference([*first, np.nan], second, "ndcg")
    judged = ttest_ind(first, second, equal_var=False)
    low, high = judged.confidence_interval(0.95)
    assert found == Figure(pytest.approx(first.mean() - second.mean()), "ndcg", *map(pytest.approx, (low, high)), 42)


def test_a_difference_weighs_the_lists() -> None:
    found = difference([1.0, 3.0], [0.0, 0.0, 7.0], "ndcg", ([1.0, 3.0], [1.0, 1.0, 0.0]))
    assert found.value == 2.5


@pytest.mark.parametrize(("first", "second"), [([1.0], [0.5, 0.25]), ([0.5, 0.5], [0.25, 0.25])])
def test_without_spread_a_difference_has_no_interval(first: list[float], second: list[float]) -> None:
    found = difference(first, second, "ndcg")
    assert (found.value, found.low, found.high) == (np.mean(first) - np.mean(second), None, None)


def test_a_difference_to_nothing_is_nothing() -> None:
    assert difference([1.0], [np.nan], "ndcg") == Figure(None, "ndcg")

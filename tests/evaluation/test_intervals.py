"""Bootstrap intervals against scipy's, and where there is nothing to resample."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from ltr.evaluation import intervals
from ltr.evaluation.intervals import interval


@pytest.mark.parametrize(("size", "skewed"), [(12, False), (40, True), (300, True)])
def test_agrees_with_scipy_within_monte_carlo_error(size: int, skewed: bool) -> None:
    value = np.random.default_rng(size).beta(0.5, 2, size) if skewed else np.random.default_rng(size).random(size)
    ours = interval(value, seed=1)
    theirs = bootstrap((value,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(2))
    error = 0.15 * value.std() / np.sqrt(size)  # three times the spread of both tails over seeds
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=error)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=error)
    assert ours.method == "BCa bootstrap, 10000 resamples"


def test_the_same_seed_gives_the_same_interval() -> None:
    value = np.random.default_rng(0).random(20)
    assert interval(value, seed=3) == interval(value, seed=3) != interval(value, seed=4)


def test_covers_the_mean_of_a_skewed_distribution_about_as_often_as_it_says(monkeypatch: Any) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 1000)
    drawn = np.random.default_rng(7).exponential(size=(300, 50))
    ends = [interval(row, seed=seed) for seed, row in enumerate(drawn)]
    assert 0.90 <= np.mean([low <= 1 <= high for low, high, _ in ends]) <= 0.97


def test_a_list_of_weight_0_does_not_count_and_weights_draw() -> None:
    assert interval([0.1, 0.9, 0.4, 0.7], [1, 0, 1, 1]) == interval([0.1, 0.4, 0.7])
    heavy = interval([0.1, 0.9, 0.4, 0.7], [1, 20, 1, 1])
    assert heavy.low > interval([0.1, 0.9, 0.4, 0.7]).low


@pytest.mark.parametrize("values", [[], [0.5]])
def test_one_list_says_nothing(values: list[float]) -> None:
    low, high, method = interval(values)
    assert (np.isnan(low), np.isnan(high), method) == (True, True, "needs two lists")


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert interval([0.1 + 0.2, 0.3]) == (0.1 + 0.2, 0.1 + 0.2, "all values are equal")


def test_percentiles_where_bca_has_no_value() -> None:
    low, high, method = interval([0.0, 0.0, 0.0, 1e-300])
    assert method == "percentile bootstrap, 10000 resamples"
    assert 0 <= low < 0.25e-300 < high <= 1e-300

"""BCa intervals against scipy's and against their slow definition, and where there is nothing to tell."""

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import bootstrap, norm

from ltr import intervals
from ltr.evaluation import aggregate, evaluate, sign_flip
from ltr.intervals import CLOSED, counting, interval

Doubles = NDArray[np.float64]


def ndcg_like(n: int, generator: np.random.Generator) -> Doubles:
    value, spike = generator.beta(0.8, 1.2, n), generator.random(n)
    return np.select([spike < 0.15, spike > 0.9], [0, 1], value)


def rr_like(n: int, generator: np.random.Generator) -> Doubles:
    rank = generator.geometric(0.12, n)
    return np.where(rank <= 10, 1 / rank, 0)


def weighted_mean(value: Doubles, weight: Doubles, axis: int) -> Doubles:
    mean: Doubles = (value * weight).sum(axis) / weight.sum(axis)
    return mean


def bca(value: Doubles, weight: Doubles) -> tuple[float, float]:
    found = bootstrap(
        (value, weight), weighted_mean, paired=True, n_resamples=20_000, batch=5000, rng=np.random.default_rng(2)
    )
    return tuple(found.confidence_interval)


@pytest.mark.parametrize(("size", "skewed"), [(12, False), (40, True), (CLOSED - 1, True)])
def test_agrees_with_scipy_within_monte_carlo_error(size: int, skewed: bool) -> None:
    value = np.random.default_rng(size).beta(0.5, 2, size) if skewed else np.random.default_rng(size).random(size)
    ours = interval(value, seed=1)
    error = 0.15 * value.std() / np.sqrt(size)  # three times the spread of both tails over seeds
    assert ours[:2] == pytest.approx(bca(value, np.ones(size)), abs=error)
    assert ours.method == "BCa bootstrap, 10000 resamples"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("draw", [ndcg_like, rr_like])
def test_the_closed_form_agrees_with_bca_within_3_percent_of_the_width(
    draw: Callable[[int, np.random.Generator], Doubles], weighted: bool
) -> None:
    generator = np.random.default_rng(9)
    value = draw(CLOSED, generator)
    weight = generator.lognormal(0, 0.7, CLOSED) if weighted else np.ones(CLOSED)
    low, high, method = interval(value, weight)
    assert (low, high) == pytest.approx(bca(value, weight), abs=0.03 * (high - low))
    assert method == f"BCa in closed form, {CLOSED} lists"


def abc(value: Doubles, weight: Doubles, z: float) -> float:
    """An end of the ABC interval by numerical derivatives: Efron, Tibshirani (1993), chapter 22, their abcnon."""

    def mean(share: Doubles) -> float:
        return float((share * weight * value).sum() / (share * weight).sum())

    n = len(value)
    even, step = np.full(n, 1 / n), 0.02 / n
    here = mean(even)
    up, down = (np.array([mean(even + sign * step * (row - even)) for row in np.eye(n)]) for sign in (1, -1))
    first, second = (up - down) / (2 * step), (up + down - 2 * here) / step**2
    sigma = np.sqrt((first**2).sum()) / n
    a = (first**3).sum() / (6 * n**3 * sigma**3)
    along = first / (n**2 * sigma)
    quadratic = (mean(even + step * along) + mean(even - step * along) - 2 * here) / (2 * sigma * step**2)
    curvature = second.sum() / (2 * n**2) / sigma - quadratic
    w = norm.ppf(2 * norm.cdf(a) * norm.cdf(-curvature)) + z
    return mean(even + w / (1 - a * w) ** 2 * along)


def test_the_closed_form_is_the_abc_interval() -> None:
    generator = np.random.default_rng(3)
    value, weight = rr_like(CLOSED, generator), generator.lognormal(0, 1, CLOSED)
    low, high, _ = interval(value, weight)
    assert low == pytest.approx(abc(value, weight, norm.ppf(0.025)), abs=1e-6)
    assert high == pytest.approx(abc(value, weight, norm.ppf(0.975)), abs=1e-6)


@pytest.mark.parametrize("draw", [ndcg_like, rr_like])
def test_the_closed_form_misses_the_mean_equally_often_on_both_sides(
    draw: Callable[[int, np.random.Generator], Doubles],
) -> None:
    generator = np.random.default_rng(4)
    true = draw(1_000_000, generator).mean()
    ends = np.array([interval(draw(CLOSED, generator))[:2] for _ in range(4000)])
    assert (ends[:, 0] > true).mean() == pytest.approx(0.025, abs=0.0075)  # three standard errors
    assert (ends[:, 1] < true).mean() == pytest.approx(0.025, abs=0.0075)


def test_many_lists_need_no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    value = np.random.default_rng(5).random(CLOSED)
    assert interval(value).method == f"BCa in closed form, {CLOSED} lists"
    with pytest.raises(ImportError):
        interval(value[1:])


@pytest.mark.parametrize("unit", [1e-300, 1e150])
def test_the_closed_form_keeps_its_place_in_any_unit(unit: float) -> None:
    generator = np.random.default_rng(6)
    value, weight = generator.random(CLOSED), generator.random(CLOSED)
    low, high, _ = interval(value, weight)
    assert interval(value * unit, weight * unit)[:2] == pytest.approx((low * unit, high * unit), rel=1e-9)


def test_one_success_in_many_lists_keeps_the_interval_between_the_extremes() -> None:
    low, high, _ = interval(np.eye(1, 1000)[0])
    assert low == 0
    assert 0.004 < high < 0.0065  # 5.6 of 1,000 is the exact binomial end


def test_a_list_of_almost_all_the_weight_keeps_the_interval_between_the_extremes() -> None:
    value = np.random.default_rng(8).random(CLOSED)
    weight = np.where(np.arange(CLOSED) == 0, 1e9, 1)
    low, high, _ = interval(value, weight)
    assert value.min() <= low <= np.average(value, weights=weight) <= high <= value.max()


def test_the_same_seed_gives_the_same_interval() -> None:
    value = np.random.default_rng(0).random(20)
    assert interval(value, seed=3) == interval(value, seed=3) != interval(value, seed=4)


def test_covers_the_mean_of_a_skewed_distribution_about_as_often_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_a_value_that_is_not_finite_says_nothing(strange: float) -> None:
    low, high, method = interval([0.1, strange, 0.3])
    assert (np.isnan(low), np.isnan(high), method) == (True, True, "a value is not finite")


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert interval([0.1 + 0.2, 0.3]) == (0.1 + 0.2, 0.1 + 0.2, "all values are equal")


def test_percentiles_where_bca_has_no_value() -> None:
    low, high, method = interval([0.0, 0.0, 0.0, 1e-300])
    assert method == "percentile bootstrap, 10000 resamples"
    assert 0 <= low < 0.25e-300 < high <= 1e-300


@pytest.mark.parametrize(
    ("values", "weight", "message"),
    [
        ([1, 2], [1, -1], "weight must be a number from 0 on: list 1 has -1"),
        ([1, 2], [np.nan, 1], "weight must be a number from 0 on: list 0 has nan"),
        ([1, 2], [np.inf, 1], "weight must be a number from 0 on: list 0 has inf"),
        ([1, 2], [1], "wanted one value and one weight a list, [lists] each; got [2] and [1]"),
        ([[1, 2]], None, "wanted one value and one weight a list, [lists] each; got [1, 2] and [1, 2]"),
    ],
)
def test_weights_that_are_none_are_refused(values: list[float], weight: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        counting(values, weight)


@pytest.mark.parametrize("seed", ["x", -1, 1.0, True, None, np.float64(2)])
@pytest.mark.parametrize(
    "use",
    [
        lambda seed: interval([0.5], seed=seed),
        lambda seed: aggregate("min", [0.5], seed=seed),
        lambda seed: sign_flip([0.5], seed=seed),
        lambda seed: evaluate([1], [0.5], metrics="mrr", seed=seed),
    ],
)
def test_a_seed_is_a_whole_number_however_few_lists_there_are(use: Callable[[Any], Any], seed: object) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'seed: wanted a whole number from 0 on, got {seed!r}')}$"):
        use(seed)

"""Means of every kind against their definitions, their spread against repeated samples, and slices of the lists."""

import re
from datetime import date
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, bootstrap

from ltr.evaluation.aggregates import HOW, POOLED, aggregate, check_how, slices
from ltr.intervals import interval
from ltr.metrics import METRICS

Doubles = NDArray[np.float64]
SKEWED = np.random.default_rng(0).beta(0.5, 2, 60)
WEIGHT = np.random.default_rng(1).integers(0, 4, 60).astype(float)


def test_a_mean_of_equal_lists_is_what_every_textbook_says() -> None:
    found = aggregate("mean", SKEWED, seed=3)
    assert found[:3] == pytest.approx((SKEWED.mean(), SKEWED.std(ddof=1), SKEWED.std(ddof=1) / sqrt(60)))
    assert found.interval == interval(SKEWED, seed=3)
    assert found.lists == 60


def test_a_weighted_mean_worked_by_hand() -> None:
    found = aggregate("mean", [0.0, 1.0, 0.5], [1, 1, 2])
    assert found.value == (0 + 1 + 2 * 0.5) / 4
    assert found.sd == pytest.approx(sqrt((0.25 + 0.25 + 0) / (4 - (1 + 1 + 4) / 4)))
    assert found.se == pytest.approx(sqrt(3 / 2 * (0.25 + 0.25 + 0)) / 4)


@pytest.mark.parametrize("how", HOW)
def test_a_list_of_weight_0_does_not_count_and_the_unit_of_weights_does_not_matter(how: Any) -> None:
    parts = {"numerator": SKEWED * 3, "denominator": np.full(60, 3.0)}
    found = aggregate(how, SKEWED, WEIGHT, **parts)
    kept = WEIGHT > 0
    some = {name: part[kept] for name, part in parts.items()}
    other = aggregate(how, SKEWED[kept], WEIGHT[kept], **some)
    assert found[:3] == pytest.approx(other[:3], nan_ok=True)
    assert found.interval[:2] == pytest.approx(other.interval[:2], nan_ok=True)
    assert found[:3] == pytest.approx(aggregate(how, SKEWED, WEIGHT * 8, **parts)[:3], nan_ok=True)
    assert found.lists == kept.sum() < 60


def test_the_squared_sd_is_unbiased_where_weights_say_nothing_about_spread() -> None:
    generator = np.random.default_rng(2)
    weight = np.array([1.0, 2, 3, 4, 10])
    found = [aggregate("min", generator.normal(size=5), weight).sd ** 2 for _ in range(20_000)]
    assert np.mean(found) == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("how", ["mean", "micro", "geometric"])
def test_the_standard_error_is_the_spread_of_the_value_over_samples(how: Any) -> None:
    generator = np.random.default_rng(4)
    found = []
    for _ in range(2500):
        size = generator.integers(1, 20, 250)
        hits = generator.binomial(size, generator.beta(2, 3, 250))
        found.append(aggregate(how, (hits + 1) / (size + 1), generator.lognormal(0, 0.5, 250), hits, size)[:3:2])
    value, se = np.array(found).T
    assert np.sqrt((se**2).mean()) == pytest.approx(value.std(), rel=0.05)


def test_the_metrics_that_micro_pools_are_those_that_are_fractions() -> None:
    assert set(POOLED) == {base for base, metric in METRICS.items() if hasattr(metric, "fraction")}
    for base, metric in METRICS.items():
        for how in HOW:
            if how != "micro" or base in POOLED:
                check_how(how, base, hasattr(metric, "fraction"))


def test_micro_pools_the_lists() -> None:
    found = aggregate("micro", [0.5, 0.1, 0.0], [1, 2, 1], [1, 1, 0], [2, 10, 0])
    assert found.value == pytest.approx((1 + 2) / (2 + 20))
    assert found.lists == 2


def test_micro_has_the_interval_of_the_ratio_of_sums() -> None:
    generator = np.random.default_rng(5)
    size = generator.integers(0, 30, 120)
    hits = generator.binomial(size, generator.beta(2, 3, 120))

    def ratio(hits: Doubles, size: Doubles, axis: int) -> Doubles:
        found: Doubles = hits.sum(axis) / size.sum(axis)
        return found

    theirs = bootstrap((hits, size), ratio, paired=True, n_resamples=20_000, rng=generator).confidence_interval
    value, _, _, (low, high, method), _ = aggregate("micro", hits, None, hits, size)
    assert value == hits.sum() / size.sum()
    assert (low, high) == pytest.approx(theirs, abs=0.04 * (high - low))
    assert method == "BCa bootstrap, 10000 resamples"


@pytest.mark.parametrize("size", [1, 2, 5, 6, 7, 50])
def test_the_median_is_the_middle_and_weights_are_repetitions(size: int) -> None:
    assert aggregate("median", SKEWED[:size]).value == pytest.approx(np.median(SKEWED[:size]))
    repeated = np.repeat(SKEWED, WEIGHT.astype(int))
    assert aggregate("median", SKEWED, WEIGHT * 0.1).value == pytest.approx(np.median(repeated))


def test_the_interval_of_a_median_is_the_narrowest_of_order_statistics_that_covers_95_percent() -> None:
    wider = []
    for size in range(6, 200):
        low, high, method = aggregate("median", np.arange(1.0, size + 1)[::-1]).interval
        assert (low + high, method) == (size + 1, f"order statistics, {size} lists")
        assert binom.cdf(low - 1, size, 0.5) <= 0.025  # so many below the median, and the interval lies above it
        if binom.cdf(low, size, 0.5) <= 0.025:
            wider.append(size)
    assert wider == [17, 44, 67, 94, 138, 190]  # where the normal approximation errs, to the safe side, by one place


def test_the_interval_of_a_weighted_median_covers_it() -> None:
    generator = np.random.default_rng(6)
    ends = [aggregate("median", generator.exponential(size=80), generator.random(80)).interval for _ in range(2000)]
    assert 0.94 <= np.mean([low <= log(2) <= high for low, high, _ in ends]) <= 0.98


def test_five_lists_have_no_interval_of_the_median() -> None:
    low, high, method = aggregate("median", [1, 2, 3, 4, 5]).interval
    assert (np.isnan(low), np.isnan(high), method) == (True, True, "an interval of the median needs six lists")


def test_the_geometric_mean_lifts_what_is_below_1e_5_as_trec_eval_does() -> None:
    found = aggregate("geometric", [0.0, 1e-7, 0.1, 0.4], [1, 1, 1, 2])
    assert found.value == pytest.approx(exp((log(1e-5) + log(1e-5) + log(0.1) + 2 * log(0.4)) / 5))
    logs = interval(np.log([1e-5, 1e-5, 0.1, 0.4]), [1, 1, 1, 2])
    assert found.interval[:2] == pytest.approx((exp(logs.low), exp(logs.high)))
    assert found.interval.method == "BCa bootstrap, 10000 resamples, of logarithms"


def test_the_worst_list_stands_alone() -> None:
    value, sd, se, (low, high, method), lists = aggregate("min", [0.3, 0.1, 0.2], [1, 0, 1])
    assert (value, sd, lists) == (0.2, pytest.approx(sqrt(0.005)), 2)
    assert np.isnan([se, low, high]).all()
    assert method == "the worst list has no interval"


@pytest.mark.parametrize("how", HOW)
def test_no_list_and_one_list(how: Any) -> None:
    value, sd, se, (low, high, method), lists = aggregate(how, [], None, [], [])
    assert np.isnan([value, sd, se, low, high]).all()
    assert (method, lists) == ("needs two lists", 0)
    value, sd, se, (low, high, _), lists = aggregate(how, [0.5], None, [1], [2])
    assert (value, lists) == (pytest.approx(0.5), 1)
    assert np.isnan([sd, se, low, high]).all()


@pytest.mark.parametrize("how", ["mean", "median", "geometric"])
def test_one_list_of_almost_all_the_weight_is_no_division_by_zero(how: Any) -> None:
    assert aggregate(how, [0.5, 0.1], [1e300, 1e-300]).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("average", [1]),
            "rr@10: wanted an aggregate that is one of mean, micro, median, geometric, min; got 'average'",
        ),
        (
            ("micro", [1]),
            "rr@10: micro pools numerators and denominators over lists, which precision, recall, f1, ndcg, dcg have; "
            "take mean for other metrics",
        ),
        (
            ("micro", [], None, [1], [1, 2]),
            "rr@10: micro wants one numerator, denominator and weight a list; got [1], [2] and [2]",
        ),
        (("micro", [], None, [1, 1], [1, 0]), "rr@10: micro cannot pool list 1, which has 1 of 0"),
        (("micro", [], None, [1, 1], [-2, 0]), "rr@10: micro cannot pool list 0, which has 1 of -2"),
        (("micro", [], None, [1], [np.nan]), "rr@10: micro cannot pool list 0, which has 1 of nan"),
        (("micro", [], None, [np.inf], [1]), "rr@10: micro wants finite values; list 0 has inf"),
        (("mean", [1, np.nan]), "rr@10: mean wants finite values; list 1 has nan"),
        (("mean", [1, 0, np.nan], [0, 1, 1]), "rr@10: mean wants finite values; list 2 has nan"),
        (("geometric", [1, -0.5]), "rr@10: geometric wants values from 0 on; list 1 has -0.5"),
        (("mean", [1, 2], [1, -1]), "weight must be a number from 0 on: list 1 has -1"),
        (("mean", [1, 2], [1]), "wanted one value and one weight a list, [lists] each; got [2] and [1]"),
    ],
)
def test_what_has_no_aggregate_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        aggregate(*arguments, metric="rr@10")


def test_what_does_not_count_may_be_anything() -> None:
    assert aggregate("mean", [0.5, np.nan], [1, 0]).value == 0.5
    assert aggregate("micro", [0.5, np.nan], [1, 0], [1, 5], [2, np.nan]).value == 0.5


def names_and_rows(attribute: Any, by: Any = None) -> list[tuple[str, list[int]]]:
    return [(name, rows.tolist()) for name, rows in slices(attribute, by).items()]


def test_slices_stand_in_order_of_first_appearance_and_hold_every_list_once() -> None:
    assert names_and_rows(np.array(["web", "shop", "web"])) == [("web", [0, 2]), ("shop", [1])]
    assert names_and_rows([3, 1, 3]) == [("3", [0, 2]), ("1", [1])]
    assert names_and_rows([]) == []


def test_slices_without_a_value_are_one_group_at_the_end() -> None:
    assert names_and_rows([None, "b", float("nan"), "", "a"]) == [("b", [1]), ("a", [4]), ("(missing)", [0, 2, 3])]
    assert names_and_rows([np.nan, 2.5]) == [("2.5", [1]), ("(missing)", [0])]


@pytest.mark.parametrize("by", ["year", "month"])
def test_dates_of_every_iso_form_are_grouped_in_order_of_time(by: Any) -> None:
    dates = ["2024-03-01", "2023-12-31T23:59:59Z", "2024-03", None, "2024-01-02 10:30", "20240301"]
    year = [("2023", [1]), ("2024", [0, 2, 4, 5]), ("(missing)", [3])]
    month = [("2023-12", [1]), ("2024-01", [4]), ("2024-03", [0, 2, 5]), ("(missing)", [3])]
    assert names_and_rows(dates, by) == (year if by == "year" else month)


def test_dates_of_numpy_and_of_python() -> None:
    dates = np.array(["2024-03-01T12:00", "NaT", "0900-01-01"], dtype="datetime64[s]")
    assert names_and_rows(dates, "month") == [("0900-01", [2]), ("2024-03", [0]), ("(missing)", [1])]
    assert names_and_rows([date(2024, 3, 1)], "year") == [("2024", [0])]
    assert names_and_rows(np.array([2024, 2023]), "year") == [("2023", [1]), ("2024", [0])]


@pytest.mark.parametrize(
    ("by", "given", "message"),
    [
        ("month", "2024", "by=month: wanted an ISO date such as 2024-03-01, list 1 has '2024'"),
        ("year", "2024-13-01", "by=year: wanted an ISO date such as 2024-03-01, list 1 has '2024-13-01'"),
        ("year", "March", "by=year: wanted an ISO date such as 2024-03-01, list 1 has 'March'"),
        ("week", "2024-03-01", "by: wanted year or month, got 'week'"),
    ],
)
def test_what_is_no_date_is_refused(by: Any, given: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        slices(["2024-03-01", given], by)


def test_the_slices_of_a_mean_weigh_together_to_the_whole() -> None:
    attribute = np.array(["a", "b", "c"])[np.random.default_rng(8).integers(0, 3, 60)]
    parts = {name: aggregate("mean", SKEWED[rows], WEIGHT[rows]) for name, rows in slices(attribute).items()}
    weights = {name: WEIGHT[rows].sum() for name, rows in slices(attribute).items()}
    whole = aggregate("mean", SKEWED, WEIGHT)
    assert sum(part.lists for part in parts.values()) == whole.lists
    assert sum(parts[name].value * weights[name] for name in parts) / WEIGHT.sum() == pytest.approx(whole.value)

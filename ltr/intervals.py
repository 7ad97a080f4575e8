"""How sure a mean over lists is: BCa intervals, by the bootstrap for few lists, in closed form for many."""

from __future__ import annotations

import warnings
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Doubles = NDArray[np.float64]

RESAMPLES = 10_000
LEVEL = 0.95
Z = NormalDist().inv_cdf((1 + LEVEL) / 2)
CELLS = 1 << 22  # resampled values held at once
FEW = 50  # lists below which intervals of a mean cover less than they say
CLOSED = 200  # lists from which the closed form is as near to BCa as 10,000 resamples are


class Interval(NamedTuple):
    """Where the mean lies with 95 % confidence, and by which method; NaN where there is no telling."""

    low: float
    high: float
    method: str


def interval(values: ArrayLike, weight: ArrayLike | None = None, seed: int = 0) -> Interval:
    """The 95 % BCa interval (bias-corrected, accelerated) of sum(weight * values) / sum(weight) over lists drawn again.

    Below 200 lists from 10,000 resamples; by percentiles where BCa has no value (all resamples on one side). From 200
    lists on by BCa's own second-order expansion, without resampling (the ABC interval). With the influence of a list
    u = weight * (value - mean), a = sum u^3 / (6 (sum u^2)^(3/2)) and w = a -+ 1.96, an end is the mean under the
    weights weight * max(0, 1 + w / (1 - a w)^2 * u / sqrt(sum u^2)). The method says which it was.

    Source: Efron (1987), Better bootstrap confidence intervals; DiCiccio, Efron (1992), More accurate confidence
    intervals in exponential families. For a ratio of means, ABC's bias correction z0 equals a, so a is all it needs.

    Args:
        values: [n] one value a list.
        weight: [n] >= 0; a list is drawn with its weight, and one of weight 0 does not count; all 1 when None.
        seed: of the resampling.

    Raises:
        ValueError: the shapes differ, a weight is negative or no number, or the seed is no whole number from 0 on.

    Example:
        >>> low, high, method = interval([0.1, 0.4, 0.5, 0.9, 0.3, 0.6])
        >>> bool(0.2 < low < 0.3 and 0.6 < high < 0.75), method
        (True, 'BCa bootstrap, 10000 resamples')
        >>> interval([0.0, 1.0] * 500)
        Interval(low=0.469, high=0.531, method='BCa in closed form, 1000 lists')
        >>> interval([0.5, 0.5])
        Interval(low=0.5, high=0.5, method='all values are equal')
    """
    check_seed(seed)
    value, weights = counting(values, weight)
    if len(value) < 2:
        return Interval(np.nan, np.nan, "needs two lists")
    if not np.isfinite(value).all():
        return Interval(np.nan, np.nan, "a value is not finite")
    if np.ptp(value) <= 1e-12 * np.abs(value).max():
        return Interval(float(value[0]), float(value[0]), "all values are equal")
    if len(value) >= CLOSED:
        return Interval(*_closed(value, weights), f"BCa in closed form, {len(value)} lists")
    return _resampled(value, weights, seed)


def check_seed(seed: object) -> None:
    """Raises ValueError when it is no whole number from 0 on."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed: wanted a whole number from 0 on, got {seed!r}")


def counting(values: ArrayLike, weight: ArrayLike | None = None) -> tuple[Doubles, Doubles]:
    """The values and weights of the lists that count: those of positive weight.

    Args:
        values: [n] one value a list.
        weight: [n] >= 0; all 1 when None.

    Raises:
        ValueError: the shapes differ, or a weight is negative or no number.

    Example:
        >>> counting([0.1, 0.9, 0.4], [1, 0, 2])
        (array([0.1, 0.4]), array([1., 2.]))
    """
    value = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(value) if weight is None else np.asarray(weight, dtype=np.float64)
    if value.ndim != 1 or weights.shape != value.shape:
        raise ValueError(
            f"wanted one value and one weight a list, [lists] each; got {list(value.shape)} and {list(weights.shape)}"
        )
    wrong = ~((weights >= 0) & (weights < np.inf))
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(f"weight must be a number from 0 on: list {first} has {weights[first]:g}")
    return value[weights > 0], weights[weights > 0]


def _closed(value: Doubles, weight: Doubles) -> tuple[float, float]:
    weight = weight / weight.max()  # the cubes of very small weights vanish
    influence = weight * (value - np.average(value, weights=weight))
    influence /= np.abs(influence).max()
    influence /= np.sqrt(influence @ influence)
    skew = (influence * influence) @ influence / 6
    ends = skew + np.array([-Z, Z])
    low, high = (
        np.average(value, weights=weight * np.maximum(0, 1 + tilt * influence))
        for tilt in ends / (1 - skew * ends) ** 2
    )
    return float(low), float(high)


def _resampled(value: Doubles, weight: Doubles, seed: int) -> Interval:
    from scipy.stats import bootstrap  # late: it takes most of a second to import

    for method in ("BCa", "percentile"):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # that BCa has no value is what the loop is for
            found = bootstrap(
                (value, weight),
                _weighted_mean,
                paired=True,
                vectorized=True,
                confidence_level=LEVEL,
                n_resamples=RESAMPLES,
                batch=max(1, CELLS // len(value)),
                method=method,
                rng=np.random.default_rng(seed),
            ).confidence_interval
        if np.isfinite([found.low, found.high]).all():
            break
    return Interval(float(found.low), float(found.high), f"{method} bootstrap, {RESAMPLES} resamples")


def _weighted_mean(value: Doubles, weight: Doubles, axis: int) -> Doubles:
    mean: Doubles = (value * weight).sum(axis) / weight.sum(axis)
    return mean

"""How sure a mean over lists is: a bootstrap interval."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 10_000
LEVEL = 0.95
CELLS = 1 << 22  # resampled values held at once


class Interval(NamedTuple):
    """Where the mean lies with 95 % confidence, and by which method; NaN where there is no telling."""

    low: float
    high: float
    method: str


def interval(values: ArrayLike, weight: ArrayLike | None = None, seed: int = 0) -> Interval:
    """The 95 % interval of sum(weight * values) / sum(weight) over lists drawn again, 10,000 times.

    Bias-corrected and accelerated; percentiles where that has no value (all resamples on one side). The method says
    which it was. Source: Efron (1987), Better bootstrap confidence intervals.

    Args:
        values: [n] one value a list, finite.
        weight: [n] >= 0; a list is drawn with its weight; 1 when None.
        seed: of the resampling.

    Example:
        >>> low, high, method = interval([0.1, 0.4, 0.5, 0.9, 0.3, 0.6])
        >>> bool(0.2 < low < 0.3 and 0.6 < high < 0.75), method
        (True, 'BCa bootstrap, 10000 resamples')
        >>> interval([0.5, 0.5])
        Interval(low=0.5, high=0.5, method='all values are equal')
    """
    value = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(value) if weight is None else np.asarray(weight, dtype=np.float64)
    value, weights = value[weights > 0], weights[weights > 0]
    if len(value) < 2:
        return Interval(np.nan, np.nan, "needs two lists")
    if np.ptp(value) <= 1e-12 * np.abs(value).max():
        return Interval(float(value[0]), float(value[0]), "all values are equal")
    means = _resampled(value, weights, seed)
    tails = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    places = _accelerated(value, weights, means, tails)
    if np.isfinite(places).all():
        low, high = np.quantile(means, places)
        return Interval(float(low), float(high), f"BCa bootstrap, {RESAMPLES} resamples")
    low, high = np.quantile(means, tails)
    return Interval(float(low), float(high), f"percentile bootstrap, {RESAMPLES} resamples")


def _resampled(value: NDArray[np.float64], weight: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    step = max(1, CELLS // len(value))
    means = []
    for start in range(0, RESAMPLES, step):
        drawn = generator.integers(len(value), size=(min(step, RESAMPLES - start), len(value)))
        means.append((value * weight)[drawn].sum(1) / weight[drawn].sum(1))
    return np.concatenate(means)


def _accelerated(
    value: NDArray[np.float64], weight: NDArray[np.float64], means: NDArray[np.float64], tails: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The two tails moved by the bias of the resampled means and by the skewness of the lists' influence."""
    from scipy.special import ndtr, ndtri

    total, mass = (value * weight).sum(), weight.sum()
    below = np.mean(means < total / mass) + np.mean(means == total / mass) / 2
    without = (total - value * weight) / (mass - weight)  # the mean without each list
    influence = without.mean() - without
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = (influence**3).sum() / (6 * (influence**2).sum() ** 1.5)
        bias = ndtri(below)
        moved = bias + ndtri(tails)
        places: NDArray[np.float64] = ndtr(bias + moved / (1 - skew * moved))
    return places

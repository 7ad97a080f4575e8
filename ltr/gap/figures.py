"""A number that a diagnosis rests on: with its unit, and how sure it is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ltr.intervals import interval


class Figure(NamedTuple):
    """A value in a unit; with its 95 % interval where it is a mean over lists, else low and high are None."""

    value: float | None  # None: there is nothing to say
    unit: str
    low: float | None = None
    high: float | None = None
    lists: int = 0  # that it is over

    def row(self) -> dict[str, Any]:
        return self._asdict()


def figure(
    values: ArrayLike, unit: str, weight: ArrayLike | None = None, *, sure: bool = True, seed: int = 0
) -> Figure:
    """The mean over lists, with its query-bootstrap interval.

    Args:
        values: [B] one value a list; NaN for a list that it does not apply to, which is left out.
        unit: of the values.
        weight: [B] >= 0, of each list; 1 when None.
        sure: work out the interval too.
        seed: of the resampling.

    Example:
        >>> found = figure([0.1, 0.3, float("nan"), 0.2], "ndcg@10")
        >>> round(found.value, 2), found.lists, found.low < 0.2 < found.high
        (0.2, 3, True)
    """
    value = np.asarray(values, dtype=np.float64)
    weights = np.ones_like(value) if weight is None else np.asarray(weight, dtype=np.float64)
    heard = ~np.isnan(value) & (weights > 0)
    value, weights = value[heard], weights[heard]
    if not len(value):
        return Figure(None, unit)
    mean = float((value * weights).sum() / weights.sum())
    if not sure or len(value) < 2:
        return Figure(mean, unit, lists=len(value))
    low, high, _ = interval(value, weights, seed)
    if np.isnan(low):
        return Figure(mean, unit, lists=len(value))
    return Figure(mean, unit, low, high, len(value))


def difference(
    first: ArrayLike, second: ArrayLike, unit: str, weights: tuple[ArrayLike, ArrayLike] | None = None
) -> Figure:
    """The mean over some lists minus the mean over other ones, with Welch's interval.

    ``low, high = difference -+ t sqrt(v_1 + v_2)``, v the squared standard error of a weighted mean and t of Welch's
    degrees of freedom. Source: Welch (1947), The generalization of Student's problem when several different population
    variances are involved.

    Args:
        first, second: [B], [C] one value a list; NaN for a list that it does not apply to, which is left out.
        unit: of the values.
        weights: [B] and [C] >= 0, of each list; 1 when None.

    Example:
        >>> found = difference([0.5, 0.7, 0.6], [0.3, 0.1, 0.2], "ndcg@10")
        >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
        (0.4, 0.17, 0.63)
    """
    from scipy.special import stdtrit  # late, as all of scipy

    means, errors, free, lists = [], [], [], 0
    for values, weight in zip((first, second), weights or (None, None), strict=True):
        value = np.asarray(values, dtype=np.float64)
        share = np.ones_like(value) if weight is None else np.asarray(weight, dtype=np.float64)
        heard = ~np.isnan(value) & (share > 0)
        if not heard.any():
            return Figure(None, unit)
        value, share, many = value[heard], share[heard] / share[heard].sum(), int(heard.sum())
        means.append(float(value @ share))
        errors.append(float(share**2 @ (value - means[-1]) ** 2) * many / max(1, many - 1))
        free.append(many - 1)
        lists += many
    apart, variance = means[0] - means[1], sum(errors)
    if not all(free) or variance <= 0:
        return Figure(apart, unit, lists=lists)
    degrees = variance**2 / sum(each**2 / number for each, number in zip(errors, free, strict=True))
    reach = float(stdtrit(degrees, 0.975)) * variance**0.5
    return Figure(apart, unit, apart - reach, apart + reach, lists)

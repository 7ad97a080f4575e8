"""What one metric's values over lists come to: means of several kinds, how sure each is, and slices of the lists."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ltr.evaluation.padding import Doubles
from ltr.intervals import Interval, Z, check_seed, counting, interval

How = Literal["mean", "micro", "median", "geometric", "min"]
HOW: tuple[str, ...] = get_args(How)
POOLED = ("precision", "recall", "f1", "ndcg", "dcg")  # the metrics that are a ratio of sums over documents
SMALLEST = 1e-5  # what trec_eval's gm_map takes for less
MISSING = "(missing)"


class Aggregate(NamedTuple):
    """One number over lists, and how far it can be trusted; NaN where there is no such thing."""

    value: float
    sd: float  # standard deviation over lists
    se: float  # standard error of the value
    interval: Interval  # 95 %
    lists: int  # of positive weight


def aggregate(
    how: How,
    values: ArrayLike,
    weight: ArrayLike | None = None,
    numerator: ArrayLike | None = None,
    denominator: ArrayLike | None = None,
    *,
    metric: str = "this metric",
    seed: int = 0,
) -> Aggregate:
    """Reduce the values of one metric over lists to one number.

    - "mean": sum w v / sum w, the macro mean.
    - "micro": sum w numerator / sum w denominator, all lists pooled; it is the mean of numerator / denominator under
      the weights w * denominator, and its spread, standard error and interval are those of that mean.
    - "median": the value that half of the weight lies below; its interval holds order statistics (Woodruff 1952).
    - "geometric": exp(mean(log(max(v, 1e-5)))), as trec_eval's gm_map; what is poor on one list stays visible.
    - "min": the worst list. It has no standard error and no interval.

    sd, of the values whatever ``how``, is sqrt(sum w (v - mean)^2 / (sum w - sum w^2 / sum w)): over n - 1 when all
    weights are equal; its square is unbiased where a weight is a list's importance and says nothing about its spread.
    se of a mean is sqrt(n / (n - 1) * sum (w (v - mean))^2) / sum w: sd / sqrt(n) when all weights are equal, and
    otherwise the ratio estimator's (Cochran 1977, Sampling Techniques), which takes weights as drawn with the lists.

    Args:
        how: one of the five.
        values: [n] one a list; "micro" looks at the parts alone.
        weight: [n] >= 0, a list of weight 0 does not count; all 1 when None.
        numerator: [n] for "micro": relevant documents found (twice for F1), or DCG.
        denominator: [n] for "micro": documents looked at, relevant documents, their sum for F1, or the ideal DCG; a
            list that has 0 does not count.
        metric: its name, for the messages.
        seed: of the intervals that resample.

    Raises:
        ValueError: ``how`` is unknown, "micro" lacks its parts, a value is not finite, "geometric" meets a negative
            one, shapes differ, or the seed is no whole number from 0 on.

    Example:
        >>> aggregate("mean", [0.2, 0.4, 0.9])[:3]
        (0.5, 0.3606, 0.2082)
        >>> aggregate("micro", [0.5, 0.1], numerator=[1, 1], denominator=[2, 10]).value
        0.1667
        >>> aggregate("geometric", [0.0, 0.1]).value, aggregate("median", [0.1, 0.2, 0.9, 0.8]).value
        (0.001, 0.5)
    """
    check_how(how, metric, numerator is not None and denominator is not None)
    check_seed(seed)
    if how == "micro" and numerator is not None and denominator is not None:
        values, weight = _parts(numerator, denominator, weight, metric)
    value, weights = counting(values, weight)
    wrong = ~np.isfinite(value) | ((value < 0) & (how == "geometric"))
    if wrong.any():
        row = np.flatnonzero(np.ones(len(value)) if weight is None else np.asarray(weight) > 0)[wrong.argmax()]
        wanted = "values from 0 on" if how == "geometric" else "finite values"
        raise ValueError(f"{metric}: {how} wants {wanted}; list {row} has {value[wrong][0]:g}")
    if not len(value):
        return Aggregate(np.nan, np.nan, np.nan, interval([]), 0)
    number, se, sure = _KINDS[how](value, weights, seed)
    return Aggregate(number, _sd(value, weights), se, sure, len(value))


def check_how(how: str, metric: str, pools: bool) -> None:
    """Refuse an aggregate that there is not, or that the metric does not have.

    Args:
        how: any text.
        metric: its name, for the message.
        pools: is it a ratio of sums over documents, ``hasattr(metric, "fraction")``?

    Raises:
        ValueError: such a one.
    """
    if how not in HOW:
        raise ValueError(f"{metric}: wanted an aggregate that is one of {', '.join(HOW)}; got {how!r}")
    if how == "micro" and not pools:
        raise ValueError(
            f"{metric}: micro pools numerators and denominators over lists, which {', '.join(POOLED)} have; "
            "take mean for other metrics"
        )


def slices(attribute: ArrayLike, by: Literal["year", "month"] | None = None) -> dict[str, NDArray[np.int64]]:
    """The lists of each value of an attribute, in order of first appearance; of each year or month in order of time.

    ``{name: aggregate(how, values[rows], weight[rows]) for name, rows in slices(attribute).items()}`` summarises each
    group as the whole is summarised.

    Args:
        attribute: [n] one a list: text, numbers or dates. None, NaN, NaT and "" are one group, "(missing)", at the end.
        by: read the attribute as ISO dates (2024-03-01, with or without a time) and group by "year" or "month".

    Returns:
        The value as text -> [m] indices of its lists, rising.

    Raises:
        ValueError: ``by`` is unknown, or a text is no ISO date.

    Example:
        >>> slices(["shop", "web", "shop"])
        {'shop': array([0, 2]), 'web': array([1])}
        >>> slices(["2024-03-09", "2023-12-31", "2024-03-01T10:30:00"], by="month")
        {'2023-12': array([1]), '2024-03': array([0, 2])}
    """
    if by not in (None, "year", "month"):
        raise ValueError(f"by: wanted year or month, got {by!r}")
    groups: dict[str, list[int]] = {}
    for row, given in enumerate(np.asarray(attribute)):
        text = "" if given is None else str(given)
        if text in ("", "nan", "NaT"):
            name = MISSING
        else:
            name = text if by is None else _period(text, by, row)
        groups.setdefault(name, []).append(row)
    names = list(groups) if by is None else sorted(groups)
    names.sort(key=lambda name: name == MISSING)
    return {name: np.array(groups[name], dtype=np.int64) for name in names}


def _period(text: str, by: Literal["year", "month"], row: int) -> str:
    day = {7: f"{text}-01", 4: f"{text}-01-01" if by == "year" else text}.get(len(text), text)
    try:
        return datetime.fromisoformat(day).isoformat()[: len("2024" if by == "year" else "2024-03")]
    except ValueError:
        raise ValueError(f"by={by}: wanted an ISO date such as 2024-03-01, list {row} has {text!r}") from None


def _parts(
    numerator: ArrayLike, denominator: ArrayLike, weight: ArrayLike | None, metric: str
) -> tuple[Doubles, Doubles]:
    """The ratio of each list, and the weight with which it enters the pooled ratio."""
    over, under = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    weights = np.ones_like(under) if weight is None else np.asarray(weight, dtype=np.float64)
    if over.ndim != 1 or not over.shape == under.shape == weights.shape:
        raise ValueError(
            f"{metric}: micro wants one numerator, denominator and weight a list; got "
            f"{list(over.shape)}, {list(under.shape)} and {list(weights.shape)}"
        )
    wrong = ~(under >= 0) | (under == np.inf) | ((under == 0) & (over != 0))
    if (wrong & (weights > 0)).any():
        row = int((wrong & (weights > 0)).argmax())
        raise ValueError(f"{metric}: micro cannot pool list {row}, which has {over[row]:g} of {under[row]:g}")
    return np.divide(over, under, out=np.zeros_like(over), where=under > 0), weights * np.nan_to_num(under)


def _sd(value: Doubles, weight: Doubles) -> float:
    if len(value) < 2:
        return np.nan
    weight = weight / weight.sum()
    squares, left = weight @ (value - weight @ value) ** 2, 1 - weight @ weight
    return float(np.sqrt(squares / left)) if left > 0 else np.nan


def _mean(value: Doubles, weight: Doubles, seed: int) -> tuple[float, float, Interval]:
    mean, n = float(weight @ value / weight.sum()), len(value)
    se = np.sqrt(n / (n - 1) * ((weight * (value - mean)) ** 2).sum()) / weight.sum() if n > 1 else np.nan
    return mean, float(se), interval(value, weight, seed)


def _geometric(value: Doubles, weight: Doubles, seed: int) -> tuple[float, float, Interval]:
    mean, se, (low, high, method) = _mean(np.log(np.maximum(value, SMALLEST)), weight, seed)
    middle = float(np.exp(mean))
    method = f"{method}, of logarithms" if low < high else method
    return middle, middle * se, Interval(float(np.exp(low)), float(np.exp(high)), method)


def _median(value: Doubles, weight: Doubles, seed: int) -> tuple[float, float, Interval]:
    """The order statistics i and n + 1 - i with i the nearest whole number to (n - 1.96 sqrt(n)) / 2; none below 6.

    Under weights n is Kish's effective number of lists, (sum w)^2 / sum w^2, and ranks are shares of the weight.
    """
    order = value.argsort()
    value, weight = value[order], weight[order] / weight.sum()

    def quantiles(share: float) -> tuple[float, float]:
        """The smallest value with at least this share of the weight up to it, and the largest with it from there on."""
        share -= 1e-12
        up, down = weight.cumsum().searchsorted(share), weight[::-1].cumsum().searchsorted(share)
        return float(value[up]), float(value[len(value) - 1 - down])

    effective = 1 / float(weight @ weight)
    outer = 0.5 - (Z * np.sqrt(effective) + 1) / (2 * effective)
    middle = sum(quantiles(0.5)) / 2
    if outer <= 0:
        return middle, np.nan, Interval(np.nan, np.nan, "an interval of the median needs six lists")
    return middle, np.nan, Interval(*quantiles(outer), f"order statistics, {len(value)} lists")


def _min(value: Doubles, weight: Doubles, seed: int) -> tuple[float, float, Interval]:
    return float(value.min()), np.nan, Interval(np.nan, np.nan, "the worst list has no interval")


_KINDS: dict[str, Callable[[Doubles, Doubles, int], tuple[float, float, Interval]]] = {
    "mean": _mean,
    "micro": _mean,
    "median": _median,
    "geometric": _geometric,
    "min": _min,
}

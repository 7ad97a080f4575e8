"""How a mean moves with the cutoff, the gain, the discount or the threshold that one chose."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ltr.discounts import Geometric, Letor, Log2, Reciprocal
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import per_query
from ltr.gains import Binary, Exp2, Linear, number
from ltr.intervals import Interval, interval
from ltr.metrics import METRICS, RankingMetric

Over = Literal["k", "gain", "discount", "threshold"]
OVER: tuple[str, ...] = get_args(Over)
DISCOUNTS = (Log2(), Letor(), Reciprocal(), Geometric(0.8))
LABELS = 20  # different labels that are tried as thresholds
WHOLE = "all"  # the setting of k without a cutoff


@dataclass(frozen=True, eq=False)
class Setting:
    """One choice, and what the metric's mean is under it."""

    setting: str  # "10", "all", "linear", "letor", "2"
    metric: str
    values: NDArray[np.float64]  # of the lists in the mean
    weight: NDArray[np.float64]
    undefined: int  # lists without an answer
    own: bool  # is it the metric's own?
    seed: int = 0

    @property
    def lists(self) -> int:
        """Lists in the mean."""
        return len(self.values)

    @cached_property
    def mean(self) -> float:
        """NaN over no list."""
        return float(self.weight @ self.values / self.weight.sum()) if len(self.values) else np.nan

    @cached_property
    def interval(self) -> Interval:
        """95 %; worked out where it is looked at, since it may have to resample."""
        return interval(self.values, self.weight, self.seed)


def curve(lists: RankedLists, metric: RankingMetric, over: Over, *, deepest: int = 100, seed: int = 0) -> list[Setting]:
    """The metric's mean under each setting of one of its options, all else as it is, in one pass.

    - "k": each cutoff from 1 to ``deepest``, then 200, 500, 1000, 2000, ..., as far as the longest list goes; "all"
      where the metric has none.
    - "gain": exp2, linear, and binary from each label on that there is.
    - "discount": log2, letor, reciprocal and geometric0.8.
    - "threshold": each label that there is.

    Labels are those above 0 of all judged documents; of more than 20 different ones, 20 evenly among them. The metric's
    own setting stands among the others.

    Args:
        lists: any.
        metric: one that has the option.
        over: the option.
        deepest: the cutoff up to which each one is a setting.
        seed: of intervals that resample.

    Raises:
        ValueError: ``over`` is none of these, or the metric has no such option.

    Example:
        >>> from ltr.metrics import parse
        >>> lists = RankedLists.from_arrays([0, 2, 1], [3.0, 2.0, 1.0])
        >>> [(each.setting, each.mean) for each in curve(lists, parse("recall@2"), "k")]
        [('1', 0.0), ('2', 0.5), ('3', 1.0)]
        >>> [(each.metric, each.mean) for each in curve(lists, parse("mrr"), "threshold")]
        [('mrr', 0.5), ('mrr-rel2', 0.5)]
    """
    if over not in OVER:
        raise ValueError(f"over: wanted one of {', '.join(OVER)}, got {over!r}")
    if not has_option(type(metric), over):
        able = ", ".join(base for base, each in METRICS.items() if has_option(each, over))
        raise ValueError(f"{metric.name}: has no {over} to vary; wanted one of {able}")
    settings = _settings(lists, metric, over, deepest)
    found = []
    for each in per_query(lists, [replace(metric, **{over: value}) for value in settings]):
        value, undefined = getattr(each.metric, over), int((~each.defined).sum())
        kept = each.counted & (each.weight > 0)
        columns = (each.value[kept], each.weight[kept])
        found.append(Setting(_word(value), each.metric.name, *columns, undefined, each.metric == metric, seed))
    return found


def has_option(metric: type[RankingMetric], over: Over) -> bool:
    """Can this option of the metric be varied?"""
    return metric.cuts if over == "k" else over in {each.name for each in fields(metric)}


def _settings(lists: RankedLists, metric: RankingMetric, over: Over, deepest: int) -> list[Any]:
    own = getattr(metric, over)
    if over == "k":
        longest = int(lists.lengths.max(initial=1))
        steps = (factor * 10**power for power in range(len(str(longest))) for factor in (1, 2, 5))
        deep = {step for step in steps if deepest < step < longest}
        cutoffs = {*range(1, min(longest, deepest) + 1), *deep, *([longest] if longest > deepest else [])}
        return sorted(cutoffs | {own}) if own else [*sorted(cutoffs), None]
    if over == "discount":
        return [*DISCOUNTS, *([own] if own not in DISCOUNTS else [])]
    labels = np.unique(lists.relevance if lists.pool is None else lists.pool)
    labels = labels[labels > 0]
    if len(labels) > LABELS:
        labels = labels[np.linspace(0, len(labels) - 1, LABELS).round().astype(np.int64)]
    if over == "threshold":
        return sorted({*labels.tolist(), own})
    gains = [Exp2(), Linear(), *map(Binary, labels.tolist())]
    return [*gains, *([own] if own not in gains else [])]


def _word(setting: Any) -> str:
    if setting is None:
        return WHOLE
    return number(setting) if isinstance(setting, int | float) else str(setting.word)

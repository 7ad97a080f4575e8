"""How a mean moves with the cutoff, the gain, the discount or the threshold that one chose."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ltr.discounts import Geometric, Letor, Log2, Reciprocal
from ltr.evaluation.aggregates import aggregate
from ltr.evaluation.intervals import Interval
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import per_query
from ltr.gains import Binary, Exp2, Linear, number
from ltr.metrics import METRICS, RankingMetric

Over = Literal["k", "gain", "discount", "threshold"]
OVER: tuple[str, ...] = get_args(Over)
DISCOUNTS = (Log2(), Letor(), Reciprocal(), Geometric(0.8))
LABELS = 20  # different labels that are tried as thresholds


class Setting(NamedTuple):
    """One choice, and what the metric's mean is under it."""

    setting: str  # "10", "linear", "letor", "2"
    metric: str
    mean: float  # NaN over no list
    interval: Interval  # 95 %
    lists: int  # in the mean
    undefined: int  # lists without an answer


def curve(lists: RankedLists, metric: RankingMetric, over: Over, *, deepest: int = 100, seed: int = 0) -> list[Setting]:
    """The metric's mean under each setting of one of its options, all else as it is, in one pass.

    - "k": cutoffs from 1 to the longest list, at most ``deepest``.
    - "gain": exp2, linear, and binary from each label on that there is.
    - "discount": log2, letor, reciprocal and geometric0.8.
    - "threshold": each label that there is.

    Labels are those above 0 of all judged documents; of more than 20 different ones, 20 evenly among them. The metric's
    own setting stands among the others.

    Args:
        lists: any.
        metric: one that has the option.
        over: the option.
        deepest: the last cutoff.
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
        weight = each.weight * each.counted
        mean = aggregate("mean", each.value, weight, metric=each.metric.name, seed=seed)
        word = _word(getattr(each.metric, over))
        found.append(Setting(word, each.metric.name, mean.value, mean.interval, mean.lists, int((~each.defined).sum())))
    return found


def has_option(metric: type[RankingMetric], over: Over) -> bool:
    """Can this option of the metric be varied?"""
    return metric.cuts if over == "k" else over in {each.name for each in fields(metric)}


def _settings(lists: RankedLists, metric: RankingMetric, over: Over, deepest: int) -> list[Any]:
    own = getattr(metric, over)
    if over == "k":
        longest = int(lists.lengths.max(initial=1))
        return sorted({*range(1, min(longest, deepest) + 1), *([own] if own else [])})
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
    return number(setting) if isinstance(setting, int | float) else str(setting.word)

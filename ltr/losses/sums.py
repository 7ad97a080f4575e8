"""Metrics that sum what documents are worth times what places are: the one refusal of all others."""

from __future__ import annotations

from ltr.losses.base import learnable
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric


def summing(name: str, metric: RankingMetric | str, *, falling: bool = False) -> SumMetric:
    """The metric of a name, if it sums worth times place.

    Args:
        name: of the loss that wants it, for the error.
        metric: a metric or its name.
        falling: may less of it be better?

    Raises:
        ValueError: an unknown metric, or another one.

    Example:
        >>> summing("Yeti", "arp", falling=True).name
        'arp'
    """
    metric = learnable(metric)
    if isinstance(metric, SumMetric) and (falling or metric.larger_is_better):
        return metric
    some = "ndcg, dcg, precision, recall, f1, rbp" + ", arp" * falling
    raise ValueError(f"{name}: wants a metric that sums worth times place ({some}), got {metric.name}")

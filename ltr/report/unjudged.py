"""What unjudged documents could do, where finding out takes a few seconds."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np

from ltr.evaluation import Bounds, MetricValues, RankedLists, bounds
from ltr.evaluation.extremes import cases, few
from ltr.metrics import RankingMetric

MOST = 1e8  # documents of all cases that are looked at, a second or two
PAIR = 2  # two systems are so many times the work of one

Key = TypeVar("Key", bound=Hashable)


class Budget:
    """What may still be spent.

    Example:
        >>> from ltr.metrics import parse
        >>> lists = RankedLists.from_arrays([1, 0, 0], [0.3, 0.2, 0.1], judged=[True, False, True])
        >>> Budget().range(lists, parse("ap")).mean
        Range(low=1.0, high=1.0)
        >>> Budget(10).range(lists, parse("ap")) is None
        True
    """

    def __init__(self, left: float = MOST) -> None:
        self.left = left

    def range(self, lists: RankedLists, metric: RankingMetric) -> Bounds | None:
        """Worst and best case of a metric; None where nothing is unjudged, or it would be too much work.

        A few labellings of each list are no more work than the rest of an evaluation, and cost nothing.
        """
        if lists.judged is None or not (few(metric) or self._spend(work(lists, metric))):
            return None
        return bounds(lists, metric)

    def ranges(self, wanted: Mapping[Key, MetricValues]) -> dict[Key, Bounds | None]:
        """The same of several, whatever their order: what is least work is done first."""
        cheapest = sorted(wanted, key=lambda key: work(wanted[key].lists, wanted[key].metric))
        return {key: self.range(wanted[key].lists, wanted[key].metric) for key in cheapest}

    def allows(self, metric: RankingMetric, first: RankedLists, second: RankedLists) -> bool:
        """May two systems be held against each other? If so, it is counted as done."""
        return self._spend(PAIR * (work(first, metric) + work(second, metric)))

    def _spend(self, wanted: float) -> bool:
        if wanted > self.left:
            return False
        self.left -= wanted
        return True


def work(lists: RankedLists, metric: RankingMetric) -> float:
    """Documents, returned or judged, of all the cases that are looked at for a metric's worst and best value."""
    if lists.judged is None:
        return 0
    known = np.concatenate([[0], np.cumsum(lists.judged)])[lists.offsets]
    unjudged = lists.lengths - np.diff(known)
    near = unjudged if metric.k is None or not metric.windowed else np.minimum(unjudged, metric.k)
    tried = cases(metric, near) * (unjudged > 0)
    pool = np.diff(known if lists.pool_offsets is None else lists.pool_offsets)
    return float((tried * (lists.lengths + pool + unjudged)).sum())

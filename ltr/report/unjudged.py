"""How much work the cases of unjudged documents may be: what they could do is told where it takes a few seconds."""

from __future__ import annotations

import numpy as np

from ltr.evaluation import Bounds, RankedLists, bounds
from ltr.evaluation.extremes import cases
from ltr.metrics import RankingMetric

MOST = 1e8  # documents of all cases that are looked at, a second or two
PAIR = 2  # two systems are so many times the work of one


class Budget:
    """What may still be spent.

    Example:
        >>> from ltr.metrics import parse
        >>> lists = RankedLists.from_arrays([1, 0, 0], [0.3, 0.2, 0.1], judged=[True, False, True])
        >>> Budget().range(lists, parse("mrr")).mean
        Range(low=1.0, high=1.0)
        >>> Budget(10).range(lists, parse("mrr")) is None
        True
    """

    def __init__(self, left: float = MOST) -> None:
        self.left = left

    def range(self, lists: RankedLists, metric: RankingMetric) -> Bounds | None:
        """Worst and best case of a metric; None where nothing is unjudged, or it would be too much work."""
        return bounds(lists, metric) if lists.judged is not None and self._spend(work(lists, metric)) else None

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

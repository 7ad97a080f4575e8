"""AUC: the area under a list's ROC curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from ltr.metrics.base import BinaryMetric, both_real, sides
from ltr.ranking import Ranking


@dataclass(frozen=True)
class AUC(BinaryMetric):
    """Area under the ROC curve: the share of pairs of a relevant and another ranked document with the relevant on top.

    Pairs of equal scores count half. Source: Hanley, McNeil (1982), The meaning and use of the area under a receiver
    operating characteristic (ROC) curve; its mean over lists is known as GAUC. Undefined where relevant or other
    documents are missing.
    Assumes a reader who compares any relevant result with any other, at the bottom as often as on top.

    Args:
        threshold: the lowest label that is relevant.

    Example:
        >>> AUC()([3, 2, 1], [1, 0, 1]).item()
        0.5
    """

    base: ClassVar[str] = "auc"
    cuts: ClassVar[bool] = False
    pooled: ClassVar[bool] = False

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        relevant = self.relevant(ranking, relevance).to(ranking.position.dtype)
        others = ranking.mask * (1 - relevant)
        above, beside = ranking.counts(others)
        pairs = relevant.sum(1) * others.sum(1)
        return (pairs - (relevant * (above + beside / 2)).sum(1)) / pairs.clamp(min=1)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """Each place that a relevant document gains on another is a pair."""
        relevant = self.relevant(ranking, relevance).to(ranking.position.dtype)
        pairs = relevant.sum(1) * (ranking.mask * (1 - relevant)).sum(1)
        (mine, theirs), (here, there) = sides(relevant, rows), sides(ranking.by_index().position, rows)
        return (theirs - mine) * (there - here) * both_real(ranking, rows) / pairs.clamp(min=1)[:, None, None]

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        relevant = self.relevant(ranking, relevance)
        return relevant.any(1) & (ranking.mask & ~relevant).any(1)

"""ARP: the mean rank of the relevant documents, each weighted by its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ltr.gains import Gain, Linear
from ltr.metrics.base import RankingMetric, linear_swap_deltas
from ltr.ranking import Ranking


@dataclass(frozen=True)
class ARP(RankingMetric):
    """Average relevance position: sum y * rank / sum y over the ranked documents; smaller is better, 1 at best.

    Source: TensorFlow Ranking's ARPMetric. It has no cutoff and no upper bound: one relevant document far down weighs
    more than all those on top. A document that was not returned has no rank and does not count. Undefined where no
    ranked document has a label above 0.
    Assumes a reader who needs every relevant document, and whose effort grows by the same step from place to place.

    Example:
        >>> ARP()([3, 2, 1], [1, 0, 2])  # (1 * 1 + 2 * 3) / 3
        tensor([2.3333], dtype=torch.float64)
    """

    base: ClassVar[str] = "arp"
    larger_is_better: ClassVar[bool] = False
    bounded: ClassVar[bool] = False
    cuts: ClassVar[bool] = False
    pooled: ClassVar[bool] = False
    ends = "two"

    @property
    def document_gain(self) -> Gain:
        return Linear()

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return (self._share(ranking, relevance) * ranking.mean(_rank)).sum(-1)

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return ((relevance > 0) & ranking.mask).any(1)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return linear_swap_deltas(ranking, -self._share(ranking, relevance), torch.neg, None, rows)

    def _share(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, L] labels over their sum, scaled so that the sum cannot overflow."""
        label = relevance.to(ranking.position.dtype) * ranking.mask
        top = label.amax(1, keepdim=True) if label.shape[1] else label
        label = label / torch.where(top > 0, top, 1)
        total = label.sum(1, keepdim=True)
        return label / torch.where(total > 0, total, 1)


def _rank(rank: Tensor) -> Tensor:
    return rank

"""ARP: the mean rank of the relevant documents, each weighted by its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ltr.gains import Gain, Linear
from ltr.metrics.base import SumMetric
from ltr.ranking import Curve, Ranking


@dataclass(frozen=True)
class ARP(SumMetric):
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
    gainful: ClassVar[bool] = True
    larger_is_better: ClassVar[bool] = False
    bounded: ClassVar[bool] = False
    cuts: ClassVar[bool] = False
    pooled: ClassVar[bool] = False
    ends = "two"

    @property
    def document_gain(self) -> Gain:
        return Linear()

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return ((relevance > 0) & ranking.mask).any(1)

    @property
    def place(self) -> Curve:
        return torch.neg  # what never rises; the worths are negative too

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, L] labels over minus their sum, scaled so that the sum cannot overflow."""
        label = relevance.to(ranking.position.dtype) * ranking.mask
        top = label.amax(1, keepdim=True) if label.shape[1] else label
        label = label / torch.where(top > 0, top, 1)
        total = label.sum(1, keepdim=True)
        return label / torch.where(total > 0, -total, 1)

"""Judged: how much of what a reader sees has been judged at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor

from ltr.gains import Binary, Gain
from ltr.metrics.base import SumMetric
from ltr.ranking import Curve, Ranking


@dataclass(frozen=True)
class Judged(SumMetric):
    """Judged at k: judged documents among the first min(k, n), over min(k, n), for n ranked documents.

    Source: ir_measures' Judged. It measures the judgements rather than the system: where it is low, the metrics beside
    it could be anything. Defined for every list in which something is ranked, relevant or not; always 1 when unjudged
    documents leave the ranking.
    Assumes nothing of the reader, only that what nobody judged may be relevant all the same.

    Args:
        k: the cutoff, the full list when None.

    Example:
        >>> Judged(k=2)([4, 3, 2, 1], [1, 0, 0, 1], judged=[True, False, True, True]).item()
        0.5
    """

    base: ClassVar[str] = "judged"
    pooled: ClassVar[bool] = False
    windowed: ClassVar[bool] = True
    ends = "all"

    @property
    def document_gain(self) -> Gain:
        return Binary(0)  # of any label

    @property
    def place(self) -> Curve:
        return torch.ones_like

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return ranking.labelled.to(ranking.position.dtype) / ranking.size.clamp(min=1, max=self.k)

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return ranking.size[:, 0] > 0

    def uncut(self) -> Self:
        """Itself: without its cutoff it would not depend on the ranking."""
        return self

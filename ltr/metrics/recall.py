"""Recall: the share of the relevant documents that stand among the first k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor

from ltr.metrics.base import BinaryMetric, linear_swap_deltas
from ltr.ranking import Ranking


@dataclass(frozen=True)
class Recall(BinaryMetric):
    """Recall at k: relevant documents among the first k, over all relevant documents of the list.

    Source: the oldest measure beside precision. Undefined for a list with nothing relevant.
    Assumes a later stage (or a patient reader) that takes the first k whatever their order.

    Args:
        k: the cutoff.
        threshold: the lowest label that is relevant.

    Example:
        >>> Recall(k=2)([5, 4, 3, 2, 1], [0, 1, 0, 0, 1]).item()
        0.5
    """

    base: ClassVar[str] = "recall"

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return (self._worth(ranking, relevance) * ranking.within(self.k)).sum(-1)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return linear_swap_deltas(ranking, self._worth(ranking, relevance), torch.ones_like, self.k, rows)

    def uncut(self) -> Self:
        """Itself: without its cutoff it would not depend on the ranking."""
        return self

    def _worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        relevant = self.relevant(ranking, relevance).to(ranking.position.dtype)
        return relevant / relevant.sum(-1, keepdim=True).clamp(min=1)

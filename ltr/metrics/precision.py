"""Precision: the share of relevant documents among the first k."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor

from ltr.metrics.base import CountMetric
from ltr.ranking import Ranking


@dataclass(frozen=True)
class Precision(CountMetric):
    """Precision at k: relevant documents among the first k, over k (over the list's length without a cutoff).

    Source: the oldest measure of all; the divisor k is trec_eval's. Undefined for a list with nothing relevant.
    Assumes a reader who looks at exactly k results and does not care about their order.

    Args:
        k: the cutoff.
        threshold: the lowest label that is relevant.
        divisor: "k", or "min" for min(k, documents), by which short lists score higher.

    Example:
        >>> Precision(k=5)([5, 4, 3, 2, 1], [0, 1, 0, 0, 1]).item()
        0.4
    """

    base: ClassVar[str] = "precision"

    divisor: Literal["k", "min"] = field(default="k", metadata={"formula": {"min": "min(k,n)"}})

    def fraction(self, ranking: Ranking, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """[B] twice: relevant documents among the first k, and the documents that they are counted among."""
        size = self._size(ranking)[:, 0].to(ranking.position.dtype)
        return self.of(ranking, relevance) * size, size

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return self.relevant(ranking, relevance).to(ranking.position.dtype) / self._size(ranking).clamp(min=1)

    def _size(self, ranking: Ranking) -> Tensor:
        """[B, 1] the documents that are looked at."""
        if self.k is None:
            return ranking.size
        return ranking.size.clamp(max=self.k) if self.divisor == "min" else torch.full_like(ranking.size, self.k)

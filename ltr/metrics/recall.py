"""Recall: the share of the relevant documents that stand among the first k."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal, Self

import torch
from torch import Tensor

from ltr.metrics.base import BinaryMetric, linear_swap_deltas
from ltr.ranking import Ranking


@dataclass(frozen=True)
class Recall(BinaryMetric):
    """Recall at k: relevant documents among the first k, over all relevant documents of the list.

    Source: the oldest measure beside precision; capped it is trec_eval's relative_P. Undefined for a list with nothing
    relevant.
    Assumes a later stage (or a patient reader) that takes the first k whatever their order.

    Args:
        k: the cutoff.
        threshold: the lowest label that is relevant.
        divisor: "R", all relevant documents of the list, or "min" for min(R, k), the most that k places can hold (k
            is the number of ranked documents without a cutoff): 1 is then within reach of every list.

    Example:
        >>> Recall(k=2)([5, 4, 3, 2, 1], [0, 1, 0, 0, 1]).item()
        0.5
        >>> Recall(k=2, divisor="min")([5, 4, 3, 2, 1], [1, 1, 0, 1, 1]).item()
        1.0
    """

    base: ClassVar[str] = "recall"
    windowed: ClassVar[bool] = True

    divisor: Literal["R", "min"] = field(default="R", metadata={"formula": {"min": "min(R,k)"}})

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return (self._worth(ranking, relevance) * ranking.within(self.k)).sum(-1)

    def fraction(self, ranking: Ranking, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """[B] twice: relevant documents among the first k, and the divisor (0 where nothing is relevant)."""
        divisor = self._divisor(ranking, relevance)[:, 0] * self.answered(ranking, relevance)
        return self.of(ranking, relevance) * divisor, divisor

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return linear_swap_deltas(ranking, self._worth(ranking, relevance), torch.ones_like, self.k, rows)

    def uncut(self) -> Self:
        """Itself: without its cutoff it would not depend on the ranking."""
        return self

    def _worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return self.relevant(ranking, relevance).to(ranking.position.dtype) / self._divisor(ranking, relevance)

    def _divisor(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, 1] R, or min(R, k)."""
        total = self.total(ranking, relevance)
        if self.divisor == "R":
            return total
        places = ranking.size.clamp(min=1).to(total.dtype)
        return torch.minimum(total, places) if self.k is None else total.clamp(max=self.k)

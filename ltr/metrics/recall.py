"""Recall: the share of the relevant documents that stand among the first k."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from torch import Tensor

from ltr.metrics.base import CountMetric
from ltr.ranking import Ranking


@dataclass(frozen=True)
class Recall(CountMetric):
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

    divisor: Literal["R", "min"] = field(default="R", metadata={"formula": {"min": "min(R,k)"}})

    def fraction(self, ranking: Ranking, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """[B] twice: relevant documents among the first k, and the divisor (0 where nothing is relevant)."""
        divisor = self._divisor(ranking, relevance)[:, 0] * self.answered(ranking, relevance)
        return self.of(ranking, relevance) * divisor, divisor

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return self.relevant(ranking, relevance).to(ranking.position.dtype) / self._divisor(ranking, relevance)

    def _divisor(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, 1] R, or min(R, k)."""
        return (self.capped if self.divisor == "min" else self.total)(ranking, relevance)

"""F1: the harmonic mean of precision and recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from ltr.metrics.base import CountMetric
from ltr.ranking import Ranking


@dataclass(frozen=True)
class F1(CountMetric):
    """F1 at k: 2 h / (k + R), h the relevant documents among the first k and R all relevant ones of the list.

    This is 2 P@k R@k / (P@k + R@k); without a cutoff, k is the number of ranked documents. Source: van Rijsbergen
    (1979), Information Retrieval; trec_eval's set_F and ranx's f1. Undefined for a list with nothing relevant.
    Assumes a reader who looks at the whole answer, in any order, and minds what is wrong as much as what is missing.

    Args:
        k: the cutoff.
        threshold: the lowest label that is relevant.

    Example:
        >>> F1(k=3)([5, 4, 3, 2, 1], [0, 1, 0, 0, 1]).item()
        0.4
    """

    base: ClassVar[str] = "f1"

    def fraction(self, ranking: Ranking, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """[B] twice: 2 h and k + R (0 where nothing is relevant, since such a list has no R)."""
        size = self._size(ranking, relevance)[:, 0] * self.answered(ranking, relevance)
        return self.of(ranking, relevance) * size, size

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        relevant = self.relevant(ranking, relevance).to(ranking.position.dtype)
        return 2 * relevant / self._size(ranking, relevance)

    def _size(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, 1] k + R."""
        return (ranking.size if self.k is None else self.k) + self.total(ranking, relevance)

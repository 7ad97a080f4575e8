"""RR: one over the rank of the first relevant document. Its mean over lists is MRR, hence the name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ltr.discounts import Reciprocal
from ltr.metrics.base import BinaryMetric, both_real, sides
from ltr.ranking import Ranking


@dataclass(frozen=True)
class RR(BinaryMetric):
    """Reciprocal rank: 1 / rank of the first relevant document, 0 when that lies beyond k; named mrr.

    Source: Kantor, Voorhees (2000), The TREC-5 confusion track. Undefined for a list with nothing relevant.
    Assumes a reader who wants one answer and stops at it.

    Args:
        k: the cutoff, the full list when None.
        threshold: the lowest label that is relevant.

    Example:
        >>> RR()([3, 2, 1], [0, 1, 2]).item()
        0.5
    """

    base: ClassVar[str] = "mrr"
    gainful: ClassVar[bool] = True
    windowed: ClassVar[bool] = True
    ends = "all"

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return ranking.first(self.relevant(ranking, relevance), Reciprocal(), self.k)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """A pair matters only where its relevant document is the first, or its other one stands above the first."""
        ranking = ranking.by_index()
        relevant = self.relevant(ranking, relevance)
        place = torch.where(relevant, ranking.position, torch.inf)
        top = place.topk(min(2, place.shape[1]), 1, largest=False).values
        first, second = top[:, :1], top[:, 1:] if top.shape[1] > 1 else torch.full_like(top, torch.inf)
        others = torch.where(place == first, second, first)  # [B, L] the first relevant place without this document
        (mine, theirs), (here, there) = sides(relevant, rows), sides(ranking.position, rows)
        other, another = sides(others, rows)
        after = torch.where(mine, torch.minimum(there, other), torch.minimum(here, another))
        moved = both_real(ranking, rows) & (mine != theirs)
        return torch.where(moved, self._worth(after) - self._worth(first)[:, :, None], 0)

    def _worth(self, rank: Tensor) -> Tensor:
        worth = Reciprocal()(rank)
        return worth if self.k is None else worth * (rank <= self.k)

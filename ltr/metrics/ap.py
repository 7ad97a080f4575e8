"""AP: the mean precision at the relevant documents. Its mean over lists is MAP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor

from ltr.discounts import Reciprocal
from ltr.metrics.base import BinaryMetric, both_real, sides
from ltr.ranking import Ranking


@dataclass(frozen=True)
class AP(BinaryMetric):
    """Average precision: the sum over relevant documents in the first k of precision at their rank, over R.

    Source: Harman (1993), Overview of TREC-1; ties: McSherry, Najork (2008), Computing information retrieval
    performance measures efficiently in the presence of tied scores. Undefined for a list with nothing relevant.
    Assumes readers who each want a different number of relevant documents, and stop there.

    Args:
        k: the cutoff, the full list when None.
        threshold: the lowest label that is relevant.
        divisor: "R", all relevant documents of the list, or "min", min(R, k).

    Example:
        >>> round(AP()([5, 4, 3, 2, 1], [3, 1, 2, 0, 3]).item(), 2)
        0.95
    """

    base: ClassVar[str] = "ap"

    divisor: Literal["R", "min"] = field(default="R", metadata={"formula": {"min": "min(R,k)"}})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.divisor not in ("R", "min"):
            raise ValueError(f"ap: divisor must be R or min; got {self.divisor!r}")

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """A relevant document at place t (from 0) of a block of m documents, r of them relevant, that starts at rank
        p below R' relevant ones has expected precision (R' + 1 + t (r - 1) / (m - 1)) / (p + t); all t are alike."""
        relevant = self.relevant(ranking, relevance).to(ranking.position.dtype)
        above, beside = ranking.counts(relevant)
        per_rank, inside = ranking.mean(Reciprocal(), self.k), ranking.within(self.k)
        later = beside / (ranking.block - 1).clamp(min=1) * (inside - ranking.position * per_rank)
        return (relevant * ((above + 1) * per_rank + later)).sum(-1) / self._divisor(relevant)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """For a relevant document at rank a and another at rank b, from n(r), the relevant ones down to rank r, and
        S(r), the sum of 1/r over their ranks within k: up, (n(b) + 1)/b - n(a)/a + S(a - 1) - S(b); down,
        n(b)/b - n(a)/a - S(b) + S(a)."""
        ranking = ranking.by_index()
        relevant = self.relevant(ranking, relevance)
        flag = relevant.to(ranking.position.dtype)
        worth = ranking.mean(Reciprocal(), self.k)
        count = ranking.counts(flag)[0] + flag
        summed = ranking.counts(flag * worth)[0] + flag * worth

        mine, theirs = sides(relevant, rows)
        pairs = [sides(each, rows) for each in (ranking.position, count, summed, worth)]
        a, n_a, s_a, w_a = (torch.where(mine, i, j) for i, j in pairs)  # of the relevant one of the two
        b, n_b, s_b, w_b = (torch.where(mine, j, i) for i, j in pairs)  # of the other
        up = (n_b + 1) * w_b - n_a * w_a + (s_a - w_a) - s_b
        down = n_b * w_b - n_a * w_a - s_b + s_a
        moved = both_real(ranking, rows) & (mine != theirs)
        return torch.where(moved, torch.where(b < a, up, down), 0) / self._divisor(flag)[:, None, None]

    def _divisor(self, relevant: Tensor) -> Tensor:
        count = relevant.sum(-1).clamp(min=1)
        return count.clamp(max=self.k) if self.divisor == "min" and self.k is not None else count

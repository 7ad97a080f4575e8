"""bpref: how many judged non-relevant documents stand above the relevant ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from ltr.metrics.base import BinaryMetric, Unjudged, both_real, sides
from ltr.ranking import Ranking


@dataclass(frozen=True)
class Bpref(BinaryMetric):
    """Binary preference: the mean over all R relevant documents of 1 - min(n, R) / min(N, R), 0 for one not returned.

    n is the number of judged non-relevant documents above it, N that of the whole pool. Source: Buckley, Voorhees
    (2004), Retrieval evaluation with incomplete information, as trec_eval 10.0 computes it; ties: McSherry, Najork
    (2008). Undefined for a list with nothing relevant.
    Assumes a reader who wants every relevant document, and whom each judged other one above it annoys, R at most.

    Args:
        threshold: the lowest label that is relevant.

    Raises:
        ValueError: unjudged is "zero": this metric was made to leave out what nobody judged.

    Example:
        >>> Bpref()([5, 4, 3, 2], [1, 0, 1, 0]).item()  # (1 + 1 - 1/2) / 2
        0.75
        >>> Bpref()([5, 4, 3, 2], [1, 0, 1, 0], judged=[True, False, True, True]).item()
        1.0
    """

    base: ClassVar[str] = "bpref"
    cuts: ClassVar[bool] = False

    unjudged: Unjudged = field(
        default="ignored", kw_only=True, metadata={"word": {"ignored": "condensed", "zero": "unjudged0"}}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unjudged != "ignored":
            raise ValueError(f"bpref: leaves unjudged documents out by definition; got unjudged={self.unjudged!r}")

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """In a block with s judged non-relevant documents, each number of them from 0 to s is as likely as another
        to stand above a relevant one."""
        relevant = self.relevant(ranking, relevance)
        total = self.total(ranking, relevance)
        above, beside = ranking.counts((ranking.labelled & ~relevant).to(total.dtype))
        capped = torch.minimum((total - above).ceil().clamp(min=0), beside + 1)  # of the s + 1 cases, those below R
        counted = capped * above + capped * (capped - 1) / 2 + (beside + 1 - capped) * total
        return (relevant * (1 - counted / (beside + 1) / self._most(ranking, relevance))).sum(-1) / total[:, 0]

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """The two documents take over each other's n, but for themselves; each document between them has one more above
        it, or one less, where just one of the two is judged non-relevant."""
        ranking = ranking.by_index()
        relevant, total = self.relevant(ranking, relevance), self.total(ranking, relevance)
        other = (ranking.labelled & ~relevant).to(total.dtype)
        n, cap = ranking.counts(other)[0], total[:, :, None]
        here, there = sides(ranking.position, rows)

        def pair(values: Tensor) -> tuple[Tensor, Tensor]:
            mine, theirs = sides(values, rows)
            return torch.where(here < there, mine, theirs), torch.where(here < there, theirs, mine)

        def between(marked: Tensor) -> Tensor:
            marked = (marked & relevant).to(total.dtype)
            upper, lower = pair(ranking.counts(marked)[0])
            return lower - upper - pair(marked)[0]

        (good_u, good_v), (other_u, other_v) = pair(relevant.to(total.dtype)), pair(other)
        (n_u, n_v), more = pair(n), other_v - other_u
        moved = torch.minimum(n_v + more, cap) - torch.minimum(n_u, cap)  # of the upper one, which goes down
        worse = good_u * moved + good_v * (torch.minimum(n_u, cap) - torch.minimum(n_v, cap))
        worse += torch.where(more > 0, between(n < total), torch.where(more < 0, -between(n <= total), 0))
        return -worse * both_real(ranking, rows) / (self._most(ranking, relevance) * total)[:, :, None]

    def _most(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, 1] min(N, R), at least 1."""
        total = self.total(ranking, relevance)
        return torch.minimum(ranking.pool(relevance).size - total, total).clamp(min=1)

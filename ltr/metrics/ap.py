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
        divisor: "R", all relevant documents of the list; "min", min(R, k), where k is the number of ranked documents
            without a cutoff; or "hits", those among the first k, by which a list that finds one of forty on top
            scores 1.

    Example:
        >>> round(AP()([5, 4, 3, 2, 1], [3, 1, 2, 0, 3]).item(), 2)
        0.95
    """

    base: ClassVar[str] = "ap"
    gainful: ClassVar[bool] = True
    windowed: ClassVar[bool] = True

    divisor: Literal["R", "min", "hits"] = field(default="R", metadata={"formula": {"min": "min(R,k)"}})

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        relevant = self.relevant(ranking, relevance).to(ranking.position.dtype)
        if self.divisor == "hits" and not ranking.untied:
            return _per_hit(ranking, relevant, self.k)
        summed = precisions(ranking, relevant, self.k).sum(-1)
        if self.divisor == "hits":  # nothing is tied
            hits = (relevant * ranking.within(self.k)).sum(-1)
            return summed / torch.where(hits > 0, hits, 1)
        return summed / self._divisor(ranking, relevance)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        ranking = ranking.by_index()
        relevant = self.relevant(ranking, relevance)
        deltas = precisions_swapped(ranking, relevant, self.k, rows)
        if self.divisor != "hits":
            return deltas / self._divisor(ranking, relevance)[:, None, None]
        flag = relevant.to(ranking.position.dtype)
        inside = ranking.within(self.k)
        hits = (flag * inside).sum(-1)[:, None, None]
        summed = precisions(ranking, flag, self.k).sum(-1)[:, None, None]
        (mine, theirs), (here, there) = sides(flag, rows), sides(inside, rows)
        after = hits + (mine - theirs) * (there - here)
        change = (summed + deltas) / after.clamp(min=1) - summed / hits.clamp(min=1)
        return change * both_real(ranking, rows)

    def _divisor(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B] R, or min(R, k)."""
        return (self.capped if self.divisor == "min" else self.total)(ranking, relevance)[:, 0]


def precisions(ranking: Ranking, relevant: Tensor, k: int | None) -> Tensor:
    """[B, L] the expected precision at each relevant document, 0 beyond k.

    A relevant document at place t (from 0) of a block of m documents, r of them relevant, that starts at rank p below
    R' relevant ones has expected precision (R' + 1 + t (r - 1) / (m - 1)) / (p + t); all t are alike.

    Args:
        ranking: of the documents.
        relevant: [B, L] 1 for a relevant document, else 0, in the type of the ranking's positions.
        k: the cutoff, the full list when None.
    """
    above, beside = ranking.counts(relevant)
    per_rank = ranking.mean(Reciprocal(), k)
    if ranking.untied:
        return relevant * (above + 1) * per_rank
    inside = ranking.within(k)
    later = beside / (ranking.block - 1).clamp(min=1) * (inside - ranking.position * per_rank)
    return relevant * ((above + 1) * per_rank + later)


def precisions_swapped(ranking: Ranking, relevant: Tensor, k: int | None, rows: Tensor | None) -> Tensor:
    """[B, R, L] the sum of ``precisions`` after documents i and j change places, minus before; nothing is tied.

    For a relevant document at rank a and another at rank b, from n(r), the relevant ones down to rank r, and S(r), the
    sum of 1/r over their ranks within k: up, (n(b) + 1)/b - n(a)/a + S(a - 1) - S(b); down, n(b)/b - n(a)/a - S(b) +
    S(a).

    Args:
        ranking: without ties.
        relevant: [B, L] bool.
        k: the cutoff, the full list when None.
        rows: [B, R] indices of the documents i that are wanted; all when None.
    """
    flag = relevant.to(ranking.position.dtype)
    worth = ranking.mean(Reciprocal(), k)
    count = ranking.counts(flag)[0] + flag
    summed = ranking.counts(flag * worth)[0] + flag * worth

    mine, theirs = sides(relevant, rows)
    pairs = [sides(each, rows) for each in (ranking.position, count, summed, worth)]
    a, n_a, s_a, w_a = (torch.where(mine, i, j) for i, j in pairs)  # of the relevant one of the two
    b, n_b, s_b, w_b = (torch.where(mine, j, i) for i, j in pairs)  # of the other
    up = (n_b + 1) * w_b - n_a * w_a + (s_a - w_a) - s_b
    down = n_b * w_b - n_a * w_a - s_b + s_a
    moved = both_real(ranking, rows) & (mine != theirs)
    return torch.where(moved, torch.where(b < a, up, down), 0)


def _per_hit(ranking: Ranking, relevant: Tensor, k: int | None) -> Tensor:
    """[B] the expected sum of precisions over the number of relevant documents, both within k.

    Only the block that the cutoff runs through makes that number random. It holds m documents, r of them relevant,
    starts at rank p below A relevant ones whose precisions sum to S, and has c places within k. With probability
    C(r, x) C(m - r, c - x) / C(m, c), x of these hold a relevant document, in any order: the value is then
    (S + sum over t < c of x / c * (A + 1 + t (x - 1) / (c - 1)) / (p + t)) / (A + x).
    """
    size = ranking.size if k is None else ranking.size.clamp(max=k)  # [B, 1] places within k
    holds = ranking.mask & (ranking.position <= size) & (size < ranking.position + ranking.block)
    place = holds.to(torch.int8).argmax(1, keepdim=True)  # a document of the block of the last place
    p, m = ranking.position.gather(1, place), ranking.block.gather(1, place)
    r = torch.minimum((relevant * holds).sum(1, keepdim=True), m)
    higher = ranking.position < p
    above = (relevant * higher).sum(1, keepdim=True)
    summed = (precisions(ranking, relevant, k) * higher).sum(1, keepdim=True)
    c = torch.minimum((size + 1 - p).clamp(min=0), m)
    reach = torch.where(holds, ranking.mean(Reciprocal(), k), 0).amax(1, keepdim=True) * m  # sum of 1 / (p + t)
    length = ranking.position.shape[1]
    x = torch.arange(min(length, k or length) + 1, device=p.device, dtype=p.dtype)[None]
    later = (x - 1) / (c - 1).clamp(min=1) * (c - p * reach)
    value = summed + x / c.clamp(min=1) * ((above + 1) * reach + later)
    odds = _chances(m, r, c, x)
    return (odds * value / (above + x).clamp(min=1)).sum(1)


def _chances(m: Tensor, r: Tensor, c: Tensor, x: Tensor) -> Tensor:
    """[B, X] probability that x of c documents, drawn from m of which r are relevant, are relevant."""
    possible = (x <= r) & (x <= c) & (c - x <= m - r)
    return torch.softmax(torch.where(possible, _choose(r, x) + _choose(m - r, c - x), -torch.inf), 1)


def _choose(n: Tensor, k: Tensor) -> Tensor:
    """log C(n, k) where 0 <= k <= n, and some number elsewhere."""
    k = torch.minimum(k, n).clamp(min=0)
    return torch.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)

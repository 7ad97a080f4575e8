"""ERR: the expected reciprocal of the rank at which a reader is satisfied."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from ltr.discounts import Reciprocal
from ltr.gains import LEAST, Exp2, Gain, number, real
from ltr.lists import may_look
from ltr.metrics.base import RankingMetric, both_real, sides
from ltr.ranking import Ranking, RankOrder, SoftRanking


@dataclass(frozen=True)
class ERR(RankingMetric):
    """Expected reciprocal rank: sum over the first k of R / rank * product of (1 - R) above; R = (2^y - 1) / 2^top.

    R is the chance that a document of grade y satisfies. Source: Chapelle, Metzler, Zhang, Grinspan (2009), Expected
    reciprocal rank for graded relevance. Undefined for a list without any gain.
    Assumes a reader who goes down the list and stops at the first result that satisfies, the likelier the better it is.

    Args:
        k: the cutoff, the full list when None.
        top: the top grade of the scale, part of the name (err-max4): a list's own highest grade would not do, since
            the same documents would then be worth less beside a better one. It is 4 in TREC's gdeval.

    Raises:
        ValueError: top is not above 0; when called, a grade lies above it.

    Example:
        >>> round(ERR(top=4, k=3)([3, 2, 1], [0, 4, 2]).item(), 4)  # 15/16 / 2 + 1/16 * 3/16 / 3
        0.4727
    """

    base: ClassVar[str] = "err"
    gainful: ClassVar[bool] = True
    windowed: ClassVar[bool] = True
    ends = "all"

    top: float = field(kw_only=True, metadata={"word": "max{}", "formula": "{}", "says": "max"})

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "top", real(self.top, "err: the top grade must be a number above 0", LEAST))

    @property
    def document_gain(self) -> Gain:
        return Exp2()

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        stop = self._stop(ranking, relevance)
        if not isinstance(ranking, RankOrder | SoftRanking):
            return self._over_orders(ranking, stop)
        reached = ranking.counts(_log(1 - stop))[0].exp()
        return (stop * reached * ranking.mean(Reciprocal(), self.k)).sum(-1)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """With A(d) the chance to reach d, and D(d) = 1 / rank - what a reader who passes d still finds below: d adds
        R A D to the value. When a changes places with b below it, b's A is multiplied by (1 - R_b) / (1 - R_a), so
        the delta is (R_a - R_b) (A_b (1 - R_b) / (1 - R_a) D_b - A_a D_a)."""
        ranking = ranking.by_index()
        stop = self._stop(ranking, relevance)
        passed = _log(1 - stop)
        reached = ranking.counts(passed)[0]
        worth = ranking.mean(Reciprocal(), self.k)
        order = ranking.order()
        found = ((stop * worth).log() + reached).gather(1, order).flip(1).logcumsumexp(1).flip(1)
        found = torch.cat([found[:, 1:], torch.full_like(found[:, :1], -torch.inf)], 1)  # below each place
        below = torch.empty_like(found).scatter_(1, order, found)
        worth = worth - (below - reached - passed).exp()

        here, there = sides(ranking.position, rows)
        pairs = [sides(each, rows) for each in (stop, passed, reached, worth)]
        stop_a, passed_a, reached_a, worth_a = (torch.where(here < there, i, j) for i, j in pairs)
        stop_b, passed_b, reached_b, worth_b = (torch.where(here < there, j, i) for i, j in pairs)
        after = (reached_b - passed_a + passed_b).exp() * worth_b
        return (stop_a - stop_b) * (after - reached_a.exp() * worth_a) * both_real(ranking, rows)

    def _stop(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, L] the chance that a reader who reaches the document stops there."""
        highest = ranking.pool(relevance).top.float()  # compared in float32, as thresholds are
        if may_look(highest) and (highest > self.top).any():
            grade, top = number(highest.max().item()), number(self.top)
            raise ValueError(f"{self.name}: the top grade is declared to be {top}, and a document has grade {grade}")
        relevance = relevance.to(ranking.position.dtype).clamp(max=self.top)
        return Exp2().relative(relevance, torch.full_like(relevance[:, :1], self.top)) * ranking.mask

    def _over_orders(self, ranking: Ranking, stop: Tensor) -> Tensor:
        """[B] the expected value, from the chance S(r) to pass the first r places: sum of (S(r - 1) - S(r)) / r.

        Within a tie block S is the chance to reach it times the mean, over all choices of t of its documents, of the
        product of 1 - R. Blocks of 2^i to 2^(i+1) - 1 documents are worked together, for each i. A block of m documents
        takes m * min(m, k) steps: without a cutoff, long lists of equal scores are slow.
        """
        length = stop.shape[1]
        depth = length if self.k is None else min(self.k, length)
        order, place = ranking.order(), torch.arange(length, device=stop.device)
        keep, block = (1 - stop).gather(1, order), ranking.block.gather(1, order).long()
        first = torch.where(place < ranking.size, ranking.position.gather(1, order).long() - 1, place)
        if len(keep) and may_look(keep):  # no block that starts within the cutoff reaches further
            length = int((first + block)[:, :depth].max())
            keep, block, first, place = keep[:, :length], block[:, :length], first[:, :length], place[:length]
        chosen = place - first + 1
        mean = keep
        for i in range(1, length.bit_length()):
            here = (block >> i == 1) & (first < depth)
            if may_look(here) and not here.any():
                continue
            slots, most = length >> i, min((2 << i) - 1, length)
            slot = (first >> i).clamp(max=slots - 1)  # no two such blocks share one
            start, size = (
                torch.zeros_like(block[:, :slots]).scatter_add(1, slot, torch.where(here & (chosen == 1), each, 0))
                for each in (first, block)
            )
            documents = start[:, :, None] + torch.arange(most, device=stop.device)
            documents = keep.gather(1, documents.flatten(1).clamp(max=length - 1)).view(documents.shape)
            means = _mean_products(documents, size[:, :, None], 1 << i, min(most, depth))
            index = slot * means.shape[2] + chosen.clamp(max=means.shape[2] - 1)
            mean = torch.where(here, means.flatten(1).gather(1, index), mean)
        through = torch.cat([torch.ones_like(keep[:, :1]), keep.cumprod(1)], 1).gather(1, first)
        after = through * mean
        before = torch.where(chosen == 1, through, after.roll(1, 1))
        worth = Reciprocal()((place + 1).to(keep.dtype)) * (place < depth)
        return ((before - after) * worth).sum(1)


def _mean_products(values: Tensor, size: Tensor, least: int, most: int) -> Tensor:
    """[..., most + 1] the mean, over all choices of t = 0 .. most of the first size [..., 1] values, of their product.

    From the first j - 1 values to the first j: M(j, t) = (1 - t/j) M(j - 1, t) + t/j v_j M(j - 1, t - 1).
    No size is below least but those that do not matter.
    """
    mean = values.new_zeros(*values.shape[:-1], most + 1)
    mean[..., 0] = 1
    count = torch.arange(1, most + 1, device=values.device, dtype=values.dtype)
    for j in range(1, values.shape[-1] + 1):
        t = min(j, most)
        share = count[:t] / j
        weight = share if j <= least else share * (j <= size)
        mean[..., 1 : t + 1].lerp_(values[..., j - 1 : j] * mean[..., :t], weight)
    return mean


def _log(chance: Tensor) -> Tensor:
    """Finite: differences of two are taken."""
    return chance.clamp(min=torch.finfo(chance.dtype).tiny).log()

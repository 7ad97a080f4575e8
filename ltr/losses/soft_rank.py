"""SoftRank: the expected metric of scores under Gaussian noise."""

from __future__ import annotations

from math import isqrt
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.losses.base import check_word, positive
from ltr.losses.pairs import rows_of
from ltr.losses.permutations import Permuting, read_places
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric
from ltr.softening import once

CONTESTS = 1 << 24  # chances in memory at once
Expect = Literal["place", "rank"]


def soft_rank(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    sigma: float = 0.1,
    expect: Expect = "place",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the expected metric where document j beats i with the chance Phi((s_j - s_i) / (sigma sqrt 2)).

    O(R L K) time for R documents with a gain and the first K places; O(R L) by expected ranks. See ``SoftRank``.
    """
    scores, mask, worth, place = read_places(scores, relevance, mask, metric, weight)
    rows = rows_of(worth > 0)
    ahead = (scores.gather(1, rows)[:, :, None] - scores[:, None]) / (2 * sigma)  # [B, R, L]
    others = mask[:, None] & (rows[:, :, None] != torch.arange(mask.shape[1], device=mask.device))
    beaten = torch.erfc(ahead) / 2 * others
    if expect == "place":
        return (worth.gather(1, rows) * expected(beaten, place)).sum(1)
    rank = 1 + beaten.sum(2)
    inside = 1 if metric.k is None else (metric.k + 1 - rank).clamp(0, 1)
    return (worth.gather(1, rows) * metric.place(rank) * inside).sum(1)


def expected(beaten: Tensor, place: Tensor) -> Tensor:
    """[B, R] the expected worth of the place, one below the number of those who win against a document.

    Args:
        beaten: [B, R, L] the chance that each of L others wins, independent of one another.
        place: [B, K] what the places are worth, 0 beyond.
    """
    if torch.compiler.is_compiling():
        return dense_expected(beaten, place)
    return _Expected.apply(beaten, place)  # type: ignore[no-any-return, no-untyped-call]


def dense_expected(beaten: Tensor, place: Tensor) -> Tensor:
    """The same as it is defined, by the distribution of the number of winners, one contest after the other."""
    chance = pad(torch.ones_like(beaten[:, :, :1]), (0, place.shape[1] - 1))
    for wins in torch.split(beaten, 1, 2):
        chance = (1 - wins) * chance + wins * pad(chance[:, :, :-1], (1, 0))
    return (chance * place[:, None]).sum(2)


class SoftRank(Permuting):
    """1 - the metric that is expected when each score is observed with Gaussian noise.

    ``loss = 1 - sum_i worth_i E[place(r_i)]``, where r_i is one more than the number of documents that beat i, and j
    beats i with the chance ``Phi((s_j - s_i) / (sigma sqrt 2))``: exact as sigma -> 0 where no scores are equal.
    Source: Taylor, Guiver, Robertson, Minka (2008), SoftRank: optimizing non-smooth rank metrics; the rank-binomial
    distribution of r_i takes the contests of one document as independent.

    Args:
        metric: one that sums worth times place (ndcg, dcg, rbp, precision, recall, f1), or the name of one.
        sigma: > 0, the noise's standard deviation, in units of the scores.
        expect: "place", the expected worth of the place, which is the expected metric; or the "rank", of which the
            worth is taken: ``place(E r_i)``, as in PTRanking, in O(R L). That is less than the expectation where what
            places are worth falls by ever smaller steps (Jensen), as for ndcg without a cutoff. A cutoff then fades
            from rank k to k + 1, and documents that are expected further down have no gradient.

    Raises:
        ValueError: an unknown metric or another one, another word, or a sigma that is not above 0.

    Example:
        >>> loss = SoftRank("ndcg@10", sigma=1.0)
        >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> round(loss.estimate(scores, labels).item(), 4), round(loss.aim(scores, labels).item(), 4)
        (0.7076, 0.659)
    """

    cost = "O(R L K)"
    softness_in = "sigma"

    def __init__(self, metric: RankingMetric | str, sigma: float = 0.1, expect: Expect = "place") -> None:
        super().__init__(metric)
        check_word("expect", expect, Expect)
        self.sigma, self.expect = positive("sigma", sigma), expect
        self.cost = "O(R L)" if expect == "rank" else "O(R L K)"

    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return soft_rank(scores, relevance, mask, self.metric, self.sigma, self.expect, weight=weight)


class _Expected(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, beaten: Tensor, place: Tensor) -> Tensor:
        lists, rows, length = beaten.shape
        places, flat = place.repeat_interleave(rows, 0), beaten.flatten(0, 1)
        step = max(1, CONTESTS // (place.shape[1] * 2 * _stride(length)))
        parts = [_contests(*part) for part in zip(torch.split(flat, step), torch.split(places, step), strict=True)]
        value, gradient = (torch.cat(each) for each in zip(*parts, strict=True))
        ctx.save_for_backward(gradient.view_as(beaten))
        return value.view(lists, rows)

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[:, :, None], None


def _contests(beaten: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
    """[N] the expectation for some documents, and [N, L] its gradient: what a win moves down one place costs.

    The distribution is kept before every sqrt(L)-th contest, and worked out again from there.
    """
    length, stride = beaten.shape[1], _stride(beaten.shape[1])
    wins, gradient = beaten.t().contiguous()[:, :, None], beaten.new_empty(length, len(beaten))
    chance = torch.zeros_like(place)
    chance[:, 0] = 1
    kept = []
    for j in range(length):
        if j % stride == 0:
            kept.append(chance)
        chance = torch.addcmul(chance, wins[j], _moved(chance))
    value, credit = (chance * place).sum(1), place
    for start in range(0, length, stride)[::-1]:
        before = [kept.pop()]
        for j in range(start, min(start + stride, length) - 1):
            before.append(torch.addcmul(before[-1], wins[j], _moved(before[-1])))
        for j in range(start, start + len(before))[::-1]:
            gradient[j] = (credit * _moved(before[j - start])).sum(1)
            credit = torch.addcmul(credit, wins[j], pad(credit[:, 1:], (0, 1)) - credit)
    return value, gradient.t()


def _moved(chance: Tensor) -> Tensor:
    """[N, K] what a win for sure would change."""
    return pad(chance[:, :-1], (1, 0)) - chance


def _stride(length: int) -> int:
    return isqrt(length - 1) + 1

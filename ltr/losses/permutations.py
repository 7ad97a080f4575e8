"""Soft permutation matrices, and any metric that sums worth times place on one."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import exact_dtype
from ltr.losses.approx import read_gains, shortfall
from ltr.losses.base import Kind, Surrogate
from ltr.losses.sums import summing
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric
from ltr.order import sizes
from ltr.ranking import Ranking
from ltr.softening import centred


class Permuting(Surrogate):
    """1 - metric on a soft permutation: ``M = sum_r place(r) sum_i P[r, i] worth_i``, of which a subclass gives the
    estimate; exact once P is a permutation.

    Args:
        metric: one that sums worth times place (ndcg, dcg, rbp, precision, recall, f1), or the name of one.

    Raises:
        ValueError: an unknown metric, or another one.
    """

    suits = ("binary", "graded", "sparse", "clicks")
    metric: SumMetric

    def __init__(self, metric: RankingMetric | str) -> None:
        super().__init__()
        self.metric = summing(type(self).__name__, metric)
        self.unit = self.metric.name

    @property
    def kind(self) -> Kind:
        return "approximation"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        value = self.estimate(scores, relevance, mask, weight=weight)
        return shortfall(value, scores, relevance, mask, self.metric, weight)

    @abstractmethod
    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        """[B] the metric's value on the soft permutation."""


def read_places(
    scores: Tensor, relevance: Tensor, mask: Tensor | None, metric: SumMetric, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scores, mask, what each document is worth [B, L], and each place [B, K], 0 beyond k and the list's end."""
    scores, relevance, mask, read = read_gains(scores, relevance, mask, metric, weight)
    assert isinstance(read, SumMetric)
    ones, length = torch.ones_like(scores), scores.shape[1]
    rank = torch.arange(1, 1 + (length if read.k is None else min(read.k, length)), device=scores.device)
    place = read.place(rank.to(scores.dtype)) * (rank <= sizes(mask))
    return scores, mask, read.worth(Ranking(ones, ones, mask), relevance), place


def placed(permutation: Tensor, worth: Tensor, place: Tensor) -> Tensor:
    """[B] sum_r place(r) sum_i P[r, i] worth_i, of a permutation [B, R, L]."""
    return (place * (permutation * worth[:, None]).sum(2)).sum(1)


def soft_sort(scores: Tensor, mask: Tensor, temperature: float, rows: int | None = None, power: int = 1) -> Tensor:
    """[B, R, L] P[r, i] = softmax over i of -|s_(r) - s_i|^p / T, s_(r) the r-th highest score of the list.

    Source: Prillo, Eisenschlos (2020), SoftSort: a continuous relaxation for the argsort operator.
    """
    falling = scores.masked_fill(~mask, -torch.inf).sort(dim=1, descending=True, stable=True).values[:, :rows]
    falling = torch.where(torch.isfinite(falling), falling, 0)
    return over_documents(-((falling[:, :, None] - scores[:, None]).abs() ** power) / temperature, mask)


def neural_sort(scores: Tensor, mask: Tensor, temperature: float, rows: int | None = None) -> Tensor:
    """[B, R, L] P[r, i] = softmax over i of ((n + 1 - 2 r) s_i - sum_j |s_i - s_j|) / T, n documents in the list.

    Source: Grover et al. (2019), Stochastic optimization of sorting networks via continuous relaxations.
    """
    scores = centred(scores, mask)
    apart = (mask[:, None] * (scores[:, :, None] - scores[:, None]).abs()).sum(2)
    rank = torch.arange(1, scores.shape[1] + 1, device=scores.device)[:rows]
    slope = (mask.sum(1, keepdim=True) + 1 - 2 * rank).to(scores.dtype)
    return over_documents((slope[:, :, None] * scores[:, None] - apart[:, None]) / temperature, mask)


def falling_order(scores: Tensor, mask: Tensor) -> Tensor:
    """[B, L] the documents from the highest score down, padded ones last."""
    return scores.masked_fill(~mask, -torch.inf).argsort(dim=1, descending=True, stable=True)


def over_documents(logits: Tensor, mask: Tensor) -> Tensor:
    """[B, R, L] softmax over the real documents, 0 where padded."""
    inside = (mask | ~mask.any(1, keepdim=True))[:, None]
    return logits.masked_fill(~inside, -torch.inf).softmax(2) * mask[:, None]


def distances(scores: Tensor, mask: Tensor) -> Tensor:
    """[B, L] sum_j |s_i - s_j| over the real documents, by a sort and prefix sums; 0 where padded; differentiable."""
    exact = torch.where(mask, scores.to(exact_dtype(scores.device)), 0)
    rising = exact.masked_fill(~mask, torch.inf).sort(dim=1).values
    sums = pad(torch.where(torch.isfinite(rising), rising, 0).cumsum(1), (1, 0))
    lower, upto = (torch.searchsorted(rising.detach(), exact.detach(), right=side) for side in (False, True))
    below, above = lower * exact - sums.gather(1, lower), sums[:, -1:] - sums.gather(1, upto)
    return mask * (below + above - (sizes(mask) - upto) * exact)


def neural_rows(scores: Tensor, apart: Tensor, mask: Tensor, rows: slice, columns: slice = slice(None)) -> Tensor:
    """[B, r, l] some rows of ``neural_sort``, and some columns of them that hold nearly all; 0 beyond the list's end.

    Args:
        scores, apart: [B, L] scores over the temperature, and their ``distances``, in the type of the result.
        mask: [B, L].
    """
    rank = torch.arange(1, scores.shape[1] + 1, device=scores.device)[rows]
    slope = (sizes(mask) + 1 - 2 * rank).to(scores.dtype)
    logits = slope[:, :, None] * scores[:, None, columns] - apart[:, None, columns]
    return over_documents(logits, mask[:, columns]) * (rank <= sizes(mask))[:, :, None]

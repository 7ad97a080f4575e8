"""SoftSortNDCG: a metric on the soft permutation of SoftSort, at the cost of a sort."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import exact_dtype
from ltr.losses.base import positive
from ltr.losses.permutations import Permuting, falling_order, placed, read_places, soft_sort
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric
from ltr.softening import centred, once

FEW = 16  # places up to which their rows are worked out one by one


def soft_sort_metric(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    temperature: float = 0.1,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the metric where place r holds each document with probability softmax_i(-|s_(r) - s_i| / T).

    O(L log L) time, O(L) memory. See ``SoftSortNDCG``.
    """
    scores, mask, worth, place = read_places(scores, relevance, mask, metric, weight)
    if place.shape[1] <= FEW or torch.compiler.is_compiling():
        return placed(soft_sort(scores, mask, temperature, place.shape[1]), worth, place)
    order = falling_order(scores, mask)
    exact = centred(scores, mask, exact_dtype(scores.device)) / temperature
    falling, worth, real = (each.gather(1, order) for each in (exact, worth, mask))
    value: Tensor = _SoftSorted.apply(falling, worth, place, real)  # type: ignore[no-untyped-call]
    return value.to(scores.dtype)


class SoftSortNDCG(Permuting):
    """1 - metric on SoftSort's permutation: the soft NDCG of the lowest cost.

    ``loss = 1 - sum_r place(r) sum_i P[r, i] worth_i, P[r, i] = softmax_i(-|s_(r) - s_i| / T)``: exact as T -> 0 where
    no scores are equal. A row is a distribution, a column is not, so that a gain may count more or less than once.
    Source: Prillo, Eisenschlos (2020), SoftSort: a continuous relaxation for the argsort operator, with p = 1, for
    which exp(-|a - b|) falls apart into sums over the sorted scores.

    Args:
        metric: one that sums worth times place (ndcg, dcg, rbp, precision, recall, f1), or the name of one.
        temperature: > 0, in units of the scores.

    Raises:
        ValueError: an unknown metric or another one, or a temperature that is not above 0.

    Example:
        >>> loss = SoftSortNDCG("ndcg@10", temperature=0.5)
        >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> round(loss.estimate(scores, labels).item(), 4), round(loss.aim(scores, labels).item(), 4)
        (0.6979, 0.659)
    """

    cost = "O(L log L)"
    softness_in = "temperature"

    def __init__(self, metric: RankingMetric | str, temperature: float = 0.1) -> None:
        super().__init__(metric)
        self.temperature = positive("temperature", temperature)

    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return soft_sort_metric(scores, relevance, mask, self.metric, self.temperature, weight=weight)


class _SoftSorted(torch.autograd.Function):
    """sum_r c_r N_r / Z_r with N_r = sum_i K[r, i] w_i, Z_r = sum_i K[r, i], K[r, i] = exp(-|a_r - a_i|).

    With u_r = c_r / Z_r and v_r = c_r N_r / Z_r^2 the derivative in a_m is the sum over j of
    sign(a_j - a_m) K[m, j] (u_m w_j - v_m + u_j w_m - v_j).
    """

    @staticmethod
    def forward(ctx: Any, falling: Tensor, worth: Tensor, place: Tensor, real: Tensor) -> Tensor:
        worth, place = (each.to(falling.dtype) for each in (worth, pad(place, (0, falling.shape[1] - place.shape[1]))))
        lowest = falling.masked_fill(~real, torch.inf).amin(1, keepdim=True)
        falling = torch.where(real, falling, torch.where(torch.isfinite(lowest), lowest, 0))
        one = real.to(falling.dtype)
        edges = _edges(falling)
        (above, above_all), (below, below_all) = _kernel_sums(torch.stack([worth, one]), falling, edges)
        inside = _block_sums(torch.stack([worth, one]), edges)
        total = torch.where(real, above_all + below_all + inside[1], 1)
        share: Tensor = (above + below + inside[0]) / total
        if ctx.needs_input_grad[0]:
            u = place / total
            up, down = _kernel_sums(torch.stack([u, u * share]), falling, edges)
            gradient = u * (above - below - share * (above_all - below_all))
            gradient = gradient + worth * (up[0] - down[0]) - one * (up[1] - down[1])
            ctx.save_for_backward(one * gradient)
        return (share * place).sum(1)

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return upstream[:, None] * gradient, None, None, None


def _edges(falling: Tensor) -> tuple[Tensor, Tensor]:
    """[B, L] twice: how many scores are higher than each, and how many are at least as high."""
    rising = -falling
    return torch.searchsorted(rising, rising), torch.searchsorted(rising, rising, right=True)


def _kernel_sums(values: Tensor, falling: Tensor, edges: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """[S, B, L] twice: of values [S, B, L] >= 0, the sum of exp(-|a_m - a_j|) x_j over higher a_j, and over lower.

    Prefix sums of logarithms, since exp(a) alone would overflow.
    """
    logs, (first, last) = values.log(), (each.expand(values.shape) for each in edges)
    over = pad((logs - falling).logcumsumexp(2), (1, 0), value=-torch.inf)
    under = pad((logs + falling).flip(2).logcumsumexp(2).flip(2), (0, 1), value=-torch.inf)
    return (over.gather(2, first) + falling).exp(), (under.gather(2, last) - falling).exp()


def _block_sums(values: Tensor, edges: tuple[Tensor, Tensor]) -> Tensor:
    """[S, B, L] the sum of the values [S, B, L] over the documents of each one's score."""
    sums, (first, last) = pad(values.cumsum(2), (1, 0)), (each.expand(values.shape) for each in edges)
    return sums.gather(2, last) - sums.gather(2, first)

"""Sums over pairs of documents: value and gradient in one pass, and only some rows of pairs in memory at once."""

from __future__ import annotations

from collections.abc import Callable
from math import log as ln
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import logsigmoid

from ltr.softening import some_rows

Log = Literal["binary", "natural"]
Cost = Callable[[Tensor], tuple[Tensor, Tensor]]  # margins x -> cost of a pair and its slope; x is lost
Weigh = Callable[[Tensor], Tensor]  # rows [B, r] -> [B, r, L], a new tensor: what the pair (i, j) weighs, 0 for none


def pair_sum(
    scores: Tensor, rows: Tensor, weigh: Weigh, cost: Cost, *, signed: bool = False, damped: bool = False
) -> Tensor:
    """[B] sum over documents i of the rows and all j of |w_ij| cost(s_i - s_j), or of cost(s_j - s_i) where w_ij < 0.

    Differentiable once in the scores; weights are constants. Gradients are the same in every run.

    Args:
        scores: [B, L].
        rows: [B, R] the documents i of each list, as ``rows_of`` gives them.
        weigh: the weights of some rows at a time.
        cost: of a pair, by how far its better document is ahead.
        signed: may weights be negative?
        damped: scale each list by log2(1 + S) / S, S being twice the sum of its pairs' slopes, as a constant too
            (LightGBM's lambdarank_norm).
    """
    if torch.compiler.is_compiling():
        return dense_pair_sum(scores, rows, weigh, cost, damped=damped)
    return _PairSum.apply(scores, rows, weigh, cost, signed, damped)  # type: ignore[no-any-return, no-untyped-call]


def dense_pair_sum(scores: Tensor, rows: Tensor, weigh: Weigh, cost: Cost, *, damped: bool = False) -> Tensor:
    """The same as it is defined, for compilers, which fuse it, and as the judge of the other."""
    weight = weigh(rows)
    value, slope = cost((scores.gather(1, rows)[:, :, None] - scores[:, None]) * weight.sign())
    summed = (weight.abs() * value).sum((1, 2))
    return summed * _damping((2 * weight * slope.detach()).abs().sum((1, 2))) if damped else summed


def _damping(force: Tensor) -> Tensor:
    return torch.where(force > 0, torch.log2(1 + force) / torch.where(force > 0, force, 1), 1)


def rows_of(flags: Tensor) -> Tensor:
    """[B, R] the flagged documents of each list, then others; R is the most that a list has, and at least 1.

    It is the only wait for an accelerator; under a compiler R is the number of documents.
    """
    return fewest_rows(flags)[1]


def fewest_rows(*flags: Tensor) -> tuple[int, Tensor]:
    """The place of the flags [B, L] by which there are the fewest rows, and these, as of ``rows_of``."""
    chosen, most = 0, flags[0].shape[1]
    if not torch.compiler.is_compiling() and len(flags[0]):
        counts = torch.stack([each.sum(1).max() for each in flags]).tolist()
        most = max(1, min(counts))
        chosen = counts.index(min(counts))
    return chosen, flags[chosen].to(torch.int8).argsort(dim=1, descending=True, stable=True)[:, :most]


def above_the_lowest(relevance: Tensor, mask: Tensor) -> Tensor:
    """[B, L] bool, the documents with a label above the lowest of their list: the better one of every pair."""
    return mask & (relevance > relevance.masked_fill(~mask, torch.inf).amin(1, keepdim=True))


def pair_count(relevance: Tensor, mask: Tensor) -> Tensor:
    """[B] pairs of documents with unequal labels."""
    labels = relevance.masked_fill(~mask, torch.inf).sort(dim=1).values
    below = torch.searchsorted(labels, labels.contiguous(), right=False)  # of each document, those of lower labels
    return torch.where(torch.isfinite(labels), below, 0).sum(1)


def greater(one: Tensor, other: Tensor) -> Tensor:
    """1 where it is greater, else 0, in the tensors' own type: on a CPU ten times as quick as by way of bool."""
    if torch.compiler.is_compiling():
        return (one > other).to(one.dtype)
    return torch.gt(one, other, out=one.new_empty([max(pair) for pair in zip(one.shape, other.shape, strict=True)]))


def logistic(sigma: float, log: Log) -> Cost:
    """The cost log(1 + exp(-sigma x)) of a pair; where no graph is kept, in place, and no less exact."""
    unit = 1 / ln(2) if log == "binary" else 1.0

    def cost(margin: Tensor) -> tuple[Tensor, Tensor]:
        if torch.is_grad_enabled():
            return -unit * logsigmoid(sigma * margin), -unit * sigma * torch.sigmoid(-sigma * margin)
        behind = margin.mul_(-sigma)
        slope, value = torch.sigmoid(behind), behind.clamp(min=0)
        value += behind.abs_().neg_().exp_().log1p_()
        return value.mul_(unit), slope.mul_(-sigma * unit)

    return cost


class _PairSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, rows: Tensor, weigh: Weigh, cost: Cost, signed: bool, damped: bool) -> Tensor:
        value, force = scores.new_zeros(len(scores)), scores.new_zeros(len(scores))
        gradient = torch.zeros_like(scores)
        for part in some_rows(rows.shape[1], scores.numel()):
            some = rows[:, part]
            weight = weigh(some)
            margin = scores.gather(1, some)[:, :, None] - scores[:, None]
            each, slope = cost(margin.mul_(weight.sign()) if signed else margin)
            value += each.mul_(weight.abs() if signed else weight).sum((1, 2))
            slope.mul_(weight)
            force += 2 * slope.abs().sum((1, 2)) if damped else 0
            gradient.scatter_add_(1, some, slope.sum(2))
            gradient -= slope.sum(1)
        if damped:
            value, gradient = value * _damping(force), gradient * _damping(force)[:, None]
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[:, None], None, None, None, None, None

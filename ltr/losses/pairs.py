"""Sums over pairs of documents: value and gradient in one pass, and only some rows of pairs in memory at once."""

from __future__ import annotations

from collections.abc import Callable
from math import log as ln
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from ltr.lists import may_look
from ltr.order import masked
from ltr.softening import once, some_rows

Log = Literal["binary", "natural"]
Pairs = Literal["mean", "sum", "batch"]  # over a list's pairs; "batch": a mean that weighs as many as it has pairs
FEW = 1 << 17  # pairs up to which all of them at once are as quick
FAR = 80.0  # exp of it is finite, and log(1 + exp) of it is itself, in float32 and float64
Weigh = Callable[[Tensor], Tensor]  # rows [B, r] -> [B, r, L], a new tensor: what the pair (i, j) weighs, 0 for none


class Cost(NamedTuple):
    """What a pair costs whose better document is x ahead."""

    value: Callable[[Tensor], Tensor]  # of x, differentiable
    both: Callable[[Tensor], tuple[Tensor, Tensor]]  # of x, which is lost: value and slope, where no graph is kept


def pair_sum(
    scores: Tensor,
    rows: Tensor,
    weigh: Weigh,
    cost: Cost,
    *,
    weight: Tensor | None = None,
    signed: bool = False,
    damped: bool = False,
) -> Tensor:
    """[B] sum over documents i of the rows and all j of |w_ij| cost(s_i - s_j), or of cost(s_j - s_i) where w_ij < 0.

    Differentiable once in the scores; weights are constants. Gradients are the same in every run.

    Args:
        scores: [B, L].
        rows: [B, R] the documents i of each list, as ``rows_of`` gives them.
        weigh: the weights of some rows at a time.
        cost: of a pair, by how far its better document is ahead.
        weight: [B, L] >= 0, of the documents i, beside w_ij; 1 when None.
        signed: may weights be negative?
        damped: scale each list by log2(1 + S) / S, S being twice the sum of its pairs' slopes, as a constant too
            (LightGBM's lambdarank_norm).
    """
    if torch.compiler.is_compiling():
        return dense_pair_sum(scores, rows, weigh, cost, weight=weight, damped=damped)
    return _PairSum.apply(scores, rows, weigh, cost, weight, signed, damped)  # type: ignore[no-any-return, no-untyped-call]


def dense_pair_sum(
    scores: Tensor, rows: Tensor, weigh: Weigh, cost: Cost, *, weight: Tensor | None = None, damped: bool = False
) -> Tensor:
    """The same as it is defined, for compilers, which fuse it, and as the judge of the other."""
    pair = weigh(rows) * (1 if weight is None else weight.gather(1, rows)[:, :, None])
    margin = (scores.gather(1, rows)[:, :, None] - scores[:, None]) * pair.sign()
    summed = (pair.abs() * cost.value(margin)).sum((1, 2))
    if not damped:
        return summed
    with torch.no_grad():
        slope = cost.both(margin.clone())[1]
    return summed * _damping((2 * pair * slope).abs().sum((1, 2)))


def label_pair_sum(scores: Tensor, relevance: Tensor, mask: Tensor, cost: Cost, weight: Tensor) -> Tensor:
    """[B] sum over pairs y_i > y_j of weight_i cost(s_i - s_j), in O(R L) time.

    The R rows are the documents above the lowest label, or those below the highest one, whichever are fewer.
    """
    if _few(scores):
        each = (in_pairs(relevance, mask) * cost.value(scores[:, :, None] - scores[:, None])).sum(2)
        return (weight * each).sum(1)
    worst, best = (relevance.masked_fill(~mask, end) for end in (-torch.inf, torch.inf))
    above, below = worst > best.amin(1, keepdim=True), best < worst.amax(1, keepdim=True)
    turned, rows = fewest_rows(above, below & mask)
    if turned:  # minus the labels and minus the scores: the worse document of a pair is now the better one
        return pair_sum(-scores, rows, lambda some: _ahead(-best, -worst, some).mul_(weight[:, None]), cost)
    return pair_sum(scores, rows, lambda some: _ahead(worst, best, some), cost, weight=weight)


def _few(values: Tensor) -> bool:
    return values.numel() * values.shape[1] <= FEW


def in_pairs(relevance: Tensor, mask: Tensor) -> Tensor:
    """[B, L, L] 1 for the pairs y_i > y_j, else 0."""
    labels = masked(relevance, mask, torch.nan)
    return greater(labels[:, :, None], labels[:, None])


def _ahead(labels: Tensor, others: Tensor, some: Tensor) -> Tensor:
    return greater(labels.gather(1, some)[:, :, None], others[:, None])


def over_pairs(summed: Tensor, pairs: Pairs, relevance: Tensor, mask: Tensor) -> Tensor:
    """[B] the sums over pairs y_i > y_j as they are, or as means over the list's pairs."""
    return summed if pairs == "sum" else summed / pair_count(relevance, mask).clamp(min=1)


def pair_share(pairs: Pairs, relevance: Tensor, mask: Tensor) -> Tensor | None:
    """What makes a mean over lists one over the pairs of the batch: see ``Surrogate.share``."""
    return pair_count(relevance, mask) if pairs == "batch" else None


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
    first = flags[chosen]
    if may_look(first):
        return chosen, torch.from_numpy(np.argsort(~first.numpy(), axis=1, kind="stable")[:, :most])
    return chosen, first.to(torch.int8).argsort(dim=1, descending=True, stable=True)[:, :most]


def above_the_lowest(relevance: Tensor, mask: Tensor) -> Tensor:
    """[B, L] bool, the documents with a label above the lowest of their list: the better one of every pair."""
    return mask & (relevance > relevance.masked_fill(~mask, torch.inf).amin(1, keepdim=True))


def pair_count(relevance: Tensor, mask: Tensor) -> Tensor:
    """[B] pairs of documents with unequal labels."""
    relevance = relevance.detach()
    if _few(relevance):
        return in_pairs(relevance, mask).sum((1, 2))
    labels, size = relevance.masked_fill(~mask, -torch.inf), mask.sum(1)
    labels = torch.from_numpy(np.sort(labels.numpy(), axis=1)) if may_look(labels) else labels.sort(dim=1).values
    below = torch.searchsorted(labels, labels.contiguous())  # of each document, those of lower labels, and the padded
    return below.sum(1) - size * (mask.shape[1] - size)


def every_pair(mask: Tensor) -> Tensor:
    """[B] pairs of documents, whatever their labels."""
    size = mask.sum(1)
    return size * (size - 1) // 2


def greater(one: Tensor, other: Tensor) -> Tensor:
    """1 where it is greater, else 0, in the tensors' own type: on a CPU ten times as quick as by way of bool."""
    if torch.compiler.is_compiling():
        return (one > other).to(one.dtype)
    return torch.gt(one, other, out=one.new_empty([max(pair) for pair in zip(one.shape, other.shape, strict=True)]))


def closeness(scores: Tensor, mask: Tensor) -> Weigh:
    """0.01 + |s_i - s_j|, by which LightGBM and XGBoost divide a pair; 1 where all scores of the list are equal."""
    highest, lowest = (scores.masked_fill(~mask, end)[:, None] for end in (-torch.inf, torch.inf))
    apart = highest.amax(2, keepdim=True) > lowest.amin(2, keepdim=True)
    return lambda some: torch.where(apart, 0.01 + (scores.gather(1, some)[:, :, None] - scores[:, None]).abs(), 1)


def logistic(sigma: float, log: Log) -> Cost:
    """The cost log(1 + exp(-sigma x)), of which value and slope are worked out in place, and no less exact."""
    unit = 1 / ln(2) if log == "binary" else 1.0

    def both(margin: Tensor) -> tuple[Tensor, Tensor]:
        behind = margin.mul_(-sigma)
        near = may_look(behind) and behind.numel() > 0 and bool(behind.max() <= FAR)
        rest = None if near else (behind - FAR).clamp_(min=0)
        odds = (behind if near else behind.clamp_(max=FAR)).exp_()
        value = odds.log1p()
        slope = odds.reciprocal_().add_(1).reciprocal_()
        if rest is not None:
            value += rest
        return value if unit == 1 else value.mul_(unit), slope.mul_(-sigma * unit)

    def value(margin: Tensor) -> Tensor:
        cost = softplus(margin * -sigma, threshold=FAR)
        return cost if unit == 1 else cost * unit

    return Cost(value, both)


class _PairSum(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        scores: Tensor,
        rows: Tensor,
        weigh: Weigh,
        cost: Cost,
        weight: Tensor | None,
        signed: bool,
        damped: bool,
    ) -> Tensor:
        value, force = scores.new_zeros(len(scores)), scores.new_zeros(len(scores))
        gradient = torch.zeros_like(scores)
        for part in some_rows(rows.shape[1], scores.numel()):
            some = rows[:, part]
            pair = weigh(some)
            if weight is not None:
                pair *= weight.gather(1, some)[:, :, None]
            margin = scores.gather(1, some)[:, :, None] - scores[:, None]
            each, slope = cost.both(margin.mul_(pair.sign()) if signed else margin)
            value += each.mul_(pair.abs() if signed else pair).sum((1, 2))
            slope.mul_(pair)
            force += 2 * slope.abs().sum((1, 2)) if damped else 0
            gradient.scatter_add_(1, some, slope.sum(2))
            gradient -= slope.sum(1)
        if damped:
            value, gradient = value * _damping(force), gradient * _damping(force)[:, None]
        ctx.save_for_backward(gradient)
        return value

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[:, None], *[None] * 6

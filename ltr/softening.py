"""Soft counting: how much of a weight stands above a score, by sigmoids or by hinges, in O(documents) memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import pad

from ltr.lists import exact_dtype

CELLS = 1 << 18  # pairs worked at once: buffers of that size stay in a core's cache
KEPT = 1 << 20  # pairs up to which what the gradient needs is kept, and not worked out again


def soft_counts(rows: Tensor, scores: Tensor, weight: Tensor | None, temperature: float) -> Tensor:
    """[B, R] sum over j of weight_j sigmoid((s_j - a_i) / temperature), for rows a; differentiable once in both scores.

    Pairs are worked some rows at a time, and again for the gradient where there are many.

    Args:
        rows: [B, R] scores a.
        scores: [B, L] scores s, finite.
        weight: [B, L], a constant; 0 where padded; 1 everywhere when None.
        temperature: > 0, in units of the scores.

    Example:
        >>> s = torch.tensor([[0.0, 100.0]])
        >>> soft_counts(s, s, None, 1.0).tolist()  # each counts itself half
        [[1.5, 0.5]]
    """
    if torch.compiler.is_compiling():
        return dense_counts(rows, scores, weight, temperature)
    return _SoftCounts.apply(rows, scores, weight, temperature)  # type: ignore[no-any-return, no-untyped-call]


def dense_counts(rows: Tensor, scores: Tensor, weight: Tensor | None, temperature: float) -> Tensor:
    """The same as it is defined, for compilers, which fuse it, and as the judge of the other."""
    above = torch.sigmoid((scores[:, None] - rows[:, :, None]) / temperature)
    return (above if weight is None else above * weight[:, None]).sum(2)


def hinge_counts(scores: Tensor, mask: Tensor) -> Tensor:
    """[B, L] sum over j of max(0, 1 + s_j - s_i), of which each document counts itself once; 0 where padded.

    O(L log L) time: the documents with s_j > s_i - 1 are a tail of the sorted scores, whose sum is a difference of two
    prefix sums. Differentiable; in float64 inside.

    Args:
        scores: [B, L], finite.
        mask: [B, L], True for a real document.

    Example:
        >>> hinge_counts(torch.tensor([[0.0, 0.5, 5.0]]), torch.ones(1, 3).bool()).tolist()
        [[8.5, 7.0, 1.0]]
    """
    centred = torch.where(mask, scores.to(exact_dtype(scores.device)), 0)
    centred = centred - centred.sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    rising = centred.masked_fill(~mask, -torch.inf).sort(dim=1).values
    sums = pad(torch.where(torch.isfinite(rising), rising, 0).cumsum(1), (1, 0))
    below = torch.searchsorted(rising.detach(), centred.detach() - 1, right=True)  # documents that count nothing
    counts = sums[:, -1:] - sums.gather(1, below) - (scores.shape[1] - below) * (centred - 1)
    return (mask * counts).to(scores.dtype)


def dense_hinge_counts(scores: Tensor, mask: Tensor) -> Tensor:
    """The same as it is defined, as the judge of the other."""
    return mask * (mask[:, None] * (1 + scores[:, None] - scores[:, :, None]).clamp(min=0)).sum(2)


def some_rows(rows: int, others: int) -> Iterator[slice]:
    """``rows`` in parts, so that a part times ``others`` is about CELLS."""
    step = max(1, CELLS // max(1, others))
    for start in range(0, rows, step):
        yield slice(start, start + step)


class _SoftCounts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, scores: Tensor, weight: Tensor | None, temperature: float) -> Tensor:
        rows, scores = rows / temperature, scores / temperature
        ctx.temperature, slope = temperature, None
        if rows.shape[1] * scores.numel() <= KEPT:
            slope = _above(rows, scores)
            counts = _summed(slope, weight)
            _slope(slope)
        else:
            counts = torch.empty_like(rows)
            for part in some_rows(rows.shape[1], scores.numel()):
                counts[:, part] = _summed(_above(rows[:, part], scores), weight)
        ctx.save_for_backward(rows, scores, weight, slope)
        return counts

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, None, None]:
        rows, scores, weight, slope = ctx.saved_tensors
        if slope is not None:
            of_rows, of_scores = _summed(slope, weight), (upstream[:, None] @ slope)[:, 0]
        else:
            of_rows, of_scores = torch.empty_like(rows), torch.zeros_like(scores)
            for part in some_rows(rows.shape[1], scores.numel()):
                slope = _slope(_above(rows[:, part], scores))
                of_scores += (upstream[:, None, part] @ slope)[:, 0]
                of_rows[:, part] = _summed(slope, weight)
        of_rows = of_rows * (-upstream / ctx.temperature)
        of_scores = of_scores * (1 / ctx.temperature if weight is None else weight / ctx.temperature)
        return of_rows, of_scores, None, None


def _above(rows: Tensor, scores: Tensor) -> Tensor:
    return (scores[:, None] - rows[:, :, None]).sigmoid_()


def _slope(above: Tensor) -> Tensor:
    """Of the sigmoid, in its own place."""
    return above.addcmul_(above, above, value=-1)


def _summed(values: Tensor, weight: Tensor | None) -> Tensor:
    return values.sum(2) if weight is None else (values @ weight[:, :, None])[:, :, 0]

"""Soft counting: how much of a weight stands above a score, by sigmoids or by hinges, in O(documents) memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import all_real, exact_dtype

CELLS = 1 << 18  # pairs worked at once: buffers of that size stay in a core's cache
KEPT = 1 << 20  # pairs up to which what the gradient needs is kept, and not worked out again
Backward = Callable[..., Any]


def once(backward: Backward) -> Backward:
    """A kernel's own gradient, which has no graph: a second derivative is refused, where PyTorch would take it for 0.

    Raises:
        RuntimeError: the gradient is wanted with a graph.
    """

    @wraps(backward)
    def refusing(ctx: Any, *upstream: Tensor) -> Any:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "a surrogate can be differentiated once: its gradient has no graph; create_graph=True (a second "
                "derivative, a gradient penalty) is refused"
            )
        with uncast(upstream[0]):
            return backward(ctx, *upstream)

    return refusing


def uncast(values: Any) -> AbstractContextManager[Any]:
    """Where this holds, matrices are multiplied in the type that they have, whatever autocast says around it."""
    device = values.device.type if isinstance(values, Tensor) else "cpu"
    return torch.autocast(device, enabled=False) if torch.is_autocast_enabled(device) else nullcontext()


def centred(scores: Tensor, mask: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """[B, L] the scores less a constant, about their mean, 0 where padded: what they all share costs no digits then.

    Args:
        scores: [B, L]; differences of the result have their gradients.
        mask: [B, L], True for a real document.
        dtype: of the result; that of the scores when None.
    """
    if all_real(mask):
        real = scores.to(dtype)
        return real - real.detach().mean(1, keepdim=True, dtype=exact_dtype(mask.device)).to(real.dtype)
    real = torch.where(mask, scores.to(dtype), 0)
    mean = real.detach().sum(1, keepdim=True, dtype=exact_dtype(mask.device)) / mask.sum(1, keepdim=True).clamp(min=1)
    return torch.where(mask, real - mean.to(real.dtype), 0)


def soft_counts(rows: Tensor, scores: Tensor, weight: Tensor | None, temperature: float) -> Tensor:
    """[B, R] sum over j of weight_j sigmoid((s_j - a_i) / temperature), for rows a; differentiable once in both scores.

    Pairs are worked some rows at a time, and again for the gradient where there are many.

    Args:
        rows: [B, R] scores a.
        scores: [B, L] scores s, finite, ``centred``: they are divided before they are compared.
        weight: [B, L], a constant; 0 where padded; 1 everywhere when None.
        temperature: > 0, in units of the scores.

    Example:
        >>> s = torch.tensor([[0.0, 100.0]])
        >>> soft_counts(s, s, None, 1.0).tolist()  # each counts itself half
        [[1.5, 0.5]]
    """
    if torch.compiler.is_compiling():
        return dense_counts(rows, scores, weight, temperature)
    with uncast(scores):
        return _SoftCounts.apply(rows, scores, weight, temperature)  # type: ignore[no-any-return, no-untyped-call]


def dense_counts(rows: Tensor, scores: Tensor, weight: Tensor | None, temperature: float) -> Tensor:
    """The same as it is defined, for compilers, which fuse it, and as the judge of the other."""
    above = torch.sigmoid((scores[:, None] - rows[:, :, None]) / temperature)
    return (above if weight is None else above * weight[:, None]).sum(2)


def soft_wins(scores: Tensor, labels: Tensor, mask: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """[B] sum over pairs y_i > y_j of sigmoid((s_i - s_j) / temperature), differentiable once; [B] how many there are.

    O(L^2) time, some rows of pairs at a time.

    Args:
        scores: [B, L], finite, ``centred``.
        labels: [B, L], constants.
        mask: [B, L], True for a real document.
        temperature: > 0, in units of the scores.

    Example:
        >>> scores, labels = torch.tensor([[0.0, 9.0, -9.0]]), torch.tensor([[1.0, 2.0, 2.0]])
        >>> [each.item() for each in soft_wins(scores, labels, labels > 0, 0.1)]  # one of two pairs stands right
        [1.0, 2.0]
    """
    labels = labels.masked_fill(~mask, torch.nan)
    if torch.compiler.is_compiling():
        return dense_wins(scores, labels, temperature)
    return _SoftWins.apply(scores, labels, temperature)  # type: ignore[no-any-return, no-untyped-call]


def dense_wins(scores: Tensor, labels: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """The same as it is defined, for compilers and as the judge of the other; labels are NaN where padded."""
    pairs = (labels[:, :, None] > labels[:, None]).to(scores.dtype)
    won = torch.sigmoid((scores[:, :, None] - scores[:, None]) / temperature)
    return (pairs * won).sum((1, 2)), pairs.sum((1, 2))


def hinge_counts(scores: Tensor, mask: Tensor) -> Tensor:
    """[B, L] sum over j of max(0, 1 + s_j - s_i), of which each document counts itself once; 0 where padded.

    O(L log L) time: the documents with s_j > s_i - 1 are a tail of the sorted scores, whose sum is a difference of two
    prefix sums. Never less than the number of documents with s_j >= s_i, however large the scores. Differentiable; in
    float64 inside.

    Args:
        scores: [B, L], finite.
        mask: [B, L], True for a real document.

    Example:
        >>> hinge_counts(torch.tensor([[0.0, 0.5, 5.0]]), torch.ones(1, 3).bool()).tolist()
        [[8.5, 7.0, 1.0]]
    """
    near = centred(scores, mask, exact_dtype(scores.device))
    given = scores.detach().to(near.dtype).masked_fill(~mask, -torch.inf)
    rising, order = given.sort(dim=1)
    lower = torch.searchsorted(rising, given)  # documents of lower scores, and padded ones
    below = torch.minimum(torch.searchsorted(rising, given - 1, right=True), lower)  # those that count nothing
    sums = pad(near.gather(1, order).cumsum(1), (1, 0))
    counts = sums[:, -1:] - sums.gather(1, below) - (scores.shape[1] - below) * (near - 1)
    counts = counts + (scores.shape[1] - lower - counts.detach()).clamp(min=0)  # which rounding may have taken off
    return torch.where(mask, counts, 0).to(scores.dtype)


def dense_hinge_counts(scores: Tensor, mask: Tensor) -> Tensor:
    """The same as it is defined, as the judge of the other; a hinge has no slope at its margin."""
    return mask * (mask[:, None] * torch.relu(1 + (scores[:, None] - scores[:, :, None]))).sum(2)


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
    @once
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


class _SoftWins(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, labels: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
        scores = scores / -temperature
        won, pairs = (scores.new_zeros(len(scores)) for _ in range(2))
        gradient = torch.zeros_like(scores)
        for part in some_rows(scores.shape[1], scores.numel()):
            pair = (labels[:, part, None] > labels[:, None]).to(scores.dtype)
            ahead = _above(scores[:, part], scores)
            won += (ahead * pair).sum((1, 2))
            pairs += pair.sum((1, 2))
            slope = _slope(ahead).mul_(pair)
            gradient[:, part] += slope.sum(2)
            gradient -= slope.sum(1)
        ctx.save_for_backward(gradient / temperature)
        ctx.mark_non_differentiable(pairs)
        return won, pairs

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor, _: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[:, None], None, None


def _above(rows: Tensor, scores: Tensor) -> Tensor:
    return (scores[:, None] - rows[:, :, None]).sigmoid_()


def _slope(above: Tensor) -> Tensor:
    """Of the sigmoid, in its own place."""
    return above.addcmul_(above, above, value=-1)


def _summed(values: Tensor, weight: Tensor | None) -> Tensor:
    return values.sum(2) if weight is None else (values @ weight[:, :, None])[:, :, 0]

"""Hinge: the margin by which every pair of unequal labels should stand in order; in O(L log L) time."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import exact_dtype, may_look
from ltr.losses.base import Kind, Surrogate, check_word, read_lists
from ltr.losses.pairs import Cost, Pairs, in_pairs, label_pair_sum, over_pairs, pair_share
from ltr.metrics import PairAccuracy
from ltr.softening import centred, once

SHORT = 200  # documents up to which sums over pairs are quicker than sorting


def pairwise_hinge(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    pairs: Pairs = "mean",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over pairs y_i > y_j of max(0, 1 - (s_i - s_j)), exact, in O(L log L) time. See ``Hinge``."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    if scores.shape[1] <= SHORT or torch.compiler.is_compiling():
        summed = label_pair_sum(scores, relevance, mask, MARGIN, weight)
    else:
        summed = _SortedHinge.apply(scores, relevance, mask, weight)  # type: ignore[no-untyped-call]
    return over_pairs(summed, pairs, relevance, mask)


def dense_hinge(scores: Tensor, relevance: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
    """[B] the sum over pairs as it is defined: the judge of the others."""
    missing = torch.relu(1 - (scores[:, :, None] - scores[:, None]))
    return (in_pairs(relevance, mask) * weight[:, :, None] * missing).sum((1, 2))


def _missing(margin: Tensor) -> tuple[Tensor, Tensor]:
    """max(0, 1 - x) of a pair, and its slope, 0 at 1."""
    missing = margin.neg_().add_(1).relu_()
    return missing, -missing.sign()


MARGIN = Cost(lambda margin: torch.relu(1 - margin), _missing)


class Hinge(Surrogate):
    """The hinge loss averaged over the list's pairs of unequal labels, as in a ranking support vector machine.

    ``loss = mean over y_i > y_j of max(0, 1 - (s_i - s_j))``. Source: Joachims (2002), Optimizing search engines using
    clickthrough data. A pair that does not stand right costs at least 1, so that pairwise accuracy >= 1 - loss. Its
    slope is 0 at a margin of exactly 1.

    Args:
        pairs: "mean", "sum" or "batch", as ``RankNet`` takes it.

    Raises:
        ValueError: an unknown option.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[3.0, 2.5, 0.0]]), torch.tensor([[2.0, 1.0, 0.0]])
        >>> Hinge(pairs="sum")(scores, labels).item(), round(Hinge().certificate(scores, labels).item(), 4)
        (0.5, 0.8333)
    """

    cost = "O(L log L)"
    suits = ("binary", "graded", "sparse", "real")

    def __init__(self, pairs: Pairs = "mean") -> None:
        super().__init__()
        check_word("pairs", pairs, Pairs)
        self.pairs = pairs
        self.unit = "score units " + ("over pairs" if pairs == "sum" else "a pair")
        self.metric = None if pairs == "sum" else PairAccuracy()

    @property
    def kind(self) -> Kind:
        return "neither" if self.metric is None else "bound"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return pairwise_hinge(scores, relevance, mask, self.pairs, weight=weight)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        return None if self.metric is None else 1 - self(scores, relevance, mask)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        return pair_share(self.pairs, relevance, mask)


class _SortedHinge(torch.autograd.Function):
    """Each document's slope is a count, and the value follows: sum over pairs of w (1 - s_i + s_j) = sum of w c + of s
    times slope, c being the worse documents that a document is not ahead of by 1."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, relevance: Tensor, mask: Tensor, weight: Tensor) -> Tensor:
        order, ordered = _sorted(scores.to(exact_dtype(scores.device)).masked_fill(~mask, -torch.inf))
        weight = weight.to(ordered.dtype)
        far = torch.searchsorted(ordered, ordered - 1, right=True)  # documents that one is ahead of by 1 or more
        place = torch.arange(ordered.shape[1], device=ordered.device).expand_as(far)
        near = torch.searchsorted(far, place.contiguous(), right=True)  # those that are not so far ahead of one
        level = _levels(relevance, mask).gather(1, order)
        worse, better = _counts(level, weight.gather(1, order), far, near)
        lost = weight * torch.zeros_like(weight).scatter_(1, order, worse)
        slope = torch.zeros_like(weight).scatter_(1, order, better) - lost
        value = lost.sum(1) + (slope * centred(scores, mask, slope.dtype)).sum(1)
        ctx.save_for_backward(slope.to(scores.dtype))
        return value.to(scores.dtype)

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        (slope,) = ctx.saved_tensors
        return slope * upstream[:, None], None, None, None


def _counts(level: Tensor, weight: Tensor, far: Tensor, near: Tensor) -> tuple[Tensor, Tensor]:
    """[B, L] twice: documents of lower levels from place ``far`` on; weight of those of higher ones before ``near``.

    At the highest bit in which two levels differ the higher one has a 1. Bit by bit, the documents that agree in all
    higher bits are kept together, in their order, those with a 0 in it first, and places move along with them.
    """
    length = level.shape[1]
    worse, better = torch.zeros_like(weight), torch.zeros_like(weight)
    rest, heavy, place = level, weight, torch.arange(1, length + 1, device=level.device)
    start, end = torch.zeros_like(far), torch.full_like(far, length)
    for bit in reversed(range(int(level.max()).bit_length() if level.numel() else 0)):
        one, mine = rest >> bit & 1, level >> bit & 1
        ones = pad(one.cumsum(1), (1, 0))
        over = pad((one * heavy).cumsum(1), (1, 0))
        counted = [(each, ones.gather(1, each)) for each in (far, end, near, start)]
        zeros_far, zeros_end = (each - count for each, count in counted[:2])
        worse += mine * (zeros_end - zeros_far)
        better += (1 - mine) * (over.gather(1, near) - over.gather(1, start))
        zeros = length - ones[:, -1:]
        far, end, near, start = (torch.where(mine == 1, zeros + count, each - count) for each, count in counted)
        moved = torch.where(one == 1, zeros + ones[:, 1:], place - ones[:, 1:]) - 1
        rest, heavy = (torch.empty_like(each).scatter_(1, moved, each) for each in (rest, heavy))
    return worse, better


def _levels(relevance: Tensor, mask: Tensor) -> Tensor:
    """[B, L] whole numbers instead of labels, 0 for a list's lowest and where padded."""
    order, ordered = _sorted(relevance.masked_fill(~mask, 0))
    number = pad((ordered[:, 1:] != ordered[:, :-1]).cumsum(1), (1, 0))
    return torch.empty_like(number).scatter_(1, order, number)


def _sorted(values: Tensor) -> tuple[Tensor, Tensor]:
    """[B, L] the order in which they rise, equal ones in any order, and the values in it."""
    if may_look(values):
        order = torch.from_numpy(np.argsort(values.numpy(), axis=1))
        return order, values.gather(1, order)
    ordered, order = values.sort(dim=1)
    return order, ordered

"""Pairwise MSE: regression of the differences of scores on those of labels; in O(L) time."""

from __future__ import annotations

from torch import Tensor

from ltr.losses.base import Surrogate, check_word, read_lists
from ltr.losses.pairs import Pairs, every_pair
from ltr.softening import centred


def pairwise_mse(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    pairs: Pairs = "mean",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over all pairs i < j of ((s_i - s_j) - (y_i - y_j))^2. See ``PairwiseMSE``.

    By e = s - y less its mean over the n documents: sum over j of (e_i - e_j)^2 = n e_i^2 + sum of e_j^2.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    size = mask.sum(1, keepdim=True)
    error = centred(scores, mask) - relevance
    square = (mask * (error - error.sum(1, keepdim=True) / size.clamp(min=1))).square()
    summed = (weight * (size * square + square.sum(1, keepdim=True))).sum(1) / 2
    return summed if pairs == "sum" else summed / every_pair(mask).clamp(min=1)


class PairwiseMSE(Surrogate):
    """The mean squared difference between how far two scores and how far two labels lie apart, over all pairs.

    ``loss = mean over i < j of ((s_i - s_j) - (y_i - y_j))^2``, those of equal labels included: centred MSE, times
    2 n / (n - 1) for n documents. Each pair is there once; TensorFlow Ranking sums over both its orders, and Rax
    averages over the n^2 orders, i = j among them. A pair weighs the mean of its two documents' weights, since neither
    is the better one where labels are equal.

    Args:
        pairs: "mean", "sum" or "batch", as ``RankNet`` takes it.

    Raises:
        ValueError: an unknown option.

    Example:
        >>> import torch
        >>> loss = PairwiseMSE()(torch.tensor([[5.0, 3.0, 3.0]]), torch.tensor([[1.0, 0.0, 0.0]]))
        >>> round(loss.item(), 4)  # (1 + 1 + 0) / 3
        0.6667
    """

    cost = "O(L)"
    suits = ("graded", "real")

    def __init__(self, pairs: Pairs = "mean") -> None:
        super().__init__()
        check_word("pairs", pairs, Pairs)
        self.pairs = pairs
        self.unit = "squared label units " + ("over pairs" if pairs == "sum" else "a pair")

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return pairwise_mse(scores, relevance, mask, self.pairs, weight=weight)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        return every_pair(mask) if self.pairs == "batch" else None

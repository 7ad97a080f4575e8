"""RankNet: the logistic loss of every pair of unequal labels."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from ltr.lists import check_lists
from ltr.losses.base import Surrogate, check_word, positive
from ltr.losses.pairs import Log, above_the_lowest, greater, logistic, pair_count, pair_sum, rows_of

Pairs = Literal["mean", "sum"]


def rank_net(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    sigma: float = 1.0,
    log: Log = "natural",
    pairs: Pairs = "mean",
) -> Tensor:
    """[B] mean over pairs y_i > y_j of ln(1 + exp(-sigma (s_i - s_j))). See ``RankNet``.

    O(R L) time for R documents above the lowest label.
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    relevance = relevance.to(scores.dtype)
    lower = relevance.masked_fill(~mask, torch.inf)[:, None]

    def weigh(some: Tensor) -> Tensor:
        return greater(relevance.gather(1, some)[:, :, None], lower)

    summed = pair_sum(scores, rows_of(above_the_lowest(relevance, mask)), weigh, logistic(sigma, log))
    return summed if pairs == "sum" else summed / pair_count(relevance, mask).clamp(min=1)


class RankNet(Surrogate):
    """The logistic loss averaged over the list's pairs of unequal labels; how unequal they are does not matter.

    ``loss = mean over y_i > y_j of ln(1 + exp(-sigma (s_i - s_j)))``. Source: Burges et al. (2005), Learning to rank
    using gradient descent. In natural logarithms it bounds nothing (ln 2 < 1 where two scores are equal).

    Args:
        sigma: > 0, steepness in 1 / units of the scores.
        log: "natural", or "binary", as in pytorchltr and sentence-transformers.
        pairs: "mean" or "sum" over the pairs of a list; a sum weighs long lists more.

    Raises:
        ValueError: a sigma that is not above 0, or an unknown option.

    Example:
        >>> import torch
        >>> round(RankNet()(torch.tensor([[0.3, 0.7, -0.2]]), torch.tensor([[2.0, 0.0, 1.0]])).item(), 4)
        0.8761
    """

    def __init__(self, sigma: float = 1.0, log: Log = "natural", pairs: Pairs = "mean") -> None:
        super().__init__()
        self.sigma, self.log, self.pairs = positive("sigma", sigma), log, pairs
        check_word("log", log, Log)
        check_word("pairs", pairs, Pairs)
        self.unit = ("bits" if log == "binary" else "nats") + (" a pair" if pairs == "mean" else " over pairs")

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return rank_net(scores, relevance, mask, self.sigma, self.log, self.pairs)

"""RankNet: the logistic loss of every pair of unequal labels."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ltr.lists import check_lists
from ltr.losses.base import Surrogate, positive


def rank_net(scores: Tensor, relevance: Tensor, mask: Tensor | None, sigma: float = 1.0) -> Tensor:
    """[B] mean over pairs y_i > y_j of ln(1 + exp(-sigma (s_i - s_j))). See ``RankNet``."""
    scores, relevance, mask = check_lists(scores, relevance, mask)
    pair = (relevance[:, :, None] > relevance[:, None]) & mask[:, :, None] & mask[:, None]  # [B, L, L]
    loss = -logsigmoid(sigma * (scores[:, :, None] - scores[:, None]))
    return torch.where(pair, loss, 0).sum((1, 2)) / pair.sum((1, 2)).clamp(min=1)


class RankNet(Surrogate):
    """The logistic loss averaged over the list's pairs of unequal labels; how unequal they are does not matter.

    ``loss = mean over y_i > y_j of ln(1 + exp(-sigma (s_i - s_j)))``. Source: Burges et al. (2005), Learning to rank
    using gradient descent. In natural logarithms it bounds nothing (ln 2 < 1 where two scores are equal).

    Args:
        sigma: > 0, steepness in 1 / units of the scores.

    Raises:
        ValueError: a sigma that is not above 0.

    Example:
        >>> import torch
        >>> round(RankNet()(torch.tensor([[0.3, 0.7, -0.2]]), torch.tensor([[2.0, 0.0, 1.0]])).item(), 4)
        0.8761
    """

    unit = "nats a pair"

    def __init__(self, sigma: float = 1.0) -> None:
        super().__init__()
        self.sigma = positive("sigma", sigma)

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return rank_net(scores, relevance, mask, self.sigma)

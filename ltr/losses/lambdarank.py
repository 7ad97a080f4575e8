"""LambdaRank: pairs weighted by what swapping them does to a metric."""

from __future__ import annotations

from math import log

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ltr.lists import check_lists
from ltr.losses.base import Kind, Surrogate, learnable, positive
from ltr.metrics import DCG, NDCG, RankingMetric
from ltr.ranking import exact_ranking


def lambda_rank(
    scores: Tensor, relevance: Tensor, mask: Tensor | None, metric: RankingMetric, sigma: float = 1.0
) -> Tensor:
    """[B] sum over pairs y_i > y_j of |metric after swapping i and j - before| * log2(1 + exp(-sigma (s_i - s_j))).

    The weights are constants to the gradient. Source: Burges, Ragno, Le (2006), Learning to rank with nonsmooth cost
    functions. See ``LambdaRank`` for the arguments.
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    with torch.no_grad():
        ranking = exact_ranking(scores, mask)
        weight = metric.swap_deltas(ranking, relevance.to(ranking.position.dtype)).abs().to(scores.dtype)  # [B, L, L]
    pair = (relevance[:, :, None] > relevance[:, None]) & mask[:, :, None] & mask[:, None]
    loss = -logsigmoid(sigma * (scores[:, :, None] - scores[:, None])) / log(2)
    return torch.where(pair, weight * loss, 0).sum((1, 2))


class LambdaRank(Surrogate):
    """LambdaRank on any metric's swap deltas, in bits, pairs summed, the discount cut at k.

    ``loss = sum over y_i > y_j of |delta_ij| log2(1 + exp(-sigma (s_i - s_j)))``. Source: Burges, Ragno, Le (2006).
    For NDCG and DCG with any discount that never rises it bounds the regret: metric >= ideal - loss (layer by layer
    of the gains, the regret is a matching of inverted pairs, each with exactly this weight and a cost of at least 1).
    For other metrics it is a direction without a bound. Either way its value says nothing about progress, since the
    weights move as the ranks do.

    Args:
        metric: a metric or its name; equal scores count as the mean over their orders.
        sigma: > 0, steepness in 1 / units of the scores.

    Raises:
        ValueError: an unknown metric, or a sigma that is not above 0.

    Example:
        >>> import torch
        >>> loss = LambdaRank("ndcg")
        >>> round(loss(torch.tensor([[1.0, 0.5, -0.5]]), torch.tensor([[0.0, 2.0, 1.0]])).item() * log(2), 4)
        0.5539
    """

    informative = False

    def __init__(self, metric: RankingMetric | str, sigma: float = 1.0) -> None:
        super().__init__()
        self.metric: RankingMetric = learnable(metric)
        self.sigma = positive("sigma", sigma)
        self.unit = self.metric.name if self.kind == "bound" else "weighted bits"

    @property
    def kind(self) -> Kind:
        plain = not isinstance(self.metric, NDCG) or self.metric.short == "keep"
        return "bound" if isinstance(self.metric, NDCG | DCG) and plain else "neither"

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return lambda_rank(scores, relevance, mask, self.metric, self.sigma)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        if self.kind != "bound":
            return None
        return self.metric.ceiling(relevance, mask) - self.forward(scores, relevance, mask)

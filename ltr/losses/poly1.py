"""Poly-1: softmax cross entropy with the first term of its expansion weighed anew."""

from __future__ import annotations

from math import inf

from torch import Tensor

from ltr.gains import LARGEST, real
from ltr.losses.base import Surrogate, check_word, learnable, read_lists
from ltr.losses.softmax import Target, log_softmax, shares
from ltr.metrics import RankingMetric


def poly_one(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: RankingMetric,
    epsilon: float = 1.0,
    target: Target = "gains",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] -sum_i q_i log p_i + epsilon (1 - sum_i q_i p_i) with p = softmax(s), q = g / sum g. See ``PolyOne``."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    share, total = shares(relevance, mask, weight, metric, target)
    log_p = log_softmax(scores, mask)
    cross_entropy = -(share * log_p).sum(-1)
    missed = share.sum(-1) - (share * log_p.exp()).sum(-1)
    return (total * cross_entropy if target == "raw" else cross_entropy) + epsilon * missed


class PolyOne(Surrogate):
    """Softmax cross entropy with more (or less) weight on documents that are far from their target.

    ``loss = -sum_i q_i log p_i + epsilon (1 - sum_i q_i p_i), p = softmax(s), q = g / sum g``. Source: Leng et al.
    (2022), PolyLoss.

    Args:
        metric: a metric or its name, of which the gain (or relevance threshold) is taken.
        epsilon: any number; 0 is ``Softmax``.
        target: "gains"; or "labels", q = y / sum y; or "raw", which weighs the logarithm, and it alone, by sum y, as
            Rax does.

    Raises:
        ValueError: an unknown metric or target, a metric of the judgements alone, or an epsilon that is no number.

    Example:
        >>> import torch
        >>> round(PolyOne("ndcg", epsilon=2)(torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]])).item(), 4)
        1.6931
    """

    unit = "nats"
    cost = "O(L)"
    suits = ("binary", "graded", "sparse", "clicks")

    def __init__(self, metric: RankingMetric | str, epsilon: float = 1.0, target: Target = "gains") -> None:
        super().__init__()
        self.metric: RankingMetric = learnable(metric).uncut()
        self.epsilon, self.target = real(epsilon, "epsilon must be a number", -LARGEST), target
        check_word("target", target, Target)
        if target != "gains":  # of the metric nothing is asked
            self.fractional, self.largest_label = True, inf

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return poly_one(scores, relevance, mask, self.metric, self.epsilon, self.target, weight=weight)

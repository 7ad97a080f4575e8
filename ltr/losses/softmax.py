"""Softmax cross entropy with gains or labels as targets."""

from __future__ import annotations

from math import inf
from typing import Literal

import torch
from torch import Tensor

from ltr.lists import all_real, check_lists
from ltr.losses.base import Kind, Surrogate, check_word, learnable, positive, read_lists
from ltr.metrics import AP, DCG, NDCG, RR, RankingMetric
from ltr.ranking import exact_ranking

Target = Literal["gains", "labels", "raw"]


def softmax_cross_entropy(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: RankingMetric,
    target: Target = "gains",
    temperature: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] -sum_i q_i log softmax(s / T)_i with q_i = g_i / sum g, g the gains of the metric. See ``Softmax``."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    share, total = shares(relevance, mask, weight, metric, target)
    loss = -(share * log_softmax(scores / temperature, mask)).sum(-1)
    return total * loss if target == "raw" else loss


def log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """[B, L] log softmax over the real documents, 0 where padded, finite for lists without any."""
    if all_real(mask):
        return torch.log_softmax(scores, -1)
    inside = mask | ~mask.any(-1, keepdim=True)
    return torch.log_softmax(scores.masked_fill(~inside, -torch.inf), -1).masked_fill(~mask, 0)


def shares(
    relevance: Tensor, mask: Tensor, weight: Tensor, metric: RankingMetric, target: Target
) -> tuple[Tensor, Tensor]:
    """[B, L] each document's share of the list's weighted gains or labels, and [B] their sum."""
    worth = weight * (metric.gains(relevance, mask).to(weight) if target == "gains" else relevance)
    total = worth.sum(-1, keepdim=True)
    return worth / torch.where(total > 0, total, 1), total[:, 0]


class Softmax(Surrogate):
    """Softmax cross entropy on a metric's gains, which bounds the metric over the full list.

    ``loss = -sum_i q_i log softmax(s / T)_i, q = g / sum g``. Since rank_i <= 1 / softmax_i, and by Jensen:
    NDCG >= (sum g / IDCG) exp(-loss) for any discount of at least 1/r; RR and AP >= exp(-loss), q being uniform over
    the relevant documents. Source: Bruch et al. (2019), An analysis of the softmax cross entropy loss for learning to
    rank with binary relevance; Bruch (2021) for graded gains.

    Args:
        metric: a metric or its name, of which the gain (or relevance threshold) is taken.
        target: "gains"; or "labels", q = y / sum y; or "raw", q = y, by which lists with more relevance weigh more (the
            default of Rax, TensorFlow Ranking and CatBoost). Only gains bound the metric.
        temperature: T > 0, in units of the scores (CatBoost's 1 / beta).

    Raises:
        ValueError: an unknown metric or target, a metric of the judgements alone, or a temperature that is not above 0.

    Example:
        >>> import torch
        >>> loss = Softmax("ndcg@10")
        >>> scores, labels = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([[2.0, 0.0, 1.0]])
        >>> round(loss(scores, labels).item(), 4), round(loss.certificate(scores, labels).item(), 4), loss.aim.name
        (0.9076, 0.4445, 'ndcg')
    """

    unit = "nats"
    cost = "O(L)"
    softness_in = "temperature"
    suits = ("binary", "graded", "sparse", "clicks")

    def __init__(self, metric: RankingMetric | str, target: Target = "gains", temperature: float = 1.0) -> None:
        super().__init__()
        self.metric: RankingMetric = learnable(metric).uncut()
        self.target, self.temperature = target, positive("temperature", temperature)
        check_word("target", target, Target)
        if target != "gains":  # of the metric nothing is asked
            self.fractional, self.largest_label = True, inf

    @property
    def kind(self) -> Kind:
        if self.target != "gains":
            return "neither"
        if isinstance(self.metric, NDCG | DCG):
            return "bound" if self.metric.discount.above_reciprocal else "neither"
        return "bound" if isinstance(self.metric, RR | AP) else "neither"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return softmax_cross_entropy(scores, relevance, mask, self.metric, self.target, self.temperature, weight=weight)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        if self.kind != "bound":
            return None
        scores, relevance, mask = check_lists(scores, relevance, mask)
        guaranteed = torch.exp(-self(scores, relevance, mask)) * self.metric.defined(relevance, mask)
        if isinstance(self.metric, NDCG | DCG):
            return guaranteed * self.metric.worth(exact_ranking(scores, mask), relevance).sum(-1)
        return guaranteed

"""Softmax cross entropy with normalised gains as targets."""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.lists import check_lists
from ltr.losses.base import Kind, Surrogate
from ltr.metrics import AP, DCG, NDCG, RR, RankingMetric, parse
from ltr.ranking import exact_ranking


def log_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """[B, L] log softmax over the real documents, 0 where padded, finite for lists without any."""
    inside = mask | ~mask.any(-1, keepdim=True)
    return torch.log_softmax(scores.masked_fill(~inside, -torch.inf), -1).masked_fill(~mask, 0)


def softmax_cross_entropy(scores: Tensor, relevance: Tensor, mask: Tensor | None, metric: RankingMetric) -> Tensor:
    """[B] -sum_i q_i log softmax(s)_i with q_i = g_i / sum g, g the gains of the metric. See ``Softmax``."""
    scores, relevance, mask = check_lists(scores, relevance, mask)
    gain = metric.gains(relevance, mask).to(scores.dtype)
    total = gain.sum(-1, keepdim=True)
    target = gain / torch.where(total > 0, total, 1)
    return -(target * log_softmax(scores, mask)).sum(-1)


class Softmax(Surrogate):
    """Softmax cross entropy on a metric's gains, which bounds the metric over the full list.

    ``loss = -sum_i q_i log softmax(s)_i, q = g / sum g``. Since rank_i <= 1 / softmax_i, and by Jensen:
    NDCG >= (sum g / IDCG) exp(-loss) for any discount of at least 1/r; RR and AP >= exp(-loss), q being uniform over
    the relevant documents. Source: Bruch et al. (2019), An analysis of the softmax cross entropy loss for learning to
    rank with binary relevance; Bruch (2021) for graded gains.

    Args:
        metric: a metric or its name, of which the gain (or relevance threshold) is taken.

    Raises:
        ValueError: an unknown metric.

    Example:
        >>> import torch
        >>> loss = Softmax("ndcg@10")
        >>> scores, labels = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([[2.0, 0.0, 1.0]])
        >>> round(loss(scores, labels).item(), 4), round(loss.certificate(scores, labels).item(), 4), loss.aim.name
        (0.9076, 0.4445, 'ndcg')
    """

    unit = "nats"

    def __init__(self, metric: RankingMetric | str) -> None:
        super().__init__()
        self.metric: RankingMetric = parse(metric).uncut()

    @property
    def kind(self) -> Kind:
        if isinstance(self.metric, NDCG | DCG):
            return "bound" if self.metric.discount.above_reciprocal else "neither"
        return "bound" if isinstance(self.metric, RR | AP) else "neither"

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return softmax_cross_entropy(scores, relevance, mask, self.metric)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        if self.kind != "bound":
            return None
        scores, relevance, mask = check_lists(scores, relevance, mask)
        guaranteed = torch.exp(-self(scores, relevance, mask)) * self.metric.defined(relevance, mask)
        if isinstance(self.metric, NDCG | DCG):
            return guaranteed * self.metric.worth(exact_ranking(scores, mask), relevance).sum(-1)
        return guaranteed

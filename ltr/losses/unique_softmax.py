"""Unique softmax: each document against those of lower labels alone."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ltr.lists import exact_dtype
from ltr.losses.base import Surrogate, learnable, read_lists
from ltr.losses.levels import dense_costs, levels_of, running_logsumexp
from ltr.losses.softmax import shares
from ltr.metrics import RankingMetric


def unique_softmax(
    scores: Tensor, relevance: Tensor, mask: Tensor | None, metric: RankingMetric, *, weight: Tensor | None = None
) -> Tensor:
    """[B] -sum_i q_i log(exp(s_i) / (exp(s_i) + sum over y_j < y_i of exp(s_j))), q = g / sum g. See ``UniqueSoftmax``.

    One sort and running sums up the levels, in float64.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    share, _ = shares(relevance, mask, weight, metric, "gains")
    levels = levels_of(relevance, mask)
    values = scores.to(exact_dtype(scores.device)).gather(1, levels.order)
    others = running_logsumexp(values, levels.mask).gather(1, (levels.below - 1).clamp(min=0))
    ahead = torch.where(levels.below > 0, values - others, torch.inf).to(scores.dtype)
    return -(share.gather(1, levels.order) * logsigmoid(ahead)).sum(-1)


def dense_unique_softmax(scores: Tensor, relevance: Tensor, mask: Tensor, metric: RankingMetric) -> Tensor:
    """The same as it is defined, the judge of the other."""
    lower = (relevance[:, None] < relevance[:, :, None]) & mask[:, None]
    pools = lower | torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
    return (shares(relevance, mask, mask.to(scores), metric, "gains")[0] * dense_costs(scores, pools)).sum(-1)


class UniqueSoftmax(Surrogate):
    """Softmax cross entropy without the rivalry of equals: a document competes with those of lower labels alone.

    ``loss = sum_i q_i ln(1 + sum over y_j < y_i of exp(s_j - s_i)), q = g / sum g``. Source: Zhu, Klabjan (2020),
    Listwise learning to rank by exploring unique ratings.

    NOTE[DIFF] There, in Rax and in TensorFlow Ranking, the weights are the gains 2^y - 1 themselves, so that lists with
    more relevance weigh more; divided by their sum, they overflow for no label, and all lists weigh the same.

    Args:
        metric: a metric or its name, of which the gain (or relevance threshold) is taken.

    Raises:
        ValueError: an unknown metric, or one of the judgements alone.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[0.0, 0.0, -9.0]]), torch.tensor([[1.0, 1.0, 0.0]])
        >>> round(UniqueSoftmax("ndcg")(scores, labels).item(), 4)  # two equals on top, and nothing to gain
        0.0001
    """

    unit = "nats"
    cost = "O(L log L)"
    suits = ("binary", "graded", "sparse")

    def __init__(self, metric: RankingMetric | str) -> None:
        super().__init__()
        self.metric: RankingMetric = learnable(metric).uncut()

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return unique_softmax(scores, relevance, mask, self.metric, weight=weight)

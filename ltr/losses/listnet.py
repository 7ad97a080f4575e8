"""ListNet: softmax cross entropy with the softmax of the labels as target."""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.losses.base import Surrogate, positive, read_lists
from ltr.losses.softmax import log_softmax


def list_net(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    temperature: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] -sum_i q_i log softmax(s)_i with q = softmax(labels / temperature). See ``ListNet``."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    target = torch.where(mask, log_softmax(relevance / temperature, mask).exp(), 0)
    return -(weight * target * log_softmax(scores, mask)).sum(-1)


class ListNet(Surrogate):
    """Cross entropy between the top-one probabilities of the labels and those of the scores.

    ``loss = -sum_i q_i log softmax(s)_i, q = softmax(y / T)``. Source: Cao et al. (2007), Learning to rank: from
    pairwise approach to listwise approach. Documents of label 0 get mass too, and the smallest loss is the entropy of
    q, above 0: the value stands in no relation to NDCG.

    Args:
        temperature: > 0, in units of the labels.

    Raises:
        ValueError: a temperature that is not above 0.

    Example:
        >>> import torch
        >>> round(ListNet()(torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([[2.0, 1.0, 0.0]])).item(), 4)
        0.8324
    """

    unit = "nats"
    cost = "O(L)"
    suits = ("graded", "real")

    def __init__(self, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return list_net(scores, relevance, mask, self.temperature, weight=weight)

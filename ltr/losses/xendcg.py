"""XE-NDCG: softmax cross entropy whose targets are drawn around the gains."""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.losses.base import like_documents, read_lists
from ltr.losses.draws import Drawing
from ltr.losses.softmax import log_softmax


def xe_ndcg(
    scores: Tensor, relevance: Tensor, mask: Tensor | None, noise: Tensor, *, weight: Tensor | None = None
) -> Tensor:
    """[B] -sum_i q_i log softmax(s)_i with q_i = (2^y_i - u_i) / sum, for draws u, noise [B, L, 1], from (0, 1)."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    drawn = like_documents("noise", noise[..., 0], mask).to(scores)
    top = relevance.amax(-1, keepdim=True)
    worth = weight * (torch.exp2(relevance - top) - drawn * torch.exp2(-top))  # over 2^top: finite for any label
    total = worth.sum(-1, keepdim=True)
    return -(worth / torch.where(total > 0, total, 1) * log_softmax(scores, mask)).sum(-1)


class XENDCG(Drawing):
    """Softmax cross entropy on 2^y minus a draw between 0 and 1, afresh in each call.

    ``loss = -sum_i q_i log softmax(s)_i, q_i = (2^y_i - u_i) / sum_j (2^y_j - u_j)``. Documents of label 0 keep some
    mass, so that lists without anything relevant teach as well. Source: Bruch (2021), An alternative cross entropy loss
    for learning-to-rank.

    NOTE[DIFF] LightGBM's rank_xendcg adds two terms to the gradient, of second order for its trees; here it is the
    derivative of the value.

    Args:
        seed: >= 0, of the draws.

    Raises:
        ValueError: a seed that is no such number.

    Example:
        >>> import torch
        >>> loss, noise = XENDCG(), torch.tensor([[[0.5], [0.5]]])  # q = 3.5 / 4 and 0.5 / 4
        >>> round(loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 0.0]]), noise=noise).item(), 4)
        0.4383
    """

    unit = "nats"
    cost = "O(L)"
    suits = ("binary", "graded")

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        weight: Tensor | None = None,
        noise: Tensor | None = None,
    ) -> Tensor:
        return xe_ndcg(scores, relevance, mask, self.noise(scores) if noise is None else noise, weight=weight)

"""DCG hinge: the hinge loss of a list, discounted as a rank would be."""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.lists import check_lists
from ltr.losses.base import Surrogate
from ltr.losses.hinge import pairwise_hinge


def dcg_hinge(scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None) -> Tensor:
    """[B] -1 / ln(2 + the sum of the hinge loss over pairs), in O(L log L) time. See ``DCGHinge``."""
    summed = pairwise_hinge(scores, relevance, mask, "sum", weight=weight)
    some = check_lists(scores, relevance, mask)[2].any(1)
    return torch.where(some, -1 / torch.log(2 + summed), 0 * summed)


class DCGHinge(Surrogate):
    """A list's hinge loss in the place of a rank in DCG's discount: the last mistakes count most.

    ``loss = -1 / ln(2 + sum over y_i > y_j of max(0, 1 - (s_i - s_j)))``, between -1 / ln 2, where every pair stands in
    order by a margin of 1, and 0; a list without pairs is in order. Source: Agarwal et al. (2019), A general framework
    for counterfactual learning-to-rank.

    NOTE[DIFF] The paper discounts a rank for each relevant document and adds up; this is one sum for the list, as in
    pytorchltr, and so no bound of DCG.

    Example:
        >>> import torch
        >>> round(DCGHinge()(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.0]])).item(), 4)  # -1 / ln(2 + 2)
        -0.7213
    """

    unit = "discounted hinge"
    cost = "O(L log L)"
    suits = ("binary", "graded", "sparse")

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return dcg_hinge(scores, relevance, mask, weight=weight)

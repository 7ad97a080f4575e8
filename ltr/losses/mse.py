"""MSE: regression on the labels."""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.lists import check_lists
from ltr.losses.base import Surrogate


def mean_squared_error(scores: Tensor, relevance: Tensor, mask: Tensor | None) -> Tensor:
    """[B] mean over the list's documents of (s_i - y_i)^2."""
    scores, relevance, mask = check_lists(scores, relevance, mask)
    error = torch.where(mask, scores - relevance.to(scores.dtype), 0)
    return error.square().sum(-1) / mask.sum(-1).clamp(min=1)


class MSE(Surrogate):
    """The mean squared difference between score and label: pointwise, and a baseline that no study may leave out.

    ``loss = mean_i (s_i - y_i)^2``. Source: Cossock, Zhang (2006), Subset ranking using regression.

    Example:
        >>> import torch
        >>> MSE()(torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 1.0]])).item()
        0.5
    """

    unit = "squared label units"
    shift_invariant = False

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return mean_squared_error(scores, relevance, mask)

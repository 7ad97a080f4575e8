"""MSE: regression on the labels."""

from __future__ import annotations

from torch import Tensor

from ltr.losses.base import Surrogate, flag, read_lists


def mean_squared_error(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    centred: bool = False,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over the list's documents of (s_i - y_i)^2, or of the squared distance to the list's mean s - y."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    error, size = mask * (scores - relevance), mask.sum(-1, keepdim=True).clamp(min=1)
    if centred:
        error = mask * (error - error.sum(-1, keepdim=True) / size)
    return (weight * error.square()).sum(-1) / size[:, 0]


class MSE(Surrogate):
    """The mean squared difference between score and label: pointwise, and a baseline that no study may leave out.

    ``loss = mean_i (s_i - y_i)^2``. Source: Cossock, Zhang (2006), Subset ranking using regression.

    Args:
        centred: measure each difference from the list's mean difference, so that only differences between documents
            count (CatBoost's QueryRMSE, squared).

    Raises:
        ValueError: centred is neither true nor false.

    Example:
        >>> import torch
        >>> MSE()(torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 1.0]])).item()
        0.5
    """

    unit = "squared label units"
    cost = "O(L)"
    suits = ("graded", "real")

    def __init__(self, centred: bool = False) -> None:
        super().__init__()
        self.centred = self.shift_invariant = flag("centred", centred)

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return mean_squared_error(scores, relevance, mask, self.centred, weight=weight)

"""Sigmoid cross entropy: each document on its own, its label read as a probability."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from ltr.losses.base import Surrogate, check_labels, positive, read_lists

ROUNDING = 1e-6  # by how much of itself the largest label may be off


def sigmoid_cross_entropy(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    top: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over the list's documents of -p_i log sig(s_i) - (1 - p_i) log(1 - sig(s_i)), p_i = y_i / top.

    Raises:
        ValueError: a label above top.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    check_labels(relevance, top * (1 + ROUNDING), f"labels must be at most top={top:g} to be probabilities")
    each = binary_cross_entropy_with_logits(scores, (relevance / top).clamp(max=1), reduction="none")
    return (weight * each).sum(-1) / mask.sum(-1).clamp(min=1)


class SigmoidCrossEntropy(Surrogate):
    """Logistic regression on labels that are probabilities: clicks, or grades over the highest one.

    ``loss = mean_i ln(1 + exp(s_i)) - p_i s_i, p = y / top``. Its scores are log-odds of relevance. Labels above top
    would make it fall without end, so they are refused.

    Args:
        top: > 0, the label that stands for certain relevance, such as 4 for grades 0 to 4.

    Raises:
        ValueError: a top that is not above 0.

    Example:
        >>> import torch
        >>> loss = SigmoidCrossEntropy(top=3)
        >>> round(loss(torch.tensor([[2.0, -1.0]]), torch.tensor([[3.0, 0.0]])).item(), 4)
        0.2201
    """

    unit = "nats a document"
    cost = "O(L)"
    suits = ("binary", "clicks", "graded")
    shift_invariant = False

    def __init__(self, top: float = 1.0) -> None:
        super().__init__()
        self.top = self.largest_label = positive("top", top)

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return sigmoid_cross_entropy(scores, relevance, mask, self.top, weight=weight)

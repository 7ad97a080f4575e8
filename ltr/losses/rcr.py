"""Regression compatible ranking: sigmoid cross entropy, and a list's share of the same probabilities."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ltr.gains import real
from ltr.losses.base import Surrogate, positive, read_lists
from ltr.losses.sigmoid import sigmoid_cross_entropy
from ltr.losses.softmax import log_softmax


def regression_compatible(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    alpha: float = 0.5,
    top: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] (1 - alpha) sigmoid cross entropy - alpha sum_i q_i ln(sig(s_i) / sum_j sig(s_j)), q = y / sum y."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    pointwise = sigmoid_cross_entropy(scores, relevance, mask, top, weight=weight)
    worth = weight * relevance
    total = worth.sum(-1, keepdim=True)
    share = worth / torch.where(total > 0, total, 1)
    listwise = -(share * log_softmax(logsigmoid(scores), mask)).sum(-1)
    return (1 - alpha) * pointwise + alpha * listwise


class RCR(Surrogate):
    """Scores that are calibrated and rank: both terms are least where sig(s) is the probability of relevance.

    ``loss = (1 - alpha) mean_i CE(p_i, y_i / top) - alpha sum_i (y_i / sum y) ln(p_i / sum p), p = sig(s)``.
    Source: Bai et al. (2023), Regression compatible listwise objectives for calibrated ranking with binary relevance.

    Args:
        alpha: 0 to 1, the share of the listwise term.
        top: > 0, the label that stands for certain relevance, such as 4 for grades 0 to 4.

    Raises:
        ValueError: an alpha or top out of its range.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]])
        >>> round(RCR()(scores, labels).item(), 4)  # ln 2 both of the two
        0.6931
    """

    unit = "nats"
    cost = "O(L)"
    suits = ("binary", "clicks", "graded")
    shift_invariant = False

    def __init__(self, alpha: float = 0.5, top: float = 1.0) -> None:
        super().__init__()
        self.alpha = real(alpha, "alpha must be a number between 0 and 1", 0, 1)
        self.top = self.largest_label = positive("top", top)

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return regression_compatible(scores, relevance, mask, self.alpha, self.top, weight=weight)

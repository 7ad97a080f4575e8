"""Calibrated softmax: a document of score 0 in every list gives scores a scale."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import pad

from ltr.losses.base import Surrogate, positive, read_lists
from ltr.losses.softmax import log_softmax


def calibrated_softmax(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    virtual_label: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] -sum_i y_i log p_i over the documents and one more, of score 0 and the virtual label. p = softmax of all."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    log_p = log_softmax(pad(scores, (1, 0)), pad(mask, (1, 0), value=True))
    return -(pad(weight * relevance, (1, 0), value=virtual_label) * log_p).sum(-1)


class CalibratedSoftmax(Surrogate):
    """Softmax cross entropy whose best scores are ln(y / virtual label): they mean something across lists.

    ``loss = -sum_i y_i s_i + (y_0 + sum_i y_i) ln(1 + sum_j exp(s_j))``, y_0 being the virtual label. Source: Yan et
    al. (2022), Scale calibration of deep ranking models.

    Args:
        virtual_label: y_0 > 0, in units of the labels.

    Raises:
        ValueError: a virtual label that is not above 0.

    Example:
        >>> import torch
        >>> scores = torch.tensor([2.0, 0.5]).log().requires_grad_()
        >>> CalibratedSoftmax(virtual_label=2.0)(scores, torch.tensor([4.0, 1.0])).sum().backward()
        >>> scores.grad.abs().max().item() < 1e-6  # there is nothing to gain
        True
    """

    unit = "nats, by label"
    cost = "O(L)"
    suits = ("binary", "graded", "clicks", "real")
    shift_invariant = False

    def __init__(self, virtual_label: float = 1.0) -> None:
        super().__init__()
        self.virtual_label = positive("virtual_label", virtual_label)

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return calibrated_softmax(scores, relevance, mask, self.virtual_label, weight=weight)

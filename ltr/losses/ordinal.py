"""Ordinal regression: does the label reach each level? One score, and a learned offset a level."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ltr.losses.base import Surrogate, check_labels, read_lists, whole


def ordinal_cross_entropy(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    offsets: Tensor,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over documents of the sum over levels k = 1 ... K of the cross entropy of sig(s_i + b_k) and [y_i >= k].

    For offsets b [K]. A label between two levels reaches the upper one in part: min(1, max(0, y_i - (k - 1))).

    Raises:
        ValueError: a label above K.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    check_labels(relevance, len(offsets), f"labels must be at most levels={len(offsets)}")
    offsets = offsets.to(scores)
    below = torch.arange(len(offsets), device=scores.device, dtype=scores.dtype)
    reached = (relevance[:, :, None] - below).clamp(0, 1)  # [B, L, K]
    each = binary_cross_entropy_with_logits(scores[:, :, None] + offsets, reached, reduction="none").sum(-1)
    return (weight * each).sum(-1) / mask.sum(-1).clamp(min=1)


class Ordinal(Surrogate):
    """One logistic regression a level of relevance, all on the one score of a document, with offsets that are learned.

    ``loss = mean_i sum_k CE(sig(s_i + b_k), [y_i >= k])``. Source: Niu et al. (2016), Ordinal regression with multiple
    output CNN; Pobrotyn et al. (2020), Context-aware learning to rank with self-attention.

    NOTE[DIFF] These give each document a score for each level. Here the levels share it, as in Cao, Mirjalili, Raschka
    (2020), Rank consistent ordinal regression, so that any scorer of this package learns by it, and levels keep their
    order.

    Args:
        levels: K >= 1, the highest label.
        offsets: [K] where the offsets start; 0 when None.

    Raises:
        ValueError: levels is no such number, or there are not as many offsets.

    Example:
        >>> import torch
        >>> loss = Ordinal(levels=2)
        >>> round(loss(torch.tensor([[0.5, -1.0]]), torch.tensor([[2.0, 0.0]])).item(), 4), len(loss.offsets)
        (0.7873, 2)
    """

    unit = "nats a document"
    cost = "O(K L)"
    suits = ("graded",)
    shift_invariant = False

    def __init__(self, levels: int = 4, offsets: Sequence[float] | None = None) -> None:
        super().__init__()
        self.levels = self.largest_label = levels = whole("levels", levels, 1)
        start = [0.0] * levels if offsets is None else list(offsets)
        if len(start) != levels:
            raise ValueError(f"offsets must be one a level, {levels}; got {len(start)}")
        self.offsets = nn.Parameter(torch.tensor(start, dtype=torch.float32))

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return ordinal_cross_entropy(scores, relevance, mask, self.offsets, weight=weight)

"""Margin MSE: pairs of documents are to be as far apart as another ranker has them."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import exact_dtype
from ltr.losses.base import Surrogate, read_lists
from ltr.losses.distil import read_teacher
from ltr.losses.levels import levels_of
from ltr.losses.pairs import in_pairs
from ltr.softening import centred


def margin_mse(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    *,
    teacher: Tensor | None,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over pairs y_i > y_j of ((s_i - s_j) - (t_i - t_j))^2, t being the teacher's scores. See ``MarginMSE``.

    With e = s - t a pair costs (e_i - e_j)^2, so sums of e and e^2 up the levels give all of a document's pairs.

    Raises:
        ValueError: there is no teacher, or it has not one finite score a document.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    exact = exact_dtype(scores.device)
    apart = scores.to(exact) - read_teacher(teacher, mask).to(exact)
    levels = levels_of(relevance, mask)
    apart = torch.where(levels.mask, centred(apart, mask).gather(1, levels.order), 0)
    total, squares = (pad(each.cumsum(1), (1, 0)) for each in (apart, apart.square()))
    total, squares = (each.gather(1, levels.below) for each in (total, squares))  # of the documents of lower labels
    costs = levels.below * apart.square() - 2 * apart * total + squares
    summed = (weight.gather(1, levels.order) * levels.mask * costs).sum(-1)
    return (summed / (levels.below * levels.mask).sum(-1).clamp(min=1)).to(scores.dtype)


def dense_margin_mse(scores: Tensor, relevance: Tensor, mask: Tensor, teacher: Tensor, weight: Tensor) -> Tensor:
    """The same as it is defined, the judge of the other."""
    apart = (scores - teacher)[:, :, None] - (scores - teacher)[:, None]
    pairs = in_pairs(relevance, mask)
    return (weight[:, :, None] * pairs * apart.square()).sum((1, 2)) / pairs.sum((1, 2)).clamp(min=1)


class MarginMSE(Surrogate):
    """The squared difference between the student's and the teacher's margins, over pairs of unequal labels.

    ``loss = mean over y_i > y_j of ((s_i - s_j) - (t_i - t_j))^2``. Source: Hofstaetter et al. (2020), Improving
    efficient neural ranking models with cross-architecture knowledge distillation.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]])
        >>> MarginMSE()(scores, labels, teacher=torch.tensor([[7.0, 3.0]])).item()  # a margin of 1, and 4 wanted
        9.0
    """

    unit = "squared score units a pair"
    cost = "O(L log L)"
    suits = ("teacher",)
    needs_teacher = True

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        teacher: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        return margin_mse(scores, relevance, mask, teacher=teacher, weight=weight)

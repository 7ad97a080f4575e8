"""ADRMSE: squared distance of soft ranks to the ranks of the labels, the first ones weighing most."""

from __future__ import annotations

from torch import Tensor

from ltr.discounts import Discount, Log2
from ltr.losses.base import Surrogate, positive, read_lists
from ltr.ranking import exact_ranking, soft_ranking

DISCOUNT: Discount = Log2()


def adr_mse(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    temperature: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over documents of d(t_i) (t_i - r_i)^2, t the rank by label (the mean one of equal labels), r soft."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    ideal = exact_ranking(relevance, mask, dtype=scores.dtype)
    target = ideal.position + (ideal.block - 1) / 2
    error = target - soft_ranking(scores, mask, temperature).position
    return (weight * DISCOUNT(target) * error.square()).sum(1) / mask.sum(1).clamp(min=1)


class ADRMSE(Surrogate):
    """The squared distance of each document's soft rank to its rank by label, discounted by the latter.

    ``loss = mean_i d(t_i) (t_i - r_i)^2``, d(t) = 1 / log2(1 + t), t the rank by label, the mean rank for equal
    labels, and r_i = 1 + sum over j != i of sigmoid((s_j - s_i) / T). It asks equal labels for one middle rank, which
    no ranking without ties gives them, and so it is at home where labels are ranks. Source: Schlatt et al. (2024),
    Rank-DistiLLM: closing the effectiveness gap between cross-encoders and LLMs for passage re-ranking.

    Args:
        temperature: > 0, of the soft ranks, in units of the scores.

    Raises:
        ValueError: a temperature that is not above 0.

    Example:
        >>> import torch
        >>> round(ADRMSE(0.01)(torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 1.0]])).item(), 4)  # (1 + 1/log2(3))/2
        0.8155
    """

    unit = "squared ranks"
    cost = "O(L^2)"
    softness_in = "temperature"
    suits = ("graded", "real", "teacher")

    def __init__(self, temperature: float = 1.0) -> None:
        super().__init__()
        self.temperature = positive("temperature", temperature)

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return adr_mse(scores, relevance, mask, self.temperature, weight=weight)

"""Soft zero-one: the share of pairs in the wrong order, each by a sigmoid."""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.losses.base import Kind, Surrogate, check_word, positive, read_lists
from ltr.losses.pairs import Cost, Pairs, label_pair_sum, over_pairs, pair_share
from ltr.metrics import PairAccuracy


def soft_zero_one(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    sigma: float = 1.0,
    pairs: Pairs = "mean",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over pairs y_i > y_j of 1 / (1 + exp(sigma (s_i - s_j))), in O(R L) time. See ``SoftZeroOne``."""
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    summed = label_pair_sum(scores, relevance, mask, _wrong(sigma), weight)
    return over_pairs(summed, pairs, relevance, mask)


def _wrong(sigma: float) -> Cost:
    def both(margin: Tensor) -> tuple[Tensor, Tensor]:
        wrong = margin.mul_(-sigma).sigmoid_()
        return wrong, torch.addcmul(wrong, wrong, wrong, value=-1).mul_(-sigma)

    return Cost(lambda margin: torch.sigmoid(-sigma * margin), both)


class SoftZeroOne(Surrogate):
    """The share of the list's pairs of unequal labels that stand in the wrong order, softened by a sigmoid.

    ``loss = mean over y_i > y_j of sigmoid(-sigma (s_i - s_j))``, which is 1 - pairwise accuracy once scores are far
    apart or tied; twice the loss is never below it. It is ``ApproxMetric("pairs", 1 / sigma)``, with weights and in
    O(R L) memory. A pair far on the wrong side has no slope: a model that starts badly may stay there. Source: the
    smoothed zero-one loss of pairs, in TensorFlow Ranking (Pasumarthi et al. 2019).

    Args:
        sigma: > 0, steepness in 1 / units of the scores.
        pairs: "mean", "sum" or "batch", as ``RankNet`` takes it.

    Raises:
        ValueError: a sigma that is not above 0, or an unknown option.

    Example:
        >>> import torch
        >>> loss, labels = SoftZeroOne(), torch.tensor([[1.0, 1.0, 0.0]])
        >>> loss.estimate(torch.tensor([[20.0, 0.0, 0.0]]), labels).item()  # one pair in order, one tied
        0.75
    """

    cost = "O(R L)"
    softness_in = "1/sigma"
    suits = ("binary", "graded", "sparse", "real")

    def __init__(self, sigma: float = 1.0, pairs: Pairs = "mean") -> None:
        super().__init__()
        self.sigma, self.pairs = positive("sigma", sigma), pairs
        check_word("pairs", pairs, Pairs)
        self.unit = "pairs" if pairs == "sum" else "share of pairs"
        self.metric = None if pairs == "sum" else PairAccuracy()

    @property
    def kind(self) -> Kind:
        return "neither" if self.metric is None else "approximation"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return soft_zero_one(scores, relevance, mask, self.sigma, self.pairs, weight=weight)

    def estimate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        return None if self.metric is None else 1 - self(scores, relevance, mask)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        return pair_share(self.pairs, relevance, mask)

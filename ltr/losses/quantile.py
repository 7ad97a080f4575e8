"""Quantile: pairwise regression on label differences, in which falling short costs another price than overshooting."""

from __future__ import annotations

from torch import Tensor

from ltr.gains import LEAST, real
from ltr.losses.base import Surrogate, check_word, flag, read_lists
from ltr.losses.pairs import Cost, Pairs, label_pair_sum, over_pairs, pair_share
from ltr.softening import centred


def pairwise_quantile(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    tau: float = 0.5,
    squared: bool = False,
    pairs: Pairs = "mean",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over pairs y_i > y_j of tau (y_ij - s_ij)+ + (1 - tau) (s_ij - y_ij)+, x_ij being x_i - x_j.

    A sum over pairs of s - y, in O(R L) time. See ``Quantile``.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    summed = label_pair_sum(centred(scores, mask) - relevance, relevance, mask, _pinball(tau, squared), weight)
    return over_pairs(summed, pairs, relevance, mask)


def _pinball(tau: float, squared: bool) -> Cost:
    def value(excess: Tensor) -> Tensor:
        over, short = excess.relu(), (-excess).relu()
        return (1 - tau) * over.square() + tau * short.square() if squared else (1 - tau) * over + tau * short

    def both(excess: Tensor) -> tuple[Tensor, Tensor]:
        price = (excess > 0).to(excess.dtype) - tau
        if squared:
            return price.abs() * excess.square(), 2 * price.abs() * excess
        return price * excess, price * (excess != 0)

    return Cost(value, both)


class Quantile(Surrogate):
    """Quantile regression of the differences of scores on those of labels, over pairs of unequal labels.

    ``loss = mean over y_i > y_j of tau (y_ij - s_ij)+ + (1 - tau) (s_ij - y_ij)+``. A tau near 1 asks for scores at
    least as far apart as the labels. Source: Koenker, Bassett (1978), Regression quantiles; on pairs in Rax.

    Args:
        tau: above 0 and at most 1, the price of falling short; 1 - tau is that of overshooting.
        squared: square each distance before it is priced.
        pairs: "mean", "sum" or "batch", as ``RankNet`` takes it.

    Raises:
        ValueError: a tau outside of its range, or an unknown option.

    Example:
        >>> import torch
        >>> round(Quantile(tau=0.9)(torch.tensor([[0.0, 0.0]]), torch.tensor([[2.0, 0.0]])).item(), 4)
        1.8
    """

    cost = "O(R L)"
    suits = ("graded", "real")

    def __init__(self, tau: float = 0.5, squared: bool = False, pairs: Pairs = "mean") -> None:
        super().__init__()
        self.tau = real(tau, "tau must be a number above 0 and at most 1", LEAST, 1)
        self.squared, self.pairs = flag("squared", squared), pairs
        check_word("pairs", pairs, Pairs)
        self.unit = "squared label units " if squared else "label units "
        self.unit += "over pairs" if pairs == "sum" else "a pair"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return pairwise_quantile(scores, relevance, mask, self.tau, self.squared, self.pairs, weight=weight)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        return pair_share(self.pairs, relevance, mask)

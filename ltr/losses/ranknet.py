"""RankNet: the logistic loss of every pair of unequal labels."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from ltr.losses.base import Kind, Surrogate, check_word, positive, read_lists, whole
from ltr.losses.lambdarank import Norm
from ltr.losses.pairs import (
    Log,
    Pairs,
    Weigh,
    closeness,
    every_pair,
    greater,
    label_pair_sum,
    logistic,
    over_pairs,
    pair_share,
    pair_sum,
    rows_of,
)
from ltr.metrics import PairAccuracy
from ltr.ranking import exact_ranking

Ties = Literal["skip", "half"]
Cutoff = Literal["any", "both"]


def rank_net(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    sigma: float = 1.0,
    log: Log = "natural",
    pairs: Pairs = "mean",
    ties: Ties = "skip",
    k: int | None = None,
    cutoff: Cutoff = "any",
    norm: Norm = "none",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over pairs y_i > y_j of ln(1 + exp(-sigma (s_i - s_j))). See ``RankNet``.

    O(R L) time for R documents above the lowest label, or below the highest one.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    cost = logistic(sigma, log)
    if (ties, k, norm) == ("skip", None, "none"):
        return over_pairs(label_pair_sum(scores, relevance, mask, cost, weight), pairs, relevance, mask)
    with torch.no_grad():
        rows, weigh = _weights(scores, relevance, mask, ties, k, cutoff, norm in ("score", "both"))
    summed = pair_sum(scores, rows, weigh, cost, weight=weight, damped=norm in ("list", "both"))
    if ties == "skip" or pairs == "sum":
        return over_pairs(summed, pairs, relevance, mask)
    return summed / every_pair(mask).clamp(min=1)


class RankNet(Surrogate):
    """The logistic loss averaged over the list's pairs of unequal labels; how unequal they are does not matter.

    ``loss = mean over y_i > y_j of ln(1 + exp(-sigma (s_i - s_j)))``. Source: Burges et al. (2005), Learning to rank
    using gradient descent. In binary logarithms a pair that does not stand right costs at least 1, so that
    pairwise accuracy >= 1 - loss; in natural ones it bounds nothing (ln 2 < 1 where two scores are equal).

    Args:
        sigma: > 0, steepness in 1 / units of the scores.
        log: "natural", or "binary", as in pytorchltr and sentence-transformers.
        pairs: "mean" or "sum" over the pairs of a list, where a sum weighs long lists more; "batch" is the mean of
            which the mean over lists is one over all pairs of the batch (allRank, Rax, sentence-transformers).
        ties: pairs of equal labels, to "skip", or with "half" once each, wanted at probability 1/2 (Burges 2005;
            PTRanking). Such a pair weighs the mean of its two documents' weights.
        k: pairs among the first k alone count, those beyond being 0 in a mean; all when None.
        cutoff: is it enough that "any" of the two documents is there (XGBoost), or must "both" be (allRank)?
        norm: "list", "score", "both" or "none", as ``LambdaRank`` takes it; "both" is XGBoost's rank:pairwise.

    Raises:
        ValueError: a sigma that is not above 0, a k that is no whole number from 1 on, cutoff="both" without a k,
            or an unknown option.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[0.3, 0.7, -0.2]]), torch.tensor([[2.0, 0.0, 1.0]])
        >>> round(RankNet()(scores, labels).item(), 4)
        0.8761
        >>> round(RankNet(log="binary").certificate(-scores, labels).item(), 4)  # pairwise accuracy is 2 / 3
        0.1208
    """

    cost = "O(R L)"
    softness_in = "1/sigma"
    suits = ("binary", "graded", "sparse", "real")

    def __init__(
        self,
        sigma: float = 1.0,
        log: Log = "natural",
        pairs: Pairs = "mean",
        ties: Ties = "skip",
        k: int | None = None,
        cutoff: Cutoff = "any",
        norm: Norm = "none",
    ) -> None:
        super().__init__()
        self.sigma, self.k = positive("sigma", sigma), None if k is None else whole("k", k, 1)
        self.log, self.pairs, self.ties, self.cutoff, self.norm = log, pairs, ties, cutoff, norm
        words = {"log": Log, "pairs": Pairs, "ties": Ties, "cutoff": Cutoff, "norm": Norm}
        for name, choices in words.items():
            check_word(name, getattr(self, name), choices)
        if cutoff == "both" and k is None:
            raise ValueError("cutoff=both: wants a k")
        self.constant_parts = norm != "none"
        self.unit = ("bits" if log == "binary" else "nats") + (" over pairs" if pairs == "sum" else " a pair")
        usual = (log, ties, self.k, norm) == ("binary", "skip", None, "none")
        self.metric = PairAccuracy() if usual and pairs != "sum" else None

    @property
    def kind(self) -> Kind:
        return "neither" if self.metric is None else "bound"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        options = (self.sigma, self.log, self.pairs, self.ties, self.k, self.cutoff, self.norm)
        return rank_net(scores, relevance, mask, *options, weight=weight)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        return None if self.metric is None else 1 - self(scores, relevance, mask)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        if self.ties == "half" and self.pairs == "batch":
            return every_pair(mask)
        return pair_share(self.pairs, relevance, mask)


def _weights(
    scores: Tensor, relevance: Tensor, mask: Tensor, ties: Ties, k: int | None, cutoff: Cutoff, by_score: bool
) -> tuple[Tensor, Weigh]:
    """The better documents as rows, all of them where equal labels count, and what the pairs weigh."""
    top = mask if k is None else exact_ranking(scores, mask, dtype=scores.dtype).within(k) > 0
    counted = top if cutoff == "both" else mask
    mine, others = relevance.masked_fill(~counted, -torch.inf), relevance.masked_fill(~counted, torch.inf)
    flags = counted if ties == "half" else counted & (mine > others.amin(1, keepdim=True))
    near = closeness(scores, mask) if by_score else None
    inside = top.to(scores.dtype)

    def weigh(some: Tensor) -> Tensor:
        label = mine.gather(1, some)[:, :, None]
        weight = greater(label, others[:, None])
        if ties == "half":  # once from each side, but for the pair of a document with itself
            weight = torch.where(label == others[:, None], 0.5, weight).scatter_(2, some[:, :, None], 0)
        if cutoff == "any" and k is not None:
            weight *= torch.maximum(inside.gather(1, some)[:, :, None], inside[:, None])
        return weight if near is None else weight / near(some)

    return rows_of(flags), weigh

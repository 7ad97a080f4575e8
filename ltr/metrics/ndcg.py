"""NDCG: DCG over the DCG of the ideal order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch
from torch import Tensor

from ltr.discounts import Discount, Log2
from ltr.gains import Exp2, Gain
from ltr.metrics.base import SumMetric
from ltr.ranking import Curve, Ranking, RankOrder


@dataclass(frozen=True)
class NDCG(SumMetric):
    """Normalised discounted cumulative gain: DCG@k / DCG@k of the documents in order of their labels.

    Source: Jarvelin, Kekalainen (2002); gain 2^y - 1: Burges (2005). Undefined for a list without any gain.
    Assumes a reader who goes down the list and is ever less likely to reach the next result.

    Args:
        k: the cutoff of both DCGs, the full list when None.
        gain: what a grade is worth.
        discount: what a place is worth.
        short: "keep", or "zero" where a list of fewer than k documents scores 0 (the official LETOR scripts).

    Example:
        >>> round(NDCG(k=5)([5, 4, 3, 2, 1], [3, 1, 2, 0, 3]).item(), 3)
        0.887
        >>> NDCG(k=5).convention
        'ndcg@5 gain=2^y-1 discount=1/log2(1+r) ideal=judged unjudged=zero ties=average empty=skip'
    """

    base: ClassVar[str] = "ndcg"
    gainful: ClassVar[bool] = True
    windowed: ClassVar[bool] = True
    ends = "grades"

    gain: Gain = field(default=Exp2())
    discount: Discount = field(default=Log2())
    short: Literal["keep", "zero"] = field(default="keep", metadata={"word": {"zero": "short0"}, "quiet": True})

    def fraction(self, ranking: Ranking, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """[B] twice: DCG and the ideal DCG in the gain's own unit; infinite where a gain is beyond float64."""
        labels, places = ranking.pool(relevance.to(ranking.position.dtype)).ideal(self.k)
        ideal = (torch.where(places, self.gain(labels), 0) * RankOrder(places).mean(self.discount)).sum(-1)
        return self.of(ranking, relevance) * ideal, ideal

    @property
    def document_gain(self) -> Gain:
        return self.gain

    @property
    def place(self) -> Curve:
        return self.discount

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        gain, ideal = self._parts(ranking, relevance)
        return (gain * ranking.mean(self.place, self.k)).sum(-1) / ideal[:, 0]  # divided last: the best order has 1.0

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        gain, ideal = self._parts(ranking, relevance)
        return gain / ideal

    def _parts(self, ranking: Ranking, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """[B, L] gains and [B, 1] the ideal DCG (1 where it is 0), as parts of the list's largest gain, which cannot
        overflow."""
        pool = ranking.pool(relevance.to(ranking.position.dtype))
        labels, places = pool.ideal(self.k)
        best = RankOrder(places, size=pool.size).mean(self.discount).to(labels.dtype)
        known = ranking.labelled
        both = torch.cat([labels, relevance.to(ranking.position.dtype) * known], 1)  # of which the gains are, at once
        sorted_gain, gain = self.gain.relative(both, pool.top).tensor_split([labels.shape[1]], 1)
        ideal, gain = (sorted_gain * best).sum(-1, keepdim=True), gain * known
        if self.short == "zero" and self.k is not None:
            gain = gain * (ranking.size >= self.k)
        return gain, torch.where(ideal > 0, ideal, 1)

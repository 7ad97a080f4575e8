"""DCG: the sum of discounted gains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from ltr.discounts import Discount, Log2
from ltr.gains import Exp2, Gain
from ltr.lists import may_look
from ltr.metrics.base import SumMetric
from ltr.ranking import Curve, Ranking


@dataclass(frozen=True)
class DCG(SumMetric):
    """Discounted cumulative gain: sum over the first k places of gain(label) * discount(rank).

    Source: Jarvelin, Kekalainen (2002), Cumulated gain-based evaluation of IR techniques; gain 2^y - 1: Burges (2005).
    Assumes a reader who goes down the list and is ever less likely to reach the next result. Not bounded by 1.

    Args:
        k: the cutoff, the full list when None.
        gain: what a grade is worth.
        discount: what a place is worth.

    Example:
        >>> round(DCG(k=5)([5, 4, 3, 2, 1], [3, 1, 2, 0, 3]).item(), 3)
        11.839
    """

    base: ClassVar[str] = "dcg"
    gainful: ClassVar[bool] = True
    bounded: ClassVar[bool] = False
    windowed: ClassVar[bool] = True
    ends = "all"

    gain: Gain = field(default=Exp2())
    discount: Discount = field(default=Log2())

    def fraction(self, ranking: Ranking, relevance: Tensor) -> tuple[Tensor, Tensor]:
        """[B] twice: DCG, and 1: pooled over lists it is its mean."""
        dcg = self.of(ranking, relevance)
        return dcg, torch.ones_like(dcg)

    @property
    def document_gain(self) -> Gain:
        return self.gain

    @property
    def place(self) -> Curve:
        return self.discount

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, L] the gain of each document that has a label, in its own unit; 0 elsewhere.

        Raises:
            ValueError: a gain is beyond the numbers of the positions' type (looked at on the CPU alone).
        """
        gain = self.gain(relevance.to(ranking.position.dtype)) * ranking.labelled
        if may_look(gain) and not torch.isfinite(gain).all():
            label, kind = relevance.max().item(), str(gain.dtype).removeprefix("torch.")
            raise ValueError(f"dcg: the gain of label {label:g} is beyond {kind}; use ndcg, or dcg-linear or a table")
        return gain

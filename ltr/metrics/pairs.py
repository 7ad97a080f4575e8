"""Pairwise accuracy: the share of document pairs in the order of their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ltr.gains import Gain, Linear
from ltr.inversions import righted
from ltr.metrics.base import Deltas, RankingMetric
from ltr.ranking import Ranking


@dataclass(frozen=True)
class PairAccuracy(RankingMetric):
    """Pairwise accuracy: of all pairs of ranked documents with different labels, the share that is ordered right.

    Pairs of equal scores count half. Source: Cohen, Schapire, Singer (1999), Learning to order things. Undefined where
    no two labels differ.
    Assumes a reader who compares any two results, those at the bottom as often as those on top.

    Example:
        >>> PairAccuracy()([3, 2, 1], [2, 0, 1]).item() == 2 / 3
        True
    """

    base: ClassVar[str] = "pairs"
    cuts: ClassVar[bool] = False
    pooled: ClassVar[bool] = False
    ends = "order"

    @property
    def document_gain(self) -> Gain:
        return Linear()

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        right, wrong, tied = ranking.concordance(relevance)
        return (right + tied / 2) / (right + wrong + tied).clamp(min=1)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return self.deltas(ranking, relevance)(rows)

    def deltas(self, ranking: Ranking, relevance: Tensor) -> Deltas:
        more = righted(ranking.by_index().position, relevance, ranking.mask)
        right, wrong, tied = ranking.concordance(relevance)
        pairs = (right + wrong + tied).clamp(min=1).to(ranking.position.dtype)[:, None, None]
        return lambda rows: more(rows) / pairs

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return labels_differ(ranking, relevance)


def labels_differ(ranking: Ranking, relevance: Tensor) -> Tensor:
    """[B] bool: has some pair of ranked documents different labels?"""
    lowest, highest = (torch.where(ranking.mask, relevance, bound) for bound in (torch.inf, -torch.inf))
    return lowest.amin(1) < highest.amax(1)

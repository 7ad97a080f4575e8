"""Kendall's tau-b: the correlation of the order by score with the order by label."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor

from ltr.gains import Gain, Linear
from ltr.inversions import righted
from ltr.metrics.base import Deltas, RankingMetric
from ltr.metrics.measure import Answer
from ltr.metrics.pairs import labels_differ
from ltr.order import Ties
from ltr.ranking import Ranking


@dataclass(frozen=True)
class KendallTau(RankingMetric):
    """Kendall's tau-b: (C - D) / sqrt(pairs with different scores * pairs with different labels), in [-1, 1].

    C and D are the pairs of ranked documents that scores and labels order alike and contrariwise. Source: Kendall
    (1945), The treatment of ties in ranking problems; as in scipy, but 0 where all scores are equal. Undefined where
    no two labels differ. Scores that are tied just as the labels are reach its ceiling, 1.
    Assumes a reader who compares any two results, those at the bottom as often as those on top.

    Args:
        ties: only "average", which stands for this metric's own rule for equal scores.

    Raises:
        ValueError: another rule for ties.

    Example:
        >>> round(KendallTau()([3, 2, 2], [2, 0, 1]).item(), 4)  # 2 / sqrt(2 * 3)
        0.8165
    """

    base: ClassVar[str] = "tau"
    bounded: ClassVar[bool] = False
    cuts: ClassVar[bool] = False
    pooled: ClassVar[bool] = False
    own_ties: ClassVar[bool] = True
    ends = "order"

    ties: Ties = field(default="average", kw_only=True, metadata={"formula": {"average": "tau-b"}})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ties != "average":
            raise ValueError(f"tau: has a rule of its own for equal scores (tau-b); got ties={self.ties!r}")

    @property
    def document_gain(self) -> Gain:
        return Linear()

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        right, wrong, tied = ranking.concordance(relevance)
        size = ranking.size[:, 0]
        apart = size * (size - 1) / 2 - (ranking.mask * (ranking.block - 1)).sum(1) / 2  # pairs with different scores
        scale = ((right + wrong + tied).detach() * apart).sqrt()  # no score changes their sum
        return (right - wrong) / torch.where(scale > 0, scale, 1)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return self.deltas(ranking, relevance)(rows)

    def deltas(self, ranking: Ranking, relevance: Tensor) -> Deltas:
        """Without ties, a pair that stands right now stood wrong before."""
        more = righted(ranking.by_index().position, relevance, ranking.mask)
        right, wrong, tied = ranking.concordance(relevance)
        size = ranking.size[:, 0]
        scale = ((right + wrong + tied) * (size * (size - 1) / 2)).sqrt().clamp(min=1)
        scale = scale.to(ranking.position.dtype)[:, None, None]
        return lambda rows: 2 * more(rows) / scale

    def ceiling_of(self, given: Answer) -> Tensor:
        return self.measured(Answer(given.relevance, *given[1:])).value

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return labels_differ(ranking, relevance)

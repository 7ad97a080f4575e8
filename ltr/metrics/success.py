"""Success, also called hit rate: is anything relevant among the first k?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor

from ltr.metrics.base import BinaryMetric, both_real, sides
from ltr.ranking import Ranking


@dataclass(frozen=True)
class Success(BinaryMetric):
    """Success at k: 1 when a relevant document stands among the first k, else 0; other names are hit rate and hit@k.

    Source: trec_eval's success, ranx's hit_rate. Undefined for a list with nothing relevant.
    Assumes a reader who wants one answer, and finds it at the last of k places as easily as at the first.

    Args:
        k: the cutoff.
        threshold: the lowest label that is relevant.

    Example:
        >>> Success(k=2)([5, 4, 3, 2, 1], [0, 1, 0, 0, 1]).item()
        1.0
        >>> Success(k=1)([1, 1, 1, 1, 1], [0, 1, 0, 0, 1]).item()  # equal scores: one of five places, two are right
        0.4
    """

    base: ClassVar[str] = "success"
    gainful: ClassVar[bool] = True
    windowed: ClassVar[bool] = True
    ends = "all"

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return ranking.first(self.relevant(ranking, relevance), torch.ones_like, self.k)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """Lost where the only relevant document of the first k leaves them, won where one comes when none is there."""
        ranking = ranking.by_index()
        relevant, inside = self.relevant(ranking, relevance), ranking.within(self.k) > 0
        hits = (relevant & inside).sum(1)[:, None, None]
        (mine, theirs), (here, there) = sides(relevant, rows), sides(inside, rows)
        crosses = both_real(ranking, rows) & (mine != theirs) & (here != there)
        out = torch.where(mine, here, there)  # is the relevant one of the two inside?
        return (crosses & ~out & (hits == 0)).to(ranking.position.dtype) - (crosses & out & (hits == 1)).to(
            ranking.position.dtype
        )

    def uncut(self) -> Self:
        """Itself: without its cutoff it would not depend on the ranking."""
        return self

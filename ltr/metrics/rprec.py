"""R-precision: precision at R, the number of relevant documents of the list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ltr.metrics.base import BinaryMetric, both_real, sides
from ltr.ranking import Ranking


@dataclass(frozen=True)
class RPrecision(BinaryMetric):
    """R-precision: relevant documents among the first R, over R, the number of all relevant documents of the list.

    Source: trec_eval's Rprec; Buckley, Voorhees (2005), Retrieval system evaluation. It has no cutoff of its own:
    every list has the one at which precision and recall are equal. Undefined for a list with nothing relevant.
    Assumes a reader who knows how many right answers there are, and looks at as many results.

    Args:
        threshold: the lowest label that is relevant.

    Example:
        >>> RPrecision()([5, 4, 3, 2, 1], [0, 1, 0, 0, 1]).item()
        0.5
    """

    base: ClassVar[str] = "rprec"
    gainful: ClassVar[bool] = True
    cuts: ClassVar[bool] = False

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        total = self.total(ranking, relevance)
        return (self.relevant(ranking, relevance) * ranking.within(total)).sum(-1) / total[:, 0]

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """As for precision, with a cutoff for each list: in a tie block of m documents of which the share w lies
        inside, two distinct places lie on different sides of the cutoff with probability 2 w (1 - w) m / (m - 1)."""
        total = self.total(ranking, relevance)
        inside, block = ranking.within(total), ranking.block
        apart = 2 * inside * (1 - inside) * block / (block - 1).clamp(min=1)
        mine, theirs = sides(self.relevant(ranking, relevance).to(inside.dtype) / total, rows)
        here, there = sides(inside, rows)
        position, other = sides(ranking.position, rows)
        moved = here - there + torch.where(position == other, apart[:, None], 0)
        return (theirs - mine) * moved * both_real(ranking, rows)

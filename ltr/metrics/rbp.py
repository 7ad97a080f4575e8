"""RBP: the rate at which a reader of a given patience finds relevant documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nextafter
from typing import Any, ClassVar

import torch
from torch import Tensor

from ltr.discounts import Geometric
from ltr.gains import LEAST, real
from ltr.metrics.base import BinaryMetric, SumMetric
from ltr.metrics.measure import answer
from ltr.ranking import Curve, Ranking, exact_ranking


@dataclass(frozen=True)
class RBP(SumMetric, BinaryMetric):
    """Rank-biased precision: (1 - p) * sum over relevant documents in the first k of p^(rank - 1).

    Source: Moffat, Zobel (2008), Rank-biased precision for measurement of retrieval effectiveness. It knows neither R
    nor an ideal order, so a list with one relevant document cannot pass 1 - p. Undefined for a list with nothing
    relevant.
    Assumes a reader who goes on from each result to the next with probability p, whatever the results are.

    Args:
        k: the cutoff, the full list when None.
        threshold: the lowest label that is relevant.
        p: the reader's persistence, between 0 and 1: 1 / (1 - p) results are looked at on average. It is 0.8 in
            ir_measures 0.4.3, 0.9 in trec_eval 10.0, and wanted in every name by ranx 0.3.21.

    Raises:
        ValueError: p does not lie between 0 and 1.

    Example:
        >>> RBP(p=0.5)([3, 2, 1], [1, 0, 1]).item()
        0.625
        >>> RBP(p=0.5).residual([3, 2, 1], [1, 0, 1]).item()  # p^3: what a fourth, fifth, ... document could add
        0.125
    """

    base: ClassVar[str] = "rbp"
    gainful: ClassVar[bool] = True
    windowed: ClassVar[bool] = True

    p: float = field(default=0.8, metadata={"word": "p{}", "formula": "{}"})

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = "rbp: the persistence p must be a number between 0 and 1"
        object.__setattr__(self, "p", real(self.p, wanted, LEAST, nextafter(1, 0)))

    @property
    def place(self) -> Curve:
        return Geometric(self.p)

    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return (1 - self.p) * self.relevant(ranking, relevance).to(ranking.position.dtype)

    def residual(
        self, scores: Any, relevance: Any, mask: Any = None, *, retrieved: Any = None, judged: Any = None
    ) -> Tensor:
        """[B] how much the value could still rise: the weight of the unjudged ranks, and of all ranks beyond the last.

        (1 - p) * sum over unjudged documents in the first k of p^(rank - 1), + p^min(n, k) for n documents. RBP and
        RBP + residual are the worst and the best case. It has an answer for every list. trec_eval 10.0 leaves the
        second term out where nothing is unjudged.

        Args:
            scores, relevance, mask, retrieved, judged: those of a call.

        Raises:
            ValueError: as a call.
        """
        given = answer(scores, relevance, mask, retrieved=retrieved, judged=judged, finite_scores=True)
        ranked = given.ranked(self.unjudged)
        ranking = exact_ranking(given.scores, ranked, self.ties, relevance=given.labels)
        unknown = torch.zeros_like(ranked) if given.judged is None else ranked & ~given.judged
        weight = (1 - self.p) * (unknown * ranking.mean(Geometric(self.p), self.k)).sum(-1)
        last = ranking.size[:, 0] if self.k is None else ranking.size[:, 0].clamp(max=self.k)
        return torch.where(torch.isnan(given.scores).any(1), torch.nan, weight + self.p**last)

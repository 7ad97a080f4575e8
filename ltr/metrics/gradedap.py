"""Graded AP: average precision for readers who each set the bar at another grade."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from ltr.gains import Gain, Linear, at_least, lowest, number, real
from ltr.lists import may_look
from ltr.metrics.ap import precisions, precisions_swapped
from ltr.metrics.base import RankingMetric, both_real
from ltr.ranking import Ranking


@dataclass(frozen=True)
class GradedAP(RankingMetric):
    """Graded average precision: sum over grades g of R_g AP_g / sum of R_g, where R_g documents reach grade g.

    AP_g is the average precision at k that takes the labels from g on as relevant; each grade from 1 to ``top`` is
    equally likely to be a reader's bar. It is AP where top is 1. Source: Robertson, Kanoulas, Yilmaz (2010), Extending
    average precision to graded relevance judgments, with g_i = 1/c. Undefined for a list without a label of at least 1.
    Assumes readers who each set another bar, want a different number of documents that pass it, and stop there.

    Args:
        k: the cutoff, the full list when None.
        top: the top grade of the scale, part of the name (gradedap-max4); the labels of one list need not reach it.

    Raises:
        ValueError: top is no whole number from 1 on; when called, a grade lies above it (looked at on the CPU alone).

    Example:
        >>> round(GradedAP(top=3)([5, 4, 3, 2, 1], [3, 1, 2, 0, 3]).item(), 4)  # (4 * 0.95 + 3 * 0.7556 + 2 * 0.7) / 9
        0.8296
    """

    base: ClassVar[str] = "gradedap"
    gainful: ClassVar[bool] = True
    windowed: ClassVar[bool] = True
    ends = "grades"

    top: int = field(kw_only=True, metadata={"word": "max{}", "formula": "{}", "says": "max"})

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = "gradedap: the top grade must be a whole number of at least 1"
        object.__setattr__(self, "top", int(real(self.top, wanted, 1, whole=True)))

    @property
    def document_gain(self) -> Gain:
        return Linear()

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        grades, total = self._scale(ranking, relevance)
        summed = torch.zeros_like(total)
        for grade, alike in grades:
            relevant = (at_least(relevance, grade) & ranking.mask).to(ranking.position.dtype)
            summed = summed + alike * precisions(ranking, relevant, self.k).sum(-1)
        return summed / total

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return ranking.pool(relevance).count(lowest(1))[:, 0] > 0

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        ranking = ranking.by_index()
        grades, total = self._scale(ranking, relevance)
        summed = torch.zeros_like(both_real(ranking, rows), dtype=total.dtype)
        for grade, alike in grades:
            summed += alike * precisions_swapped(ranking, at_least(relevance, grade) & ranking.mask, self.k, rows)
        return summed / total[:, None, None]

    def _scale(self, ranking: Ranking, relevance: Tensor) -> tuple[list[tuple[int, float]], Tensor]:
        """Grades, each with the number of grades, itself and below it, at which the same documents are relevant; and
        [B] the sum of R_g, at least 1. All up to the top one where labels may not be looked at."""
        pool = ranking.pool(relevance)
        labels = torch.where(pool.mask, pool.relevance, 0).float()  # compared in float32, as thresholds are
        grades: Iterable[int] = range(1, self.top + 1)
        if may_look(labels):
            highest = labels.max().item() if labels.numel() else 0
            if highest > self.top:
                wrong = f"declared to be {self.top}, and a document has grade {number(highest)}"
                raise ValueError(f"{self.name}: the top grade is {wrong}")
            grades = [int(grade) for grade in np.unique(labels.floor().numpy()) if grade] or [1]
        total = labels.floor().clamp(max=self.top).to(ranking.position.dtype).sum(1).clamp(min=1)
        return [(grade, float(grade - before)) for before, grade in pairwise([0, *grades])], total

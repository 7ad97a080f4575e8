"""One query as tensors, with variants of it: what an explanation measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from ltr.evaluation.lists import RankedLists
from ltr.metrics import RBP, Answer, RankingMetric, answer, measure
from ltr.ranking import Ranking, exact_ranking


@dataclass(frozen=True, eq=False)
class Case:
    """N returned documents in the order of the input, then those that were judged and not returned; tensors [1, L]."""

    scores: Tensor
    grades: Tensor
    judged: Tensor
    returned: Tensor
    documents: tuple[str, ...] | None  # N

    @classmethod
    def of(cls, lists: RankedLists, query: str) -> Case:
        place = lists.query_ids.index(query)
        rows = slice(int(lists.offsets[place]), int(lists.offsets[place + 1]))
        score, grade = lists.score[rows].tolist(), lists.relevance[rows].tolist()
        judged = [True] * len(score) if lists.judged is None else lists.judged[rows].tolist()
        missed: list[float] = []
        if lists.pool is not None and lists.pool_offsets is not None:
            pool = lists.pool[lists.pool_offsets[place] : lists.pool_offsets[place + 1]].tolist()
            seen = Counter(label for label, known in zip(grade, judged, strict=True) if known)
            missed = sorted((Counter(pool) - seen).elements(), reverse=True)
        return cls(
            scores=torch.tensor([[*score, *(0.0 for _ in missed)]], dtype=torch.float64),
            grades=torch.tensor([[*grade, *missed]], dtype=torch.float64),
            judged=torch.tensor([[*judged, *(True for _ in missed)]]),
            returned=torch.tensor([[*(True for _ in score), *(False for _ in missed)]]),
            documents=None if lists.documents is None else tuple(map(str, lists.documents[rows].tolist())),
        )

    @cached_property
    def by_id(self) -> list[int]:
        """All places, those of the returned documents in descending order of id: what ties=docid means on tensors."""
        places = list(range(self.scores.shape[1]))
        if self.documents is None:
            return places
        ids = self.documents
        return [*sorted(range(len(ids)), key=ids.__getitem__, reverse=True), *places[len(ids) :]]

    def listed(self, metric: RankingMetric) -> list[int]:
        """The places in the order by which the metric breaks ties."""
        return self.by_id if metric.ties == "docid" else list(range(self.scores.shape[1]))

    def answer(self, grades: Tensor, judged: Tensor) -> Answer:
        return answer(self.scores, grades, retrieved=self.returned, judged=judged)

    def residual(self, metric: RankingMetric) -> float | None:
        if not isinstance(metric, RBP):
            return None
        order = self.listed(metric)
        scores, grades, returned, judged = (
            each[:, order] for each in (self.scores, self.grades, self.returned, self.judged)
        )
        return metric.residual(scores, grades, retrieved=returned, judged=judged).item()

    def ranking(self, metric: RankingMetric) -> Ranking:
        """Where each document stands by the rules of the metric."""
        given, order = self.answer(self.grades, self.judged), torch.tensor(self.listed(metric))
        ranked = given.ranked(metric.unjudged)
        scores, mask, relevance = (each[:, order] for each in (given.scores, ranked, given.labels))
        found = exact_ranking(scores, mask, metric.ties, relevance=relevance)
        back = order.argsort()
        pool = given.pool(metric.ideal)
        return Ranking(found.position[:, back], found.block[:, back], ranked, judged=given.judged, pool=pool)

    def values(self, metrics: Sequence[RankingMetric]) -> Tensor:
        """[metrics, V] each metric of the V variants of the list, NaN where it has no answer."""
        found: dict[RankingMetric, Tensor] = {}
        for docid in (False, True):
            some = [metric for metric in metrics if (metric.ties == "docid") == docid]
            if some:
                order = torch.tensor(self.listed(some[0]))
                columns = (each[:, order] for each in (self.scores, self.grades, self.returned, self.judged))
                scores, grades, returned, judged = columns
                measured = measure(some, answer(scores, grades, retrieved=returned, judged=judged))
                values = [torch.where(each.defined, each.value, torch.nan) for each in measured]
                found |= zip(some, values, strict=True)
        return torch.stack([found[metric] for metric in metrics])

    def replaced(self, places: Sequence[int]) -> Case:
        """The variants in which a worthless document stands in place of one of these, which was then not returned."""
        many, at = len(places), torch.tensor(places)
        grades, judged = self.grades.repeat(many, 1), self.judged.repeat(many, 1)
        line = torch.arange(many)
        grades[line, at], judged[line, at] = 0, True
        return Case(
            scores=torch.cat([self.scores, torch.zeros(1, 1)], 1).repeat(many, 1),
            grades=torch.cat([grades, self.grades[0, at][:, None]], 1),
            judged=torch.cat([judged, self.judged[0, at][:, None]], 1),
            returned=torch.cat([self.returned, torch.tensor([[False]])], 1).repeat(many, 1),
            documents=self.documents,
        )

"""One query worked all the way through, as values: positions, sums, metrics, and what a change does to each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan

import torch
from torch import Tensor

from ltr.evaluation.lists import RankedLists
from ltr.gains import number
from ltr.metrics import NDCG, Answer, BinaryMetric, RankingMetric, answer, measure
from ltr.ranking import Ranking, RankOrder, exact_ranking

CELLS = 1 << 22  # documents of all variants of a list that are measured at once
SAME = 1e-12  # values nearer than this are equal: what is left of a sum in another order
SETS = ("precision", "recall", "f1", "success", "judged")  # they ask what stands among the first k, in any order


@dataclass(frozen=True)
class Row:
    """A position of a list, what stands there, and what it is worth."""

    position: int
    document: str | None
    grade: float | None  # None: nobody judged it
    gain: float
    discount: float  # its mean over the places of the block; 0 below the cutoff
    worth: float  # gain * discount
    total: float  # the worth of this and all higher positions
    block: tuple[int, int]  # the first and the last position whose documents have the same score


@dataclass(frozen=True)
class MetricValue:
    """A metric on the list, None where it has no answer, and the positions that moved it.

    A position moved the metric if its value would be another had the system returned a worthless document (grade 0) in
    that place; the document that stands there then counts as one that was judged and not returned.
    """

    metric: RankingMetric
    value: float | None
    moved_by: tuple[int, ...]


@dataclass(frozen=True)
class Delta:
    """A metric before and after a change, None where it has no answer, and why, where that wants a word."""

    metric: RankingMetric
    before: float | None
    after: float | None
    why: str

    @property
    def by(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def moved(self) -> bool:
        return self.before is not self.after if self.by is None else abs(self.by) > SAME


@dataclass(frozen=True)
class Change:
    """What was changed, in words, and the grades from the top down that it leaves."""

    said: str
    positions: tuple[int, ...]
    grades: tuple[float | None, ...]
    deltas: tuple[Delta, ...]


@dataclass(frozen=True)
class Explanation:
    """A list worked through by one NDCG, then measured by others."""

    metric: NDCG
    rows: tuple[Row, ...]
    ideal: tuple[Row, ...]  # the best order of all judged documents, down to the cutoff
    missed: tuple[float, ...]  # grades of judged documents that were not returned
    left_out: int  # returned documents that are not ranked, since nobody judged them
    scaled: bool  # gains are shown as parts of the largest one, which no number could hold
    dcg: float
    idcg: float
    value: float | None
    floor: float  # what a random order of the same documents comes to on average
    values: tuple[MetricValue, ...]
    change: Change | None


def explain(
    lists: RankedLists,
    query: str,
    metric: NDCG,
    metrics: Sequence[RankingMetric],
    *,
    swap: Sequence[int] | None = None,
    grade: Sequence[float] | None = None,
) -> Explanation:
    """Work one query through: every number of its NDCG, every metric, and what one change would do to them.

    Args:
        lists: of any number of queries.
        query: the one that is wanted.
        metric: whose gain, discount and cutoff are laid out, and by whose rules positions are counted.
        metrics: what is measured besides.
        swap: two positions, from 1, whose documents change places.
        grade: a position and the grade that its document gets.

    Raises:
        ValueError: no document was returned, no such position, equal positions, a negative grade, two changes at
            once; or a metric has no value for a grade.

    Example:
        >>> lists = RankedLists.from_arrays([3, 1, 2, 0, 3], [5, 4, 3, 2, 1])
        >>> found = explain(lists, "0", NDCG(k=5), [NDCG(k=5)], swap=[1, 2])
        >>> [round(row.worth, 3) for row in found.rows], round(found.dcg, 3), round(found.idcg, 3)
        ([7.0, 0.631, 1.5, 0.0, 2.708], 11.839, 13.347)
        >>> found.values[0].value, found.values[0].moved_by, found.change.deltas[0].after
        (0.8870, (1, 2, 3, 5), 0.7211)
    """
    case = _Case.of(lists, query)
    ranking = case.ranking(metric)
    order = [index for index in case.listed(metric) if ranking.mask[0, index]]
    order.sort(key=lambda index: float(ranking.position[0, index]))  # stable
    if not order:
        raise ValueError(f"{lists.source}: wanted a list with documents, query {query} has none")
    rows, ideal, scaled = _worked(case, metric, ranking, order)
    given = case.answer(case.grades, case.judged)
    (value,) = case.values([metric])[:, 0].tolist()
    return Explanation(
        metric=metric,
        rows=rows,
        ideal=ideal,
        missed=tuple(case.grades[~case.returned].tolist()),
        left_out=int(case.returned.sum()) - len(rows),
        scaled=scaled,
        dcg=rows[-1].total,
        idcg=ideal[-1].total if ideal else 0.0,
        value=_known(value),
        floor=float(metric.floor_of(given)),
        values=_moved(case, metrics, order),
        change=_change(case, metrics, order, swap, grade),
    )


@dataclass(frozen=True, eq=False)
class _Case:
    """N returned documents in the order of the input, then those that were judged and not returned; tensors [1, L]."""

    scores: Tensor
    grades: Tensor
    judged: Tensor
    returned: Tensor
    documents: tuple[str, ...] | None  # N

    @classmethod
    def of(cls, lists: RankedLists, query: str) -> _Case:
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

    def ranking(self, metric: RankingMetric) -> Ranking:
        """Where each document stands by the rules of the metric."""
        given, order = self.answer(self.grades, self.judged), torch.tensor(self.listed(metric))
        ranked = given.ranked(metric.unjudged)
        scores, mask, relevance = (each[:, order] for each in (given.scores, ranked, given.relevance))
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

    def replaced(self, places: Sequence[int]) -> _Case:
        """The variants in which a worthless document stands in place of one of these, which was then not returned."""
        many, at = len(places), torch.tensor(places)
        grades, judged = self.grades.repeat(many, 1), self.judged.repeat(many, 1)
        line = torch.arange(many)
        grades[line, at], judged[line, at] = 0, True
        return _Case(
            scores=torch.cat([self.scores, torch.zeros(1, 1)], 1).repeat(many, 1),
            grades=torch.cat([grades, self.grades[0, at][:, None]], 1),
            judged=torch.cat([judged, self.judged[0, at][:, None]], 1),
            returned=torch.cat([self.returned, torch.tensor([[False]])], 1).repeat(many, 1),
            documents=self.documents,
        )


def _worked(
    case: _Case, metric: NDCG, ranking: Ranking, order: Sequence[int]
) -> tuple[tuple[Row, ...], tuple[Row, ...], bool]:
    """The rows of the list, those of the ideal list, and whether gains are parts of the largest one."""
    pool = ranking.pool(case.grades)
    labels, places = pool.ideal(metric.k)
    gain, best = metric.gain(case.grades), metric.gain(labels)
    scaled = not bool(torch.isfinite(gain).all() and torch.isfinite(best).all())
    if scaled:
        gain, best = (metric.gain.relative(each, pool.top) for each in (case.grades, labels))
    discount = ranking.mean(metric.discount, metric.k)[0]
    at = torch.tensor(order)
    first = ranking.position[0, at]
    rows = _rows(
        [None if case.documents is None else case.documents[index] for index in order],
        [case.grades[0, index].item() if case.judged[0, index] else None for index in order],
        (gain[0, at], discount[at], first, first + ranking.block[0, at] - 1),
    )
    known = places[0]
    rank = torch.arange(1, 1 + int(known.sum()), dtype=torch.float64)
    weight = RankOrder(places).mean(metric.discount)[0, known]
    ideal = _rows([None] * len(rank), labels[0, known].tolist(), (best[0, known], weight, rank, rank))
    return rows, ideal, scaled


def _rows(
    documents: Sequence[str | None], grades: Sequence[float | None], columns: tuple[Tensor, Tensor, Tensor, Tensor]
) -> tuple[Row, ...]:
    gain, discount, first, last = columns
    worth = gain * discount
    numbers = zip(gain.tolist(), discount.tolist(), worth.tolist(), worth.cumsum(0).tolist(), strict=True)
    blocks = zip(first.int().tolist(), last.int().tolist(), strict=True)
    parts = zip(documents, grades, numbers, blocks, strict=True)
    return tuple(
        Row(position, document, grade, *values, block)
        for position, (document, grade, values, block) in enumerate(parts, start=1)
    )


def _moved(case: _Case, metrics: Sequence[RankingMetric], order: Sequence[int]) -> tuple[MetricValue, ...]:
    before = case.values(metrics)  # [metrics, 1]
    worth = [(position, index) for position, index in enumerate(order, start=1) if case.grades[0, index] > 0]
    many = max(1, CELLS // case.scores.shape[1])
    parts = [worth[start : start + many] for start in range(0, len(worth), many)]
    after = [case.replaced([index for _, index in part]).values(metrics) for part in parts]
    moved: list[tuple[int, ...]] = [()] * len(metrics)
    if after:
        other = ~torch.isclose(torch.cat(after, 1), before, rtol=0, atol=SAME, equal_nan=True)
        moved = [tuple(p for (p, _), yes in zip(worth, line, strict=True) if yes) for line in other.tolist()]
    found = zip(metrics, before[:, 0].tolist(), moved, strict=True)
    return tuple(MetricValue(metric, _known(value), positions) for metric, value, positions in found)


def _known(value: float) -> float | None:
    return None if isnan(value) else value


# -- changes ----------------------------------------------------------------------------------------------------------


def _change(
    case: _Case,
    metrics: Sequence[RankingMetric],
    order: Sequence[int],
    swap: Sequence[int] | None,
    grade: Sequence[float] | None,
) -> Change | None:
    if swap is not None and grade is not None:
        raise ValueError("swap and grade: wanted one change at a time, got both")
    grades, judged = case.grades.clone(), case.judged.clone()
    if swap is not None:
        first, second = _places(swap, len(order))
        positions: tuple[int, ...] = (first, second)
        here, there = order[first - 1], order[second - 1]
        for column in (grades, judged):
            column[0, [here, there]] = column[0, [there, here]]
        said = f"the documents at positions {first} and {second} change places"
    elif grade is not None:
        position, value = _regrade(grade, len(order))
        positions = (position,)
        here = there = order[position - 1]
        was = f"grade {number(case.grades[0, here].item())}" if judged[0, here] else "no grade"
        grades[0, here], judged[0, here] = value, True
        said = f"the document at position {position} gets grade {number(value)} instead of {was}"
    else:
        return None
    after = replace(case, grades=grades, judged=judged)
    columns = (each.values(metrics)[:, 0].tolist() for each in (case, after))
    deltas = []
    for metric, before, now in zip(metrics, *columns, strict=True):
        delta = Delta(metric, _known(before), _known(now), "")
        deltas.append(replace(delta, why=_why(delta, case, after, positions, here, there)))
    known = tuple(grades[0, index].item() if judged[0, index] else None for index in order)
    return Change(said, positions, known, tuple(deltas))


def _places(swap: Sequence[int], length: int) -> tuple[int, int]:
    if len(swap) != 2 or not all(float(each).is_integer() and 1 <= each <= length for each in swap):
        raise ValueError(f"swap: wanted two positions from 1 to {length}, such as [1,2]; got {_listed(swap)}")
    if swap[0] == swap[1]:
        raise ValueError(f"swap: wanted two different positions, got {_listed(swap)}")
    return int(swap[0]), int(swap[1])


def _regrade(grade: Sequence[float], length: int) -> tuple[int, float]:
    if len(grade) != 2 or not (float(grade[0]).is_integer() and 1 <= grade[0] <= length):
        raise ValueError(f"grade: wanted a position from 1 to {length} and its grade, as [3,0]; got {_listed(grade)}")
    if not 0 <= grade[1] < float("inf"):
        raise ValueError(f"grade: wanted a position and a grade of at least 0, got {_listed(grade)}")
    return int(grade[0]), float(grade[1])


def _listed(values: Sequence[float]) -> str:
    return "[" + ",".join(f"{value:g}" for value in values) + "]"


def _why(delta: Delta, case: _Case, after: _Case, positions: tuple[int, ...], here: int, there: int) -> str:
    """Why a metric does not see a change, or sees one below its cutoff; the documents stand at here and there."""
    metric, ranking = delta.metric, case.ranking(delta.metric)
    inside = [float(ranking.within(metric.k)[0, index]) for index in (here, there)]
    swapped = here != there
    if delta.before is None and delta.after is None:
        return "no document is worth anything to it, before and after"
    if delta.before is None or delta.after is None:
        return "it has no answer where no document is worth anything to it"
    if delta.moved:
        if swapped or any(inside):
            return ""
        aim = "number of relevant documents" if isinstance(metric, BinaryMetric) else "best order"
        return f"position {positions[0]} lies below its cutoff, but the {aim} that it divides by is another now"
    if swapped and ranking.position[0, here] == ranking.position[0, there]:
        return "the two have equal scores, and so no order that a swap could change"
    worth = metric.document_gain(torch.stack([case.grades[0, here], after.grades[0, here]]))
    if worth[0] == worth[1]:
        if not isinstance(metric, BinaryMetric):
            return "both documents have the same grade" if swapped else "the grade is worth the same to it"
        states = "both are relevant or both are not" if swapped else "it is relevant before and after, or never"
        return f"it only asks for a grade of {number(metric.threshold)} or more: {states}"
    if not any(inside):
        return f"{'both positions lie' if swapped else 'the position lies'} below its cutoff"
    if swapped and metric.base in SETS and min(inside) == 1:
        first = "in the list" if metric.k is None else f"among the first {metric.k}"
        return f"it asks which documents are {first}, and not in which order"
    if metric.base == "mrr":
        return "its first relevant document stands where it stood"
    return "its value comes to the same either way"

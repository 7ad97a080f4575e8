"""One query worked all the way through, as values: positions, sums, metrics, and what a change does to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ltr.evaluation.lists import RankedLists
from ltr.metrics import NDCG, RankingMetric
from ltr.ranking import Ranking, RankOrder
from ltr.report.case import Case
from ltr.report.changes import SAME, Change, answered, change_of

CELLS = 1 << 22  # documents of all variants of a list that are measured at once


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
    residual: float | None  # how much the value could still rise, where the metric knows: RBP


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
    case = Case.of(lists, query)
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
        value=answered(value),
        floor=float(metric.floor_of(given)),
        values=_moved(case, metrics, order),
        change=change_of(case, metrics, order, swap, grade),
    )


def _worked(
    case: Case, metric: NDCG, ranking: Ranking, order: Sequence[int]
) -> tuple[tuple[Row, ...], tuple[Row, ...], bool]:
    """The rows of the list, those of the ideal list, and whether gains are parts of the largest one."""
    pool = ranking.pool(case.grades)
    labels, places = pool.ideal(metric.k)
    gain, best = metric.gain(case.grades), metric.gain(labels)
    scaled = not bool(torch.isfinite(gain).all() and torch.isfinite(best).all())
    if scaled:
        gain, best = (metric.gain.relative(each, pool.top) for each in (case.grades, labels))
    gain = gain * case.judged  # an unjudged document has none, whatever label 0 is worth
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


def _moved(case: Case, metrics: Sequence[RankingMetric], order: Sequence[int]) -> tuple[MetricValue, ...]:
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
    return tuple(
        MetricValue(metric, answered(value), positions, case.residual(metric)) for metric, value, positions in found
    )

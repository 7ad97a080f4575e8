"""Per-query values of exact metrics, and what they come to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from ltr.data import DataError, RankingData
from ltr.evaluation.aggregates import How, aggregate
from ltr.evaluation.answers import CELLS, answers, with_pool
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.padding import Doubles, Flags, Integers
from ltr.intervals import Interval
from ltr.metrics import Answer, Measured, RankingMetric, measure
from ltr.ranking import Ranking

OnePass = Callable[[Sequence[RankingMetric], Answer], list[Measured]]


class QueryValue(NamedTuple):
    """One row of a per-query table: the metric on one list (None: the mean skips it), and has it an answer at all?"""

    query: str
    metric: str
    value: float | None
    documents: int
    defined: bool
    weight: float


class Summary(NamedTuple):
    """What a metric comes to over lists, how far it can be trusted, and the two values that it lies between."""

    metric: str
    convention: str
    aggregate: str  # mean, micro, median, geometric or min
    value: float  # NaN over no list
    sd: float  # over lists
    se: float  # of the value
    interval: Interval  # 95 %
    lists: int  # that count
    undefined: int  # lists without an answer, counted or not, as the convention says
    tied: int  # lists in which two documents have the same score
    floor: float  # the same aggregate of random orders
    ceiling: float  # and of ideal ones


@dataclass(frozen=True, eq=False)
class MetricValues:
    """One metric on every list, in their order; what takes a pass of its own is found when it is asked for."""

    metric: RankingMetric
    lists: RankedLists  # as they were measured
    value: Doubles  # [Q] by the rule `empty` where undefined; 0 for a query that the run lacks
    defined: Flags  # [Q]
    counted: Flags  # [Q] is the list part of the mean?
    aggregate: How = "mean"  # what the values come to, unless ``summary`` is told otherwise
    seed: int = 0  # of intervals that resample

    @property
    def query_ids(self) -> tuple[str, ...]:
        return self.lists.query_ids

    @property
    def weight(self) -> Doubles:
        """[Q] of the lists, counted or not."""
        return self.lists.weight

    @property
    def floor(self) -> Doubles:
        """[Q] the expected value of a random order of what was returned."""
        return self._ends[0]

    @property
    def ceiling(self) -> Doubles:
        """[Q] the value of the best list of as many documents; of all judged ones for a query that the run lacks."""
        return self._ends[1]

    @cached_property
    def tied(self) -> Flags:
        """[Q] have two returned documents the same score?"""
        found = np.zeros(len(self.query_ids), dtype=np.bool_)
        for batch in self.lists.batches(CELLS):
            score = np.sort(np.where(batch.mask, batch.scores, np.nan), axis=1)  # NaN is the last, and equals nothing
            found[batch.queries] = (score[:, 1:] == score[:, :-1]).any(1)
        return found

    @cached_property
    def fraction(self) -> tuple[Doubles, Doubles] | None:
        """[Q] twice: the metric's numerator and denominator, of which micro takes the sums; None where it has none."""
        if not hasattr(self.metric, "fraction"):
            return None
        parts = [cast(RankingMetric, _Part(self.metric, side)) for side in (0, 1)]
        over, under = (found for found, _ in _measured(self.lists, parts, CELLS, measure))
        return np.where(self.defined, over, under if self.metric.empty == "one" else 0.0), under

    def rows(self) -> list[QueryValue]:
        """The table's rows."""
        columns = (self.value, self.counted, self.lists.lengths, self.defined, self.weight)
        return [
            QueryValue(query, self.metric.name, value if counted else None, *rest)
            for query, value, counted, *rest in zip(self.query_ids, *(each.tolist() for each in columns), strict=True)
        ]

    def bounds(self) -> tuple[float, float]:
        """The mean floor and the mean ceiling over the lists that count; NaN over none."""
        weight = self.weight * self.counted
        return _mean(self.floor, weight), _mean(self.ceiling, weight)

    def summary(self, how: How | None = None, *, among: Integers | None = None) -> Summary:
        """What the values come to.

        Args:
            how: the aggregate, as ``ltr.evaluation.aggregate`` knows them; that of the table when None.
            among: places of the lists that are meant; all when None.

        Raises:
            ValueError: "micro" of a metric that is no ratio of sums over documents.
        """
        how = how or self.aggregate
        rows = np.arange(len(self.value)) if among is None else among
        weight = (self.weight * self.counted)[rows]
        over, under = (None, None) if how != "micro" or self.fraction is None else self.fraction
        shares = () if over is None or under is None else (over[rows], under[rows])
        found = aggregate(how, self.value[rows], weight, *shares, metric=self.metric.name, seed=self.seed)

        def bound(values: Doubles) -> float:
            if how in ("mean", "micro"):
                return _mean(values[rows], weight * shares[1] if shares else weight)
            return aggregate(how, values[rows], weight, metric=self.metric.name).value

        return Summary(
            metric=self.metric.name,
            convention=self.metric.convention,
            aggregate=how,
            value=found.value,
            sd=found.sd,
            se=found.se,
            interval=found.interval,
            lists=found.lists,
            undefined=int((~self.defined[rows]).sum()),
            tied=int(self.tied[rows].sum()),
            floor=bound(self.floor),
            ceiling=bound(self.ceiling),
        )

    @cached_property
    def _ends(self) -> tuple[Doubles, Doubles]:
        floor, ceiling = np.zeros_like(self.value), np.zeros_like(self.value)
        for queries, given in answers(self.lists):
            sorted_once = with_pool(given, given.pool("judged"))
            floor[queries] = self.metric.floor_of(sorted_once).numpy()
            best, lacks = self.metric.ceiling_of(sorted_once), ~given.mask.any(1)
            if lacks.any():
                best = torch.where(lacks, self.metric.ceiling_of(_whole(given)), best)
            ceiling[queries] = best.numpy()
        defined = torch.from_numpy(self.defined)
        settled = (self.metric.settle(torch.from_numpy(end), defined)[0].numpy() for end in (floor, ceiling))
        return next(settled), next(settled)


def per_query(lists: RankedLists, metrics: Sequence[RankingMetric], cells: int = CELLS) -> list[MetricValues]:
    """Each metric on each list, in one pass for all of them.

    A query that the run lacks has the value 0 wherever its judged documents, had they been returned, would have given
    the metric an answer.

    Args:
        lists: what a system returned, and what the judges say.
        metrics: any.
        cells: padded documents that are held at once.

    Raises:
        DataError: all lists have a weight of 0, or a metric refuses a list (a grade above the top of err's scale).
        ValueError: a metric's rule ``empty=error`` meets a list without an answer, or a metric of which less is better
            meets a query that the run lacks.

    Example:
        >>> from ltr.metrics import parse
        >>> lists = RankedLists.from_arrays([0, 2, 0], [0.9, 0.1, 0.5], ["a", "a", "b"])
        >>> (values,) = per_query(lists, [parse("mrr")])
        >>> [tuple(row) for row in values.rows()]
        [('a', 'mrr', 0.5, 2, True, 1.0), ('b', 'mrr', None, 1, False, 1.0)]
        >>> values.summary().value, values.summary().lists, values.summary().undefined
        (0.5, 1, 1)
    """
    if len(lists.weight) and not (lists.weight > 0).any():
        raise DataError(f"{lists.source}: wanted a query with a weight above 0, came 0 for all {len(lists.weight)}")
    found: dict[RankingMetric, MetricValues] = {}
    by_id = [metric for metric in metrics if metric.ties == "docid"]
    for some in ([metric for metric in metrics if metric not in by_id], by_id):
        if some:
            listed = lists.by_id() if some is by_id else lists
            for metric, (value, defined) in zip(some, _measured(listed, some, cells), strict=True):
                found[metric] = _values(metric, listed, value, defined)
    return [found[metric] for metric in metrics]


def lists_of(scores: ArrayLike, data: RankingData) -> RankedLists:
    """A data set with somebody's scores, as evaluation reads it.

    Args:
        scores: [N] in the order of the data's rows, as ``score`` gives them.
        data: labelled.

    Raises:
        DataError: the data has no labels, another number of rows than there are scores, or a score is NaN.

    Example:
        >>> data = RankingData.from_arrays([[0.0]] * 3, [0, 2, 0], queries=["a", "a", "b"])
        >>> lists_of([0.9, 0.1, 0.5], data).query_ids
        ('a', 'b')
    """
    score = np.asarray(scores)
    if not data.labelled:
        raise DataError(f"{data.source}: wanted labels to evaluate on, came data without labels")
    if score.shape != (len(data.relevance),):
        raise DataError(f"{data.source}: wanted a score for each of {len(data.relevance)} rows, came {score.shape}")
    if np.isnan(score).any():
        first = int(np.argmax(np.isnan(score)))
        query = data.query_ids[int(np.searchsorted(data.offsets, first, side="right")) - 1]
        raise DataError(
            f"{data.source}, row {data.row[first]} (query {query}): wanted a score, came nan "
            f"({int(np.isnan(score).sum())} in all)"
        )
    return RankedLists(
        query_ids=data.query_ids,
        offsets=data.offsets,
        score=score.astype(np.float64),
        relevance=data.relevance,
        weight=data.weight,
        source=data.source,
        documents=None if data.document_ids is None else np.array(data.document_ids, dtype=object),
    )


class _Part:
    """One side of a metric's fraction, as ``measure`` wants metrics: it has a number for every list."""

    def __init__(self, metric: RankingMetric, side: int) -> None:
        self.metric, self.side = metric, side

    def __getattr__(self, name: str) -> Any:
        return getattr(self.metric, name)

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return self.metric.fraction(ranking, relevance)[self.side]  # type: ignore[attr-defined,no-any-return]

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return torch.ones_like(ranking.size[:, 0], dtype=torch.bool)


def measured(metrics: Sequence[RankingMetric], given: Answer) -> list[Measured]:
    """Each metric on each list, where a list without documents has an answer if its judged ones would have had one."""
    found = measure(metrics, given)
    lacks = ~given.mask.any(1)
    if lacks.any():
        for place, (_, answered) in enumerate(measure(metrics, _whole(given))):
            value, defined = found[place]
            found[place] = Measured(torch.where(lacks, 0, value), defined | (lacks & answered))
    return found


def _whole(given: Answer) -> Answer:
    """The judged documents, as if a system had returned them and no others."""
    pool = given.pool("judged")
    return Answer(torch.zeros_like(pool.relevance), pool.relevance, pool.mask, pool.mask, None)


def _measured(
    lists: RankedLists, metrics: Sequence[RankingMetric], cells: int, one_pass: OnePass = measured
) -> list[tuple[Doubles, Flags]]:
    """[Q] value and definedness by each metric.

    Raises:
        DataError: what a metric says of a batch, with the first of its queries of which it says so.
    """
    size = len(lists.query_ids)
    found = [(np.zeros(size), np.zeros(size, dtype=np.bool_)) for _ in metrics]
    for queries, given in answers(lists, cells):
        try:
            batch = one_pass(metrics, given)
        except ValueError:
            for place, query in enumerate(queries.tolist()):
                row = torch.tensor([place])
                try:
                    one_pass(metrics, with_pool(given.rows(row), given.pool("judged").rows(row)))
                except ValueError as error:
                    raise DataError(
                        f"{lists.judgements or lists.source}, query {lists.query_ids[query]}: {error}"
                    ) from None
            raise
        for (value, defined), each in zip(found, batch, strict=True):
            value[queries], defined[queries] = each.value.numpy(), each.defined.numpy()
    return found


def _values(metric: RankingMetric, lists: RankedLists, value: Doubles, defined: Flags) -> MetricValues:
    unranked = defined & (lists.lengths == 0)
    if unranked.any() and not metric.larger_is_better:
        query = lists.query_ids[int(unranked.argmax())]
        raise ValueError(
            f"{metric.name}: less is better, so a query that the run lacks cannot count 0, and query {query} is one; "
            "take the queries that both sides have (queries=intersection)"
        )
    if metric.empty == "error" and not defined.all():
        query = lists.query_ids[int((~defined).argmax())]
        raise ValueError(
            f"{metric.name}: query {query} of {lists.source} has no answer, and empty=error refuses such lists"
        )
    settled, counted = metric.settle(torch.from_numpy(value), torch.from_numpy(defined))
    return MetricValues(metric, lists, settled.numpy(), defined, counted.numpy())


def _mean(values: Doubles, weight: Doubles) -> float:
    return float((values * weight).sum() / weight.sum()) if weight.sum() > 0 else float("nan")

"""Per-query values of exact metrics, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from ltr.data import DataError, RankingData
from ltr.evaluation.intervals import Interval, interval
from ltr.evaluation.scoring import batches_of
from ltr.metrics import RankingMetric

Doubles = NDArray[np.float64]


class QueryValue(NamedTuple):
    """One row of a per-query table: the metric on one list (None: the mean skips it), and has it an answer at all?"""

    query: str
    metric: str
    value: float | None
    documents: int
    defined: bool
    weight: float


@dataclass(frozen=True, eq=False)
class MetricValues:
    """One metric on every list of a data set, in its order; floor and ceiling are those of the same lists."""

    metric: RankingMetric
    query_ids: tuple[str, ...]
    documents: NDArray[np.int64]  # [Q]
    weight: Doubles  # [Q]
    value: Doubles  # [Q] by the rule `empty` where undefined
    floor: Doubles  # [Q] a random order's expected value
    ceiling: Doubles  # [Q] the ideal order's
    defined: NDArray[np.bool_]  # [Q]
    counted: NDArray[np.bool_]  # [Q] is the list part of the mean?

    def rows(self) -> list[QueryValue]:
        columns = (self.value, self.counted, self.documents, self.defined, self.weight)
        return [
            QueryValue(query, self.metric.name, value if counted else None, *rest)
            for query, value, counted, *rest in zip(self.query_ids, *(each.tolist() for each in columns), strict=True)
        ]

    def summary(self, seed: int = 0) -> Summary:
        weight = self.weight * self.counted
        return Summary(
            metric=self.metric.name,
            convention=self.metric.convention,
            mean=_mean(self.value, weight),
            interval=interval(self.value, weight, seed),
            lists=int(self.counted.sum()),
            undefined=int((~self.defined).sum()),
            floor=_mean(self.floor, weight),
            ceiling=_mean(self.ceiling, weight),
        )


class Summary(NamedTuple):
    """The mean of a metric with its interval, and the two values that it lies between."""

    metric: str
    convention: str
    mean: float  # NaN over no list
    interval: Interval
    lists: int  # in the mean
    undefined: int  # lists without an answer, in the mean or not, as the convention says
    floor: float
    ceiling: float


def per_query(
    scores: ArrayLike, data: RankingData, metrics: Sequence[RankingMetric], documents: int = 4096
) -> list[MetricValues]:
    """Each metric on each list.

    Args:
        scores: [N] in the order of the data's rows, as ``score`` gives them.
        data: labelled.
        metrics: any.
        documents: padded documents that are held at once.

    Raises:
        DataError: the data has no labels, or another number of rows than there are scores.
        ValueError: a metric's rule ``empty=error`` meets a list without an answer.

    Example:
        >>> from ltr.metrics import parse
        >>> data = RankingData.from_arrays([[0.0]] * 3, [0, 2, 0], queries=["a", "a", "b"])
        >>> (values,) = per_query([0.9, 0.1, 0.5], data, [parse("mrr")])
        >>> [tuple(row) for row in values.rows()]
        [('a', 'mrr', 0.5, 2, True, 1.0), ('b', 'mrr', None, 1, False, 1.0)]
        >>> values.summary().mean, values.summary().lists, values.summary().undefined
        (0.5, 1, 1)
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
    by_id = [metric for metric in metrics if metric.ties == "docid"]
    order = data.id_order() if by_id else np.zeros(0, dtype=np.int64)
    found = _measured(score, data, [metric for metric in metrics if metric not in by_id], documents)
    if by_id:
        found |= _measured(score[order], data.reordered(order), by_id, documents)
    return [found[metric] for metric in metrics]


def _measured(
    score: NDArray[Any], data: RankingData, metrics: Sequence[RankingMetric], documents: int
) -> dict[RankingMetric, MetricValues]:
    lists = len(data.query_ids)
    columns = {metric: np.zeros((3, lists)) for metric in metrics}
    defined = {metric: np.zeros(lists, dtype=np.bool_) for metric in metrics}
    for batch, rows in batches_of(data, documents):
        padded = torch.zeros(batch.mask.shape, dtype=torch.float64)
        padded[batch.mask] = torch.from_numpy(score[rows].astype(np.float64))
        relevance = torch.zeros_like(padded)
        relevance[batch.mask] = torch.from_numpy(data.relevance[rows])
        places = batch.query.numpy()
        for metric in metrics:
            for column, values in zip(
                columns[metric],
                (
                    metric(padded, relevance, batch.mask),
                    metric.floor(relevance, batch.mask),
                    metric.ceiling(relevance, batch.mask),
                ),
                strict=True,
            ):
                column[places] = values.numpy()
            defined[metric][places] = metric.defined(relevance, batch.mask).numpy()
    return {metric: _settled(metric, data, columns[metric], defined[metric]) for metric in metrics}


def _settled(metric: RankingMetric, data: RankingData, columns: Doubles, defined: NDArray[np.bool_]) -> MetricValues:
    """The [3, Q] value, floor and ceiling under the metric's rule for lists without an answer."""
    known = torch.from_numpy(defined)
    settled = [metric.settle(torch.from_numpy(column), known) for column in columns]
    value, floor, ceiling = (column.numpy() for column, _ in settled)
    counted = settled[0][1].numpy()
    return MetricValues(metric, data.query_ids, data.lengths, data.weight, value, floor, ceiling, defined, counted)


def _mean(values: Doubles, weight: Doubles) -> float:
    return float((values * weight).sum() / weight.sum()) if weight.sum() > 0 else float("nan")

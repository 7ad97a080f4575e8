"""Queries one by one: the value of each metric, and what may lie behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch

from ltr.evaluation.answers import answers
from ltr.evaluation.regret import Regret, regret_of
from ltr.evaluation.tables import MetricValues, per_query
from ltr.metrics import NDCG
from ltr.metrics.judged import Judged


class QueryRow(NamedTuple):
    """One row of a file of values: a metric on a query, and what is known of the query there; None: nothing to say."""

    query: str
    metric: str
    value: float | None = None  # None: the mean skips it
    documents: int | None = None  # returned
    defined: bool | None = None
    weight: float | None = None
    missing: Literal["run", "judgements"] | None = None  # the side that lacks the query
    tied: bool | None = None  # have two returned documents the same score?
    unjudged: float | None = None  # share of the documents up to the cutoff that nobody judged
    kind: str | None = None  # of an NDCG: the class of the list, one of ltr.evaluation.regret.CLASSES
    selection: float | None = None  # of an NDCG: what it lacks to 1 because of what stands in the first k
    order: float | None = None  # and because of the order there


def query_rows(values: Sequence[MetricValues]) -> list[QueryRow]:
    """One row a metric and query, those that only the run or only the judgements have among them.

    Args:
        values: metrics of one system, as ``per_query`` gives them.

    Example:
        >>> from ltr.evaluation.lists import RankedLists
        >>> from ltr.metrics import parse
        >>> lists = RankedLists.from_arrays([0, 2, 1], [0.9, 0.5, 0.1], judged=[False, True, True])
        >>> (row,) = query_rows(per_query(lists, [parse("ndcg@2")]))
        >>> row.value, row.unjudged, row.kind, row.selection, row.order
        (0.5213, 0.5, 'first relevant late', 0.1738, 0.3049)
    """
    return [row for each in values for row in (*_measured(each), *_unmeasured(each))]


def regrets(values: MetricValues) -> Regret | None:
    """What each list lacks to 1, in two parts, and its class; None where the metric is no NDCG."""
    if not isinstance(values.metric, NDCG):
        return None
    size = len(values.query_ids)
    parts = [torch.zeros(size, dtype=kind) for kind in (torch.float64, torch.float64, torch.int64)]
    for queries, given in answers(values.lists):
        for whole, part in zip(parts, regret_of(values.metric, given), strict=True):
            whole[torch.from_numpy(queries)] = part
    return Regret(*parts)


def _measured(values: MetricValues) -> list[QueryRow]:
    lists, missing = values.lists, set(values.lists.missing)
    (judged,) = per_query(lists, [Judged(k=values.metric.k)])
    lost = regrets(values)
    nothing = [None] * len(values.query_ids)
    columns = (
        ["run" if query in missing else None for query in values.query_ids],
        values.tied.tolist(),
        [1 - share if many else None for share, many in zip(judged.value.tolist(), lists.lengths, strict=True)],
        *((nothing,) * 3 if lost is None else (lost.names(), lost.selection.tolist(), lost.order.tolist())),
    )
    return [QueryRow(*row, *rest) for row, *rest in zip(values.rows(), *columns, strict=True)]


def _unmeasured(values: MetricValues) -> list[QueryRow]:
    lists, measured = values.lists, set(values.query_ids)
    rows = [QueryRow(query, values.metric.name, documents=0, missing="run") for query in lists.missing]
    rows += [QueryRow(query, values.metric.name, missing="judgements") for query in lists.extra]
    return [row for row in rows if row.query not in measured]

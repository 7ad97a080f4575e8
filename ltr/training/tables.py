"""What a validation gathers over batches and processes: per-list values, never means of batch means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module
from torchmetrics import Metric

from ltr.lists import exact_dtype
from ltr.metrics import RankingMetric, parse


class QueryTable(Metric):
    """A table with one row per list and named float64 columns, gathered from all processes.

    A list that came more than once (to fill up a process without work) has one row all the same.

    Args:
        columns: the names; ``update`` takes exactly these.

    Example:
        >>> table = QueryTable(["ndcg"])
        >>> table.update(torch.tensor([1, 0]), {"ndcg": torch.tensor([0.25, 1.0])})
        >>> {name: column.tolist() for name, column in table.compute().items()}
        {'query': [0, 1], 'ndcg': [1.0, 0.25]}
    """

    full_state_update = False
    query: list[Tensor]  # of [B] int64
    values: list[Tensor]  # of [B, C]

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.add_state("query", default=[], dist_reduce_fx="cat")
        self.add_state("values", default=[], dist_reduce_fx="cat")

    def update(self, query: Tensor, columns: Mapping[str, Tensor]) -> None:
        """Add rows: query [B] int64, and [B] values for each column."""
        row = torch.stack([columns[name].detach().to(exact_dtype(query.device)) for name in self.columns], 1)
        self.query = [*self.query, query.detach()]  # assigned: a state may have been made in inference mode
        self.values = [*self.values, row]

    def compute(self) -> dict[str, Tensor]:
        """The columns [Q] with "query" first, in rising order of query; empty before the first update."""
        if not len(self.query):
            return {"query": torch.zeros(0, dtype=torch.int64)} | {name: torch.zeros(0) for name in self.columns}
        query, values = _joined(self.query), _joined(self.values)
        order = query.argsort(stable=True)
        query, values = query[order], values[order]
        first = torch.cat([torch.ones_like(query[:1], dtype=torch.bool), query[1:] != query[:-1]])
        return {"query": query[first]} | dict(zip(self.columns, values[first].unbind(1), strict=True))


class MetricMean(Metric):
    """The mean of an exact metric over all lists of all batches and processes, for modules of one's own.

    Sums of per-list values over counts, by the metric's rule for lists without an answer.

    Args:
        metric: a metric or its name.

    Raises:
        ValueError: an unknown metric.

    Example:
        >>> mean = MetricMean("mrr")
        >>> mean.update(torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 1.0]]))
        >>> mean.update(torch.tensor([[2.0, 1.0]] * 3), torch.tensor([[1.0, 0.0]] * 3))
        >>> mean.compute().item()
        0.875
    """

    full_state_update = False
    total: Tensor
    count: Tensor

    def __init__(self, metric: RankingMetric | str) -> None:
        super().__init__()
        self.metric = parse(metric)
        zero = torch.tensor(0.0, dtype=torch.float64)
        self.add_state("total", default=zero, dist_reduce_fx="sum")
        self.add_state("count", default=zero.clone(), dist_reduce_fx="sum")

    def _apply(self, fn: Callable[..., Any], exclude_state: Sequence[str] = ()) -> Module:
        dtype = exact_dtype(fn(torch.zeros(1)).device)  # before the move: the device may have no float64
        self.total, self.count = self.total.to(dtype), self.count.to(dtype)
        self._defaults = {name: torch.zeros_like(self.total) for name in ("total", "count")}
        return super()._apply(fn, exclude_state)

    def update(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, weight: Tensor | None = None
    ) -> None:
        """Add lists: scores, relevance and mask [B, L], weight [B]."""
        values = self.metric.exact(scores, relevance, mask)
        values, counted = self.metric.settle(values, self.metric.defined(relevance, mask))
        share = counted.to(values.dtype) * (1 if weight is None else weight)
        self.total = self.total + (values * share).sum()
        self.count = self.count + share.sum()

    def compute(self) -> Tensor:
        """The mean, NaN over no list."""
        return self.total / self.count


def _joined(parts: list[Tensor] | Tensor) -> Tensor:
    """One tensor of the parts, which are one already where processes were joined."""
    return parts if isinstance(parts, Tensor) else torch.cat(parts)

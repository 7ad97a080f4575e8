"""What a validation gathers over batches and processes: per-list values, never means of batch means."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import Module
from torchmetrics import Metric

from ltr.lists import exact_dtype, may_look


class Accumulator(Metric):
    """A torchmetrics.Metric whose states keep int64 and float64 (where the device has it) wherever they are moved."""

    full_state_update = False
    is_differentiable = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._none: dict[str, Tensor] = {}

    def add_rows(self, name: str, *shape: int, dtype: torch.dtype) -> None:
        """A state that holds rows of this shape, from all processes where they are joined."""
        self.add_state(name, default=[], dist_reduce_fx="cat")
        self._none[name] = torch.zeros(0, *shape, dtype=dtype, device="cpu")

    def sync(self, *args: Any, **options: Any) -> None:
        """As torchmetrics does it; a process without rows brings none, where torchmetrics' own would not fit."""
        for name, none in self._none.items():
            if not len(getattr(self, name)):
                setattr(self, name, [_moved(none, self.device)])
        super().sync(*args, **options)

    def _apply(self, fn: Callable[..., Any], exclude_state: Sequence[str] = ()) -> Module:
        super()._apply(fn, tuple(self._defaults))
        for name in self._defaults:
            for states in (self.__dict__, self._defaults):
                states[name] = _moved(states[name], self.device)
        self._computed = None  # torchmetrics converted it as fn says
        return self


class QueryTable(Accumulator):
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

    query: list[Tensor]  # of [B] int64
    values: list[Tensor]  # of [B, C]

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.add_rows("query", dtype=torch.int64)
        self.add_rows("values", len(self.columns), dtype=torch.float64)

    def update(self, query: Tensor, columns: Mapping[str, Tensor]) -> None:
        """Add rows: query [B] int64, and [B] values for each column."""
        row = torch.stack([columns[name].detach().to(exact_dtype(query.device)) for name in self.columns], 1)
        self.query = [*self.query, query.detach()]  # assigned: a state may have been made in inference mode
        self.values = [*self.values, row]

    def compute(self) -> dict[str, Tensor]:
        """The columns [Q] with "query" first, in rising order of query; empty before the first update."""
        query, values = joined(self.query), joined(self.values)
        order, first = by_query(query)
        rows = order[first]
        return {"query": query[rows]} | dict(zip(self.columns, values[rows].unbind(1), strict=True))


def by_query(query: Tensor) -> tuple[Tensor, Tensor]:
    """[N] the order of rising queries, rows of one query as they came; [N] in that order, is it its query's first?"""
    if may_look(query) and bool((query[1:] >= query[:-1]).all()):
        order = torch.arange(len(query))
    else:
        order = query.argsort(stable=True)
    ordered = query[order]
    return order, torch.cat([torch.ones_like(query[:1], dtype=torch.bool), ordered[1:] != ordered[:-1]])


def _moved(state: Any, device: torch.device) -> Any:
    """A state or a list of them on the device, in its exact type; one of the meta device, which holds nothing, as 0."""
    if isinstance(state, list):
        return [_moved(each, device) for each in state]
    exact = exact_dtype(device) if state.is_floating_point() else state.dtype
    if state.is_meta:
        return torch.zeros(state.shape, dtype=exact, device=device)
    return state.to(exact).to(device) if exact == torch.float32 else state.to(device).to(exact)


def joined(parts: list[Tensor] | Tensor) -> Tensor:
    """One tensor of the parts, which are one already where processes were joined."""
    return parts if isinstance(parts, Tensor) else torch.cat(parts)

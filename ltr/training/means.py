"""The bridge to torchmetrics: means of exact metrics over batches and processes, for a loop of one's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torchmetrics.utilities import rank_zero_warn

from ltr.lists import as_tensor, check_weight, exact_dtype, may_look
from ltr.metrics import RankingMetric, answer, measure, parse
from ltr.training.tables import Accumulator, by_query, joined

# queries [B], weights [B], and columns [B, L], which are the arguments of ``answer``
Lists = tuple[Tensor | None, Tensor | None, Mapping[str, Tensor]]


class MetricMean(Accumulator):
    """The mean of exact metrics over all lists of all batches and processes: a torchmetrics.Metric for one's own loop.

    sum_q w_q value_q / sum_q w_q over the lists that count by the metric's rule ``empty``. The state is sums alone,
    of one size however many lists come. It may be cloned, pickled, moved, put into a MetricCollection and given to
    ``self.log``. All rows of a query belong in one update: torchmetrics' retrieval metrics join those of several, here
    each update's are a list of their own. A query that comes twice counts twice unless ``per_query``, and a
    DistributedSampler repeats some to fill up: take ``per_query=True`` or a sampler that does not pad. Padded lists
    never make an accelerator wait (unless ``empty`` is "error"); flat rows do, for lengths.

    Args:
        metric: a metric or its name, or several, which share one sort.
        per_query: keep each list's values too, for ``table``; updates then name their queries, and a query that comes
            again counts once.
        options: those of torchmetrics.Metric: compute_on_cpu, dist_sync_on_step, process_group, ...

    Raises:
        ValueError: an unknown metric, or option of torchmetrics.Metric.

    Example:
        >>> mean = MetricMean("mrr")
        >>> mean.update(torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 1.0]]))
        >>> mean.update(torch.tensor([[2.0, 1.0]] * 3), torch.tensor([[1.0, 0.0]] * 3))
        >>> mean.compute().item()
        0.875
        >>> rows = MetricMean(["mrr", "precision@1"], per_query=True)
        >>> rows.update(torch.tensor([0.4, 0.7, 0.5]), torch.tensor([1, 1, 0]), indexes=torch.tensor([40, 7, 40]))
        >>> {name: value.item() for name, value in rows.compute().items()}
        {'mrr': 0.75, 'precision@1': 0.5}
        >>> {name: column.tolist() for name, column in rows.table().items()}
        {'query': [7, 40], 'mrr': [1.0, 0.5], 'precision@1': [1.0, 0.0]}
    """

    def __init__(
        self,
        metric: RankingMetric | str | Sequence[RankingMetric | str],
        *,
        per_query: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.single = isinstance(metric, RankingMetric | str)
        given = [metric] if isinstance(metric, RankingMetric | str) else metric
        if not given:
            raise ValueError("MetricMean needs at least one metric, got none")
        self.metrics = tuple({each.name: each for each in map(parse, given)}.values())
        self.per_query = per_query
        # A MetricCollection updates but one of several metrics whose states have equal names and, once, equal values.
        names = " ".join(each.name for each in self.metrics)
        if per_query:
            self._query, self._rows = f"query of {names}", f"rows of {names}"
            self.add_rows(self._query, dtype=torch.int64)
            self.add_rows(self._rows, 3, len(self.metrics), dtype=torch.float64)
        else:
            self._sums = f"sums of {names}"
            zero = torch.zeros(6, len(self.metrics), dtype=exact_dtype(self.device))
            self.add_state(self._sums, default=zero, dist_reduce_fx="sum")

    @property
    def higher_is_better(self) -> bool | None:  # type: ignore[override]
        """Is a larger mean better? None where the metrics differ."""
        larger = {each.larger_is_better for each in self.metrics}
        return larger.pop() if len(larger) == 1 else None

    def update(
        self,
        scores: Any,
        relevance: Any,
        mask: Any = None,
        weight: Any = None,
        *,
        indexes: Any = None,
        retrieved: Any = None,
        judged: Any = None,
    ) -> None:
        """Add lists, padded or as flat rows.

        Args:
            scores: [B, L], or [N] rows in any order, all rows of a query in one update; larger is better.
            relevance: the same shape, labels >= 0.
            mask: the same shape, bool, True for a real document; all when None.
            weight: [B] >= 0, what a list counts; of flat rows [N], equal within a query; 1 when None.
            indexes: [N] int, the query of each row, any whole numbers; or [B], the query of each list.
            retrieved: the same shape, False for a judged document that was not returned; all returned when None.
            judged: the same shape, False for a document that nobody judged; all judged when None.

        Raises:
            ValueError: shapes differ, a label is NaN or negative, the mask is not bool, or ``per_query`` lacks indexes.
        """
        scores = as_tensor(scores, "scores")
        marks = {"relevance": as_tensor(relevance, "relevance"), "mask": mask, "retrieved": retrieved, "judged": judged}
        given = {name: _like(scores, values, name) for name, values in marks.items() if values is not None}
        if "mask" in given and given["mask"].dtype != torch.bool:
            raise ValueError(f"mask must be bool, got {given['mask'].dtype}; the query of each row goes by indexes=")
        query = None if indexes is None else torch.as_tensor(indexes, device=scores.device).detach()
        if query is not None and (query.is_floating_point() or query.is_complex() or query.dtype == torch.bool):
            raise ValueError(f"indexes must be whole numbers, got {query.dtype}")
        if self.per_query and query is None:
            raise ValueError("per_query=True counts each query once, so update needs indexes: one query a list or row")
        if query is not None and query.shape == scores.shape:
            if weight is not None:
                given["weight"] = _like(scores, weight, "weight")
            lists: Iterable[Lists] = _padded(query.flatten(), {"scores": scores, **given})
        else:
            weight = None if weight is None else as_tensor(weight, "weight").to(scores.device)
            count = scores.shape[0] if scores.dim() == 2 else 1
            for name, values in {"weight": weight, "indexes": query}.items():
                if values is not None and values.shape != (count,):
                    rows = "" if name == "weight" else f", or one for each row, {list(scores.shape)}"
                    raise ValueError(f"{name} must hold one for each list, [{count}]{rows}; got {list(values.shape)}")
            lists = [(query, weight, {"scores": scores, **given})]
        parts = [(names, self._measured(names, weight, columns)) for names, weight, columns in lists]
        if self.per_query:
            names, found = zip(*parts, strict=True) if parts else ((), ())
            setattr(self, self._query, [*getattr(self, self._query), *names])
            setattr(self, self._rows, [*getattr(self, self._rows), *found])
        else:
            setattr(self, self._sums, sum((_summed(rows) for _, rows in parts), getattr(self, self._sums)))

    def compute(self) -> Tensor | dict[str, Tensor]:
        """The mean, or the metric's name -> the mean where there are several; NaN over no list of a weight above 0."""
        weighted, _, weight, *_ = self._total()
        mean = weighted / weight
        return mean[0] if self.single else {each.name: mean[at] for at, each in enumerate(self.metrics)}

    def summary(self) -> dict[str, dict[str, float]]:
        """What stands beside each mean, by the metric's name; with several processes, all must call it.

        "mean", "sd" (sqrt(sum w (v - mean)^2 / (sum w - sum w^2 / sum w)), over n - 1 when all weights are equal),
        "lists" that count and "undefined" ones.
        """
        with self.sync_context(self.dist_sync_fn, should_sync=self.sync_on_compute):
            weighted, squares, weight, weights, lists, undefined = self._total()
        mean = weighted / weight
        spread = (squares - mean * weighted).clamp(min=0) / (weight - weights / weight)
        sd = torch.where(lists > 1, spread, torch.nan).sqrt()
        found = {"mean": mean, "sd": sd, "lists": lists, "undefined": undefined}
        return {each.name: {key: at[i].item() for key, at in found.items()} for i, each in enumerate(self.metrics)}

    def table(self) -> dict[str, Tensor]:
        """The values of each query, in rising order of query; with several processes, all must call it.

        Returns:
            "query" [Q] int64, then each metric's name [Q], NaN where the list does not count (it has no answer).

        Raises:
            ValueError: not ``per_query``.
        """
        if not self.per_query:
            raise ValueError("table() needs MetricMean(..., per_query=True): without it the sums alone are kept")
        with self.sync_context(self.dist_sync_fn, should_sync=self.sync_on_compute):
            query, rows = self._kept()
        value = torch.where(rows[:, 1] > 0, rows[:, 0], torch.nan)
        return {"query": query} | {each.name: value[:, at] for at, each in enumerate(self.metrics)}

    def _measured(self, query: Tensor | None, weight: Tensor | None, columns: Mapping[str, Any]) -> Tensor:
        """[B, 3, M] of padded lists: value, weight (0 where the list does not count), and is it undefined?"""
        found = measure(self.metrics, answer(**columns))
        for metric, each in zip(self.metrics, found, strict=True):
            if metric.empty == "error" and query is not None and not each.defined.all():
                name = query[~each.defined][0].item()
                raise ValueError(
                    f"{metric.name}: query {name} has nothing relevant, and empty=error refuses such lists"
                )
        settled = [metric.settle(*each) for metric, each in zip(self.metrics, found, strict=True)]
        value, counted = (torch.stack(each, 1) for each in zip(*settled, strict=True))  # [B, M]
        weight = value.new_ones(len(value)) if weight is None else check_weight(weight.detach().to(value.dtype))
        undefined = torch.stack([(weight > 0) & ~each.defined for each in found], 1)
        return torch.stack([value.detach(), weight[:, None] * counted, undefined], 1)

    def _total(self) -> Tensor:
        return _summed(self._kept()[1]) if self.per_query else getattr(self, self._sums)

    def _kept(self) -> tuple[Tensor, Tensor]:
        """[Q] queries in rising order, each once, and their rows [Q, 3, M]."""
        query, rows = joined(getattr(self, self._query)), joined(getattr(self, self._rows))
        order, first = by_query(query)
        kept = order[first]
        like = torch.isclose(rows[order], rows[kept[first.cumsum(0) - 1]], atol=1e-6, equal_nan=True).flatten(1).all(1)
        if not like.all():
            name = query[order[~like][0]].item()
            rank_zero_warn(
                f"query {name} came again with other values, and its first ones count: does an id name one query in "
                "all updates, and did all its rows come in one?"
            )
        return query[kept], rows[kept]


def _padded(query: Tensor, columns: Mapping[str, Tensor]) -> Iterator[Lists]:
    """Flat rows as padded lists; those of 2^(i-1) + 1 to 2^i documents come together, so that memory follows the rows.

    Args:
        query: [N] int, in any order.
        columns: N numbers each, of any shape.
    """
    flat = {name: column.flatten() for name, column in columns.items()}
    flat.setdefault("mask", torch.ones_like(query, dtype=torch.bool))
    _check_rows(query, flat)
    order, first = by_query(query)
    start = first.nonzero()[:, 0]
    length = torch.cat([start[1:], start.new_tensor([len(query)])]) - start
    known = length.cpu()
    kind = known.double().log2().ceil()
    for each in torch.unique(kind):
        which = (kind == each).nonzero()[:, 0]
        some = which.to(query.device)
        place = torch.arange(int(known[which].max()), device=query.device)
        real = place < length[some, None]
        row = order[torch.where(real, start[some, None] + place, 0)]  # [B, L]
        found = {name: column[row] for name, column in flat.items()}
        names, weight = query[row[:, 0]], found.pop("weight", None)
        if weight is not None:
            uneven = (real & (weight != weight[:, :1])).any(1)
            if may_look(weight) and uneven.any():
                name = names[uneven][0].item()
                raise ValueError(f"weight must be the same in all rows of a query, which it is not for query {name}")
            weight = weight[:, 0]
        yield names, weight, {**found, "mask": real & found["mask"]}


def _check_rows(query: Tensor, columns: Mapping[str, Tensor]) -> None:
    """Errors that name the row, where values may be looked at."""
    wrong = ~(columns["relevance"] >= 0) & columns["mask"] & columns.get("judged", columns["mask"]).bool()
    if may_look(wrong) and wrong.any():
        row = int(wrong.nonzero()[0])
        label = columns["relevance"][row].item()
        raise ValueError(f"relevance must be a number >= 0: row {row}, of query {query[row].item()}, has {label:g}")


def _like(scores: Tensor, values: Any, name: str) -> Tensor:
    """The values on the device of the scores, whose shape they must have."""
    found = torch.as_tensor(values, device=scores.device)
    if found.shape != scores.shape:
        raise ValueError(f"{name} must have the shape of scores, {list(scores.shape)}; got {list(found.shape)}")
    return found


def _summed(rows: Tensor) -> Tensor:
    """[6, M] sums over lists of w v, w v^2, w, w^2, 1 if it counts, 1 if undefined; of [B, 3, M] v, w, undefined."""
    value, share, undefined = rows.unbind(1)
    counts = share > 0
    value = torch.where(counts, value, 0)
    return torch.stack([share * value, share * value**2, share, share**2, counts, undefined]).sum(1)

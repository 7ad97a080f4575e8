"""What one pass over a split found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ltr import gap
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric

GAP = ("loss", "share", "belief", "aim", "target", "aim_floor", "floor", "ceiling", "counted")


def column_names(metrics: Sequence[RankingMetric]) -> tuple[str, ...]:
    """The columns that a pass gathers: those of the gap, then weight, documents, and two for each metric."""
    return (*GAP, "weight", "documents", *(name for metric in metrics for name in (metric.name, _defined(metric))))


def metric_columns(metric: RankingMetric, value: torch.Tensor, defined: torch.Tensor) -> dict[str, torch.Tensor]:
    """The two columns of a metric: its value [B], and whether the list has an answer [B]."""
    return {metric.name: value, _defined(metric): defined}


@dataclass(frozen=True)
class Evaluation:
    """The values of all lists of a split under one state of the model, and their means."""

    columns: Mapping[str, NDArray[np.float64]]  # of [Q], as column_names says, and "query"
    metrics: tuple[RankingMetric, ...]  # the target first
    means: Mapping[str, float]  # by metric name, and "loss"
    gap: Mapping[str, Any]  # as ltr.gap.summarise gives it

    @property
    def target(self) -> float:
        return self.means[self.metrics[0].name]

    def values(self, metric: RankingMetric) -> NDArray[np.float64]:
        """[Q] the values that the mean is over; NaN for a list that it skips."""
        values, counted = _settled(metric, self.columns)
        return np.where(counted, values, np.nan)

    def rows(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """One row a query and metric: query, metric, value (None: the mean skips it), documents, defined, weight."""
        rows = []
        for metric in self.metrics:
            values, counted = _settled(metric, self.columns)
            for at, query in enumerate(self.columns["query"].astype(int).tolist()):
                rows.append(
                    {
                        "query": ids[query],
                        "metric": metric.name,
                        "value": float(values[at]) if counted[at] else None,
                        "documents": int(self.columns["documents"][at]),
                        "defined": bool(self.columns[_defined(metric)][at]),
                        "weight": float(self.columns["weight"][at]),
                    }
                )
        return rows


def evaluate(
    columns: Mapping[str, NDArray[np.float64]], metrics: tuple[RankingMetric, ...], surrogate: Surrogate
) -> Evaluation:
    """The means and the gap of gathered columns."""
    weight = columns["weight"]
    means = {"loss": _mean(columns["loss"], weight * columns["share"])}
    for metric in metrics:
        values, counted = _settled(metric, columns)
        means[metric.name] = _mean(values, weight * counted)
    return Evaluation(columns, metrics, means, gap.summarise(surrogate, metrics[0], columns, weight))


def _settled(
    metric: RankingMetric, columns: Mapping[str, NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    defined = torch.from_numpy(columns[_defined(metric)] > 0)
    values, counted = metric.settle(torch.from_numpy(columns[metric.name]), defined)
    return values.numpy(), counted.numpy()


def _mean(values: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    total = weight.sum()
    return float((np.where(weight > 0, values, 0.0) * weight).sum() / total) if total > 0 else float("nan")


def _defined(metric: RankingMetric) -> str:
    return f"{metric.name} defined"

"""Labels: other ones by a map, whether they teach anything, and what they are worth under a gain."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ltr.data.ranking_data import DataError, RankingData

HIGHEST = 10  # 2^10 - 1: one document worth a thousand of grade 1
DISTINCT = 20


class LabelReport(NamedTuple):
    lines: tuple[str, ...]  # one line of text each
    warning: str | None


def map_labels(data: RankingData, labels: Mapping[float, float]) -> RankingData:
    """The same lists with other labels.

    Args:
        data: labelled lists.
        labels: label -> label to use, for every label that occurs.

    Raises:
        DataError: the map lacks a label, or gives one that is not a number from 0 to 1e30.

    Example:
        >>> data = RankingData.from_arrays([[1.0]] * 3, [0, 100, 50], queries=["a", "a", "b"])
        >>> map_labels(data, {0: 0, 50: 1, 100: 2}).relevance.tolist()
        [0.0, 2.0, 1.0]
    """
    known = {float(label): float(value) for label, value in labels.items()}
    distinct, place = np.unique(data.relevance, return_inverse=True)
    missing = [label for label in distinct.tolist() if label not in known]
    if missing:
        raise DataError(f"{data.source}: the label map has no entry for label {missing[0]:g}")
    return replace(data, relevance=np.array([known[label] for label in distinct.tolist()])[place])


def check_trainable(data: RankingData, name: str) -> None:
    """Refuse data that teaches nothing.

    Raises:
        DataError: no query, no labels, or labels that are all equal within every list of positive weight.
    """
    if not data.query_ids:
        raise DataError(f"{name}: no query left to train on ({data.source})")
    if not data.labelled:
        raise DataError(f"{name}: wanted labels to train on, came data without labels ({data.source})")
    starts = data.offsets[:-1]
    spread = np.maximum.reduceat(data.relevance, starts) > np.minimum.reduceat(data.relevance, starts)
    if not spread.any():
        raise DataError(
            f"{name}: the labels are all equal within each of the {len(starts)} lists: "
            f"no document should stand above another, so this trains on nothing ({data.source})"
        )
    if not (spread & (data.weight > 0)).any():
        raise DataError(
            f"{name}: every list with different labels has weight 0, so this trains on nothing ({data.source})"
        )


def describe_labels(data: RankingData, gain: Callable[[Tensor], Tensor]) -> LabelReport:
    """A histogram of the labels with the gain of each, and a warning when an exponential gain makes little sense.

    It warns when the gain grows exponentially (its steps over 1, 2, 3, 4 double) and the largest label is above 10 or
    there are more than 20 different ones.

    Args:
        data: labelled lists.
        gain: labels [...] -> gains [...], such as ltr.gains.Exp2().

    Raises:
        ValueError: the gain knows no value for a label that occurs (a table does).

    Example:
        >>> data = RankingData.from_arrays([[1.0]] * 4, [0, 0, 2, 1], queries=["a", "a", "a", "b"])
        >>> report = describe_labels(data, lambda y: 2**y - 1)
        >>> print(*report.lines, report.warning, sep="\\n")
        labels: 4 documents in 2 lists, 0 of them with nothing relevant
        label 0: 2 documents (50.0 %), gain 0
        label 1: 1 documents (25.0 %), gain 1
        label 2: 1 documents (25.0 %), gain 3
        None
    """
    values, counts = np.unique(data.relevance, return_counts=True)
    blank = int((np.maximum.reduceat(data.relevance, data.offsets[:-1]) <= 0).sum())
    total = len(data.relevance)
    lines = [f"labels: {total} documents in {len(data.query_ids)} lists, {blank} of them with nothing relevant"]
    if len(values) <= DISTINCT:
        gains = gain(torch.from_numpy(values)).tolist()
        for value, count, worth in zip(values.tolist(), counts.tolist(), gains, strict=True):
            lines.append(f"label {value:g}: {count} documents ({100 * count / total:.1f} %), gain {_gain(worth)}")
    else:
        points = np.quantile(data.relevance, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
        gains = gain(torch.from_numpy(points)).tolist()
        names = ("least", "lower quartile", "median", "upper quartile", "largest")
        for name, value, worth in zip(names, points.tolist(), gains, strict=True):
            lines.append(f"{name} of {len(values)} different labels: {value:g}, gain {_gain(worth)}")
    if not _exponential(gain) or (values[-1] <= HIGHEST and len(values) <= DISTINCT):
        return LabelReport(tuple(lines), None)
    top = gain(torch.from_numpy(values[-1:])).item()
    worth = f"is worth {top:g} of label 1" if math.isfinite(top) else "has a gain beyond float64"
    return LabelReport(
        tuple(lines),
        f"{data.source}: {len(values)} different labels up to {values[-1]:g} under an exponential gain: one document "
        f"with the largest {worth}. Consider the linear gain (metric=ndcg-linear@10), a table of "
        "gains (metric=ndcg-table0_1_3_7@10), or a label map ('data.labels={0:0,50:1,100:2}')",
    )


def _gain(gain: float) -> str:
    return f"{gain:g}" if math.isfinite(gain) else "beyond float64"


def _exponential(gain: Callable[[Tensor], Tensor]) -> bool:
    try:
        steps = gain(torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)).diff()
    except ValueError:  # a table that ends before
        return False
    return bool(steps[0] > 0) and bool((steps[1:] >= 1.9 * steps[:-1]).all())

"""Ranked lists of many lengths as padded arrays, without a loop over lists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class RankedBatch(NamedTuple):
    """B queries padded to their longest list (L >= 1 documents) and largest pool (P >= 1); 0 and False where padded."""

    queries: Integers  # [B] places of the queries
    scores: Doubles  # [B, L]
    relevance: Doubles  # [B, L]
    mask: Flags  # [B, L] True = a returned document
    judged: Flags | None  # [B, L]
    pool: Doubles | None  # [B, P] labels of all judged documents, returned or not
    pool_mask: Flags | None  # [B, P]


def batches_by_width(width: Integers, cells: int) -> Iterator[Integers]:
    """The places of the widest queries, then of the next, so many at a time that B times the widest is within cells.

    Example:
        >>> [batch.tolist() for batch in batches_by_width(np.array([2, 9, 2, 3]), 6)]
        [[1], [3, 0], [2]]
    """
    order = np.argsort(-width, kind="stable")
    start = 0
    while start < len(order):
        many = max(1, cells // max(1, int(width[order[start]])))
        yield order[start : start + many]
        start += many


def padded(columns: list[NDArray[Any]], offsets: Integers, queries: Integers) -> tuple[list[NDArray[Any]], Flags]:
    """The rows of these queries as [B, L] arrays, with the mask; views of the columns where nothing need be padded.

    Example:
        >>> columns, mask = padded([np.array([5, 6, 7])], np.array([0, 1, 3]), np.array([1, 0]))
        >>> columns[0].tolist(), mask.tolist()
        ([[6, 7], [5, 0]], [[True, True], [True, False]])
    """
    lengths = np.diff(offsets)[queries]
    longest = max(1, int(lengths.max()))
    if (lengths == longest).all() and (np.diff(queries) == 1).all():
        rows = slice(offsets[queries[0]], offsets[queries[-1] + 1])
        return [column[rows].reshape(-1, longest) for column in columns], np.ones((len(queries), longest), np.bool_)
    place = np.arange(longest)
    mask = place < lengths[:, None]
    chosen = (offsets[queries][:, None] + place)[mask]
    found = []
    for column in columns:
        cells = np.zeros(mask.shape, column.dtype)
        cells[mask] = column[chosen]
        found.append(cells)
    return found, mask

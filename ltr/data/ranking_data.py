"""RankingData: lists of documents as flat arrays, the form that every reader yields and every consumer takes."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

log = logging.getLogger(__name__)

LARGEST = 1e30  # far inside float32: features beyond are clipped, labels and weights beyond are refused

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Integers = NDArray[np.int64]


class DataError(ValueError):
    """An input that cannot be used, in one sentence: what and where, what was wanted, what came."""


@dataclass(frozen=True, eq=False)
class RankingData:
    """Q lists of N documents in all, with F features each; the documents of a query stand together.

    Args:
        features: [N, F] float32, finite.
        relevance: [N] float64 labels from 0 to 1e30; zeros when not labelled.
        offsets: [Q + 1] int64; list q is rows offsets[q] to offsets[q + 1].
        query_ids: Q different texts, never numbers: "0012" and "12" are two queries.
        document_ids: N texts, "" for a document without id; None when no document has one.
        row: [N] int64, the place of each document in the source, from 0: predictions go back in this order.
        weight: [Q] float64 from 0 to 1e30, one weight a list.
        labelled: whether relevance was given.
        source: where the data came from, for messages.

    Raises:
        DataError: the parts do not fit each other, or a label or weight is not a number from 0 to 1e30.

    Example:
        >>> data = RankingData.from_arrays([[0.5], [0.1], [0.9]], [2, 0, 1], queries=["b", "a", "b"])
        >>> data.query_ids, data.lengths.tolist(), data.row.tolist()
        (('b', 'a'), [2, 1], [0, 2, 1])
        >>> data.select([1]).features.tolist()
        [[0.10000000149011612]]
    """

    features: Floats
    relevance: Doubles
    offsets: Integers
    query_ids: tuple[str, ...]
    document_ids: tuple[str, ...] | None
    row: Integers
    weight: Doubles
    labelled: bool
    source: str

    def __post_init__(self) -> None:
        rows, lists = len(self.features), len(self.query_ids)
        if self.features.ndim != 2:
            raise DataError(f"{self.source}: features must be [documents, features], came {list(self.features.shape)}")
        if len(self.offsets) != lists + 1 or len(self.weight) != lists:
            raise DataError(
                f"{self.source}: {lists} query ids need {lists} group sizes and {lists} weights, "
                f"came {len(self.offsets) - 1} and {len(self.weight)}"
            )
        if self.offsets[-1] != rows:
            raise DataError(f"{self.source}: the group sizes add up to {self.offsets[-1]} rows, there are {rows}")
        if self.offsets[0] != 0 or (self.lengths < 1).any():
            raise DataError(f"{self.source}: wanted group sizes of at least 1, came {self.lengths.tolist()}")
        documents = rows if self.document_ids is None else len(self.document_ids)
        if not rows == len(self.relevance) == len(self.row) == documents:
            raise DataError(
                f"{self.source}: {rows} rows of features need as many labels, places and document ids, "
                f"came {len(self.relevance)}, {len(self.row)} and {documents}"
            )
        usable = (self.relevance >= 0) & (self.relevance <= LARGEST)
        if not usable.all():
            at = int(np.argmin(usable))
            query = self.query_ids[int(np.searchsorted(self.offsets, at, side="right")) - 1]
            raise DataError(
                f"{self.source}, row {self.row[at]} (query {query}): "
                f"wanted a label that is a number from 0 to {LARGEST:g}, came {self.relevance[at]:g}"
            )
        usable = (self.weight >= 0) & (self.weight <= LARGEST)
        if not usable.all():
            at = int(np.argmin(usable))
            raise DataError(
                f"{self.source}, query {self.query_ids[at]}: "
                f"wanted a weight that is a number from 0 to {LARGEST:g}, came {self.weight[at]:g}"
            )

    @property
    def lengths(self) -> Integers:
        """[Q] number of documents of each list."""
        return np.diff(self.offsets)

    def select(self, queries: Sequence[int] | Integers) -> RankingData:
        """The lists with these places, in the order given, with their ids, weights and rows."""
        chosen = np.asarray(queries, dtype=np.int64)
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        rows = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return replace(
            self,
            features=self.features[rows],
            relevance=self.relevance[rows],
            offsets=offsets,
            query_ids=tuple(self.query_ids[query] for query in chosen),
            document_ids=None if self.document_ids is None else tuple(self.document_ids[row] for row in rows),
            row=self.row[rows],
            weight=self.weight[chosen],
        )

    def id_order(self) -> Integers:
        """[N] the rows with the documents of each list in descending order of id, as text: what ties=docid means.

        Example:
            >>> data = RankingData.from_arrays([[1], [2], [3]], queries="aab", document_ids=["9", "d", "e"])
            >>> data.id_order().tolist()
            [1, 0, 2]
        """
        if self.document_ids is None:
            return np.arange(len(self.row))
        place = np.unique(np.array(self.document_ids), return_inverse=True)[1]
        return np.lexsort((-place, np.repeat(np.arange(len(self.lengths)), self.lengths)))

    def reordered(self, rows: Integers) -> RankingData:
        """The same lists with their documents in another order; rows [N] never leave their list."""
        ids = self.document_ids
        return replace(
            self,
            features=self.features[rows],
            relevance=self.relevance[rows],
            document_ids=None if ids is None else tuple(ids[row] for row in rows),
            row=self.row[rows],
        )

    def content_hash(self) -> str:
        """sha256 (hex) of features, labels, lists, ids and weights in their order; not of source and row."""
        digest = hashlib.sha256()
        texts = (self.query_ids, self.document_ids or ())
        arrays = (self.features, self.relevance, self.offsets, self.weight)
        digest.update(repr((self.labelled, [array.shape for array in arrays], texts)).encode())
        for array in arrays:
            digest.update(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).data)
        return digest.hexdigest()

    @classmethod
    def from_arrays(
        cls,
        features: ArrayLike,
        relevance: ArrayLike | None = None,
        *,
        queries: Sequence[Any] | None = None,
        lengths: Sequence[int] | None = None,
        document_ids: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
        source: str = "arrays",
    ) -> RankingData:
        """Build the data from arrays in any order of rows; rows of a query that come apart are put together.

        Args:
            features: [N, F], finite; beyond +-1e30 they are clipped and a warning counts them.
            relevance: [N] labels >= 0; None where one only predicts.
            queries: N query ids, one a row, read as text. Lists stand in order of first appearance.
            lengths: instead of queries, group sizes that add up to N; the ids are then "0", "1", ...
            document_ids: N texts.
            weights: query id -> weight of its list, for every query; all 1 when None.
            source: the name in messages.

        Raises:
            DataError: neither or both of queries and lengths, sizes that differ, a label or feature that is refused.
        """
        matrix = np.asarray(features, dtype=np.float64)
        if matrix.ndim != 2:
            raise DataError(f"{source}: features must be [documents, features], came {list(matrix.shape)}")
        if (queries is None) == (lengths is None):
            raise DataError(f"{source}: wanted either queries (an id a row) or lengths (group sizes)")
        if not np.isfinite(matrix).all():
            row, column = np.argwhere(~np.isfinite(matrix))[0]
            raise DataError(f"{source}, row {row}: feature {column} must be finite, came {matrix[row, column]:g}")
        if lengths is not None:
            if sum(lengths) != len(matrix):
                raise DataError(f"{source}: the group sizes add up to {sum(lengths)} rows, there are {len(matrix)}")
            queries = [place for place, length in enumerate(lengths) for _ in range(length)]
        assert queries is not None
        if len(queries) != len(matrix):
            raise DataError(f"{source}: {len(matrix)} rows need as many query ids, came {len(queries)}")
        places: dict[str, int] = {}
        group = np.array([places.setdefault(str(query), len(places)) for query in queries], dtype=np.int64)
        order = np.argsort(group, kind="stable")
        labels = np.zeros(len(matrix)) if relevance is None else np.asarray(relevance, dtype=np.float64)
        if labels.shape != (len(matrix),):
            raise DataError(f"{source}: {len(matrix)} rows need as many labels, came {list(labels.shape)}")
        if document_ids is not None and len(document_ids) != len(matrix):
            raise DataError(f"{source}: {len(matrix)} rows need as many document ids, came {len(document_ids)}")
        clipped = np.count_nonzero(np.abs(matrix) > LARGEST, axis=0)
        warn_of_clipping(clipped, 0, source)
        data = cls(
            features=np.clip(matrix, -LARGEST, LARGEST).astype(np.float32)[order],
            relevance=labels[order],
            offsets=np.concatenate([[0], np.cumsum(np.bincount(group, minlength=len(places)))]).astype(np.int64),
            query_ids=tuple(places),
            document_ids=None if document_ids is None else tuple(str(document_ids[row]) for row in order),
            row=order.astype(np.int64),
            weight=np.ones(len(places)),
            labelled=relevance is not None,
            source=source,
        )
        return data if weights is None else weighted(data, weights)


class Splits(NamedTuple):
    """What a data set of the configuration yields; validation and test may be absent."""

    train: RankingData
    validation: RankingData | None
    test: RankingData | None


def weighted(data: RankingData, weights: Mapping[str, float], source: str = "weights") -> RankingData:
    """The same lists with weights by query id; ids of other data sets may be among them, none may lack.

    Raises:
        DataError: a query has no weight, or a weight is not a number from 0 to 1e30.
    """
    missing = [query for query in data.query_ids if query not in weights]
    if missing:
        raise DataError(
            f"{source}: wanted a weight for each query of {data.source}, "
            f"came none for {len(missing)} of {len(data.query_ids)}, first query {missing[0]}"
        )
    return replace(data, weight=np.array([weights[query] for query in data.query_ids], dtype=np.float64))


def warn_of_clipping(clipped: Integers, index_base: int, source: str) -> None:
    """Log one warning that names each feature with values beyond +-1e30, and how many were clipped."""
    if clipped.any():
        listed = ", ".join(f"feature {at + index_base}: {clipped[at]}" for at in np.flatnonzero(clipped))
        log.warning("%s: values beyond +-%g were clipped (%s)", source, LARGEST, listed)

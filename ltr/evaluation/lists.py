"""RankedLists: what a system returned for each query beside what the judges say, the one form that evaluation reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ltr.data.judgements import refuse_repeats
from ltr.data.ranking_data import LARGEST, DataError
from ltr.evaluation.columns import (
    Attributes,
    Texts,
    among,
    attributes_of,
    grouped,
    ids_and_numbers,
    numbers,
    places,
    plain,
    together,
    weights,
)
from ltr.evaluation.padding import Doubles, Flags, Integers, RankedBatch, batches_by_width, padded

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class RankedLists:
    """Q lists of N returned documents in all; those of a query stand together, in the order of the input.

    Args:
        query_ids: Q texts, in the order of the judgements (of the input where there is one table).
        offsets: [Q + 1] list q is rows offsets[q] to offsets[q + 1]; a query missing in the run has none.
        score: [N] larger is better.
        relevance: [N] labels from 0 to 1e30, 0 where nobody judged.
        weight: [Q] from 0 to 1e30, 1 by default.
        source: what messages name.
        judged: [N] did anybody judge it? None: all are judged.
        pool: [P] the labels of all judged documents, returned or not; None: of the returned ones.
        pool_offsets: [Q + 1] the pool of query q is pool_offsets[q] to pool_offsets[q + 1].
        documents: N ids as text; None where there are none, and the order of rows decides ties by id.
        attributes: name -> [Q].
        missing: judged queries that the run lacks. They count 0, or are left out where only common queries count.
        extra: queries of the run that nobody judged; they are left out.
        judgements: what messages name for labels; the source where it is "".

    Raises:
        DataError: the parts do not fit each other.

    Example:
        >>> lists = RankedLists.from_arrays([1, 0, 2], [0.3, 0.2, 0.9], ["b", "a", "b"])
        >>> lists.query_ids, lists.offsets.tolist(), lists.score.tolist()
        (('b', 'a'), [0, 2, 3], [0.3, 0.9, 0.2])
    """

    query_ids: tuple[str, ...]
    offsets: Integers
    score: Doubles
    relevance: Doubles
    weight: Doubles
    source: str
    judged: Flags | None = None
    pool: Doubles | None = None
    pool_offsets: Integers | None = None
    documents: Texts | NDArray[Any] | None = None
    attributes: Mapping[str, NDArray[Any]] = field(default_factory=lambda: Attributes({}, {}))
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    judgements: str = ""

    def __post_init__(self) -> None:
        queries, rows = len(self.query_ids), len(self.score)
        if len(self.offsets) != queries + 1 or len(self.weight) != queries or self.offsets[-1] != rows:
            raise DataError(
                f"{self.source}: {queries} queries with {rows} documents need {queries + 1} offsets up to {rows} and "
                f"{queries} weights, came {len(self.offsets)} offsets up to {self.offsets[-1]} and {len(self.weight)}"
            )
        for name in ("relevance", "judged", "documents"):
            column = getattr(self, name)
            if column is not None and len(column) != rows:
                raise DataError(f"{self.source}: wanted {name} for each of {rows} documents, came {len(column)}")

    @property
    def lengths(self) -> Integers:
        """[Q] number of returned documents of each query."""
        return np.diff(self.offsets)

    @classmethod
    def from_arrays(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        qid: Any = None,
        *,
        weight: ArrayLike | None = None,
        judged: ArrayLike | None = None,
        documents: Any = None,
        unjudged_label: float | None = None,
        source: str = "arrays",
    ) -> RankedLists:
        """Lists from flat arrays, one row a document, in any order of rows.

        Args:
            y_true: [N] labels from 0 to 1e30.
            y_score: [N] larger is better; may be infinite.
            qid: [N] query ids of any kind, names and never indices; queries stand in order of first appearance. None:
                all rows are one list.
            weight: [N] of each row, the same within a query, or [Q] in order of first appearance.
            judged: [N] did anybody judge the document? The labels of the others are not read.
            documents: [N] document ids, which decide ties by id.
            unjudged_label: the label of documents that nobody judged, such as -1.
            source: what messages name.

        Raises:
            DataError: sizes differ, a label or score is refused (query, row from 0 and value are named), a document
                stands twice in a query, or weights differ within one.

        Example:
            >>> lists = RankedLists.from_arrays([1, -1], [0.5, 0.7], unjudged_label=-1)
            >>> lists.query_ids, lists.relevance.tolist(), lists.judged.tolist()
            (('0',), [1.0, 0.0], [True, False])
        """
        label, score = numbers(y_true, "labels", source), numbers(y_score, "scores", source)
        rows = len(label)
        if len(score) != rows or not rows:
            raise DataError(f"{source}: wanted as many scores as labels, at least one, came {len(score)} and {rows}")
        query_ids, group = (("0",), np.zeros(rows, np.int64)) if qid is None else grouped(qid, rows, source)
        known = np.ones(rows, np.bool_) if judged is None else plain(judged).astype(np.bool_)
        texts = None if documents is None else Texts.of(documents, source)
        for name, column in (("judged", known), ("documents", texts)):
            if column is not None and len(column) != rows:
                raise DataError(f"{source}: wanted {name} for each of {rows} rows, came {len(column)}")
        if unjudged_label is not None:
            known = known & ~(np.isnan(label) if np.isnan(unjudged_label) else label == unjudged_label)
        lists = cls._of(query_ids, group, label, score, known, texts, source)
        return lists if weight is None else replace(lists, weight=weights(weight, group, query_ids, source))

    @classmethod
    def from_table(cls, table: pl.DataFrame, source: str = "table") -> RankedLists:
        """Lists from one table with query, label and score, and document, weight and attributes where it has them.

        A row without a label was judged by nobody. Columns that are not one value a query are no attributes.

        Raises:
            DataError: a column lacks, or as ``from_arrays`` says (rows from 0).

        Example:
            >>> import polars as pl
            >>> table = {"query": ["a", "a"], "label": [1, None], "score": [0.5, 0.7], "market": ["de", "de"]}
            >>> lists = RankedLists.from_table(pl.DataFrame(table))
            >>> lists.judged.tolist(), lists.attributes["market"].tolist()
            ([True, False], ['de'])
        """
        rows = ids_and_numbers(table, ("query", "label", "score"), source)
        query_ids, group = places(rows["query"])
        about = attributes_of(rows, group, query_ids)
        label, score = (rows[name].to_numpy(writable=True) for name in ("label", "score"))
        texts = Texts(rows["document"]) if "document" in rows.columns else None
        known = rows["label"].is_not_null().to_numpy()
        return cls._of(query_ids, group, label, score, known, texts, source)._about(about)

    @classmethod
    def _of(
        cls,
        query_ids: tuple[str, ...],
        group: Integers,
        label: Doubles,
        score: Doubles,
        judged: Flags,
        documents: Texts | None,
        source: str,
    ) -> RankedLists:
        """Checked rows, put together by query."""
        for name, wrong, value in (
            (f"label that is a number from 0 to {LARGEST:g}", judged & ~((label >= 0) & (label <= LARGEST)), label),
            ("score that is a number", np.isnan(score), score),
        ):
            if wrong.any():
                row = int(np.argmax(wrong))
                negative = "; say unjudged_label if a negative label marks documents that nobody judged"
                raise DataError(
                    f"{source}, row {row} (query {query_ids[group[row]]}): wanted a {name}, came {value[row]:g} "
                    f"({int(wrong.sum())} such in all){negative if value[row] < 0 else ''}"
                )
        if documents is not None:
            import polars as pl

            pairs = pl.DataFrame({"query": pl.Series(query_ids).gather(group), "document": documents.series})
            refuse_repeats(pairs, lambda row: f"{source}, row {row}")
        order, offsets = together(group, len(query_ids))
        lists = cls(
            query_ids=query_ids,
            offsets=offsets,
            score=score,
            relevance=np.where(judged, label, 0.0),
            weight=np.ones(len(query_ids)),
            source=source,
            judged=None if judged.all() else judged,
            documents=documents,
        )
        return lists if order is None else lists._take(order, offsets)

    def by_id(self) -> RankedLists:
        """The same lists with equal scores in descending order of id, as text: what ties=docid means on tensors.

        Only documents with equal scores change places. Without ids, the order of rows stands for theirs.

        Example:
            >>> lists = RankedLists.from_arrays([0, 1, 2], [0.5, 0.7, 0.5], documents=["a", "b", "c"])
            >>> lists.by_id().relevance.tolist()
            [2.0, 1.0, 0.0]
        """
        rows = self._id_order()
        return self if rows is None else self._take(rows, self.offsets)

    def held_in(self, scores: Literal["float32"] | None) -> RankedLists:
        """The same lists with scores rounded to float32, as many programs hold them; None: as they are.

        Example:
            >>> RankedLists.from_arrays([1, 0], [0.500000012, 0.500000011]).held_in("float32").score.tolist()
            [0.5, 0.5]
        """
        if scores is None:
            return self
        with np.errstate(over="ignore"):  # 1e300 is infinite there
            return replace(self, score=self.score.astype(np.float32).astype(np.float64))

    def top(self, k: int) -> RankedLists:
        """Only the first k documents of each query: by score, equal scores by descending id (trec_eval's -M).

        Raises:
            DataError: k is not a whole number from 1.
        """
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise DataError(f"{self.source}: wanted a depth that is a whole number from 1, came {k!r}")
        if (self.lengths <= k).all():
            return self
        rows = self._id_order()
        rows = np.arange(len(self.score)) if rows is None else rows
        group = np.repeat(np.arange(len(self.query_ids)), self.lengths)
        if not self._falls(self.score[rows]):
            rows = rows[np.lexsort((-self.score[rows], group))]
        kept = np.sort(rows[np.arange(len(group)) - self.offsets[group] < k])
        offsets = np.concatenate([[0], np.cumsum(np.minimum(self.lengths, k))])
        lists = self._take(kept, offsets)
        if self.pool is not None:
            return lists
        known = np.ones(len(group), np.bool_) if self.judged is None else self.judged
        return replace(lists, pool=self.relevance[known], pool_offsets=together(group[known], len(self.query_ids))[1])

    def described_by(self, table: pl.DataFrame, source: str = "table") -> RankedLists:
        """The same lists with the weights and attributes of a table of queries; other queries may be among them.

        Raises:
            DataError: the table has no column query, or weights that are not one number from 0 to 1e30 a query.

        Example:
            >>> import polars as pl
            >>> lists = RankedLists.from_arrays([1, 0], [0.5, 0.7], ["a", "b"])
            >>> table = pl.DataFrame({"query": ["b", "c", "a"], "weight": [2, 5, 1], "date": ["2024", "2025", None]})
            >>> lists = lists.described_by(table)
            >>> lists.weight.tolist(), lists.attributes["date"].tolist()
            ([1.0, 2.0], [None, '2024'])
        """
        rows = ids_and_numbers(table, ("query",), source)
        return self._about(attributes_of(rows, among(rows["query"], self.query_ids), self.query_ids), source)

    def batches(self, cells: int = 1 << 20) -> Iterator[RankedBatch]:
        """Padded batches of queries of similar length, longest first, each query once.

        Args:
            cells: padded documents of a batch, and padded labels of its pools; a longer list is a batch of its own.

        Example:
            >>> lists = RankedLists.from_arrays([1, 0, 2], [0.3, 0.2, 0.9], ["b", "a", "b"])
            >>> [batch.scores.tolist() for batch in lists.batches(cells=2)]
            [[[0.3, 0.9]], [[0.2]]]
        """
        width = self.lengths if self.pool_offsets is None else np.maximum(self.lengths, np.diff(self.pool_offsets))
        columns: list[NDArray[Any]] = [self.score, self.relevance, *([] if self.judged is None else [self.judged])]
        for queries in batches_by_width(width, cells):
            (scores, relevance, *judged), mask = padded(columns, self.offsets, queries)
            pool = pool_mask = None
            if self.pool is not None and self.pool_offsets is not None:
                (pool,), pool_mask = padded([self.pool], self.pool_offsets, queries)
            yield RankedBatch(queries, scores, relevance, mask, judged[0] if judged else None, pool, pool_mask)

    def _take(self, rows: Integers, offsets: Integers) -> RankedLists:
        return replace(
            self,
            offsets=offsets,
            score=self.score[rows],
            relevance=self.relevance[rows],
            judged=None if self.judged is None else self.judged[rows],
            documents=None if self.documents is None else self.documents[rows],
        )

    def _about(self, about: Attributes, source: str | None = None) -> RankedLists:
        """The same lists with these attributes, and those that they had; one named weight is the weight."""
        before = Attributes(self.attributes, getattr(self.attributes, "varying", {}))
        known = {**before, **about}
        weight = self.weight
        if "weight" in about.varying and "weight" not in about:
            raise DataError(f"{source or self.source}: wanted one weight a query, came {about.varying['weight']}")
        if "weight" in about:
            places = np.arange(len(self.query_ids))
            weight = weights(about["weight"], places, self.query_ids, source or self.source)
            known.pop("weight")
        return replace(self, weight=weight, attributes=Attributes(known, {**before.varying, **about.varying}))

    def _id_order(self) -> Integers | None:
        """[N] rows with equal scores in descending order of id; None where nothing changes."""
        tied = np.flatnonzero(self._tied()) if self.documents is not None else np.zeros(0, np.int64)
        if not len(tied):
            return None
        import polars as pl

        assert self.documents is not None
        group = np.repeat(np.arange(len(self.query_ids)), self.lengths)[tied]
        pairs = pl.DataFrame({"group": group, "id": Texts.of(self.documents[tied]).series})
        order = pairs.select(pl.arg_sort_by("group", "id", descending=[False, True])).to_series().to_numpy()
        rows = np.arange(len(self.score))
        rows[tied] = tied[order]
        return rows

    def _tied(self) -> Flags:
        """[N] has another document of the list the same score?"""
        score, order = self.score, None
        if not self._falls(score):
            order = np.lexsort((-score, np.repeat(np.arange(len(self.query_ids)), self.lengths)))
            score = score[order]
        same = ~self._first()[1:] & (score[1:] == score[:-1])
        tied = np.zeros(len(score), np.bool_)
        tied[1:] |= same
        tied[:-1] |= same
        if order is not None:
            tied[order] = tied.copy()
        return tied

    def _falls(self, score: Doubles) -> bool:
        """Do the scores [N] never rise within a list? Those of most runs do not."""
        return bool((self._first()[1:] | (score[1:] <= score[:-1])).all())

    def _first(self) -> Flags:
        """[N] is it the first document of its list?"""
        first = np.zeros(len(self.score) + 1, np.bool_)
        first[self.offsets] = True
        return first[:-1]

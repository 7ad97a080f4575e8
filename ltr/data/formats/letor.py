"""LETOR / SVMlight files: ``LABEL qid:QUERY INDEX:VALUE ... # remark``, one document a line."""

from __future__ import annotations

import logging
import os
import re
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

import numpy as np

from ltr.data.files import Paths, files_of, lines_of, text_of
from ltr.data.labels import map_labels
from ltr.data.ranking_data import LARGEST, DataError, Doubles, Floats, Integers, RankingData, warn_of_clipping
from ltr.data.weights import apply_weights

log = logging.getLogger(__name__)

MOST_FEATURES = 1_000_000  # rows are stored dense: a larger index is a slip of the pen, or a hash
NUMERIC = b"0123456789+-.eE"
BLOCK = 1 << 20  # cells parsed before they move into a float32 block
DOCUMENT = re.compile(rb"(?:^|\s)docid\s*=\s*(\S+)")
FORM = "LABEL qid:QUERY INDEX:VALUE ..."


def read_letor(
    paths: Paths,
    *,
    index_base: int = 1,
    scattered: str = "gather",
    width: int | None = None,
    labelled: bool = True,
    labels: Mapping[float, float] | None = None,
    weights: str | os.PathLike[str] | None = None,
) -> RankingData:
    """Read LETOR / SVMlight ranking files, gzipped or not.

    All that follows a ``#`` is remark; ``docid = X`` in it is kept, and a document without one has the id "". Blank
    lines and full-line remarks are passed over. A feature that a row does not list is 0; the order within a row means
    nothing. Query ids are text. Lists stand in order of first appearance, over all files.

    Args:
        paths: a path, several, or a folder (read sorted by name).
        index_base: the index of the first feature in the file, 1 or 0. The same for all splits of a data set.
        scattered: "gather" puts rows of a query that come apart back together, "error" refuses them.
        width: number of features; a larger index is an error. None: the largest index seen.
        labelled: False where one only predicts: the label column may lack, and is not read when it is there.
        labels: label in the file -> label to use, for every label that occurs; None, or not labelled: as they are.
        weights: a file with one ``query-id weight`` a line for every query, and for queries of other files too.

    Raises:
        DataError: with file, line, what was wanted and what came.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "train.txt")
        >>> _ = path.write_text("2 qid:7 1:0.5 3:1 # docid = A\\n0.5 qid:7 2:4\\n")
        >>> data = read_letor(path)
        >>> data.features.tolist(), data.relevance.tolist(), data.query_ids, data.document_ids
        ([[0.5, 0.0, 1.0], [0.0, 4.0, 0.0]], [2.0, 0.5], ('7',), ('A', ''))
    """
    if index_base not in (0, 1):
        raise DataError(f"index_base must be 0 or 1, got {index_base!r}")
    if scattered not in ("gather", "error"):
        raise DataError(f"scattered must be gather or error, got {scattered!r}")
    rows = _Rows(index_base, width, scattered == "gather")
    files = files_of(paths)
    for path in files:
        rows.read(path, labelled)
    source = str(files[0]) if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"
    data = rows.finish(source, labelled)
    shape = f"{len(data.relevance)} documents, {len(data.query_ids)} queries, {data.features.shape[1]} features"
    log.info("read %s: %s", source, shape)
    if labels is not None and labelled:
        data = map_labels(data, labels)
    return data if weights is None else apply_weights(weights, [data], others=True)[0]


class _Rows:
    """What has been read so far: small lists a row, and the features in float32 blocks."""

    def __init__(self, index_base: int, width: int | None, gather: bool) -> None:
        self.index_base, self.width, self.gather = index_base, width, gather
        self.label: list[float] = []
        self.group: list[int] = []  # a row's place among the queries
        self.document: list[str] = []
        self.line: list[int] = []
        self.files: list[Path] = []
        self.starts: list[int] = []  # the first row of each file
        self.places: dict[str, int] = {}
        self.seen: dict[tuple[int, str], int] = {}
        self.blocks: list[Floats] = []
        self.columns: list[Integers] = []  # of the rows not yet in a block
        self.values: list[Doubles] = []
        self.widest = 0  # columns seen so far
        self.clipped = np.zeros(0, dtype=np.int64)
        self.keys: list[bytes] = []  # the indices of the last row, as typed and as columns: most files repeat them
        self.key_columns = np.zeros(0, dtype=np.int64)

    def read(self, path: Path, labelled: bool) -> None:
        self.files.append(path)
        self.starts.append(len(self.line))
        number, remarks, raw_query, group = 0, False, b"", -1
        for number, raw in lines_of(path):
            content, mark, remark = raw.partition(b"#")
            fields = content.split(None, 2)
            if not fields:
                remarks = remarks or bool(mark)
                continue
            if not labelled and fields[0].startswith(b"qid:"):
                fields = [b"0", fields[0], b" ".join(fields[1:])]
            if len(fields) < 2 or not fields[1].startswith(b"qid:") or len(fields[1]) == 4:
                self._refuse_head(fields, path, number)
            if fields[1] != raw_query:
                raw_query = fields[1]
                group = self._group(raw_query[4:], path, number)
            self.label.append(_label(fields[0], raw_query, path, number) if labelled else 0.0)
            self.group.append(group)
            self.line.append(number)
            self.document.append(self._document(remark, group, path, number) if remark else "")
            self._features(fields[2].rstrip() if len(fields) == 3 else b"", path, number)
        if len(self.line) == self.starts[-1]:
            came = "only remarks and blank lines" if remarks else "an empty file" if not number else "only blank lines"
            raise DataError(f"{path}: no rows: wanted lines '{FORM}', came {came}")

    def finish(self, source: str, labelled: bool) -> RankingData:
        self._close_block()
        width = self.widest if self.width is None else self.width
        if not width:
            raise DataError(f"{source}: no features: wanted lines '{FORM}', came {len(self.line)} rows without any")
        features = np.zeros((len(self.line), width), dtype=np.float32)
        end = len(features)
        while self.blocks:
            block = self.blocks.pop()
            features[end - len(block) : end, : block.shape[1]] = block
            end -= len(block)
        warn_of_clipping(self.clipped, self.index_base, source)
        group = np.array(self.group, dtype=np.int64)
        row = np.arange(len(group))
        relevance = np.array(self.label)
        document = self.document
        if (np.diff(group) < 0).any():
            row = np.argsort(group, kind="stable")
            features, relevance = features[row], relevance[row]
            document = [document[at] for at in row]
            log.info("%s: rows of a query that stood apart were put back together", source)
        return RankingData(
            features=features,
            relevance=relevance,
            offsets=np.concatenate([[0], np.cumsum(np.bincount(group))]).astype(np.int64),
            query_ids=tuple(self.places),
            document_ids=tuple(document) if any(document) else None,
            row=row,
            weight=np.ones(len(self.places)),
            labelled=labelled,
            source=source,
        )

    def _group(self, raw: bytes, path: Path, number: int) -> int:
        query = text_of(raw, path, number)
        known = query in self.places
        group = self.places.setdefault(query, len(self.places))
        if known and not self.gather and self.group[-1] != group:
            before = self._where(len(self.group) - 1 - self.group[::-1].index(group))
            raise DataError(
                f"{path}, line {number}: wanted the rows of a query together (scattered=error), "
                f"came query {query} again, last seen in {before}"
            )
        return group

    def _document(self, remark: bytes, group: int, path: Path, number: int) -> str:
        found = DOCUMENT.search(remark)
        if found is None:
            return ""
        document = text_of(found[1], path, number)
        row = len(self.line) - 1
        before = self.seen.setdefault((group, document), row)
        if before != row:
            query = next(query for query, place in self.places.items() if place == group)
            raise DataError(
                f"{path}, line {number}: wanted each document once in a query, "
                f"came document {document} of query {query} again, first in {self._where(before)}"
            )
        return document

    def _features(self, body: bytes, path: Path, number: int) -> None:
        pieces = _pieces(body)
        if pieces is None:
            _refuse_feature(body, path, number)
        keys, typed = pieces[0::2], pieces[1::2]
        if keys != self.keys:
            self.key_columns = self._columns(keys, path, number)
            self.keys = keys
        try:
            values = np.fromiter(map(float, typed), np.float64, len(typed))
        except ValueError:
            _refuse_feature(body, path, number)
        self.columns.append(self.key_columns)
        self.values.append(values)
        if len(self.values) * self.widest > BLOCK:
            self._close_block()

    def _columns(self, keys: list[bytes], path: Path, number: int) -> Integers:
        try:
            indices = list(map(int, keys))
        except ValueError:
            _refuse_feature(b" ".join(key + b":0" for key in keys), path, number)
        if not indices:
            return np.zeros(0, dtype=np.int64)
        at = f"{path}, line {number}: "
        least, most = min(indices), max(indices)
        if least < self.index_base:
            advice = "; say index_base=0 when the features are counted from 0" if least == 0 else ""
            raise DataError(f"{at}wanted feature indices from {self.index_base} (index_base), came {least}{advice}")
        if self.width is not None and most >= self.width + self.index_base:
            last = self.width - 1 + self.index_base
            raise DataError(
                f"{at}feature {most} was not seen in training: wanted features {self.index_base} to {last}, came {most}"
            )
        if most > MOST_FEATURES:
            raise DataError(f"{at}wanted feature indices up to {MOST_FEATURES} (rows are stored dense), came {most}")
        if len(set(indices)) < len(indices):
            twice = next(index for place, index in enumerate(indices) if index in indices[:place])
            raise DataError(f"{at}wanted each feature once, came feature {twice} again")
        self.widest = max(self.widest, most + 1 - self.index_base)
        return np.array(indices, dtype=np.int64) - self.index_base

    def _close_block(self) -> None:
        if not self.values:
            return
        values = self.values
        large = np.abs(np.concatenate(values)) > LARGEST
        if large.any():
            counts = np.bincount(np.concatenate(self.columns)[large], minlength=self.widest)
            counts[: len(self.clipped)] += self.clipped
            self.clipped = counts
            values = [np.clip(row, -LARGEST, LARGEST) for row in values]
        block = np.zeros((len(values), self.widest), dtype=np.float32)
        for row, columns, cells in zip(block, self.columns, values, strict=True):
            row[columns] = cells
        self.blocks.append(block)
        self.columns, self.values = [], []

    def _where(self, row: int) -> str:
        return f"{self.files[bisect_right(self.starts, row) - 1]}, line {self.line[row]}"

    @staticmethod
    def _refuse_head(fields: list[bytes], path: Path, number: int) -> NoReturn:
        if fields[0].startswith(b"qid:"):
            _refuse(f"a label before qid: ('{FORM}')", fields[0], path, number)
        came = fields[1] if len(fields) > 1 else b"the end of the line"
        _refuse(f"the query as qid:QUERY after the label ('{FORM}')", came, path, number)


def _pieces(body: bytes) -> list[bytes] | None:
    """[index, value, index, value, ...] of 'index:value ...', or None where a token has another form."""
    count = body.count(b":")
    form = b": " * count
    if body.translate(None, NUMERIC) != form[:-1]:  # other white space than one blank, or a strange character
        body = b" ".join(body.split())
        if body.translate(None, NUMERIC) != form[:-1]:
            return None
    pieces = body.replace(b":", b" ").split()
    return pieces if len(pieces) == 2 * count else None


def _number(token: bytes) -> float | None:
    try:
        return None if token.translate(None, NUMERIC) else float(token)
    except ValueError:
        return None


def _label(token: bytes, raw_query: bytes, path: Path, number: int) -> float:
    label = _number(token)
    if label is None or not 0 <= label <= LARGEST:
        query = text_of(raw_query[4:], path, number)
        _refuse(f"a label that is a number from 0 to {LARGEST:g} (query {query})", token, path, number)
    return label


def _refuse_feature(body: bytes, path: Path, number: int) -> NoReturn:
    """Name the first token of a row that is not INDEX:VALUE with a whole index and a finite value."""
    for token in body.split():
        key, colon, value = token.partition(b":")
        if not (key and colon and value) or b":" in value:
            _refuse("INDEX:VALUE", token, path, number)
        if not re.fullmatch(rb"[+-]?\d+", key):
            _refuse("a whole number as feature index", key, path, number)
        if _number(value) is None:
            _refuse(f"a finite number as value of feature {int(key)}", value, path, number)
    raise AssertionError(f"{path}, line {number}: nothing wrong found")


def _refuse(wanted: str, came: bytes, path: Path, number: int) -> NoReturn:
    shown = came if len(came) <= 40 else came[:37] + b"..."
    raise DataError(f"{path}, line {number}: wanted {wanted}, came '{shown.decode(errors='backslashreplace')}'")

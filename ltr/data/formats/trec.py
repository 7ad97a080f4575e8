"""TREC judgements (qrels) and runs: one document a line, its fields set apart by blanks or tabs."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ltr.data.files import files_of, text_of
from ltr.data.judgements import (
    PAIR,
    Unjudged,
    check_assessors,
    checked_labels,
    refuse_repeats,
    refuse_scores,
    settled,
    short,
)
from ltr.data.ranking_data import DataError

if TYPE_CHECKING:
    import polars as pl

JUDGEMENT = "QUERY ITERATION DOCUMENT LABEL"  # a line's fields; in small letters, its columns
ANSWER = "QUERY Q0 DOCUMENT RANK SCORE TAG"
BLANKS = b"\t\v\f\r"
TO_BLANK = bytes.maketrans(BLANKS, b" " * len(BLANKS))


class Run(NamedTuple):
    """A system's answer: what it returned for each query, and what it calls itself."""

    table: pl.DataFrame  # query, document (String), score (Float64), in the order of the file
    tag: str  # of the last line


def read_qrels(
    path: str | os.PathLike[str], *, assessors: str = "error", unjudged_label: Unjudged = None
) -> pl.DataFrame:
    """Read judgements: lines ``QUERY ITERATION DOCUMENT LABEL``, gzipped or not.

    Fields are text without white space; ITERATION is not read. Empty lines and lines that start with ``#`` are passed
    over. Labels may be fractions.

    Args:
        path: the file.
        assessors: what several judgements of one document come to. "error": equal ones count once, with a warning,
            different ones are refused; "max", "mean", "median", "last" (in the file); "majority" with the lower label
            where two are as frequent, "majority_higher" with the higher.
        unjudged_label: the label of documents that were pooled and that nobody judged, such as -1; "negative": any
            below 0, which is trec_eval's rule.

    Returns:
        query, document (String), label (Float64), one row a document, in the order of the file; a document that
        nobody judged has no label (null).

    Raises:
        DataError: with file, line, what was wanted and what came.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "qrels")
        >>> _ = path.write_text("q1 0 a 1\\nq1 0 b -1\\nq1 1 a 3\\n")
        >>> read_qrels(path, assessors="mean", unjudged_label=-1).rows()
        [('q1', 'a', 2.0), ('q1', 'b', None)]
    """
    check_assessors(assessors)
    lines = _Lines(file_of(path), JUDGEMENT, "label")
    table = checked_labels(lines.numbers(), lines.table["label"], unjudged_label, lines.place)
    return settled(table, assessors, str(lines.path), lines.place).rechunk()


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run: lines ``QUERY Q0 DOCUMENT RANK SCORE TAG``, gzipped or not.

    As trec_eval 10 reads it: Q0 and RANK are not looked at, what follows TAG is ignored, empty lines and lines that
    start with ``#`` are passed over. A score may be infinite. A line of more fields whose RANK is no number is refused:
    an id with a blank in it has moved the fields, and a rank stands where the score is read.

    Raises:
        DataError: with file, line, what was wanted and what came; a document that stands twice in a query is refused
            with both lines.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "run")
        >>> _ = path.write_text("q1 Q0 b 1 0.5 bm25\\nq1 Q0 a 2 -inf bm25\\n")
        >>> read_run(path).table.rows(), read_run(path).tag
        ([('q1', 'b', 0.5), ('q1', 'a', -inf)], 'bm25')
    """
    lines = _Lines(file_of(path), ANSWER, "score")
    table = lines.numbers()
    refuse_scores(table, lines.table["score"], lines.place)
    refuse_repeats(table, lines.place)
    return Run(table.rechunk(), str(lines.table["tag"][-1]))


def file_of(path: str | os.PathLike[str]) -> Path:
    """The one file that a path names. Raises DataError when it is a folder, or is not there."""
    if os.path.isdir(os.path.expanduser(path)):
        raise DataError(f"{os.path.abspath(os.path.expanduser(path))}: wanted a file, came a folder")
    return files_of(path)[0]


def bytes_of(path: Path) -> bytes:
    """All of a text file, gzip or not (told by its first bytes), less a UTF-8 mark.

    Raises:
        DataError: the file cannot be read, is not text, or is a damaged gzip.
    """
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    if b"\0" in data:
        raise DataError(f"{path}: wanted a text file, came binary data")
    return data.removeprefix(b"\xef\xbb\xbf")


def refuse_bytes(data: bytes, path: Path, error: Exception) -> NoReturn:
    """Name the line that is not UTF-8; without one, tell what the reader said."""
    for number, raw in enumerate(io.BytesIO(data), start=1):
        text_of(raw.rstrip(b"\r\n"), path, number)
    raise DataError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from error


class _Lines:
    """The fields of a file as columns of text, and the way back from a row to its line."""

    def __init__(self, path: Path, form: str, number: str) -> None:
        self.path, self.form, self.number, self.data = path, form, number, bytes_of(path)
        self.table = self._read()
        if not len(self.table):
            remarks = any(raw.strip() for raw in io.BytesIO(self.data))
            came = "only remarks and blank lines" if remarks else "only blank lines" if self.data else "an empty file"
            raise DataError(f"{path}: no rows: wanted lines '{form}', came {came}")

    def numbers(self) -> pl.DataFrame:
        """query, document and the column of numbers as Float64, null where it holds none."""
        import polars as pl

        return self.table.select(*PAIR, pl.col(self.number).cast(pl.Float64, strict=False))

    def place(self, row: int) -> str:
        return f"{self.path}, line {self._line(row)[0]}"

    def _line(self, row: int) -> tuple[int, bytes]:
        numbered = enumerate(io.BytesIO(self.data), start=1)
        rows = ((number, raw) for number, raw in numbered if raw.strip() and not raw.lstrip().startswith(b"#"))
        return next(islice(rows, row, None))

    def _read(self) -> pl.DataFrame:
        """One blank between two fields is read as it stands; where that fails, blanks are put right first."""
        import polars as pl

        names, data = self.form.lower().split(), self.data
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if any(blank in data for blank in BLANKS):
            data = data.translate(TO_BLANK)
        try:
            table = _scan(data, names)
            if not sum(table.null_count().row(0)):
                return table
        except pl.exceptions.PolarsError:
            pass
        names.append("rest")
        head = " ".join(names).encode() + b"\n"  # so that the first line does not say how many fields there are
        try:
            table = _scan(head + _one_blank(data), names, has_header=True, truncate_ragged_lines=True)
        except pl.exceptions.PolarsError as error:
            refuse_bytes(self.data, self.path, error)
        wrong = table[self.form.lower().split()[-1]].is_null()
        more = table["rest"].is_not_null()
        if self.form == ANSWER:  # what follows the tag is no matter, unless an id with a blank has moved the fields
            more &= table["rank"].cast(pl.Float64, strict=False).is_null()
        wrong |= more
        if wrong.any():
            self._refuse(int(wrong.arg_true()[0]))
        return table

    def _refuse(self, row: int) -> NoReturn:
        number, raw = self._line(row)
        fields, wanted = raw.split(), len(self.form.split())
        line = short(text_of(b" ".join(fields), self.path, number))
        raise DataError(
            f"{self.path}, line {number}: wanted {wanted} fields '{self.form}', came {len(fields)}: '{line}'"
        )


def _scan(
    data: bytes, names: list[str], *, has_header: bool = False, truncate_ragged_lines: bool = False
) -> pl.DataFrame:
    import polars as pl

    return pl.scan_csv(
        io.BytesIO(data),
        separator=" ",
        has_header=has_header,
        quote_char=None,
        comment_prefix="#",
        schema=dict.fromkeys(names, pl.String),
        truncate_ragged_lines=truncate_ragged_lines,
    ).collect()


def _one_blank(data: bytes) -> bytes:
    """Blanks only between fields, one at a time, and no empty line."""
    for many, one in ((b"  ", b" "), (b"\n ", b"\n"), (b" \n", b"\n"), (b"\n\n", b"\n")):
        while many in data:
            data = data.replace(many, one)
    return data.strip(b" \n")

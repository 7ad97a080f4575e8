"""TREC judgements (qrels) and runs: one document a line, its fields set apart by blanks or tabs."""

from __future__ import annotations

import gzip
import io
import logging
import os
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from ltr.data.files import text_of
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

log = logging.getLogger(__name__)

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

    Fields are text without white space; ITERATION is not read. Empty lines are passed over, and lines that start with
    ``#``, which a warning counts. Labels may be fractions.

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
    return settled(table, assessors, lines.place).rechunk()


def read_run(path: str | os.PathLike[str]) -> Run:
    """Read a run: lines ``QUERY Q0 DOCUMENT RANK SCORE TAG``, gzipped or not.

    As trec_eval 10 reads it: Q0 and RANK say nothing, what follows TAG is ignored, empty lines and lines that start
    with ``#`` are passed over. A score may be infinite. Warnings count the lines with ``#``, those whose RANK is no
    number, and the queries in which it contradicts the scores. Refused is a line in which an id with a blank in it may
    have moved the fields, and a rank would be read as the score: RANK is no number and something follows TAG; or TAG is
    a number, and RANK is none, something follows TAG, or most lines have another tag.

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
    _warn_of_ranks(table.with_columns(lines.table["rank"]), lines)
    return Run(table.rechunk(), str(lines.table["tag"][-1]))


def file_of(path: str | os.PathLike[str]) -> Path:
    """The one file that a path names. Raises DataError when it is a folder, or is not there."""
    whole = os.path.abspath(os.path.expanduser(path))
    if os.path.isdir(whole):
        raise DataError(f"{whole}: wanted a file, came a folder")
    if not os.path.exists(whole):  # too long for a name, perhaps
        raise DataError(f"{whole}: no such file or folder")
    return Path(whole)


def bytes_of(path: Path) -> bytes:
    """All of a text file, gzip or not (told by its first bytes), less a UTF-8 mark, and with line ends that hold \\n.

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
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
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
        self.table, remarks = self._read()
        if not len(self.table):
            came = "only remarks and blank lines" if remarks else "only blank lines" if self.data else "an empty file"
            raise DataError(f"{path}: no rows: wanted lines '{form}', came {came}")
        if remarks:
            first = next(number for number, raw in self._numbered() if raw.lstrip().startswith(b"#"))
            which = f"line {first}, which starts"
            which = which if remarks == 1 else f"{remarks} lines, such as line {first}, which start"
            log.warning("%s: passed over %s with #", path, which)

    def numbers(self) -> pl.DataFrame:
        """query, document and the column of numbers as Float64, null where it holds none."""
        import polars as pl

        return self.table.select(*PAIR, pl.col(self.number).cast(pl.Float64, strict=False))

    def place(self, row: int) -> str:
        return f"{self.path}, line {self._line(row)[0]}"

    def _numbered(self) -> Iterator[tuple[int, bytes]]:
        return enumerate(io.BytesIO(self.data), start=1)

    def _line(self, row: int) -> tuple[int, bytes]:
        rows = (each for each in self._numbered() if each[1].strip() and not each[1].lstrip().startswith(b"#"))
        return next(islice(rows, row, None))

    def _read(self) -> tuple[pl.DataFrame, int]:
        """The fields, and how many remarks there are.

        One blank between two fields is read as it stands; where that fails, blanks are put right first.
        """
        import polars as pl

        names, data = self.form.lower().split(), self.data
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        if any(blank in data for blank in BLANKS):
            data = data.translate(TO_BLANK)
        try:
            table = _scan(data, names)
            plain = not sum(table.null_count().row(0))
        except pl.exceptions.PolarsError:
            plain = False
        if not plain:
            data = _one_blank(data)
            head = " ".join([*names, "rest"]).encode() + b"\n"  # else the first line says how many fields there are
            try:
                table = _scan(head + data, [*names, "rest"], has_header=True, truncate_ragged_lines=True)
            except pl.exceptions.PolarsError as error:
                refuse_bytes(self.data, self.path, error)
        self._check(table)
        return table, data.startswith(b"#") + data.count(b"\n#") if b"#" in data else 0

    def _check(self, table: pl.DataFrame) -> None:
        """Raises DataError when a line has too few fields, or so many or such that they may have moved."""
        names = self.form.lower().split()
        short_of, moved = table[names[-1]].is_null(), None
        if not short_of.any():
            moved = _moved(table) if self.form == ANSWER else _more(table)
        wrong = short_of if moved is None else moved
        if wrong.any():
            number, raw = self._line(int(wrong.arg_true()[0]))
            fields = text_of(b" ".join(raw.split()), self.path, number).split(" ")
            advice = "; is there a blank in an id?" if moved is not None and len(fields) < len(names) + 2 else ""
            if moved is not None and self.form == ANSWER:
                advice = f", where SCORE would be '{short(fields[4])}' and TAG '{short(fields[5])}'{advice}"
            raise DataError(
                f"{self.path}, line {number}: wanted {len(names)} fields '{self.form}', "
                f"came {len(fields)}: '{short(' '.join(fields))}'{advice}"
            )


def _more(table: pl.DataFrame) -> pl.Series:
    """[N] has the line more fields than it needs?"""
    import polars as pl

    if "rest" in table.columns:
        return table["rest"].is_not_null()
    return pl.repeat(False, len(table), eager=True)


def _moved(table: pl.DataFrame) -> pl.Series:
    """[N] may an id with a blank in it have moved the fields of a run, so that a rank is read as the score?

    Where RANK is no number, nothing may follow TAG. A number for TAG may be the score: it must be the commonest tag,
    beside a RANK that is a number, and nothing may follow it.
    """
    more, tag = _more(table), table["tag"]
    alike = not len(tag) or bool((tag == tag[0]).all())
    if alike and not more.any() and not _is_number(tag[:1]).any():
        return more
    word = ~_is_number(table["rank"])
    unusual = more & False if alike else tag != tag.mode().sort()[-1]
    return (more & word) | (_is_number(tag) & (more | word | unusual))


def _is_number(texts: pl.Series) -> pl.Series:
    import polars as pl

    return texts.cast(pl.Float64, strict=False).is_finite().fill_null(False)


def _warn_of_ranks(table: pl.DataFrame, lines: _Lines) -> None:
    """Tell how many ranks are no numbers, and in how many queries a document with a larger rank has a higher score.

    Args:
        table: query, rank as text, score.
        lines: of the file, which the warnings name.
    """
    import polars as pl

    ids = table["query"].rle().struct.field("value")  # rows of a query often stand together, in the order of ranks
    said = _is_number(table["rank"])
    if not said.all():
        row, many = int((~said).arg_true()[0]), int((~said).sum())
        told = (lines.path, many, len(table), lines.place(row).rpartition(", ")[2], short(table["rank"][row]))
        log.warning("%s: RANK is no number in %d of %d lines, such as %s, '%s'; nothing reads it", *told)
    table = table.filter(said).with_columns(pl.col("rank").cast(pl.Float64))
    if not len(table):
        return
    mine, rises, higher = _steps(table)
    if ids.n_unique() < len(ids) or (mine & ((rises < 0) | ((rises == 0) & higher))).any():
        table = table.sort("query", "rank", "score", descending=[False, False, True])
        mine, rises, higher = _steps(table)
    wrong = table["query"].filter(np.append(False, mine & (rises > 0) & higher)).unique(maintain_order=True)
    if len(wrong):
        found = (lines.path, len(wrong), ids.n_unique(), wrong[0])
        log.warning("%s: RANK contradicts SCORE in %d of %d queries, such as %s; the scores count", *found)


def _steps(table: pl.DataFrame) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.bool_]]:
    """[N - 1] from each row to the next: is it of the same query, how much does the rank rise, is the score higher?"""
    starts = table["query"].rle().struct.field("len").to_numpy().astype(np.int64).cumsum()[:-1]
    mine = np.ones(max(len(table) - 1, 0), np.bool_)
    mine[starts - 1] = False
    score = table["score"].to_numpy()
    return mine, np.diff(table["rank"].to_numpy()), score[1:] > score[:-1]


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

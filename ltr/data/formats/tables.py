"""Judgements, runs, or both at once, from CSV and Parquet: the columns that evaluation knows, under one name each."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ltr.data.formats.trec import bytes_of, file_of, refuse_bytes
from ltr.data.judgements import (
    Unjudged,
    check_assessors,
    checked_labels,
    named,
    refuse_repeats,
    refuse_scores,
    settled,
    short,
)
from ltr.data.ranking_data import LARGEST, DataError

if TYPE_CHECKING:
    import polars as pl

NAMES = {
    "query": ("query", "qid", "query_id", "q"),
    "document": ("document", "doc", "docid", "doc_id", "docno", "item"),
    "label": ("label", "relevance", "rel", "grade"),
    "score": ("score", "prediction"),
    "weight": ("weight",),
}


def read_table(
    path: str | os.PathLike[str], *, assessors: str = "error", unjudged_label: Unjudged = None
) -> pl.DataFrame:
    """Read a table of documents: .csv, .csv.gz or .parquet, one row a document, its columns named in the first row.

    What it holds is told by its columns: query, document and label are judgements; query, document and score are a
    run; query, label and score are both, with or without documents; a table without label and score tells of queries
    (their weights, dates, types). Capitals in names do not matter:

    - query, qid, query_id or q; document, doc, docid, doc_id, docno or item: text, never numbers (12e3, 007 and 1.0
      stay as they were typed);
    - label, relevance, rel or grade: a row without one (an empty cell) was judged by nobody;
    - score or prediction, which may be infinite; weight, of the query;
    - other columns stay as they are; those of a CSV are text.

    Args:
        path: the file.
        assessors, unjudged_label: as ``read_qrels`` takes them; where a table has scores, a document stands once.

    Returns:
        The columns named above that the file has, as query, document (String), label, score, weight (Float64), then
        the others. Rows without any value are left out.

    Raises:
        DataError: with file, line (of a CSV; its names stand in the first) or row (of Parquet, from 1), what was wanted
            and what came.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "shop.csv")
        >>> _ = path.write_text("qid,item,grade,score,market\\n7,007,2,0.5,de\\n7,12e3,,1.5,de\\n")
        >>> read_table(path).rows(named=True)[1]
        {'query': '7', 'document': '12e3', 'label': None, 'score': 1.5, 'market': 'de'}
    """
    import polars as pl

    check_assessors(assessors)
    file = file_of(path)
    name = file.name.lower()
    data = b""
    if name.endswith((".csv", ".csv.gz")):
        data = bytes_of(file)
        cells = _csv(data, file)
    elif name.endswith(".parquet"):
        cells = _parquet(file)
    else:
        raise DataError(f"{file}: wanted a .csv, .csv.gz or .parquet file, came '{file.name}'")
    cells = _renamed(cells, file)
    rows = (~cells.select(pl.all_horizontal(pl.all().is_null())).to_series()).arg_true()
    if not len(rows):
        raise DataError(f"{file}: no rows: wanted one row a document below the column names, came none")
    if len(rows) < len(cells):
        cells = cells[rows]

    def place(row: int) -> str:
        at = int(rows[row])
        return (
            f"{file}, line {next(islice(_records(data, file), 1 + at, None))[0]}" if data else f"{file}, row {at + 1}"
        )

    table = _typed(cells, file, place)
    if "label" in table.columns:
        table = checked_labels(table, cells["label"], unjudged_label, place)
    if "score" in table.columns:
        refuse_scores(table, cells["score"], place)
    if "document" in table.columns:
        if "label" in table.columns and "score" not in table.columns:
            table = settled(table, assessors, place)
        else:
            refuse_repeats(table, place)
    return table.rechunk()


def _renamed(cells: pl.DataFrame, file: Path) -> pl.DataFrame:
    """The columns that evaluation knows under their one name, in the order of NAMES, then the others."""
    found: dict[str, str] = {}
    for role, names in NAMES.items():
        columns = [column for column in cells.columns if column.strip().lower() in names]
        if len(columns) > 1:
            raise DataError(f"{file}: wanted one column for the {role}, came {' and '.join(columns)}")
        if columns:
            found[columns[0]] = role
    if "query" not in found.values():
        wanted = f"{', '.join(NAMES['query'][:-1])} or {NAMES['query'][-1]}"
        raise DataError(
            f"{file}: wanted a column for the query ({wanted}), came columns {short(', '.join(cells.columns))}"
        )
    others = [column for column in cells.columns if column not in found]
    return cells.select(*found, *others).rename(found)


def _typed(cells: pl.DataFrame, file: Path, place: Callable[[int], str]) -> pl.DataFrame:
    """Ids as text and the rest of the known columns as Float64, null where a cell holds no number."""
    import polars as pl

    ids = [column for column in ("query", "document") if column in cells.columns]
    numbers = [column for column in ("label", "score", "weight") if column in cells.columns]
    try:
        table = cells.with_columns(pl.col(ids).cast(pl.String), pl.col(numbers).cast(pl.Float64, strict=False))
    except pl.exceptions.PolarsError as error:
        kinds = ", ".join(f"{column} ({cells[column].dtype})" for column in (*ids, *numbers))
        raise DataError(f"{file}: wanted ids that are text and labels that are numbers, came {kinds}") from error
    for number in numbers:
        if cells[number].dtype.is_integer() and (changed := table[number].cast(pl.Int128) != cells[number]).any():
            row = int(changed.arg_true()[0])
            raise DataError(
                f"{place(row)}: wanted a {number} that float64 tells from its neighbours (to 2^53), "
                f"came {cells[number][row]}"
            )
    for column in ids:
        if table[column].null_count():
            row = int(table[column].is_null().arg_true()[0])
            raise DataError(f"{place(row)}: wanted the id of a {column}, came an empty cell")
    if "weight" in numbers:
        usable = table["weight"].is_between(0, LARGEST) | cells["weight"].is_null()
        wrong = (~usable.fill_null(False)).arg_true()
        if len(wrong):
            row = int(wrong[0])
            raise DataError(
                f"{place(row)}: wanted a weight that is a number from 0 to {LARGEST:g} ({named(table, row)}), "
                f"came '{short(str(cells['weight'][row]))}'"
            )
    return table


def _parquet(file: Path) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"{file}: cannot be read ({str(error).splitlines()[0]})") from error


def _csv(data: bytes, file: Path) -> pl.DataFrame:
    import polars as pl

    text = data.strip(b"\r\n")
    if not text:
        raise DataError(f"{file}: no rows: wanted column names and rows below, came an empty file")
    _, names = next(_records(data, file))
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise DataError(f"{file}: wanted each column name once, came {short(twice)} again")
    try:
        table = pl.read_csv(io.BytesIO(text), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        _check_cells(data, file)
        refuse_bytes(data, file, error)
    full = (table.width - 1) * (text.count(b"\n") + 1)
    if table.to_series(-1).null_count() and (b'"' in text or text.count(b",") != full):
        _check_cells(data, file)  # a row cut short looks as if its last cells were empty
    return table


def _check_cells(data: bytes, file: Path) -> None:
    """Raises DataError when a row has another number of cells than there are column names."""
    records = _records(data, file)
    _, names = next(records)
    for line, cells in records:
        if cells and len(cells) != len(names):
            raise DataError(
                f"{file}, line {line}: wanted {len(names)} cells ({short(', '.join(names))}), "
                f"came {len(cells)}: '{short(','.join(cells))}'"
            )


def _records(data: bytes, file: Path) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, cells) of the names and of each row below; a blank line there has no cells."""
    records = csv.reader(io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="backslashreplace", newline=""))
    line, named = 1, False
    try:
        for cells in records:
            if named or cells:
                yield line, cells
            named, line = named or bool(cells), records.line_num + 1
    except csv.Error as error:
        raise DataError(f"{file}: cannot be read ({error})") from error

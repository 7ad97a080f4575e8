"""Values list by list in a file: CSV, Parquet or JSON, there only once it is whole."""

from __future__ import annotations

import csv
import errno
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

from ltr.evaluation.queries import QueryRow
from ltr.evaluation.tables import QueryValue

FORMS = (".csv", ".parquet", ".json")


def write_rows(
    tables: Mapping[str | None, Iterable[QueryValue] | Iterable[QueryRow]], path: str | os.PathLike[str]
) -> None:
    """Write the rows of per-query tables, one row a query and metric, in one step.

    Columns are the fields of the rows; value is empty (null) where the mean skips the list. JSON is one array of
    objects, NaN in it null.

    Args:
        tables: rows of one kind, of each system by its name, which is a first column then; None: no such column.
        path: ends in .csv, .parquet or .json.

    Raises:
        ValueError: another ending.
        OSError: the file cannot be written.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp(), "values.json")
        >>> write_rows({None: [QueryValue("q1", "ap", 0.5, 3, True, 1.0)]}, path)
        >>> print(path.read_text().strip())
        [{"query": "q1", "metric": "ap", "value": 0.5, "documents": 3, "defined": true, "weight": 1.0}]
    """
    form = Path(path).suffix.lower()
    if form not in FORMS:
        raise ValueError(f"wanted a file that ends in {', '.join(FORMS[:-1])} or {FORMS[-1]}, got {os.fspath(path)!r}")
    rows = [{"system": system, **row._asdict()} for system, table in tables.items() for row in table]
    columns = list(rows[0]) if rows else ["system", *QueryValue._fields]
    columns = columns if set(tables) - {None} else columns[1:]
    with replaced(path) as draft:
        if form == ".csv":
            text = StringIO(newline="")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows([_cell(row[name]) for name in columns] for row in rows)
            draft.write_text(text.getvalue(), encoding="utf-8", newline="")
        elif form == ".json":
            listed = [{name: None if row[name] != row[name] else row[name] for name in columns} for row in rows]
            draft.write_text(json.dumps(listed, ensure_ascii=False) + "\n", encoding="utf-8")
        else:
            import polars as pl

            schema: dict[str, Any] = dict.fromkeys(columns, pl.String)
            schema |= dict.fromkeys(["value", "weight", "unjudged", "selection", "order"], pl.Float64)
            schema |= {"documents": pl.Int64, "defined": pl.Boolean, "tied": pl.Boolean}
            schema = {name: schema[name] for name in columns}
            pl.DataFrame([[row[name] for name in columns] for row in rows], schema, orient="row").write_parquet(draft)


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft beside the file, which takes its place in one step when the block ends, and goes when it fails.

    Raises:
        OSError: the file cannot be written; named is the file, not the draft.
    """
    draft = Path(f"{os.fspath(path)}.{os.getpid()}.part")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        code = error.errno or errno.EIO
        raise OSError(code, os.strerror(code), os.fspath(path)) from error
    finally:
        draft.unlink(missing_ok=True)


def _cell(value: Any) -> Any:
    """None as an empty cell, and the words for yes and no that a run folder's tables have."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else value

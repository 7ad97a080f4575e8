"""Tables of judgements and answers: what they may hold, and what several judgements of one document come to.

Rows are named in messages by ``place(row)``, such as 'qrels.txt, line 7'.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from ltr.data.ranking_data import LARGEST, DataError

if TYPE_CHECKING:
    import polars as pl

log = logging.getLogger(__name__)

Unjudged = float | Literal["negative"] | None  # the label that says that nobody judged: a number, or any below 0

PAIR = ("query", "document")
ASSESSORS = ("error", "max", "majority", "majority_higher", "mean", "median", "last")


def check_assessors(assessors: str) -> None:
    if assessors not in ASSESSORS:
        raise DataError(f"assessors must be {', '.join(ASSESSORS[:-1])} or {ASSESSORS[-1]}, got {assessors!r}")


def checked_labels(
    table: pl.DataFrame, typed: pl.Series, unjudged_label: Unjudged, place: Callable[[int], str]
) -> pl.DataFrame:
    """The table with null for the label that says that nobody judged; typed are the labels as they came.

    Raises:
        DataError: another label is not a number from 0 to 1e30.
    """
    import polars as pl

    label = table["label"]
    unjudged = typed.is_null()
    if unjudged_label is not None:
        unjudged |= label < 0 if unjudged_label == "negative" else label == unjudged_label
    wrong = ~(label.is_between(0, LARGEST) | unjudged).fill_null(False)
    if wrong.any():
        row = int(wrong.arg_true()[0])
        advice = ""
        if label[row] is not None and label[row] < 0:
            advice = f"; say unjudged_label={label[row]:g} if a negative label marks documents that nobody judged"
        raise DataError(
            f"{place(row)}: wanted a label that is a number from 0 to {LARGEST:g} ({named(table, row)}), "
            f"came '{short(str(typed[row]))}'{advice}"
        )
    return table.with_columns(pl.when(~unjudged).then(label).alias("label")) if unjudged.any() else table


def refuse_scores(table: pl.DataFrame, typed: pl.Series, place: Callable[[int], str]) -> None:
    """Raises DataError when a score is not a number, or too large for one; typed are the scores as they came."""
    import polars as pl

    wrong = table["score"].is_null() | table["score"].is_nan()
    if wrong.any():
        row = int(wrong.arg_true()[0])
        came = "an empty cell" if typed[row] is None else f"'{short(str(typed[row]))}'"
        raise DataError(f"{place(row)}: wanted a score that is a number ({named(table, row)}), came {came}")
    if typed.dtype == pl.String and (large := table["score"].is_infinite()).any():
        large &= ~typed.str.contains("(?i)inf")
        if large.any():
            row = int(large.arg_true()[0])
            raise DataError(
                f"{place(row)}: wanted a score that a 64-bit float holds, or inf ({named(table, row)}), "
                f"came '{short(typed[row])}'"
            )


def settled(table: pl.DataFrame, assessors: str, place: Callable[[int], str]) -> pl.DataFrame:
    """One row a document, with the label that its judgements come to; other columns are those of its first row.

    Raises:
        DataError: with assessors="error", different labels of one document; both rows are named.
    """
    import polars as pl

    again = _repeats(table)
    if again is None:
        return table
    label = pl.col("label").drop_nulls()
    rules = {
        "error": label.first(),
        "max": label.max(),
        "majority": label.mode().min(),
        "majority_higher": label.mode().max(),
        "mean": label.mean(),
        "median": label.median(),
        "last": label.last(),
    }
    others = [name for name in table.columns if name not in (*PAIR, "label")]
    if assessors == "error":
        _refuse_difference(table, place)
        where, what = _first_repeat(table, again, place)
        log.warning("%s: %s (%d such in all); each document counts once", where, what, again.sum())
    rows = table.group_by(PAIR, maintain_order=True).agg(rules[assessors].alias("label"), pl.col(others).first())
    return rows.select(table.columns)


def refuse_repeats(table: pl.DataFrame, place: Callable[[int], str]) -> None:
    """Raises DataError when a document stands twice in a query; both rows are named."""
    again = _repeats(table)
    if again is not None:
        where, what = _first_repeat(table, again, place)
        raise DataError(f"{where}: wanted each document once in a query, came {what}")


def named(table: pl.DataFrame, row: int) -> str:
    """The ids of a row: 'query q1, document d7'."""
    return ", ".join(f"{name} {table[name][row]}" for name in PAIR if name in table.columns)


def short(text: str) -> str:
    """What came, on one line of at most 60 characters."""
    text = text.replace("\n", "\\n").replace("\r", "\\r")
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse_difference(table: pl.DataFrame, place: Callable[[int], str]) -> None:
    import polars as pl

    known = table.with_row_index("row").drop_nulls("label")
    known = known.with_columns(pl.col("row", "label").first().over(PAIR).name.suffix("_first"))
    different = known.filter(pl.col("label") != pl.col("label_first")).head(1)
    if len(different):
        found = different.to_dicts()[0]
        raise DataError(
            f"{place(found['row'])}: wanted one judgement of document {found['document']} of query {found['query']}, "
            f"came label {found['label']:g} after {found['label_first']:g} in {_near(place(found['row_first']))}; "
            f"say assessors={', '.join(ASSESSORS[1:-1])} or {ASSESSORS[-1]}"
        )


def _first_repeat(table: pl.DataFrame, again: pl.Series, place: Callable[[int], str]) -> tuple[str, str]:
    """Where a document stands again, and which one that is."""
    row = int(again.arg_true()[0])
    query, document = table.select(PAIR).row(row)
    first = int(((table["query"] == query) & (table["document"] == document)).arg_true()[0])
    return place(row), f"document {document} of query {query} again, first in {_near(place(first))}"


def _near(place: str) -> str:
    """'line 7' of 'file, line 7': what one writes beside another line of that file."""
    return place.rpartition(", ")[2]


def _repeats(table: pl.DataFrame) -> pl.Series | None:
    """[N] True for a row whose query and document came before; None where all rows differ, which is told quickly."""
    import polars as pl

    keys = np.sort(table.select(pl.col("query").hash(1) ^ pl.col("document").hash(2)).to_series().to_numpy())
    if not (keys[1:] == keys[:-1]).any():
        return None
    again = ~table.select(pl.struct(PAIR).is_first_distinct()).to_series()
    return again if again.any() else None

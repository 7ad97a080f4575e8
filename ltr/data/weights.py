"""Weights of lists, from a file: one ``query-id weight`` a line."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from ltr.data.files import files_of, lines_of, text_of
from ltr.data.ranking_data import LARGEST, DataError, RankingData, weighted


def apply_weights(
    path: str | os.PathLike[str], data: Sequence[RankingData], *, others: bool = False
) -> list[RankingData]:
    """The same data sets with the weights of a file, which serves all of them.

    Every query of every data set needs a line; blank lines and lines that start with ``#`` are passed over. A weight
    multiplies the list's loss and its part in every mean.

    Args:
        path: the file.
        data: the data sets.
        others: may the file name queries of data sets that are not here? False: every line needs a query in one of
            these, so that a slip of the pen is found.

    Raises:
        DataError: with file and line: a line of another form, a weight that is not a number from 0 to 1e30, a
            query named twice, or unknown where others is False; with the query: one that has no weight.
    """
    (file,) = files_of(path)
    weights: dict[str, float] = {}
    lines: dict[str, int] = {}
    for number, raw in lines_of(file):
        fields = text_of(raw, file, number).split()
        if not fields or fields[0].startswith("#"):
            continue
        at = f"{file}, line {number}: "
        if len(fields) != 2:
            raise DataError(f"{at}wanted 'query-id weight', came '{' '.join(fields)}'")
        query, typed = fields
        try:
            weight = float(typed)
        except ValueError:
            weight = math.nan
        if not 0 <= weight <= LARGEST:
            raise DataError(
                f"{at}wanted a weight that is a number from 0 to {LARGEST:g} (query {query}), came '{typed}'"
            )
        if query in lines:
            raise DataError(f"{at}wanted each query once, came {query} again, first in line {lines[query]}")
        weights[query], lines[query] = weight, number
    known = {query for part in data for query in part.query_ids}
    for query, number in lines.items():
        if query not in known and not others:
            sources = ", ".join(dict.fromkeys(part.source for part in data))
            raise DataError(f"{file}, line {number}: query {query} is in none of the data ({sources})")
    return [weighted(part, weights, str(file)) for part in data]

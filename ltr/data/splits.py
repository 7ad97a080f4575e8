"""Splits: the unit is the query, and the same seed gives the same parts in whatever order the rows stand."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ltr.data.ranking_data import DataError, RankingData

log = logging.getLogger(__name__)


def split_by_query(data: RankingData, parts: Sequence[float], seed: int) -> tuple[RankingData, ...]:
    """Deal whole queries into parts at random; each part keeps the order of the data.

    The query ids are sorted, then shuffled by the seed, then cut: the order of rows and queries has no influence.

    Args:
        data: what to split.
        parts: fractions that add up to 1, or whole numbers of queries that add up to all of them.
        seed: of the shuffle.

    Raises:
        DataError: the parts do not add up, or one would be left without a query.

    Example:
        >>> data = RankingData.from_arrays([[1.0]] * 5, queries=["a", "a", "b", "c", "d"])
        >>> [part.query_ids for part in split_by_query(data, [0.5, 0.5], seed=1)]
        [('a', 'b'), ('c', 'd')]
    """
    total = len(data.query_ids)
    counts = all(float(part).is_integer() for part in parts)
    wanted = total if counts and sum(parts) != 1 else 1
    if not parts or min(parts) < 0 or abs(sum(parts) - wanted) > 1e-9:
        raise DataError(
            f"{data.source}: wanted parts that are fractions of 1 or numbers of its {total} queries, came {list(parts)}"
        )
    ends = [0, *np.round(np.cumsum(parts) / wanted * total).astype(int).tolist()]
    order = sorted(range(total), key=data.query_ids.__getitem__)
    shuffled = np.array(order, dtype=np.int64)[np.random.default_rng(seed).permutation(total)]
    chosen = [np.sort(shuffled[start:end]) for start, end in pairwise(ends)]
    if not all(map(len, chosen)):
        raise DataError(f"{data.source}: {total} queries in parts of {list(parts)} leave a part without a query")
    return tuple(data.select(places) for places in chosen)


def hold_out(data: RankingData, part: float, seed: int) -> tuple[RankingData, RankingData]:
    """(what to train on, what to validate on): a fraction of the queries below 1, or a number of queries from 1 on.

    Raises:
        DataError: the part is not positive, or leaves no query on one side.
    """
    total = len(data.query_ids)
    if part <= 0:
        raise DataError(f"{data.source}: wanted a fraction or a number of queries to hold out, came {part:g}")
    count = max(1, round(part * total)) if part < 1 else part
    kept, held = split_by_query(data, [total - count, count], seed)
    log.info("%s: %d of %d queries split off for validation (seed %d)", data.source, count, total, seed)
    return kept, held

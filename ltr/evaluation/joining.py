"""A run beside judgements: which documents were returned, which of them somebody judged, and what was left behind."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from ltr.data.formats.trec import Run
from ltr.data.judgements import checked_labels, refuse_scores
from ltr.data.ranking_data import DataError
from ltr.evaluation.columns import Attributes, Texts, among, attributes_of, ids_and_numbers, matched, places, together
from ltr.evaluation.lists import RankedLists

if TYPE_CHECKING:
    import polars as pl

log = logging.getLogger(__name__)

QUERIES = ("judged", "intersection", "strict")


def join(
    qrels: pl.DataFrame,
    run: pl.DataFrame | Run,
    *,
    queries: str = "judged",
    depth: int | None = None,
    source: str = "run",
    judgements: str = "the judgements",
) -> RankedLists:
    """What the run returned beside what the judgements say.

    Args:
        qrels: query, document, label (null: nobody judged), as ``read_qrels`` and ``read_table`` give them.
        run: query, document, score, as ``read_run`` and ``read_table`` give them.
        queries: "judged": those of the judgements, and one that the run lacks has no rows; "intersection": those of
            both; "strict": both must have the same.
        depth: only the first so many documents of each query count as returned (by score, then by descending id).
        source: what messages name.
        judgements: and what they name for labels.

    Other columns of the two tables, where they are one value a query, become attributes; weight is the weight. What
    both have is that of the judgements.

    Raises:
        DataError: no query in common, a query of one side only where strict, a document twice in a query, no table, a
            column that lacks or holds what it must not.

    Warns, in the log, when nobody judged any document that the run returned: the ids may be of two kinds.

    Example:
        >>> import polars as pl
        >>> qrels = pl.DataFrame({"query": ["a", "a", "b"], "document": ["x", "y", "x"], "label": [1, 2, 3]})
        >>> run = pl.DataFrame({"query": ["a", "a"], "document": ["z", "x"], "score": [0.9, 0.4]})
        >>> lists = join(qrels, run)
        >>> lists.relevance.tolist(), lists.judged.tolist(), lists.pool.tolist(), lists.missing
        ([0.0, 1.0], [False, True], [1.0, 2.0, 3.0], ('b',))
    """
    if queries not in QUERIES:
        raise DataError(f"{source}: queries must be {', '.join(QUERIES[:-1])} or {QUERIES[-1]}, got {queries!r}")
    graded = ids_and_numbers(qrels, ("query", "document", "label"), f"{source}: the judgements")
    answers = ids_and_numbers(
        run.table if isinstance(run, Run) else run, ("query", "document", "score"), f"{source}: the run"
    )
    checked_labels(graded, graded["label"], None, lambda row: f"{source}: the judgements, row {row}")
    refuse_scores(answers, answers["score"], lambda row: f"{source}: the run, row {row}")
    query_ids, place = places(graded["query"])
    group = among(answers["query"], query_ids)
    present = np.bincount(group[group >= 0], minlength=len(query_ids)) > 0
    missing = tuple(query_ids[at] for at in np.flatnonzero(~present))
    extra = tuple(answers["query"].filter(group < 0).unique(maintain_order=True))
    if not present.any():
        raise DataError(
            f"{source}: no query in common: the judgements have {_some(query_ids)}, the run has {_some(extra)}"
        )
    if queries == "strict" and (missing or extra):
        raise DataError(
            f"{source}: wanted the same queries on both sides (queries=strict), came queries that the run lacks: "
            f"{_some(missing)}; that nobody judged: {_some(extra)}"
        )
    label = graded["label"].fill_null(np.nan).to_numpy()
    beside = answers.with_columns(place=np.where(group < 0, len(query_ids), group))
    found = matched(beside, graded.with_columns(place=place), source)
    relevance = np.where(found >= 0, label[found], np.nan)
    if queries == "intersection" and missing:
        graded, label = graded.filter(present[place]), label[present[place]]
        query_ids = tuple(query_ids[at] for at in np.flatnonzero(present))
        place, group = among(graded["query"], query_ids), among(answers["query"], query_ids)
    if extra:
        answers, relevance, group = answers.filter(group >= 0), relevance[group >= 0], group[group >= 0]
    known = ~np.isnan(relevance)
    if not known.any() and (found < 0).all():
        judged, returned = graded["document"][int(np.argmax(place == group[0]))], answers["document"][0]
        log.warning(
            "%s: nobody judged a document that the run returned; in query %s, for one, the judgements have document %s "
            "and the run has %s: are these ids of one kind?",
            *(source, query_ids[group[0]], judged, returned),
        )
    order, offsets = together(group, len(query_ids))
    pooled = ~np.isnan(label)
    pool, (pool_order, pool_offsets) = label[pooled], together(place[pooled], len(query_ids))
    whole = len(pool) == known.sum()  # every judged document was returned
    lists = RankedLists(
        query_ids=query_ids,
        offsets=offsets,
        score=answers["score"].to_numpy(writable=True),
        relevance=np.where(known, relevance, 0.0),
        weight=np.ones(len(query_ids)),
        source=source,
        judgements=judgements,
        judged=None if known.all() else known,
        pool=None if whole else pool if pool_order is None else pool[pool_order],
        pool_offsets=None if whole else pool_offsets,
        documents=Texts(answers["document"]),
        missing=missing,
        extra=extra,
    )
    lists = lists if order is None else lists._take(order, offsets)
    before, after = attributes_of(answers, group, query_ids), attributes_of(graded, place, query_ids)
    lists = lists._about(Attributes({**before, **after}, {**before.varying, **after.varying}))
    return lists if depth is None else lists.top(depth)


def _some(query_ids: tuple[str, ...]) -> str:
    more = f" and {len(query_ids) - 3} more" if len(query_ids) > 3 else ""
    return (", ".join(query_ids[:3]) or "none") + more

"""The table of flat arrays: labels, scores and query ids, one row a document."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ltr.data import DataError
from ltr.data.judgements import Unjudged
from ltr.evaluation.aggregates import How
from ltr.evaluation.columns import Attributes, attributes_of, grouped, numbers, plain
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.padding import Doubles, Flags
from ltr.evaluation.results import USUAL, Evaluation, evaluate_lists, preset_named
from ltr.metrics import RankingMetric
from ltr.metrics.presets import Preset

if TYPE_CHECKING:
    from ltr.losses import Surrogate

SOURCE = "arrays"  # what messages name
GRADES = 10  # different labels that a scale has at most
TOP = 31  # and the highest of them


class SwappedWarning(UserWarning):
    """Labels and scores look as if they had changed places."""


def evaluate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    qid: Any = None,
    metrics: str | RankingMetric | Sequence[str | RankingMetric] = USUAL,
    *,
    weight: ArrayLike | None = None,
    judged: ArrayLike | None = None,
    documents: Any = None,
    unjudged_label: Unjudged = None,
    preset: str | Preset | None = None,
    aggregate: How = "mean",
    by: Mapping[str, Any] | None = None,
    losses: str | Surrogate | Sequence[str | Surrogate] = (),
    seed: int = 0,
) -> Evaluation:
    """Exact metrics of flat arrays, one row a document, in any order of rows.

    Args:
        y_true: [N] labels from 0 to 1e30.
        y_score: [N] larger is better; may be infinite.
        qid: [N] query ids of any kind; None: all rows are one list.
        metrics: names or metrics.
        weight: [N], the same within a query, or [Q] in order of first appearance: what a query counts in a mean.
        judged: [N] True or False: did anybody judge the document? The labels of the others are not read.
        documents: [N] document ids, which decide ties by id.
        unjudged_label: the label of documents that nobody judged, such as -1; "negative": any below 0; None: the
            preset's, or none.
        preset: another program's conventions: "trec_eval", "letor", "lightgbm", "sklearn", ...
        aggregate: what the values come to: "mean", "micro", "median", "geometric" or "min".
        by: name -> [N], the same within a query, or [Q] in order of first appearance: the table shows the slices of
            each of these attributes too.
        losses: surrogates to stand beside the metrics: names of ``ltr list losses``, or surrogates.
        seed: of intervals that resample.

    Raises:
        DataError: sizes differ, or a label, score, weight, id or another argument is refused.
        ValueError: no metric, an unknown metric, preset or loss, or as ``per_query`` says.

    Warns:
        SwappedWarning: most labels are fractions, and the scores a few whole numbers.

    Example:
        >>> table = evaluate([0, 1, 0, 2, 0], [0.9, 0.1, 0.2, 0.6, 0.5], qid=["a", "a", "b", "b", "b"], metrics=["mrr"])
        >>> table.per_query("mrr")
        {'a': 0.5, 'b': 1.0}
        >>> print(table)
        metric    mean     95 % interval  n   floor  ceiling      sd      se
        mrr     0.7500  0.5000 to 1.0000  2  0.6806   1.0000  0.3536  0.2500
        <BLANKLINE>
        mrr relevant=y>=1 ideal=judged unjudged=zero ties=average empty=skip
    """
    labels, scores = numbers(y_true, "labels", SOURCE), numbers(y_score, "scores", SOURCE)
    if _swapped(labels, scores):
        warnings.warn(
            f"y_true has {len(np.unique(labels))} different values, most of them fractions, and y_score a few whole "
            "numbers: the labels come first, then the scores",
            SwappedWarning,
            stacklevel=2,
        )
    rules = preset_named(preset)
    if unjudged_label is None and rules is not None:
        unjudged_label = rules.unjudged_label
    known = _judged(judged, labels, unjudged_label)
    lists = RankedLists.from_arrays(labels, scores, qid, weight=weight, judged=known, documents=documents)
    if by is not None:
        lists = replace(lists, attributes=_attributes(by, qid, len(labels)))
    sliced = tuple(by or ())
    return evaluate_lists(lists, metrics, preset=rules, aggregate=aggregate, by=sliced, losses=losses, seed=seed)


def _swapped(labels: Doubles, scores: Doubles) -> bool:
    """Are most labels fractions, and the scores grades?"""
    if not len(labels) or (labels == np.rint(labels)).mean() > 0.5:
        return False
    if not ((scores >= 0) & (scores <= TOP) & (scores == np.rint(scores))).all():
        return False
    return len(np.unique(scores)) <= min(GRADES, len(np.unique(labels)) - 1)


def _judged(judged: ArrayLike | None, labels: Doubles, unjudged_label: Unjudged) -> Flags:
    """[N] which documents somebody judged, by the flags and by the label that says that nobody did."""
    flags = np.ones(len(labels), np.bool_) if judged is None else plain(judged)
    if flags.shape != labels.shape:
        raise DataError(f"{SOURCE}: wanted judged for each of {len(labels)} rows, came shape {list(flags.shape)}")
    if flags.dtype != np.bool_:
        strange = [each for each in flags.tolist() if each not in (0, 1)]
        if strange:
            raise DataError(f"{SOURCE}: wanted judged as True or False, came {strange[0]!r}")
        flags = flags.astype(np.bool_)
    mark: Any = unjudged_label
    if mark is None:
        return flags
    if mark == "negative":
        return flags & ~(labels < 0)
    if isinstance(mark, bool) or not isinstance(mark, Real):
        raise DataError(f"{SOURCE}: wanted unjudged_label as a number or 'negative', came {mark!r}")
    return flags & ~(np.isnan(labels) if mark != mark else labels == mark)


def _attributes(by: Mapping[str, Any], qid: Any, rows: int) -> Attributes:
    import polars as pl

    query_ids, group = (("0",), np.zeros(rows, np.int64)) if qid is None else grouped(qid, rows, SOURCE)
    if not isinstance(by, Mapping):
        raise DataError(f"{SOURCE}: wanted by as a dictionary, name -> one value a row or a query, came {by!r}")
    for name, values in by.items():
        if not isinstance(name, str) or isinstance(values, str | Mapping | Set):
            raise DataError(
                f"{SOURCE}: wanted by as name -> one value a row or a query, in order, came {name!r}: {values!r}"
            )
    columns = {name: plain(values) for name, values in by.items()}
    for name, column in columns.items():
        if column.shape not in ((rows,), (len(query_ids),)):
            raise DataError(
                f"{SOURCE}: wanted {name} for each of {rows} rows or {len(query_ids)} queries, "
                f"came shape {list(column.shape)}"
            )
        columns[name] = column if len(column) == rows else column[group]
    table = {name: column.tolist() for name, column in columns.items()}
    return attributes_of(pl.DataFrame(table, strict=False), group, query_ids)

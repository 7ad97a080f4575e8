"""data=letor: your own LETOR / SVMlight files."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ltr.data.files import Paths
from ltr.data.formats.letor import read_letor
from ltr.data.ranking_data import DataError, RankingData, Splits
from ltr.data.splits import split_by_query
from ltr.data.weights import apply_weights

log = logging.getLogger(__name__)


def letor(
    train: Paths,
    validation: Paths | None = None,
    test: Paths | None = None,
    *,
    index_base: int = 1,
    scattered: str = "gather",
    labels: Mapping[float, float] | None = None,
    weights: str | os.PathLike[str] | None = None,
    holdout: float = 0.2,
    split_seed: int = 0,
) -> Splits:
    """Read the splits of a data set from files; the number of features is that of the training files.

    Without validation files, part of the training queries is split off, whole queries at random. See read_letor for
    the format, and for what a path may be.

    Args:
        train, validation, test: paths; a feature of validation or test that training has not is an error.
        index_base: the index of the first feature, 1 or 0, in all files.
        scattered: rows of a query that come apart: "gather" or "error".
        labels: label in the files -> label to use, for every label that occurs; None uses them as they are.
        weights: a file of ``query-id weight`` lines that names every query of all splits.
        holdout: without validation files: the fraction of training queries to validate on, or their number from 1 on.
        split_seed: which queries these are.

    Raises:
        DataError: what read_letor, apply_weights and split_by_query refuse, or a label that the map lacks.
    """
    data = [read_letor(train, index_base=index_base, scattered=scattered)]
    width = data[0].features.shape[1]
    for paths in (validation, test):
        if paths is not None:
            data.append(read_letor(paths, index_base=index_base, scattered=scattered, width=width))
    if labels is not None:
        data = [_mapped(part, labels) for part in data]
    if weights is not None:
        data = apply_weights(weights, data)
    held_out = None if test is None else data.pop()
    if validation is not None:
        return Splits(data[0], data[1], held_out)
    kept, checked = hold_out(data[0], holdout, split_seed)
    return Splits(kept, checked, held_out)


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


def _mapped(data: RankingData, labels: Mapping[float, float]) -> RankingData:
    known = {float(label): float(value) for label, value in labels.items()}
    distinct, place = np.unique(data.relevance, return_inverse=True)
    missing = [label for label in distinct.tolist() if label not in known]
    if missing:
        raise DataError(f"{data.source}: the label map has no entry for label {missing[0]:g}")
    return replace(data, relevance=np.array([known[label] for label in distinct.tolist()])[place])

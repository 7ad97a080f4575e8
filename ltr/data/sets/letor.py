"""data=letor: your own LETOR / SVMlight files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ltr.data.files import Paths
from ltr.data.formats.letor import read_letor
from ltr.data.ranking_data import Splits
from ltr.data.splits import hold_out
from ltr.data.weights import apply_weights


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
        labels: label in the files -> label to use, for every label that occurs; None uses them as they are. On a
            command line: ``'data.labels={0:0,50:1,100:2}'``, in quotes.
        weights: a file of ``query-id weight`` lines that names every query of all splits.
        holdout: without validation files: the fraction of training queries to validate on, or their number from 1 on.
        split_seed: which queries these are.

    Raises:
        DataError: what read_letor, apply_weights and hold_out refuse.
    """
    data = [read_letor(train, index_base=index_base, scattered=scattered, labels=labels)]
    width = data[0].features.shape[1]
    for paths in (validation, test):
        if paths is not None:
            data.append(read_letor(paths, index_base=index_base, scattered=scattered, width=width, labels=labels))
    if weights is not None:
        data = apply_weights(weights, data)
    held_out = None if test is None else data.pop()
    if validation is not None:
        return Splits(data[0], data[1], held_out)
    kept, checked = hold_out(data[0], holdout, split_seed)
    return Splits(kept, checked, held_out)

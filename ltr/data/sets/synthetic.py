"""data=synthetic: a seeded set whose truth is known, for tests and tours."""

from __future__ import annotations

import numpy as np

from ltr.data.ranking_data import DataError, Doubles, Floats, RankingData, Splits

SIGNAL = 4  # the first features carry the signal, all others are noise
SHARES = (0.55, 0.75, 0.88, 0.96)  # of the documents below grade 1, 2, 3, 4


def true_score(features: Floats) -> Doubles:
    """x1 + x2 / 2 + x3 * x4, per row of [N, F]: two linear parts and one that a linear model cannot see."""
    x = features.astype(np.float64)
    return np.asarray(x[:, 0] + x[:, 1] / 2 + x[:, 2] * x[:, 3])


def synthetic(queries: int = 200, documents: int = 20, features: int = 20, noise: float = 0.3, seed: int = 0) -> Splits:
    """Lists of standard normal features with grades 0 to 4 by the quantiles of true_score + noise.

    The grades cut the noisy scores of all documents of all splits at their 55, 75, 88 and 96 % quantiles. Lengths are
    uniform from 1 to 2 * documents - 1. In each split every tenth list, from the fourth on, has nothing relevant.
    Queries are dealt 60 : 20 : 20 to train, validation and test.

    Args:
        queries: number of lists in all, at least 5.
        documents: mean length of a list, at least 1.
        features: at least 4; the first 4 carry the signal.
        noise: standard deviation of the normal noise on the true score, whose own is 1.5; 0 = grades follow it exactly.
        seed: of everything.

    Raises:
        DataError: an argument below its least value.

    Example:
        >>> train, validation, test = synthetic(queries=10, documents=5, features=6)
        >>> len(train.query_ids), train.features.shape[1], sorted(set(train.relevance)) <= [0, 1, 2, 3, 4]
        (6, 6, True)
    """
    for name, value, least in (
        ("queries", queries, 5),
        ("documents", documents, 1),
        ("features", features, SIGNAL),
        ("noise", noise, 0),
    ):
        if not value >= least:
            raise DataError(f"synthetic: wanted {name} of at least {least}, came {value}")
    generator = np.random.default_rng(seed)
    lengths = generator.integers(1, 2 * documents, size=queries)
    matrix = generator.standard_normal((int(lengths.sum()), features), dtype=np.float32)
    score = true_score(matrix) + noise * generator.standard_normal(len(matrix))
    grades = np.searchsorted(np.quantile(score, SHARES), score, side="right").astype(np.float64)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    data = RankingData(
        features=matrix,
        relevance=grades,
        offsets=offsets,
        query_ids=tuple(f"q{query}" for query in range(queries)),
        document_ids=None,
        row=np.arange(len(matrix)),
        weight=np.ones(queries),
        labelled=True,
        source="synthetic",
    )
    cut = queries * 3 // 5, queries * 4 // 5
    for start, end in ((0, cut[0]), (cut[0], cut[1]), (cut[1], queries)):
        for blank in range(start + 3, end, 10):
            grades[offsets[blank] : offsets[blank + 1]] = 0
    return Splits(*(data.select(part) for part in np.split(np.arange(queries), cut)))

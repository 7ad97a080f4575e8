"""Many lists at once have the values that each has alone: 8,000 lists of 40 documents, six metrics in one call.

The size and the metrics are those of reports about slow metrics: Lightning-AI/torchmetrics/issues/2287, 1241 and 889,
Lightning-AI/pytorch-lightning/issues/16113.
"""

from pathlib import Path

import numpy as np
import pytest

import ltr
from ltr.data.formats.trec import read_qrels, read_run
from ltr.evaluation import RankedLists, evaluate_lists, join
from ltr.metrics import parse

LISTS, LONG = 8000, 40
NAMES = ("ndcg@1", "ndcg@5", "ndcg@10", "map", "mrr", "recall@10")

Arrays = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def arrays() -> Arrays:
    """Labels 0 to 4 and scores, [LISTS, LONG]; in every eighth list nothing is relevant."""
    generator = np.random.default_rng(0)
    labels, scores = generator.integers(0, 5, (LISTS, LONG)), generator.standard_normal((LISTS, LONG))
    labels[::8] = 0
    return labels, scores


@pytest.fixture(scope="module")
def expected(arrays: Arrays) -> dict[str, np.ndarray]:
    """Name -> [LISTS] by sorting each row; NaN where nothing is relevant."""
    labels, scores = arrays
    ranked = np.take_along_axis(labels, np.argsort(-scores, axis=1), axis=1)
    ideal = -np.sort(-labels, axis=1)
    rank = np.arange(1, LONG + 1)
    found = {}
    with np.errstate(invalid="ignore"):
        for k in (1, 5, 10):
            dcg, best = (((2.0**each - 1) / np.log2(1 + rank))[:, :k].sum(1) for each in (ranked, ideal))
            found[f"ndcg@{k}"] = dcg / best
        hit = ranked >= 1
        total = hit.sum(1)
        found["map"] = (hit * hit.cumsum(1) / rank).sum(1) / total
        found["mrr"] = np.where(total > 0, 1 / (1 + hit.argmax(1)), np.nan)
        found["recall@10"] = hit[:, :10].sum(1) / total
    return found


def check(table: ltr.evaluation.Evaluation, expected: dict[str, np.ndarray], places: np.ndarray | None = None) -> None:
    for name, wanted in expected.items():
        values = table[name]
        wanted = wanted if places is None else wanted[places]
        assert np.array_equal(values.defined, ~np.isnan(wanted))
        assert np.allclose(values.value[values.defined], wanted[values.defined], rtol=0, atol=1e-12)
        assert values.summary().value == pytest.approx(np.nanmean(wanted), abs=1e-12)
        assert values.summary().undefined == np.isnan(wanted).sum()


def test_flat_arrays(arrays: Arrays, expected: dict[str, np.ndarray]) -> None:
    labels, scores = arrays
    check(ltr.evaluate(labels.ravel(), scores.ravel(), np.repeat(np.arange(LISTS), LONG), NAMES), expected)


def test_each_list_alone(arrays: Arrays, expected: dict[str, np.ndarray]) -> None:
    labels, scores = arrays
    for name in NAMES:
        for place in range(1, LISTS, 401):
            value = parse(name)(scores[place], labels[place]).item()
            assert value == pytest.approx(np.nan_to_num(expected[name][place]), abs=1e-12)


def test_rows_in_any_order(arrays: Arrays, expected: dict[str, np.ndarray]) -> None:
    labels, scores = arrays
    order = np.random.default_rng(1).permutation(LISTS * LONG)
    group = np.repeat(np.arange(LISTS), LONG)[order]
    lists = RankedLists.from_arrays(labels.ravel()[order], scores.ravel()[order], group)
    check(evaluate_lists(lists, NAMES), expected, np.array([int(query) for query in lists.query_ids]))


def test_files_of_320_000_lines(arrays: Arrays, expected: dict[str, np.ndarray], tmp_path: Path) -> None:
    labels, scores = arrays
    with (tmp_path / "qrels").open("w") as qrels, (tmp_path / "run").open("w") as run:
        for query, (grades, row) in enumerate(zip(labels.tolist(), scores.tolist(), strict=True)):
            qrels.writelines(f"{query} 0 d{at} {grade}\n" for at, grade in enumerate(grades))
            run.writelines(f"{query} Q0 d{at} 1 {row[at]!r} t\n" for at in np.argsort(-scores[query]))
    lists = join(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run").table)
    assert lists.query_ids == tuple(map(str, range(LISTS)))
    assert (len(lists.score), lists.judged, lists.missing, lists.extra) == (LISTS * LONG, None, (), ())
    check(evaluate_lists(lists, NAMES), expected)

"""Faults of evaluation that users of ranking tools reported in public, each as a small input with the right value.

What needs no more than a metric and one list is in tests/metrics/test_field_reports.py.
"""

import re
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ltr
from ltr.data import DataError
from ltr.data.formats.trec import read_qrels, read_run
from ltr.evaluation import Evaluation, evaluate_lists, join


def evaluated(folder: Path, qrels: str, run: str, metrics: list[str], **options: Any) -> Evaluation:
    """The table of two files' texts."""
    (folder / "qrels").write_text(qrels)
    (folder / "run").write_text(run)
    return evaluate_lists(join(read_qrels(folder / "qrels"), read_run(folder / "run").table), metrics, **options)


def of_lists(*lists: tuple[str, list[float], list[float]]) -> dict[str, list[Any]]:
    """Flat arrays of lists of (query, labels, scores)."""
    rows = [(query, y, s) for query, labels, scores in lists for y, s in zip(labels, scores, strict=True)]
    qid, y_true, y_score = (list(column) for column in zip(*rows, strict=True))
    return {"y_true": y_true, "y_score": y_score, "qid": qid}


WEIGHTED = of_lists(("a", [1, 0], [2, 1]), ("b", [0, 0, 1], [3, 2, 1]), ("c", [0, 0, 0, 1], [4, 3, 2, 1]))
THREE = of_lists(("z", [1, 0], [2, 1]), ("a", [0, 1], [2, 1]), ("m", [0, 0, 1], [3, 2, 1]))


@pytest.mark.parametrize("weight", [[1, 3, 4], [1] * 2 + [3] * 3 + [4] * 4])
def test_metric_01_query_weights(weight: list[int]) -> None:
    """dmlc/xgboost/issues/8708, 4168 and 11633: one a query, or the same on all of its rows."""
    table = ltr.evaluate(**WEIGHTED, metrics=["ndcg@3"], weight=weight)
    assert table.summaries[0].value == pytest.approx(0.3125)
    assert list(table.per_query("ndcg@3").values()) == pytest.approx([1.0, 0.5, 0.0])


def test_metric_01_weights_that_differ_within_a_query() -> None:
    with pytest.raises(DataError, match=r"weight.*query b"):
        ltr.evaluate(**WEIGHTED, metrics=["ndcg@3"], weight=[1, 1, 3, 3, 2, 4, 4, 4, 4])


@pytest.mark.parametrize("labels", [[-1, 2, 0], [-1.5, -0.5, 0.5]])
def test_metric_02_and_26_negative_labels(labels: list[float]) -> None:
    """tensorflow/ranking/issues/305, scikit-learn/scikit-learn/issues/17639."""
    message = f"arrays, row 0 (query 0): wanted a label that is a number from 0 to 1e+30, came {labels[0]:g}"
    with pytest.raises(DataError, match=f"^{re.escape(message)}.*if a negative label marks"):
        ltr.evaluate(labels, [3.0, 2.0, 1.0], metrics=["ndcg-linear"])


def test_metric_02_a_document_that_nobody_judged_takes_a_rank() -> None:
    table = ltr.evaluate([-1, 2, 0], [3.0, 2.0, 1.0], metrics=["ndcg"], unjudged_label=-1)
    assert table.summaries[0].value == pytest.approx(0.630929753571)


def test_metric_07_ties_by_document(tmp_path: Path) -> None:
    """usnistgov/trec_eval/issues/22, cvangysel/pytrec_eval/issues/56, terrierteam/ir_measures/issues/18: c, b, a."""
    run = "q Q0 a 1 1.0 s\nq Q0 b 2 1.0 s\nq Q0 c 3 1.0 s\n"
    table = evaluated(tmp_path, "q 0 b 1\nq 0 a 0\nq 0 c 0\n", run, ["ndcg", "recip_rank"], preset="trec_eval")
    assert [each.value for each in table.summaries] == pytest.approx([0.630929753571, 0.5])
    table = evaluated(tmp_path, "q 0 b 1\nq 0 a 0\nq 0 c 0\n", run, ["ndcg-docid", "mrr-docid"])
    assert [each.value for each in table.summaries] == pytest.approx([0.630929753571, 0.5])


@pytest.mark.parametrize(("preset", "value"), [(None, 1.0), ("trec_eval", 0.5), ("ranx", 1.0), ("torchmetrics", 1.0)])
def test_metric_09_scores_are_read_in_64_bits(tmp_path: Path, preset: str | None, value: float) -> None:
    """usnistgov/trec_eval/issues/34: a stands above b by 1e-9. trec_eval holds float32, where the higher id wins a
    tie (pytrec_eval-terrier 0.5.11 gives 0.5); torchmetrics does too, and keeps the order of the rows."""
    run = "q Q0 a 1 0.500000012 s\nq Q0 b 2 0.500000011 s\n"
    table = evaluated(tmp_path, "q 0 a 1\nq 0 b 0\n", run, ["mrr"], preset=preset)
    assert table.summaries[0].value == value
    assert table.findings.tied == (("q",) if preset in ("trec_eval", "torchmetrics") else ())


@pytest.mark.parametrize(
    ("rule", "mean"), [("zero", 0.315464876786), ("one", 0.815464876786), ("skip", 0.630929753571)]
)
def test_metric_10_lists_with_nothing_relevant(rule: str, mean: float) -> None:
    """dmlc/xgboost/issues/2208, allegro/allRank/pull/25, allegro/allRank/issues/30: named, and counted."""
    arrays = of_lists(("a", [0, 0], [2, 1]), ("b", [0, 1], [2, 1]))
    summary = ltr.evaluate(**arrays, metrics=[f"ndcg-{rule}@10"]).summaries[0]
    assert summary.value == pytest.approx(mean)
    assert summary.undefined == 1
    assert f"empty={rule}" in summary.convention


def test_metric_14_the_ideal_of_all_judged_documents(tmp_path: Path) -> None:  # NTMC-Community/MatchZoo/issues/598
    qrels = "q 0 d1 2\nq 0 d2 1\nq 0 d9 2\nq 0 d3 0\n"
    run = "q Q0 d2 1 3.0 s\nq Q0 d1 2 2.0 s\nq Q0 d3 3 1.0 s\n"
    table = evaluated(tmp_path, qrels, run, ["ndcg@3", "ndcg-retrieved@3"])
    assert [each.value for each in table.summaries] == pytest.approx([0.53641800576, 0.796707580991])


def test_metric_29_a_query_that_the_run_lacks(tmp_path: Path) -> None:
    """cvangysel/pytrec_eval/issues/30, usnistgov/trec_eval/issues/18, terrierteam/ir_measures/pull/17,
    AmenRa/ranx/issues/31, opensearch-project/search-relevance/issues/66: it counts 0, and is named."""
    qrels = "a 0 d 1\nb 0 d 1\nc 0 d 1\ne 0 d 1\n"
    run = "a Q0 d 1 1 s\nb Q0 x 1 2 s\nb Q0 d 2 1 s\nc Q0 x 1 1 s\n"
    table = evaluated(tmp_path, qrels, run, ["mrr"])
    assert table.per_query("mrr") == {"a": 1.0, "b": 0.5, "c": 0.0, "e": 0.0}
    assert table.summaries[0].value == 0.375
    assert table.findings.missing == ("e",)
    both = join(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run").table, queries="intersection")
    assert evaluate_lists(both, ["mrr"]).summaries[0].value == 0.5


def test_metric_31_each_cutoff_is_a_question_of_its_own() -> None:  # lightgbm-org/LightGBM/issues/2205
    names = ["ndcg@5", "ndcg@1", "ndcg@3", "ndcg@3"]
    table = ltr.evaluate([0, 2, 1, 0, 3], [5, 4, 3, 2, 1], metrics=names)
    found = {each.metric: each.value for each in table.summaries}
    assert found == pytest.approx({"ndcg@5": 0.543050500738, "ndcg@1": 0.0, "ndcg@3": 0.254747465774})


def test_metric_41_per_query_then_the_mean() -> None:  # Lightning-AI/torchmetrics/issues/3216 and pull/3229
    arrays = of_lists(("a", [0, 1, 0], [0.2, 0.9, 0.1]), ("b", [0, 1], [0.8, 0.7]))
    assert ltr.evaluate(**arrays, metrics=["ndcg"]).summaries[0].value == pytest.approx(0.815464876786)


def test_metric_42_ids_are_names() -> None:
    """Lightning-AI/torchmetrics/issues/3290: memory follows the number of rows, not the largest id."""
    qid = np.array([5, 5, 40_000_000, 40_000_000, 2_000_000_000, 2_000_000_000])
    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = ltr.evaluate([0, 1, 1, 0, 0, 1], [0.2, 0.8, 0.9, 0.4, 0.3, 0.1], qid=qid, metrics=["ndcg"])
    assert table.summaries[0].value == pytest.approx(0.876976584524)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit < 200e6
    assert list(table.per_query("ndcg")) == ["5", "40000000", "2000000000"]


@pytest.mark.parametrize(("how", "value"), [("mean", 0.583333333333), ("median", 0.5), ("min", 0.25)])
def test_metric_44_any_combiner(how: Any, value: float) -> None:  # Lightning-AI/torchmetrics/issues/2363 and 2187
    arrays = of_lists(("a", [1, 0], [2, 1]), ("b", [0, 1], [2, 1]), ("c", [0, 0, 0, 1], [4, 3, 2, 1]))
    assert ltr.evaluate(**arrays, metrics=["mrr"], aggregate=how).summaries[0].value == pytest.approx(value)


def test_metric_45_the_table_in_the_order_of_the_input() -> None:
    """terrierteam/ir_measures/pull/56, lightgbm-org/LightGBM/issues/453: one pass gives it, and the mean."""
    table = ltr.evaluate(**THREE, metrics=["mrr"])
    assert list(table.per_query("mrr")) == ["z", "a", "m"]
    assert list(table.per_query("mrr").values()) == pytest.approx([1.0, 0.5, 1 / 3])
    assert table.summaries[0].value == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64"])
def test_metric_48_labels_of_any_type(dtype: str) -> None:  # karlhigley/ranking-metrics-torch/issues/3
    table = ltr.evaluate(np.array([3, 0, 1, 2], dtype=dtype), [0.1, 0.4, 0.3, 0.2], metrics=["ndcg"])
    assert table.summaries[0].value == pytest.approx(0.547831481923)


def test_metric_52_nan_scores_are_refused_by_query() -> None:
    """tensorflow/ranking/issues/232, yaochenzhu/Deep-Deconf/issues/4."""
    message = "arrays, row 0 (query a): wanted a score that is a number, came nan (1 such in all)"
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        ltr.evaluate([1, 0, 0, 1], [float("nan"), 0.2, 0.1, 0.3], qid=["a", "a", "b", "b"], metrics=["ndcg"])


def test_metric_53_infinite_scores() -> None:  # tensorflow/ranking/issues/232
    table = ltr.evaluate([0, 1, 2], [float("-inf"), 0.5, float("inf")], metrics=["ndcg"])
    assert table.summaries[0].value == 1.0


def test_metric_54_without_query_ids_all_rows_are_one_list() -> None:  # catboost/catboost/issues/2355
    table = ltr.evaluate([0, 1, 2], [3, 2, 1], metrics=["ndcg"])
    assert table.summaries[0].value == pytest.approx(0.586882671436)
    assert len(table.lists.query_ids) == 1

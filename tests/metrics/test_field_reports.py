"""Faults of metrics that users of ranking tools reported in public, each as a small input with the right value."""

from typing import Any

import pytest
import torch

from ltr.metrics import parse

GITHUB = "https://github.com/"
# report, metric, scores, labels, value, threads
VALUES: list[tuple[str, str, list[float], list[float], float, list[str]]] = [
    ("metric-04", "ndcg", [0.5] * 4, [0, 3, 1, 0], 0.671374627829,
     ["elixir-nx/scholar/issues/360", "lightgbm-org/LightGBM/issues/3363"]),
    ("metric-04 pessimistic", "ndcg-worst", [0.5] * 4, [0, 3, 1, 0], 0.460590782515,
     ["elixir-nx/scholar/issues/360"]),
    # documents c, b, a: `docid` reads them in descending id order
    ("metric-07 ndcg", "ndcg-docid", [1.0] * 3, [0, 1, 0], 0.630929753571,
     ["usnistgov/trec_eval/issues/22", "cvangysel/pytrec_eval/issues/56", "terrierteam/ir_measures/issues/18"]),
    ("metric-07 rr", "mrr-docid", [1.0] * 3, [0, 1, 0], 0.5, ["usnistgov/trec_eval/issues/22"]),
    ("metric-09", "mrr", [0.500000012, 0.500000011], [1, 0], 1.0, ["usnistgov/trec_eval/issues/34"]),
    ("metric-17", "ndcg@2", [4, 3, 2, 1], [1, 0, 3, 2], 0.11245065757,
     ["karlhigley/ranking-metrics-torch/issues/1"]),
    *[("metric-19", f"ndcg-{gain}@{k}", [4, 3, 2, 1], [3, 2, 1, 0], 1.0, ["RapidFireAI/rapidfireai/issues/261"])
      for gain in ("exp2", "linear") for k in (1, 3, 4)],
    ("metric-21", "ndcg", [1.0, 2.0, 0.0], [35, 1, 0], 0.630929753589,
     ["dmlc/xgboost/issues/6707", "lightgbm-org/LightGBM/issues/4078", "lightgbm-org/LightGBM/issues/2892"]),
    ("metric-23 linear", "ndcg-linear", [4, 3, 2, 1], [1, 3, 0, 2], 0.788377391485,
     ["castorini/anserini/issues/92", "sbadirli/GrowNet/issues/5", "scikit-learn/scikit-learn/issues/18817"]),
    ("metric-23 exp2", "ndcg", [4, 3, 2, 1], [1, 3, 0, 2], 0.714222129658, ["dmlc/xgboost/issues/3875"]),
    ("metric-24", "ndcg", [3, 2, 1], [0, 1, 0], 0.630929753571,
     ["OpenAgentHQ/openagent-eval/issues/223", "yihong-chen/neural-collaborative-filtering/issues/2"]),
    *[("metric-25", "ndcg", [5, 4, 3, 2, 1], [int(place == rank) for place in range(1, 6)], value,
       ["OpenAgentHQ/openagent-eval/pull/229"])
      for rank, value in enumerate([1.0, 0.630929753571, 0.5, 0.430676558073, 0.386852807235], 1)],
    *[("metric-28", name, [score], [label], value,
       ["scikit-learn/scikit-learn/issues/21335", "lightgbm-org/LightGBM/issues/6823"])
      for name in ("ndcg-zero@5", "mrr-zero", "ap-zero") for score, label, value in ((-0.3, 2, 1.0), (0.3, 0, 0.0))],
    *[("metric-31", f"ndcg@{k}", [5, 4, 3, 2, 1], [0, 2, 1, 0, 3], value, ["lightgbm-org/LightGBM/issues/2205"])
      for k, value in ((5, 0.543050500738), (1, 0.0), (3, 0.254747465774))],
    *[("metric-33 ndcg", f"ndcg@{k}", [3, 2, 1], [0, 1, 1], value, ["Lightning-AI/torchmetrics/issues/1952"])
      for k, value in ((1, 0.0), (2, 0.386852807235), (3, 0.693426403617))],
    *[("metric-33 recall", f"recall@{k}", [3, 2, 1], [0, 1, 1], value, ["Lightning-AI/torchmetrics/issues/2449"])
      for k, value in ((1, 0.0), (2, 0.5), (3, 1.0))],
    *[("metric-34", f"ndcg@{k}", [2, 1], [0, 1], 0.630929754, ["Lightning-AI/torchmetrics/pull/1501"])
      for k in (2, 10, 1000)],
    # the other two of its four relevant documents are scored last
    ("metric-35 by relevant", "ap@3", [7, 6, 5, 4, 3, 2, 1], [1, 0, 1, 0, 0, 1, 1], 0.416666666667,
     ["recommenders-team/recommenders/issues/1702", "msight-tech/research-xbm/issues/11"]),
    ("metric-35 by hits", "ap-hits@3", [7, 6, 5, 4, 3, 2, 1], [1, 0, 1, 0, 0, 1, 1], 0.833333333333,
     ["recommenders-team/recommenders/issues/1702", "msight-tech/research-xbm/issues/11"]),
    ("metric-35 by min", "ap-min@3", [7, 6, 5, 4, 3, 2, 1], [1, 0, 1, 0, 0, 1, 1], 0.555555555556,
     ["lightgbm-org/LightGBM/issues/3422"]),
    *[("metric-36", name, [5, 4, 3, 2, 1], [1, 1, 0, 1, 1], value, ["AmenRa/ranx/issues/30"])
      for name, value in (("recall@1", 0.25), ("recall@2", 0.5), ("recall-min@1", 1.0), ("recall-min@2", 1.0),
                          ("mrr@1", 1.0), ("mrr@2", 1.0))],
    *[("metric-37", name, [4, 3, 2, 1], [1, 3, 0, 2], value,
       ["dmlc/xgboost/pull/8931", "jattenberg/RankLib/issues/1", "salesforce/ml4ir/issues/51"])
      for name, value in (("ap", 0.916666666667), ("ap-rel2", 0.5), ("mrr", 1.0), ("mrr-rel2", 0.5))],
    *[("metric-39", f"mrr@{k}", [4, 3, 2, 1], [0, 0, 0, 1], value, ["jeremylongshore/qmd-team-intent-kb/pull/223"])
      for k, value in ((3, 0.0), (10, 0.25))],
    ("metric-53", "ndcg", [float("-inf"), 0.5, float("inf")], [0, 1, 2], 1.0, ["tensorflow/ranking/issues/232"]),
    ("metric-54", "ndcg", [3, 2, 1], [0, 1, 2], 0.586882671436, ["catboost/catboost/issues/2355"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "scores", "labels", "value"),
    [pytest.param(*row[1:5], id=f"{row[0]} {row[1]}") for row in VALUES],
)
def test_values(name: str, scores: list[float], labels: list[float], value: float) -> None:
    assert parse(name)(scores, labels).item() == pytest.approx(value, abs=1e-6)


def batch(lists: list[tuple[list[float], list[float]]]) -> tuple[torch.Tensor, ...]:
    width = max(len(scores) for scores, _ in lists)
    scores = torch.tensor([list(s) + [0] * (width - len(s)) for s, _ in lists], dtype=torch.float64)
    labels = torch.tensor([list(y) + [0] * (width - len(y)) for _, y in lists], dtype=torch.float64)
    return scores, labels, torch.tensor([[i < len(s) for i in range(width)] for s, _ in lists])


def test_metric_01_query_weights() -> None:  # dmlc/xgboost/issues/8708, 4168 and 11633
    lists = batch([([2, 1], [1, 0]), ([3, 2, 1], [0, 0, 1]), ([4, 3, 2, 1], [0, 0, 0, 1])])
    assert parse("ndcg@3")(*lists).tolist() == pytest.approx([1.0, 0.5, 0.0])
    assert parse("ndcg@3").mean(*lists, weight=torch.tensor([1.0, 3.0, 4.0])).item() == pytest.approx(0.3125)


@pytest.mark.parametrize("labels", [[-1, 2, 0], [-1.5, -0.5, 0.5]])
def test_metric_02_and_26_negative_labels(labels: list[float]) -> None:
    """tensorflow/ranking/issues/305, scikit-learn/scikit-learn/issues/17639: a label is never a sign of padding."""
    with pytest.raises(ValueError, match=r"^relevance must not be negative: list 0, document 0 has -1"):
        parse("ndcg-linear")([3.0, 2.0, 1.0], labels)


@pytest.mark.parametrize(
    ("rule", "mean"), [("zero", 0.315464876786), ("one", 0.815464876786), ("skip", 0.630929753571)]
)
def test_metric_10_lists_with_nothing_relevant(rule: str, mean: float) -> None:
    """dmlc/xgboost/issues/2208, allegro/allRank/pull/25, allegro/allRank/issues/30: named, and counted."""
    lists = batch([([2, 1], [0, 0]), ([2, 1], [0, 1])])
    metric = parse(f"ndcg-{rule}@10")
    assert metric.mean(*lists).item() == pytest.approx(mean, abs=1e-6)
    assert f"empty={rule}" in metric.convention
    assert (~metric.defined(*lists[1:])).sum() == 1


@pytest.mark.parametrize("k", ["0", "-1", "2.5", "five"])
def test_metric_34_a_bad_cutoff_is_repeated(k: str) -> None:  # Lightning-AI/torchmetrics/pull/1501
    with pytest.raises(ValueError, match=f"got '{k}'$"):
        parse(f"ndcg@{k}")


def test_metric_40_the_mean_of_a_cut_metric() -> None:  # jeremylongshore/qmd-team-intent-kb/pull/223
    lists = batch([([2, 1], [0, 1]), ([4, 3, 2, 1], [0, 0, 0, 1])])
    assert parse("mrr@3").mean(*lists).item() == pytest.approx((1 / 2 + 0) / 2)


def test_metric_41_per_query_then_the_mean() -> None:  # Lightning-AI/torchmetrics/issues/3216 and pull/3229
    lists = batch([([0.2, 0.9, 0.1], [0, 1, 0]), ([0.8, 0.7], [0, 1])])
    assert parse("ndcg").mean(*lists).item() == pytest.approx(0.815464876786)


def test_metric_44_any_combiner_over_the_values_of_the_lists() -> None:
    """Lightning-AI/torchmetrics/issues/2363 and 2187."""
    values = parse("mrr")(*batch([([2, 1], [1, 0]), ([2, 1], [0, 1]), ([4, 3, 2, 1], [0, 0, 0, 1])]))
    assert values.mean().item() == pytest.approx(0.583333333333)
    assert (values.median().item(), values.min().item()) == (0.5, 0.25)


def test_metric_46_padding_never_takes_a_rank() -> None:  # tensorflow/ranking/issues/305 and 278
    scores, labels = [[-1.0, -2.0, -3.0, 0.0, 0.0]], [[1, 0, 2, 0, 0]]
    assert parse("ndcg")(scores, labels, [[1, 1, 1, 0, 0]]).item() == pytest.approx(0.68852888094)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32, torch.float64])
def test_metric_48_labels_of_any_type(dtype: torch.dtype) -> None:  # karlhigley/ranking-metrics-torch/issues/3
    labels: Any = torch.tensor([3, 0, 1, 2], dtype=dtype)
    assert parse("ndcg")([0.1, 0.4, 0.3, 0.2], labels).item() == pytest.approx(0.547831481923)


@pytest.mark.parametrize("scores", [[[float("nan"), 0.2], [0.1, 0.3]], [[0.2, 0.1], [0.3, float("nan")]]])
def test_metric_52_nan_scores_are_refused(scores: list[list[float]]) -> None:
    """tensorflow/ranking/issues/232, yaochenzhu/Deep-Deconf/issues/4: a descending sort puts NaN on top."""
    with pytest.raises(ValueError, match=r"^scores must be numbers: list [01], document [01] has nan$"):
        parse("ndcg").mean(scores, [[1, 0], [0, 1]])

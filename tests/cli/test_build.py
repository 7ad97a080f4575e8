"""ltr/cli/build.py: nodes of the configuration, made by Hydra."""

from typing import Any

import pytest

from ltr.cli.build import build, metric_of, metrics_of
from ltr.cli.errors import ConfigError
from ltr.data import DataError
from ltr.gains import Linear
from ltr.losses import LambdaRank
from ltr.metrics import NDCG, parse


def test_a_node_is_a_call() -> None:
    loss = build({"_target_": "ltr.losses.LambdaRank", "metric": "mrr"}, "loss", sigma=2.0)
    assert isinstance(loss, LambdaRank)
    assert (loss.metric.name, loss.sigma) == ("mrr", 2.0)


def test_nodes_within_are_built_and_lists_are_lists() -> None:
    node = {"_target_": "ltr.metrics.NDCG", "k": 5, "gain": {"_target_": "ltr.gains.Linear"}}
    assert build(node, "metric") == NDCG(5, gain=Linear())
    assert type(build({"_target_": "builtins.dict", "a": [1]}, "x")["a"]) is list


def test_nothing_builds_nothing() -> None:
    assert build(None, "transform") is None


@pytest.mark.parametrize(
    ("node", "error", "message"),
    [
        ({"_target_": "ltr.losses.ListNet", "temperature": 0.0}, ConfigError, "loss: .*temperature.*0"),
        ({"_target_": "ltr.losses.ListNet", "temp": 1}, ConfigError, "loss: .*unexpected keyword argument 'temp'"),
        (
            {"_target_": "ltr.data.synthetic", "queries": 1},
            DataError,
            "synthetic: wanted queries of at least 5, came 1",
        ),
        ({"_target_": "operator.truediv", "_args_": [1, 0]}, ZeroDivisionError, "division by zero"),
    ],
)
def test_what_a_constructor_refuses(node: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        build(node, "loss")


def test_metrics_by_name_or_node() -> None:
    assert metric_of("ndcg-linear@5") == NDCG(5, gain=Linear())
    assert metrics_of(["ap", {"_target_": "ltr.metrics.NDCG"}, "map"]) == [parse("ap"), NDCG()]
    assert metrics_of(None) == []


def test_everything_wrong_with_the_metrics_is_said_at_once() -> None:
    with pytest.raises(ConfigError) as refused:
        metrics_of(["ndgc@5", "ap", "ndcg@0"])
    assert [line[:30] for line in refused.value.lines] == [
        "metrics: unknown metric 'ndgc@",
        "metrics: metric 'ndcg@0': the ",
    ]


def test_a_node_that_is_no_metric() -> None:
    with pytest.raises(ConfigError, match=r"^metric: wanted a RankingMetric, ltr\.losses\.MSE gives MSE$"):
        metric_of({"_target_": "ltr.losses.MSE"})

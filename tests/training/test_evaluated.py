"""Means of gathered columns: by the metric's rule, weighted, NaN over nothing."""

import math
from typing import Any

import numpy as np
import pytest

from ltr.losses import MSE
from ltr.metrics import RankingMetric, parse
from ltr.training.evaluated import column_names, evaluate

SKIP, ZERO = parse("mrr"), parse("mrr-zero")


def columns(metrics: tuple[RankingMetric, ...], value: list[float], changes: dict[str, list[int]]) -> dict[str, Any]:
    count = len(value)
    found = {name: np.ones(count) for name in column_names(metrics)} | {"query": np.arange(count)}
    found |= {metric.name: np.array(value) for metric in metrics}
    return found | {name: np.array(each) for name, each in changes.items()}


def test_a_mean_is_over_the_lists_that_the_rule_counts() -> None:
    table = columns((SKIP, ZERO), [0.5, 1.0, 0.0], {"mrr defined": [1, 1, 0], "mrr-zero defined": [1, 1, 0]})
    found = evaluate(table, (SKIP, ZERO), MSE())
    assert found.means["mrr"] == 0.75
    assert found.means["mrr-zero"] == 0.5
    assert found.target == 0.75


def test_a_mean_over_no_list_is_nan() -> None:
    found = evaluate(columns((SKIP,), [0.0], {"mrr defined": [0]}), (SKIP,), MSE())
    assert math.isnan(found.means["mrr"])


def test_a_list_without_weight_cannot_spoil_a_mean() -> None:
    found = evaluate(columns((SKIP,), [0.5, math.nan], {"weight": [1, 0]}), (SKIP,), MSE())
    assert found.means["mrr"] == 0.5
    spoiled = evaluate(columns((SKIP,), [0.5, math.nan], {"weight": [1, 1]}), (SKIP,), MSE())
    assert math.isnan(spoiled.means["mrr"])


def test_a_loss_that_weighs_lists_does_so_in_its_own_mean_alone() -> None:
    table = columns((SKIP,), [0.5, 0.1], {"share": [3, 1], "loss": [2, 6], "weight": [1, 2]})
    found = evaluate(table, (SKIP,), MSE())
    assert found.means["loss"] == pytest.approx((1 * 3 * 2 + 2 * 1 * 6) / (3 + 2))
    assert found.means["mrr"] == pytest.approx((0.5 + 2 * 0.1) / 3)


def test_a_rule_that_refuses_lists_without_an_answer_is_obeyed() -> None:
    metric = parse("mrr-error")
    table = columns((metric,), [0.0], {"mrr-error defined": [0]})
    with pytest.raises(ValueError, match=r"^mrr-error: list 0 has nothing relevant, and empty=error refuses"):
        evaluate(table, (metric,), MSE())


def test_columns_are_named_once() -> None:
    names = column_names((SKIP, ZERO))
    assert len(set(names)) == len(names)

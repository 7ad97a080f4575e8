"""Losses beside metrics: the value of each list, which lists and documents count, and what is refused."""

from typing import Any

import numpy as np
import pytest
import torch

import ltr
from ltr.data import DataError
from ltr.evaluation import RankedLists, evaluate_lists
from ltr.evaluation.surrogates import CELLS, loss_notes, loss_values, surrogates_of
from ltr.losses import MSE, ApproxMetric, ExpectedMetric, ListMLE, Softmax, Surrogate, WeightedSum
from ltr.metrics import parse
from tests.losses.test_perturbed import Follow

LABELS, SCORES, QUERIES = [3, 0, 1, 0, 2, 1], [0.9, 0.8, 0.7, 0.6, 0.6, 0.1], ["a", "a", "a", "b", "b", "b"]


def alone(surrogate: Surrogate, scores: list[float], labels: list[float]) -> float:
    return surrogate.eval()(torch.tensor([scores]).double(), torch.tensor([labels]).double()).item()


def test_the_values_are_those_of_the_losses_on_each_list() -> None:
    table = ltr.evaluate(LABELS, SCORES, QUERIES, metrics=["ndcg@2", "ap"], losses=["list_mle", "softmax", "approx"])
    assert list(table.losses) == ["list_mle", "softmax", "approx"]
    for name, surrogate in (
        ("list_mle", ListMLE()),
        ("softmax", Softmax("ndcg@2")),
        ("approx", ApproxMetric("ndcg@2")),
    ):
        found = table.losses[name].per_query()
        if name != "list_mle":  # which draws its order of equal labels
            assert found["a"] == pytest.approx(alone(surrogate, SCORES[:3], LABELS[:3]))
        assert found["b"] == pytest.approx(alone(surrogate, SCORES[3:], LABELS[3:]))
        assert table.losses[name].mean == pytest.approx((found["a"] + found["b"]) / 2)
    assert table.losses["approx"].surrogate.metric == parse("ndcg")


def test_surrogates_may_be_given_as_they_are() -> None:
    table = ltr.evaluate(LABELS, SCORES, QUERIES, losses=MSE(centred=True))
    assert table.losses["MSE"].mean == pytest.approx(
        np.mean([alone(MSE(centred=True), SCORES[:3], LABELS[:3]), alone(MSE(centred=True), SCORES[3:], LABELS[3:])])
    )
    several = surrogates_of([MSE(), "mse", MSE(centred=True), ApproxMetric("ap")], "ndcg")
    assert list(several) == ["MSE", "mse", "MSE 2", "ApproxMetric"]


def test_weights_and_the_share_of_the_loss_count_in_the_mean() -> None:
    class ByLength(MSE):
        def share(self, relevance: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return mask.sum(1).to(relevance.dtype)

    labels, scores, queries = [1, 0, 2], [0.0, 0.0, 0.0], ["a", "a", "b"]
    table = ltr.evaluate(labels, scores, queries, weight=[3, 1], losses=[MSE(), ByLength()])
    assert table.losses["MSE"].mean == pytest.approx((3 * 0.5 + 1 * 4) / 4)
    assert table.losses["ByLength"].mean == pytest.approx((3 * 2 * 0.5 + 1 * 1 * 4) / (6 + 1))


def test_only_what_was_returned_has_a_loss() -> None:
    """Query a: one returned, judged 1, one returned that nobody judged, one judged 2 and not returned; b: nothing."""
    lists = RankedLists(
        query_ids=("a", "b"),
        offsets=np.array([0, 2, 2]),
        score=np.array([0.5, 2.0]),
        relevance=np.array([1.0, 0.0]),
        weight=np.ones(2),
        source="run",
        judged=np.array([True, False]),
        pool=np.array([1.0, 2.0, 3.0]),
        pool_offsets=np.array([0, 2, 3]),
        missing=("b",),
    )
    found = loss_values(lists, {"mse": MSE()})["mse"]
    assert found.per_query() == {"a": pytest.approx((0.25 + 4) / 2), "b": None}
    assert found.mean == pytest.approx((0.25 + 4) / 2)
    assert loss_notes(lists) == [
        "no loss for 1 query without returned documents (left out): b",
        "losses leave out 2 judged documents that were not returned: there is no score",
        "losses give label 0 to 1 document that nobody judged",
    ]
    assert [(row.query, row.value, row.missing) for row in found.rows()] == [
        ("a", pytest.approx(2.125), None), ("b", None, "run"),
    ]  # fmt: skip
    assert loss_notes(RankedLists.from_arrays([1.0, 0.0], [0.5, 0.1])) == []


def test_lists_of_many_lengths_and_batches() -> None:
    generator = np.random.default_rng(0)
    lengths = generator.integers(1, 300, 200)
    queries = np.repeat(np.arange(200), lengths)
    scores, labels = generator.standard_normal(len(queries)), generator.integers(0, 3, len(queries)).astype(float)
    assert lengths.max() * len(lengths) > CELLS
    found = ltr.evaluate(labels, scores, queries, metrics="ndcg", losses=MSE()).losses["MSE"].value
    assert np.allclose(found, [((scores - labels)[queries == query] ** 2).mean() for query in range(200)])


def test_draws_are_those_of_evaluation_and_training_goes_on_as_it_would() -> None:
    loss = ExpectedMetric("ndcg", samples=3).train()
    loss.noise(torch.zeros(1, 2))
    first, second = (ltr.evaluate(LABELS, SCORES, QUERIES, losses=loss).losses["ExpectedMetric"] for _ in range(2))
    assert np.array_equal(first.value, second.value)
    assert (loss.training, loss.calls) == (True, 1)


def test_the_table_has_them_with_unit_and_rows(tmp_path: Any) -> None:
    table = ltr.evaluate(LABELS, SCORES, QUERIES, metrics="ndcg", losses=["mse", "lambdarank"])
    assert "loss          mean  n                 unit\nmse         " in str(table)
    assert "squared label units" in str(table)
    assert [(row.query, row.metric) for row in table.rows()][2:] == [
        (query, loss) for loss in ("mse", "lambdarank") for query in "ab"
    ]
    assert table.rows()[2].value == table.losses["mse"].per_query()["a"]
    table.write(tmp_path / "values.csv")
    assert (tmp_path / "values.csv").read_text().splitlines()[3].startswith("a,mse,")
    assert table.losses["lambdarank"].about == "bounds ndcg"
    assert table.losses["mse"].about == "-"
    assert "loss" not in str(ltr.evaluate(LABELS, SCORES, QUERIES, metrics="ndcg"))


def test_a_mean_over_no_list_is_nan() -> None:
    lists = RankedLists(("a",), np.array([0, 0]), np.zeros(0), np.zeros(0), np.ones(1), "run")
    assert np.isnan(loss_values(lists, {"mse": MSE()})["mse"].mean)


@pytest.mark.parametrize(
    ("losses", "message"),
    [
        ("softmx", r"^losses: no loss 'softmx'; did you mean softmax\? \(ltr list losses has them all\)$"),
        (["expected"], r"^losses: expected: ExpectedMetric: wants a metric that sums .*, got ap$"),
        ([Follow()], r"^losses: Follow learns from another ranker's scores, and there are none here$"),
        ([WeightedSum([MSE(), Follow()], [1, 1])], r"^losses: WeightedSum learns from another ranker's scores"),
        ([3], r"^losses: wanted names or surrogates, got 3$"),
    ],
)
def test_what_is_refused(losses: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ltr.evaluate(LABELS, SCORES, QUERIES, metrics=["ap"], losses=losses)


def test_lists_that_a_loss_refuses_are_named() -> None:
    class Picky(MSE):
        def forward(self, scores: torch.Tensor, relevance: torch.Tensor, *rest: Any, **more: Any) -> torch.Tensor:
            if relevance.max() > 2:
                raise ValueError("labels must be at most 2")
            return super().forward(scores, relevance, *rest, **more)

    lists = RankedLists.from_arrays([1.0, 0.0, 3.0, 1.0], [0.1, 0.2, 0.3, 0.4], ["a", "a", "b", "c"])
    with pytest.raises(DataError, match=r"^arrays, query b: picky: labels must be at most 2$"):
        loss_values(lists, {"picky": Picky()})
    infinite = RankedLists.from_arrays([1.0, 0.0], [0.1, -np.inf], ["a", "b"])
    with pytest.raises(DataError, match=r"^arrays, query b: a loss wants finite scores, came -inf$"):
        evaluate_lists(infinite, "ndcg", losses="mse")
    assert evaluate_lists(infinite, "ndcg").losses == {}

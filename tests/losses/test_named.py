"""Losses by the names of conf/loss."""

import pytest
import torch

from ltr.losses import LambdaRank, ListMLE, Perturbed, Softmax, Surrogate, WeightedSum
from ltr.losses.named import OWN, named
from ltr.metrics import parse
from ltr.options import folder, groups

NAMES = sorted(set(groups([folder()])["loss"]) - {OWN})


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_built(name: str) -> None:
    assert isinstance(named(name), Surrogate)


@pytest.mark.parametrize("name", ["listmle", "list_mle", "ListMLE", "list-mle"])
def test_capitals_hyphens_and_underscores_do_not_count(name: str) -> None:
    assert type(named(name)) is ListMLE


def test_it_has_its_defaults_and_the_metric_that_is_named() -> None:
    found, metric = named("lambdarank", "mrr@5"), parse("ap")
    assert isinstance(found, LambdaRank)
    assert (found.metric.name, found.sigma, found.log, found.pairs) == ("mrr@5", 1.0, "binary", "sum")
    assert named("approx", metric).metric == metric
    scores, labels = torch.tensor([[0.1, 0.4]]), torch.tensor([[1.0, 0.0]])
    assert torch.equal(named("softmax", "ndcg")(scores, labels), Softmax("ndcg")(scores, labels))


def test_losses_inside_losses() -> None:
    perturbed, both = named("perturbed", "ap"), named("sum", "ap")
    assert isinstance(perturbed, Perturbed)
    assert perturbed.loss.metric == parse("ap")
    assert isinstance(both, WeightedSum)
    assert [type(each).__name__ for each in both.losses] == ["LambdaRank", "MSE"]


def test_what_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^no loss 'lismle'; did you mean listmle\? \(ltr list losses has them all\)$"
    ):
        named("lismle")
    with pytest.raises(ValueError, match=r"^no loss 'custom'"):
        named("custom")
    with pytest.raises(ValueError, match=r"^expected: ExpectedMetric: wants a metric that sums worth .*, got ap$"):
        named("expected", "ap")

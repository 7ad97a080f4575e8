"""ltr/losses/base.py: what every surrogate says about itself."""

import re

import pytest
import torch
from torch import Tensor

from ltr.losses import MSE, ApproxMetric, LambdaRank, ListNet, RankNet, Softmax, Surrogate

LISTS = torch.tensor([[0.3, 0.7, -0.2]]), torch.tensor([[2.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("surrogate", "kind", "metric", "aim", "unit"),
    [
        (ApproxMetric("ndcg@10"), "approximation", "ndcg", "ndcg", "ndcg"),
        (ApproxMetric("ndcg@10", truncate=True), "approximation", "ndcg@10", "ndcg@10", "ndcg@10"),
        (ApproxMetric("recall@10"), "approximation", "recall@10", "recall@10", "recall@10"),
        (LambdaRank("ndcg@10"), "bound", "ndcg@10", "ndcg@10", "ndcg@10"),
        (LambdaRank("dcg-letor@5"), "bound", "dcg-letor@5", "dcg-letor@5", "dcg-letor@5"),
        (LambdaRank("ndcg-short0@10"), "neither", "ndcg-short0@10", None, "weighted bits"),
        (LambdaRank("mrr@10"), "neither", "mrr@10", None, "weighted bits"),
        (Softmax("ndcg@10"), "bound", "ndcg", "ndcg", "nats"),
        (Softmax("ap@10"), "bound", "ap", "ap", "nats"),
        (Softmax("ndcg-geometric0.8@10"), "neither", "ndcg-geometric0.8", None, "nats"),
        (Softmax("recall@10"), "neither", "recall@10", None, "nats"),
        (ListNet(), "neither", None, None, "nats"),
        (RankNet(), "neither", None, None, "nats a pair"),
        (MSE(), "neither", None, None, "squared label units"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Surrogate) else str(each),
)
def test_what_each_says(surrogate: Surrogate, kind: str, metric: str | None, aim: str | None, unit: str) -> None:
    assert surrogate.kind == kind
    assert (surrogate.metric and surrogate.metric.name) == metric
    assert (surrogate.aim and surrogate.aim.name) == aim
    assert surrogate.unit == unit
    assert (surrogate.estimate(*LISTS) is not None) == (kind == "approximation")
    assert (surrogate.certificate(*LISTS) is not None) == (kind == "bound")


def test_only_lambda_rank_is_never_to_be_stopped_or_selected_on() -> None:
    surrogates = [ApproxMetric("ndcg"), LambdaRank("ndcg"), LambdaRank("mrr"), Softmax("ndcg"), ListNet(), MSE()]
    assert [each.informative for each in surrogates] == [True, False, False, True, True, True]


def test_a_loss_of_ones_own_is_neither_until_it_says_more() -> None:
    class Own(Surrogate):
        def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
            return scores.sum(-1)

    own = Own()
    assert (own.kind, own.metric, own.aim, own.unit) == ("neither", None, None, "loss units")
    assert own.estimate(*LISTS) is own.certificate(*LISTS) is None


@pytest.mark.parametrize("value", [0, -1.0, float("inf"), float("nan"), True, "1"])
@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("temperature", lambda value: ApproxMetric("ndcg", temperature=value)),
        ("temperature", lambda value: ListNet(temperature=value)),
        ("sigma", lambda value: LambdaRank("ndcg", sigma=value)),
        ("sigma", lambda value: RankNet(sigma=value)),
    ],
)
def test_steepness_and_temperature_are_above_0(name: str, build: type[ListNet], value: object) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'{name} must be a number above 0, got {value!r}')}$"):
        build(value)


@pytest.mark.parametrize("surrogate", [ApproxMetric, LambdaRank, Softmax])
def test_an_unknown_metric_is_named(surrogate: type[Softmax]) -> None:
    with pytest.raises(ValueError, match=r"^unknown metric 'ndgc': .*did you mean ndcg\?$"):
        surrogate("ndgc")


@pytest.mark.parametrize(
    "surrogate", [ApproxMetric("mrr"), LambdaRank("ndcg"), Softmax("ap"), ListNet(), RankNet(), MSE()]
)
def test_bad_lists_are_refused(surrogate: Surrogate) -> None:
    with pytest.raises(ValueError, match=r"^relevance must not be negative: list 0, document 1 has -1$"):
        surrogate(torch.tensor([[0.1, 0.2]]), torch.tensor([[1.0, -1.0]]))
    with pytest.raises(ValueError, match=r"^scores, relevance and mask must have one shape"):
        surrogate(torch.tensor([[0.1, 0.2]]), torch.tensor([[1.0]]))


@pytest.mark.parametrize(
    "surrogate", [ApproxMetric("ndcg"), LambdaRank("ndcg"), Softmax("ap"), ListNet(), RankNet(), MSE()]
)
def test_no_surrogate_holds_parameters_or_state(surrogate: Surrogate) -> None:
    assert len(surrogate.state_dict()) == len(list(surrogate.parameters())) == 0


@pytest.mark.parametrize("surrogate", [ApproxMetric, LambdaRank])
def test_there_is_nothing_to_learn_from_a_metric_of_the_judgements(surrogate: type[Surrogate]) -> None:
    with pytest.raises(ValueError, match=r"^judged@2: it measures the judgements, so there is nothing to train on$"):
        surrogate("judged@2")


def test_less_of_an_approximated_metric_cannot_be_better() -> None:
    with pytest.raises(ValueError, match=r"^ApproxMetric: arp is no aim to raise: less of it is better$"):
        ApproxMetric("arp")

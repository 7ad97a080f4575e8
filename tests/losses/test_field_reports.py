"""Faults of losses that users of ranking tools reported in public, each as a small input with the right value."""

import resource
import sys

import pytest
import torch
from torch import Tensor

from ltr.losses import ApproxMetric, LambdaRank, ListMLE, RankNet, SigmoidCrossEntropy, Surrogate
from ltr.metrics import parse


def backward(
    surrogate: Surrogate, scores: list[float] | Tensor, labels: list[float] | Tensor
) -> tuple[float, list[float]]:
    """The loss of one list, and its gradient."""
    leaf = torch.as_tensor(scores, dtype=torch.float64).clone().requires_grad_()
    loss = surrogate.flat(leaf, labels, lengths=[len(leaf)])
    loss.sum().backward()
    assert leaf.grad is not None
    return loss.item(), leaf.grad.tolist()


@pytest.mark.parametrize("width", [3, 4, 5, 9])
def test_loss_03_a_lists_loss_must_not_know_its_padding(width: int) -> None:
    scores = torch.zeros(1, width, dtype=torch.float64)
    labels, mask = torch.zeros(1, width), torch.arange(width)[None] < 3
    scores[0, :3], labels[0, :3] = torch.tensor([0.5, -1.0, 2.0]), torch.tensor([3.0, 1.0, 2.0])
    scores.requires_grad_()
    loss = ListMLE()(scores, labels, mask)
    loss.sum().backward()
    assert loss.item() == pytest.approx(1.789898648231)
    assert scores.grad is not None
    assert scores.grad[0, :3].tolist() == pytest.approx([-0.82470960786, 0.086538446448, 0.738171161412])
    assert (scores.grad[0, 3:] == 0).all()


def test_loss_05_no_pair_is_zero_with_a_live_graph() -> None:
    for scores, labels in (([0.3, -0.2, 0.9], [1, 1, 1]), ([0.1, 0.2], [0, 0])):
        assert backward(RankNet(), scores, labels) == (0, [0] * len(scores))


def test_loss_07_rank_net_asks_which_label_is_larger_and_not_by_how_much() -> None:
    loss, _ = backward(RankNet(), [0.3, 0.7, -0.2], [2, 0, 1])
    assert loss == pytest.approx(0.876082037104)
    assert backward(RankNet(), [0.3, 0.7, -0.2], [200, 0, 100])[0] == loss


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_loss_09_the_logistic_loss_does_not_overflow(dtype: torch.dtype) -> None:
    scores = torch.tensor([[-1000.0, 1000.0]], dtype=dtype, requires_grad=True)
    loss = RankNet()(scores, torch.tensor([[1, 0]]))
    loss.sum().backward()
    assert scores.grad is not None
    assert (loss.item(), scores.grad.tolist()) == (2000, [[-1, 1]])


@pytest.mark.parametrize(
    ("labels", "scores"),
    [([3, 1, 2], [0.5, -1.0, 2.0]), ([2, 3, 1], [2.0, 0.5, -1.0]), ([1, 2, 3], [-1.0, 2.0, 0.5])],
)
def test_loss_11_list_mle_sorts_by_label_itself(labels: list[float], scores: list[float]) -> None:
    assert backward(ListMLE(), scores, labels)[0] == pytest.approx(1.789898648231)


def test_loss_12_lambda_weights_are_those_of_the_current_ranking() -> None:
    """In nats; with the ranks of the labels it would be 0.527444033312."""
    scores, labels = torch.tensor([[1.0, 0.5, -0.5]]).double(), torch.tensor([[0.0, 2.0, 1.0]]).double()
    assert LambdaRank("ndcg", log="natural")(scores, labels).item() == pytest.approx(0.553920297105)
    metric = parse("ndcg")
    swapped = {(1, 0): [0.5, 1.0, -0.5], (1, 2): [1.0, -0.5, 0.5], (2, 0): [-0.5, 0.5, 1.0]}
    weight = {
        pair: abs((metric(torch.tensor([each]), labels) - metric(scores, labels)).item())
        for pair, each in swapped.items()
    }
    assert weight == pytest.approx({(1, 0): 0.304938628514, (1, 2): 0.072119133367, (2, 0): 0.137705776188})


def test_loss_15_sigmoid_cross_entropy_refuses_grades_or_divides_them() -> None:
    with pytest.raises(ValueError, match="has the label 3"):
        backward(SigmoidCrossEntropy(), [2.0, -1.0], [3, 0])
    mean, _ = backward(SigmoidCrossEntropy(top=3), [2.0, -1.0], [3, 0])
    assert 2 * mean == pytest.approx(0.440189698561)


def test_loss_16_a_rounding_error_above_1_is_taken_and_a_negative_label_is_not() -> None:
    assert backward(SigmoidCrossEntropy(), [2.0, -1.0], [1.0000001, 0.0])[0] >= 0
    with pytest.raises(ValueError, match="list 0, document 0 has -1"):
        backward(SigmoidCrossEntropy(), [2.0, -1.0], [-1, 1])


def test_loss_17_the_surrogate_has_the_sign_of_its_metric() -> None:
    scores, labels = torch.tensor([[0.3, 0.7, -0.2]]).double(), torch.tensor([[2.0, 0.0, 1.0]]).double()
    surrogate = ApproxMetric("ndcg", temperature=1e-4)
    assert parse("ndcg")(scores, labels).item() == pytest.approx(0.659001804802)
    assert surrogate.estimate(scores, labels).item() == pytest.approx(0.659001804802)
    assert surrogate(scores, labels).item() == pytest.approx(1 - 0.659001804802)
    assert surrogate(labels, labels).item() < surrogate(scores, labels).item()


def test_loss_19_two_reductions_with_names() -> None:
    scores = torch.tensor([[0.0, 1.0, 0, 0, 0], [0.0, 0.2, 0.4, 0.1, 0.3]]).double()
    labels = torch.tensor([[1.0, 0, 0, 0, 0], [1, 1, 1, 0, 0]])
    mask = torch.tensor([[True, True, False, False, False], [True] * 5])
    assert RankNet(pairs="mean").mean(scores, labels, mask).item() == pytest.approx(1.005488937862)
    assert RankNet(pairs="batch").mean(scores, labels, mask).item() == pytest.approx(0.785651259536)


def test_loss_21_twenty_thousand_documents_in_less_than_2_gib() -> None:
    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(1, 20_000, generator=generator, requires_grad=True)
    loss = LambdaRank("ndcg")(scores, torch.randint(5, (1, 20_000), generator=generator).float())
    loss.sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(loss).all()
    assert torch.isfinite(scores.grad).all()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - before < 2 * 2**30

"""ltr/losses/listnet.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import ListNet


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_cross_entropy_of_two_softmaxes(temperature: float) -> None:
    scores, labels = [0.3, 0.7, -0.2], [2.0, 0.0, 1.0]
    target = [exp(y / temperature) / sum(exp(z / temperature) for z in labels) for y in labels]
    normaliser = log(sum(exp(s) for s in scores))
    wanted = -sum(q * (s - normaliser) for q, s in zip(target, scores, strict=True))
    loss = ListNet(temperature)(torch.tensor([scores]).double(), torch.tensor([labels]).double())
    assert loss.item() == pytest.approx(wanted)


def test_the_gradient_is_softmax_minus_target() -> None:
    scores = torch.tensor([[0.3, 0.7, -0.2]], dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([[2.0, 0.0, 1.0]], dtype=torch.float64)
    ListNet()(scores, labels).sum().backward()
    assert torch.allclose(scores.grad, scores.detach().softmax(1) - labels.softmax(1))


def test_equal_labels_still_teach_since_the_formula_has_a_term() -> None:
    scores = torch.tensor([[1.0, -1.0]], dtype=torch.float64, requires_grad=True)
    loss = ListNet()(scores, torch.zeros(1, 2))
    loss.sum().backward()
    assert loss.item() == pytest.approx(log(exp(1) + exp(-1)))
    assert scores.grad[0, 0] > 0 > scores.grad[0, 1]


def test_the_smallest_value_is_the_entropy_of_the_target() -> None:
    labels = torch.tensor([[2.0, 0.0, 1.0]], dtype=torch.float64)
    target = labels.softmax(1)
    assert ListNet()(labels + 5, labels).item() == pytest.approx(-(target * target.log()).sum().item())


@pytest.mark.parametrize("top", [100.0, 2000.0])
def test_large_labels(top: float) -> None:
    loss = ListNet()(torch.tensor([[0.0, 0.0]]), torch.tensor([[top, 0.0]]))
    assert loss.item() == pytest.approx(log(2))


def test_a_weight_multiplies_the_target() -> None:
    scores, labels = torch.tensor([[0.3, 0.7]], dtype=torch.float64), torch.tensor([[2.0, 0.0]], dtype=torch.float64)
    costs = -labels.softmax(1) * scores.log_softmax(1)
    found = ListNet()(scores, labels, weight=torch.tensor([[3.0, 0.5]]))
    assert found.item() == pytest.approx((3 * costs[0, 0] + 0.5 * costs[0, 1]).item())


def test_the_gradient_lives_at_any_gap() -> None:
    """allRank adds 1e-10 inside the logarithm, and a document 40 behind its target has a gradient of 3e-8."""
    for gap in (22.0, 40.0, 1e4):
        scores = torch.tensor([[0.0, gap]], requires_grad=True)
        ListNet()(scores, torch.tensor([[50.0, 0.0]])).sum().backward()
        assert scores.grad.tolist() == [[pytest.approx(-1), pytest.approx(1)]]

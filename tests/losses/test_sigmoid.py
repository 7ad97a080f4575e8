"""ltr/losses/sigmoid.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import SigmoidCrossEntropy


def cross_entropy(score: float, probability: float) -> float:
    p = 1 / (1 + exp(-score))
    return -probability * log(p) - (1 - probability) * log(1 - p)


@pytest.mark.parametrize(("top", "labels"), [(1.0, [1.0, 0.0, 0.3]), (4.0, [4.0, 0.0, 1.0])])
def test_the_mean_over_documents_of_the_cross_entropy_with_y_over_top(top: float, labels: list[float]) -> None:
    scores = [2.0, -1.0, 0.5]
    wanted = sum(cross_entropy(s, y / top) for s, y in zip(scores, labels, strict=True)) / 3
    mask = torch.tensor([[True, True, True, False]])
    lists = torch.tensor([[*scores, 9.0]]).double(), torch.tensor([[*labels, 7.0]]).double(), mask
    assert SigmoidCrossEntropy(top)(*lists).item() == pytest.approx(wanted)


def test_a_weight_multiplies_the_document() -> None:
    scores, labels = torch.tensor([[2.0, -1.0]]).double(), torch.tensor([[1.0, 0.0]]).double()
    wanted = (3 * cross_entropy(2, 1) + 0.5 * cross_entropy(-1, 0)) / 2
    found = SigmoidCrossEntropy()(scores, labels, weight=torch.tensor([[3.0, 0.5]]))
    assert found.item() == pytest.approx(wanted)


def test_labels_above_the_top_are_refused_since_the_loss_would_have_no_least_value() -> None:
    """TensorFlow Ranking takes them, and falls below 0."""
    wanted = r"^labels must be at most top=1 to be probabilities: list 0, document 0 has the label 3$"
    with pytest.raises(ValueError, match=wanted):
        SigmoidCrossEntropy()(torch.tensor([[2.0, -1.0]]), torch.tensor([[3.0, 0.0]]))
    assert SigmoidCrossEntropy(3)(torch.tensor([[50.0, -50.0]]), torch.tensor([[3.0, 0.0]])).item() >= 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_is_no_fault_and_is_clipped(dtype: torch.dtype) -> None:
    scores, labels = torch.tensor([[1e4, -1.0]], dtype=dtype), torch.tensor([[1.0000001, 0.0]], dtype=dtype)
    assert SigmoidCrossEntropy()(scores, labels).item() == pytest.approx(log(1 + exp(-1)) / 2)
    with pytest.raises(ValueError, match=r"has the label 1\.00001$"):
        SigmoidCrossEntropy()(scores, labels * 1.00001)


def test_the_worst_scores_keep_their_gradient() -> None:
    scores = torch.tensor([[-1e4, 1e4]], requires_grad=True)
    loss = SigmoidCrossEntropy()(scores, torch.tensor([[1.0, 0.0]]))
    loss.sum().backward()
    assert loss.item() == 1e4
    assert scores.grad.tolist() == [[-0.5, 0.5]]


def test_a_top_of_nothing() -> None:
    with pytest.raises(ValueError, match=r"^top must be a number above 0, got 0$"):
        SigmoidCrossEntropy(0)

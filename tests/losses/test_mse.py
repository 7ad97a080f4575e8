"""ltr/losses/mse.py"""

import pytest
import torch

from ltr.losses import MSE


def test_mean_squared_difference_over_the_documents_of_the_list() -> None:
    scores = torch.tensor([[2.0, 1.0, 9.0], [0.5, 0.5, 0.5]])
    labels = torch.tensor([[1.0, 3.0, 0.0], [0.0, 1.0, 2.0]])
    mask = torch.tensor([[True, True, False], [True, True, True]])
    wanted = [((2 - 1) ** 2 + (1 - 3) ** 2) / 2, (0.5**2 + 0.5**2 + 1.5**2) / 3]
    assert MSE()(scores, labels, mask).tolist() == pytest.approx(wanted)


def test_the_gradient() -> None:
    scores = torch.tensor([[2.0, 1.0, 9.0]], requires_grad=True)
    MSE()(scores, torch.tensor([[1.0, 3.0, 0.0]]), torch.tensor([[True, True, False]])).sum().backward()
    assert scores.grad.tolist() == [[2 * (2 - 1) / 2, 2 * (1 - 3) / 2, 0.0]]


def test_it_is_not_shift_invariant() -> None:
    assert not MSE().shift_invariant
    assert MSE(centred=True).shift_invariant
    assert MSE()(torch.tensor([[1.0]]), torch.tensor([[0.0]])).item() == 1


def test_centred_it_is_the_spread_of_the_differences() -> None:
    scores, labels = torch.tensor([[2.0, 1.0, 3.0]]), torch.tensor([[1.0, 3.0, 0.0]])
    differences = [1.0, -2.0, 3.0]  # their mean is 2 / 3
    wanted = sum((each - 2 / 3) ** 2 for each in differences) / 3
    assert MSE(centred=True)(scores, labels).item() == pytest.approx(wanted)
    assert MSE(centred=True)(scores + 100, labels).item() == pytest.approx(wanted, rel=1e-4)


def test_a_weight_multiplies_the_document() -> None:
    scores, labels = torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 3.0]])
    assert MSE()(scores, labels, weight=torch.tensor([[3.0, 0.5]])).item() == (3 * 1 + 0.5 * 4) / 2

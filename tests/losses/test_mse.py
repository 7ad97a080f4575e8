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
    assert not MSE.shift_invariant
    assert MSE()(torch.tensor([[1.0]]), torch.tensor([[0.0]])).item() == 1

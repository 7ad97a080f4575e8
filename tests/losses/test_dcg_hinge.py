"""ltr/losses/dcg_hinge.py"""

from math import log

import pytest
import torch

from ltr.losses import DCGHinge


def test_the_hinges_of_the_list_are_added_up_before_they_are_discounted() -> None:
    scores, labels = torch.tensor([[0.3, 0.7, -0.2]]).double(), torch.tensor([[2.0, 0.0, 1.0]])
    missing = [1 - (0.3 - 0.7), 1 - (0.3 - -0.2), 1 - (-0.2 - 0.7)]
    assert DCGHinge()(scores, labels).item() == pytest.approx(-1 / log(2 + sum(missing)))
    weighted = DCGHinge()(scores, labels, weight=torch.tensor([[2.0, 7.0, 3.0]])).item()
    assert weighted == pytest.approx(-1 / log(2 + 2 * (missing[0] + missing[1]) + 3 * missing[2]))


def test_a_list_without_pairs_is_in_order_and_one_without_documents_is_nothing() -> None:
    scores = torch.tensor([[3.0, 1.0], [2.0, 2.0]], requires_grad=True)
    loss = DCGHinge()(scores, torch.ones(2, 2), torch.tensor([[True, True], [False, False]]))
    loss.sum().backward()
    assert loss.tolist() == pytest.approx([-1 / log(2), 0])
    assert scores.grad.abs().sum() == 0


def test_the_last_mistake_counts_most() -> None:
    """One pair right costs more of the loss when it is the only wrong one."""
    labels = torch.tensor([[1.0, 0.0, 0.0]]).double()
    order = [torch.tensor([[0.0, *others]]).double() for others in ([-9.0, -9.0], [0.0, -9.0], [0.0, 0.0])]
    none, one, two = (DCGHinge()(each, labels).item() for each in order)
    assert none == pytest.approx(-1 / log(2))
    assert one - none > two - one > 0

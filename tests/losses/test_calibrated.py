"""ltr/losses/calibrated.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import CalibratedSoftmax


def test_cross_entropy_beside_a_document_of_score_0() -> None:
    scores, labels, virtual = [0.3, 0.7, -0.2], [2.0, 0.0, 1.0], 0.1
    normaliser = log(1 + sum(exp(s) for s in scores))
    wanted = virtual * normaliser - sum(y * (s - normaliser) for y, s in zip(labels, scores, strict=True))
    lists = torch.tensor([[*scores, 9.0]]).double(), torch.tensor([[*labels, 9.0]]).double()
    mask = torch.tensor([[True, True, True, False]])
    assert CalibratedSoftmax(virtual)(*lists, mask).item() == pytest.approx(wanted)


def test_a_weight_multiplies_the_label() -> None:
    scores, labels = torch.tensor([[0.3, 0.7]]).double(), torch.tensor([[2.0, 1.0]]).double()
    weight = torch.tensor([[0.5, 3.0]])
    found = CalibratedSoftmax()(scores, labels, weight=weight)
    assert found.item() == pytest.approx(CalibratedSoftmax()(scores, labels * weight).item())


def test_a_common_shift_of_the_scores_costs() -> None:
    """A shift by d leaves softmax cross entropy alone; here the best one is where sum exp(s) is sum y / y_0."""
    assert not CalibratedSoftmax().shift_invariant
    labels = torch.tensor([[3.0, 1.0]]).double()
    best = (labels / 2).log()
    least = CalibratedSoftmax(2)(best, labels)
    for shift in (-1, -0.01, 0.01, 1):
        assert CalibratedSoftmax(2)(best + shift, labels) > least


def test_a_list_without_relevance_lowers_all_scores() -> None:
    scores = torch.zeros(1, 3, requires_grad=True)
    CalibratedSoftmax()(scores, torch.zeros(1, 3)).sum().backward()
    assert scores.grad.tolist() == [[pytest.approx(1 / 4)] * 3]


def test_a_virtual_label_of_nothing() -> None:
    with pytest.raises(ValueError, match=r"^virtual_label must be a number above 0, got 0$"):
        CalibratedSoftmax(0)

"""ltr/losses/rcr.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import RCR, SigmoidCrossEntropy
from ltr.testing import check_surrogate

SCORES, LABELS = [0.3, 0.7, -0.2], [1.0, 0.0, 0.5]
LISTS = torch.tensor([SCORES]).double(), torch.tensor([LABELS]).double()
P = [1 / (1 + exp(-s)) for s in SCORES]


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_sigmoid_cross_entropy_and_that_of_the_shares(alpha: float) -> None:
    pointwise = -sum(y * log(p) + (1 - y) * log(1 - p) for y, p in zip(LABELS, P, strict=True)) / 3
    listwise = -sum(y / 1.5 * log(p / sum(P)) for y, p in zip(LABELS, P, strict=True))
    assert RCR(alpha)(*LISTS).item() == pytest.approx((1 - alpha) * pointwise + alpha * listwise)


def test_a_weight_multiplies_the_term_and_the_label() -> None:
    weight = [0.5, 3.0, 2.0]
    worth = [w * y for w, y in zip(weight, LABELS, strict=True)]
    pointwise = SigmoidCrossEntropy()(*LISTS, weight=torch.tensor([weight])).item()
    listwise = -sum(y / sum(worth) * log(p / sum(P)) for y, p in zip(worth, P, strict=True))
    found = RCR()(*LISTS, weight=torch.tensor([weight])).item()
    assert found == pytest.approx((pointwise + listwise) / 2)


def test_both_terms_are_least_where_the_probabilities_are_right() -> None:
    """Which a sum of sigmoid and softmax cross entropy has not."""
    right = torch.tensor([[0.9, 0.2, 0.5]]).double()
    scores = torch.logit(right).requires_grad_()
    for alpha in (0.0, 0.5, 1.0):
        (gradient,) = torch.autograd.grad(RCR(alpha)(scores, right).sum(), scores)
        assert gradient.abs().max().item() == pytest.approx(0, abs=1e-12)


def test_grades_over_the_top() -> None:
    found = RCR(top=4)(LISTS[0], 4 * LISTS[1])
    assert found.item() == pytest.approx(RCR()(*LISTS).item())
    assert check_surrogate(RCR(top=4))


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"^labels must be at most top=1 .* list 0, document 1 has the label 2$"):
        RCR()(torch.zeros(1, 2), torch.tensor([[0.0, 2.0]]))
    with pytest.raises(ValueError, match=r"^alpha must be a number between 0 and 1, got 2$"):
        RCR(alpha=2)

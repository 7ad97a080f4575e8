"""ltr/losses/xendcg.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import XENDCG

SCORES, LABELS, DRAWN = [0.3, 0.7, -0.2], [2.0, 0.0, 1.0], [0.1, 0.9, 0.5]
LOG_P = [s - log(sum(exp(t) for t in SCORES)) for s in SCORES]
LISTS = torch.tensor([SCORES]).double(), torch.tensor([LABELS]).double()
NOISE = torch.tensor([DRAWN]).double()[:, :, None]


def test_cross_entropy_with_gains_less_the_draws() -> None:
    worth = [2**y - u for y, u in zip(LABELS, DRAWN, strict=True)]
    wanted = -sum(w * p for w, p in zip(worth, LOG_P, strict=True)) / sum(worth)
    assert XENDCG()(*LISTS, noise=NOISE).item() == pytest.approx(wanted)


def test_the_gradient_is_that_of_the_value() -> None:
    """softmax less target; LightGBM adds two terms of second order."""
    scores = LISTS[0].clone().requires_grad_()
    XENDCG()(scores, LISTS[1], noise=NOISE).sum().backward()
    worth = torch.exp2(LISTS[1]) - NOISE[..., 0]
    assert torch.allclose(scores.grad, LISTS[0].softmax(1) - worth / worth.sum())


def test_a_weight_multiplies_what_a_document_is_worth() -> None:
    weight = [3.0, 0.5, 0.0]
    worth = [w * (2**y - u) for w, y, u in zip(weight, LABELS, DRAWN, strict=True)]
    wanted = -sum(w * p for w, p in zip(worth, LOG_P, strict=True)) / sum(worth)
    found = XENDCG()(*LISTS, noise=NOISE, weight=torch.tensor([weight]))
    assert found.item() == pytest.approx(wanted)


def test_a_list_without_relevance_teaches_by_chance_alone() -> None:
    loss = XENDCG()
    scores = torch.zeros(1, 2000, dtype=torch.float64, requires_grad=True)
    loss(scores, torch.zeros(1, 2000)).sum().backward()
    assert scores.grad.abs().max() > 0
    assert scores.grad.sum().item() == pytest.approx(0, abs=1e-12)


def test_draws_are_new_in_each_call_of_training_and_the_same_by_seed() -> None:
    first, again, other = XENDCG(1), XENDCG(1), XENDCG(2)
    values = [first(*LISTS).item() for _ in range(2)]
    assert values == [again(*LISTS).item() for _ in range(2)]
    assert values[0] != values[1]
    assert other(*LISTS).item() != values[0]
    assert first.eval()(*LISTS) == first(*LISTS)


def test_noise_of_another_shape() -> None:
    with pytest.raises(ValueError, match=r"^noise must be one a document, \[lists, documents\] = \[1, 3\]"):
        XENDCG()(*LISTS, noise=NOISE[:, :2])

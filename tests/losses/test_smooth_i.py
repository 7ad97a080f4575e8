"""ltr/losses/smooth_i.py"""

from importlib import import_module
from math import exp, log2

import pytest
import torch

from ltr.losses import SmoothI, smooth_i
from ltr.metrics import NDCG, parse

DOUBLE = torch.float64
SCORES = torch.tensor([[1.5, 0.5, 0.2]], dtype=DOUBLE)
LABELS = torch.tensor([[0.0, 1.0, 2.0]], dtype=DOUBLE)
HEIGHTS = [1.3, 0.3, 0.0]


def softmax(values: list[float]) -> list[float]:
    powers = [exp(each) for each in values]
    return [each / sum(powers) for each in powers]


def test_each_place_takes_the_best_of_what_the_places_above_have_left() -> None:
    first = softmax([2 * height for height in HEIGHTS])
    left = [1 - taken - 0.1 for taken in first]
    second = softmax([2 * height * each for height, each in zip(HEIGHTS, left, strict=True)])
    gains = [here[1] + 3 * here[2] for here in (first, second)]
    loss = SmoothI("ndcg@2", alpha=2.0)
    assert loss(SCORES, LABELS).item() == pytest.approx(1 - (gains[0] + gains[1] / log2(3)) / (3 + 1 / log2(3)))


def test_a_list_without_an_answer_is_no_loss() -> None:
    """The gain 2^(expected label) of the authors' code gives it the best value there is."""
    assert SmoothI("ndcg@3").estimate(SCORES, 0 * LABELS).item() == 0
    assert SmoothI("ndcg@3")(SCORES, 0 * LABELS).item() == 0


def test_stop_gradient_keeps_the_value_and_the_gradient_of_the_first_place() -> None:
    found = {}
    for name, stop in (("ndcg@1", False), ("ndcg@1", True), ("ndcg@3", False), ("ndcg@3", True)):
        scores = SCORES.clone().requires_grad_()
        loss = SmoothI(name, stop_gradient=stop)(scores, LABELS)
        found[name, stop] = loss.item(), torch.autograd.grad(loss.sum(), scores)[0]
    for name in ("ndcg@1", "ndcg@3"):
        assert found[name, True][0] == pytest.approx(found[name, False][0], rel=1e-14)
    torch.testing.assert_close(found["ndcg@1", True][1], found["ndcg@1", False][1])
    assert not torch.allclose(found["ndcg@3", True][1], found["ndcg@3", False][1], rtol=1e-2)


@pytest.mark.parametrize("stop", [False, True])
def test_many_places_in_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch, stop: bool) -> None:
    draw = torch.Generator().manual_seed(0)
    values, labels = torch.randn(3, 11, generator=draw, dtype=DOUBLE), torch.rand(3, 11, generator=draw) * 4
    mask = torch.rand(3, 11, generator=draw) < 0.8
    found = []
    for places in (64, 4):
        monkeypatch.setattr(import_module("ltr.losses.smooth_i"), "PLACES", places)
        scores = values.clone().requires_grad_()
        value = smooth_i(scores, labels, mask, NDCG(), 2.0, 0.1, stop)
        found.append((value.detach(), torch.autograd.grad(value.sum(), scores)[0]))
    torch.testing.assert_close(*found, rtol=1e-12, atol=1e-14)


def test_soft_becomes_hard_as_alpha_grows() -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.rand(50, 12, generator=draw).argsort(1).double() * 0.1
    labels = torch.randint(0, 4, (50, 12), generator=draw).double()
    exact = parse("ndcg@10")(scores, labels)
    errors = [
        (SmoothI("ndcg@10", alpha=alpha).estimate(scores, labels) - exact).abs().max().item()
        for alpha in (1, 100, 10_000)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


@pytest.mark.parametrize("name", ["alpha", "delta"])
def test_numbers_above_0_are_wanted(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be a number above 0"):
        SmoothI("ndcg", **{name: 0.0})

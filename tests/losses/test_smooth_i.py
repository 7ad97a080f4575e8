"""ltr/losses/smooth_i.py"""

from importlib import import_module
from math import exp, log2
from typing import Any

import pytest
import torch

from ltr.losses import SmoothI, smooth_i
from ltr.losses.smooth_i import Expect
from ltr.metrics import NDCG, parse
from ltr.testing import check_surrogate

DOUBLE = torch.float64
SCORES = torch.tensor([[1.5, 0.5, 0.2]], dtype=DOUBLE)
LABELS = torch.tensor([[0.0, 1.0, 2.0]], dtype=DOUBLE)
HEIGHTS = [1.3, 0.3, 0.0]
EXPECT: tuple[Expect, Expect] = ("label", "gain")


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


def test_the_gain_of_the_label_that_is_expected_at_each_place() -> None:
    """As the authors' code has it, of the metric's gain and against its ideal."""
    first = softmax([2 * height for height in HEIGHTS])
    left = [1 - taken - 0.1 for taken in first]
    second = softmax([2 * height * each for height, each in zip(HEIGHTS, left, strict=True)])
    gains = [2 ** (here[1] + 2 * here[2]) - 1 for here in (first, second)]
    dcg = gains[0] + gains[1] / log2(3)
    loss = SmoothI("ndcg@2", alpha=2.0, expect="label")
    assert loss(SCORES, LABELS).item() == pytest.approx(1 - dcg / (3 + 1 / log2(3)))
    assert SmoothI("dcg@2", alpha=2.0, expect="label").estimate(SCORES, LABELS).item() == pytest.approx(dcg)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 10.0])
def test_the_gain_of_the_expected_label_is_never_more_than_the_expected_gain(alpha: float) -> None:
    """2^y - 1 is convex (Jensen), and y itself is straight. 10,000 lists each."""
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(10_000, 8, generator=draw, dtype=DOUBLE)
    labels = torch.randint(0, 5, scores.shape, generator=draw).double()
    mask = torch.rand(scores.shape, generator=draw) < 0.8
    for name, least in (("ndcg@5", 0.01), ("ndcg-linear@5", 0.0)):
        label, gain = (SmoothI(name, alpha, expect=each).estimate(scores, labels, mask) for each in EXPECT)
        assert (label - gain).max().item() <= 1e-12
        assert (gain - label).max().item() >= least
        assert least or (gain - label).max().item() <= 1e-12


@pytest.mark.parametrize("expect", ["label", "gain"])
def test_a_list_without_an_answer_is_no_loss(expect: Expect) -> None:
    """The gain 2^y of the authors' code gives it the best value there is."""
    assert SmoothI("ndcg@3", expect=expect).estimate(SCORES, 0 * LABELS).item() == 0
    assert SmoothI("ndcg@3", expect=expect)(SCORES, 0 * LABELS).item() == 0


@pytest.mark.parametrize("name", ["precision@3", "recall@3", "f1@3", "rbp@5", "ndcg-binary1@3", "ndcg-table0_1_3@3"])
def test_an_expected_label_has_no_gain_where_gains_go_by_steps(name: str) -> None:
    wanted = rf"^SmoothI: expect=\"label\" wants a gain of labels between the grades \(ndcg, dcg\), got {name}$"
    with pytest.raises(ValueError, match=wanted):
        SmoothI(name, expect="label")


def test_an_expected_label_has_no_weight() -> None:
    message = r'^weight: the gain of an expected label is that of no document; take expect="gain"$'
    with pytest.raises(ValueError, match=message):
        SmoothI("ndcg", expect="label")(SCORES, LABELS, weight=torch.ones_like(SCORES))


def test_short_lists_score_0_under_the_official_rule_whatever_is_expected() -> None:
    mask = torch.tensor([[True, True, False]])
    for expect in EXPECT:
        assert SmoothI("ndcg-short0@3", expect=expect).estimate(SCORES, LABELS, mask).item() == 0
        assert SmoothI("ndcg-short0@2", expect=expect).estimate(SCORES, LABELS, mask).item() > 0


def test_labels_of_any_size_are_expected() -> None:
    scores = SCORES.clone().requires_grad_()
    SmoothI("ndcg", expect="label")(scores, 1000 * LABELS).sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()


@pytest.mark.parametrize("options", [{}, {"stop_gradient": True}, {"alpha": 5.0}])
def test_expected_labels_keep_the_contract(options: dict[str, Any]) -> None:
    passed = check_surrogate(SmoothI("ndcg@3", expect="label", **options))
    assert "belief keeps its promise" in passed
    assert ("gradients equal finite differences" in passed) == ("stop_gradient" not in options)


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


@pytest.mark.parametrize("expect", ["label", "gain"])
@pytest.mark.parametrize("stop", [False, True])
def test_many_places_in_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch, stop: bool, expect: Expect) -> None:
    draw = torch.Generator().manual_seed(0)
    values, labels = torch.randn(3, 11, generator=draw, dtype=DOUBLE), torch.rand(3, 11, generator=draw) * 4
    mask = torch.rand(3, 11, generator=draw) < 0.8
    found = []
    for places in (64, 4):
        monkeypatch.setattr(import_module("ltr.losses.smooth_i"), "PLACES", places)
        scores = values.clone().requires_grad_()
        value = smooth_i(scores, labels, mask, NDCG(), 2.0, 0.1, stop, expect)
        found.append((value.detach(), torch.autograd.grad(value.sum(), scores)[0]))
    torch.testing.assert_close(*found, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("expect", ["label", "gain"])
def test_soft_becomes_hard_as_alpha_grows(expect: Expect) -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.rand(50, 12, generator=draw).argsort(1).double() * 0.1
    labels = torch.randint(0, 4, (50, 12), generator=draw).double()
    exact = parse("ndcg@10")(scores, labels)
    errors = [
        (SmoothI("ndcg@10", alpha=alpha, expect=expect).estimate(scores, labels) - exact).abs().max().item()
        for alpha in (1, 100, 10_000)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


@pytest.mark.parametrize("name", ["alpha", "delta"])
def test_numbers_above_0_are_wanted(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be a number above 0"):
        SmoothI("ndcg", **{name: 0.0})


def test_what_may_be_expected() -> None:
    with pytest.raises(ValueError, match=r"^expect must be one of gain, label; got 'rank'$"):
        SmoothI("ndcg", expect="rank")  # type: ignore[arg-type]

"""ltr/losses/arp_loss.py"""

from itertools import product
from math import exp, log2
from typing import Any

import pytest
import torch

from ltr.losses import ARPLoss
from ltr.losses.arp_loss import Scheme
from ltr.metrics import ARP

DOUBLE = torch.float64


def spelled(scores: list[float], labels: list[float], scheme: str, sigma: float, weight: list[float]) -> float:
    total = 0.0
    for i, j in product(range(len(scores)), repeat=2):
        ahead = labels[i] if scheme == "loss1" else max(0.0, labels[i] - labels[j])
        total += (i != j) * weight[i] * ahead * log2(1 + exp(-sigma * (scores[i] - scores[j])))
    return total / sum(labels)


@pytest.mark.parametrize("scheme", ["loss1", "loss2"])
@pytest.mark.parametrize("sigma", [1.0, 2.5])
def test_the_sum_over_pairs_by_the_sum_of_labels(scheme: Scheme, sigma: float) -> None:
    torch.manual_seed(0)
    scores, labels, weight = torch.randn(10, 7, dtype=DOUBLE), torch.rand(10, 7, dtype=DOUBLE) * 4, torch.rand(10, 7)
    mask = torch.rand(10, 7) < 0.8
    loss = ARPLoss(scheme, sigma)
    plain, weighted = loss(scores, labels, mask), loss(scores, labels, mask, weight=weight)
    for row, real in enumerate(mask):
        s, y, w = (each[row, real].tolist() for each in (scores, labels, weight))
        assert plain[row].item() == pytest.approx(spelled(s, y, scheme, sigma, [1.0] * len(s)))
        assert weighted[row].item() == pytest.approx(spelled(s, y, scheme, sigma, w))


def test_only_pairs_of_the_first_k() -> None:
    scores, labels = torch.tensor([[3.0, 2.0, 1.0]], dtype=DOUBLE), torch.tensor([[0.0, 1.0, 2.0]], dtype=DOUBLE)
    assert ARPLoss(k=2)(scores, labels).item() == pytest.approx((1 - 0) * log2(1 + exp(1)) / 3)
    assert (ARPLoss(k=2).kind, ARPLoss(k=2).aim, ARPLoss(k=2).certificate(scores, labels)) == ("neither", None, None)


@pytest.mark.parametrize("scheme", ["loss1", "loss2"])
def test_a_limit_is_tight_where_wrong_pairs_are_near_and_right_ones_far(scheme: Scheme) -> None:
    """The wrong pair costs one rank, as little as it can: log2(1 + e^0) = 1."""
    scores, labels = torch.tensor([[1e-9, 0.0, -100.0]], dtype=DOUBLE), torch.tensor([[0.0, 3.0, 0.0]], dtype=DOUBLE)
    assert ARP()(scores, labels).item() == 2
    assert ARPLoss(scheme).certificate(scores, labels).item() == pytest.approx(2)


@pytest.mark.parametrize("scheme", ["loss1", "loss2"])
@pytest.mark.parametrize("dtype", [torch.float32, DOUBLE])
def test_the_worst_order_keeps_its_gradient_and_the_best_is_finite(scheme: Scheme, dtype: torch.dtype) -> None:
    """pytorchltr: an infinite loss at a gap of 1e4, and gradients that are no numbers even for the perfect order."""
    labels = torch.tensor([[1.0, 0.0]])
    for gap in (24.0, 1e4):
        scores = torch.tensor([[-gap, gap]], dtype=dtype, requires_grad=True)
        loss = ARPLoss(scheme)(scores, labels)
        loss.sum().backward()
        assert loss.item() == pytest.approx(2 * gap / 0.6931471805599453)
        assert scores.grad[0].tolist() == pytest.approx([-1 / 0.6931471805599453, 1 / 0.6931471805599453])
        scores = torch.tensor([[gap, -gap]], dtype=dtype, requires_grad=True)
        ARPLoss(scheme)(scores, labels).sum().backward()
        assert scores.grad.abs().max() < 1e-9


def test_a_list_without_labels_is_zero_with_a_live_graph() -> None:
    for scheme in ("loss1", "loss2"):
        scores = torch.tensor([[0.3, 0.1]], requires_grad=True)
        loss = ARPLoss(scheme)(scores, torch.zeros(1, 2))
        loss.sum().backward()
        assert (loss.item(), scores.grad.tolist()) == (0, [[0, 0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "loss3"}, "scheme must be one of loss1, loss2; got 'loss3'"),
        ({"sigma": 0}, "sigma must be a number above 0, got 0"),
        ({"k": 0}, "k must be a whole number of at least 1, got 0"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        ARPLoss(**options)

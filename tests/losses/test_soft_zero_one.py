"""ltr/losses/soft_zero_one.py"""

from math import exp

import pytest
import torch

from ltr.losses import ApproxMetric, SoftZeroOne


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


@pytest.mark.parametrize("sigma", [1.0, 0.5])
def test_the_mean_sigmoid_of_the_pairs(sigma: float) -> None:
    scores, labels = torch.tensor([[0.3, 0.7, -0.2]]).double(), torch.tensor([[2.0, 0.0, 1.0]])
    wrong = [sigmoid(-sigma * margin) for margin in (0.3 - 0.7, 0.3 - -0.2, -0.2 - 0.7)]
    assert SoftZeroOne(sigma)(scores, labels).item() == pytest.approx(sum(wrong) / 3)
    assert SoftZeroOne(sigma, "sum")(scores, labels).item() == pytest.approx(sum(wrong))
    weighted = SoftZeroOne(sigma)(scores, labels, weight=torch.tensor([[2.0, 7.0, 3.0]]))
    assert weighted.item() == pytest.approx((2 * (wrong[0] + wrong[1]) + 3 * wrong[2]) / 3)


def test_it_is_pairwise_accuracy_on_soft_ranks() -> None:
    torch.manual_seed(0)
    scores, labels, mask = torch.randn(4, 9).double(), torch.randint(3, (4, 9)), torch.rand(4, 9) < 0.8
    approximate = ApproxMetric("pairs", 0.5)(scores, labels, mask)
    assert torch.allclose(SoftZeroOne(2.0)(scores, labels, mask), approximate, rtol=1e-12)


def test_a_pair_far_on_the_wrong_side_has_no_slope() -> None:
    scores = torch.tensor([[-50.0, 50.0]], requires_grad=True)
    loss = SoftZeroOne()(scores, torch.tensor([[1.0, 0.0]]))
    loss.sum().backward()
    assert loss.item() == 1
    assert scores.grad.abs().sum() < 1e-30


def test_a_sum_is_in_no_unit_of_the_metric() -> None:
    assert (SoftZeroOne().kind, SoftZeroOne().aim.name) == ("approximation", "pairs")
    assert (SoftZeroOne(pairs="sum").kind, SoftZeroOne(pairs="sum").aim) == ("neither", None)
    assert SoftZeroOne(pairs="sum").estimate(torch.zeros(1, 2), torch.zeros(1, 2)) is None


def test_unknown_options() -> None:
    with pytest.raises(ValueError, match=r"^sigma must be a number above 0, got 0$"):
        SoftZeroOne(0)
    with pytest.raises(ValueError, match=r"^pairs must be one of mean, sum, batch; got 'all'$"):
        SoftZeroOne(pairs="all")

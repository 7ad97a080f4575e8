"""ltr/losses/quantile.py"""

import pytest
import torch

from ltr.losses import Quantile


@pytest.mark.parametrize(("tau", "power"), [(0.3, 1), (0.5, 1), (0.9, 2), (1.0, 2)])
def test_falling_short_and_overshooting_have_their_prices(tau: float, power: int) -> None:
    scores, labels = torch.tensor([[3.0, 0.5, 0.0]]).double(), torch.tensor([[2.0, 1.0, 0.0]])
    excess = [2.5 - 1, 3.0 - 2, 0.5 - 1]  # how much farther apart scores are than labels
    costs = [(1 - tau if each > 0 else tau) * abs(each) ** power for each in excess]
    surrogate = Quantile(tau, squared=power == 2)
    assert surrogate(scores, labels).item() == pytest.approx(sum(costs) / 3)
    weighted = surrogate(scores, labels, weight=torch.tensor([[2.0, 3.0, 7.0]]))
    assert weighted.item() == pytest.approx((2 * (costs[0] + costs[1]) + 3 * costs[2]) / 3)
    summed = Quantile(tau, squared=power == 2, pairs="sum")(scores, labels)
    assert summed.item() == pytest.approx(sum(costs))


@pytest.mark.parametrize(("squared", "slopes"), [(False, [-0.9, 0.0, 0.1]), (True, [-1.8, 0.0, 0.2])])
def test_slopes(squared: bool, slopes: list[float]) -> None:
    """One label apart, and 1 too little, right, or 1 too much."""
    for score, slope in zip([0.0, 1.0, 2.0], slopes, strict=True):
        scores = torch.tensor([[score, 0.0]], dtype=torch.float64, requires_grad=True)
        Quantile(0.9, squared)(scores, torch.tensor([[1.0, 0.0]])).sum().backward()
        assert scores.grad.tolist()[0] == pytest.approx([slope, -slope])


def test_the_worse_documents_as_rows_are_no_other_loss() -> None:
    """One low document among many: its pairs are taken from its side."""
    scores, labels = torch.tensor([[0.5, -1.0, 2.0, 0.0]]).double(), torch.tensor([[1.0, 1.0, 1.0, 0.0]])
    excess = [-0.5, -2.0, 1.0]
    weight = torch.tensor([[2.0, 3.0, 4.0, 9.0]])
    wanted = sum(w * (0.2 if each > 0 else 0.8) * abs(each) for w, each in zip([2, 3, 4], excess, strict=True))
    assert Quantile(0.8, pairs="sum")(scores, labels, weight=weight).item() == pytest.approx(wanted)


def test_an_offset_costs_no_digits_in_single_precision() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(2, 30) + 1e4, torch.rand(2, 30)
    exact = Quantile(0.3)(scores.double(), labels.double()).float()
    torch.testing.assert_close(Quantile(0.3)(scores, labels), exact, rtol=3e-6, atol=0)


def test_unknown_options() -> None:
    for tau in (0, 1.5):
        with pytest.raises(ValueError, match=rf"^tau must be a number above 0 and at most 1, got {tau}$"):
            Quantile(tau)
    with pytest.raises(ValueError, match=r"^pairs must be one of mean, sum, batch; got 'all'$"):
        Quantile(pairs="all")

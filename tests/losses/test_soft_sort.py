"""ltr/losses/soft_sort.py: the sums over sorted scores against the matrix."""

from math import exp, log2

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr.losses import SoftSortNDCG, soft_sort, soft_sort_metric
from ltr.losses.permutations import placed, read_places
from ltr.losses.permutations import soft_sort as matrix
from ltr.metrics import NDCG, parse
from ltr.metrics.base import SumMetric

DOUBLE = torch.float64


@pytest.fixture
def sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few places are worked out by sums too."""
    monkeypatch.setattr(soft_sort, "FEW", 0)


def dense(scores: Tensor, labels: Tensor, mask: Tensor, metric: SumMetric, temperature: float) -> Tensor:
    scores, mask, worth, place = read_places(scores, labels, mask, metric, None)
    return placed(matrix(scores, mask, temperature, place.shape[1]), worth, place)


def both(scores: Tensor, labels: Tensor, mask: Tensor, metric: SumMetric, temperature: float) -> list[list[Tensor]]:
    found = []
    for value_of in (soft_sort_metric, dense):
        leaf = scores.clone().requires_grad_()
        value = value_of(leaf, labels, mask, metric, temperature)
        up = torch.arange(1.0, len(scores) + 1, dtype=value.dtype)
        found.append([value.detach(), torch.autograd.grad(value, leaf, up)[0]])
    return found


def test_two_documents() -> None:
    """The relevant one stands second: place 1 is its own with the chance 1 - p, place 2 with p = 1 / (1 + e^(-1/T))."""
    right = 1 / (1 + exp(-1 / 0.5))
    scores, labels = torch.tensor([[1.0, 0.0]], dtype=DOUBLE), torch.tensor([[0.0, 1.0]])
    loss = SoftSortNDCG("ndcg", temperature=0.5)
    assert loss(scores, labels).item() == pytest.approx(1 - (1 - right) - right / log2(3))


@pytest.mark.usefixtures("sums")
@settings(max_examples=150)
@given(
    st.integers(1, 3),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.3, 1.0, 30.0, 1e4]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from(["ndcg", "ndcg@3", "dcg@2", "recall@2", "rbp"]),
    st.sampled_from([0.1, 1.0]),
    st.integers(0, 999),
)
def test_value_and_gradient_are_those_of_the_matrix(
    lists: int, documents: int, spread: float, step: float, name: str, temperature: float, seed: int
) -> None:
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randn(lists, documents, generator=draw, dtype=DOUBLE)
    scores = ((scores / step).round() * step if step else scores) * spread  # tied, or not
    labels, mask = (
        torch.rand(lists, documents, generator=draw) * 4,
        torch.rand(lists, documents, generator=draw) < 0.8,
    )
    metric = parse(name)
    assert isinstance(metric, SumMetric)
    fast, slow = both(scores * mask, labels * mask, mask, metric, temperature)
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("spread", [1e-6, 1.0, 1e4])
def test_float32_is_as_good_as_float64(spread: float) -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(2, 300, generator=draw) * spread
    labels, mask = torch.randint(0, 4, (2, 300), generator=draw).float(), torch.ones(2, 300).bool()
    (value, gradient), _ = both(scores, labels, mask, NDCG(), 0.1)
    (wanted, slope), _ = both(scores.double(), labels.double(), mask, NDCG(), 0.1)
    torch.testing.assert_close(value.double(), wanted, rtol=1e-6, atol=1e-7)
    torch.testing.assert_close(gradient.double(), slope, rtol=1e-6, atol=max(1e-8, 1e-6 * slope.abs().max().item()))


def test_long_lists_take_no_more_memory_than_their_scores() -> None:
    """A matrix of 100,000 documents would hold 80 GB."""
    scores = torch.linspace(-3, 3, 100_000, dtype=DOUBLE)[None].requires_grad_()
    labels = torch.zeros(1, 100_000)
    labels[0, 99_999] = 1  # on top
    estimate = SoftSortNDCG("ndcg", temperature=1e-7).estimate(scores, labels)
    assert estimate.item() == pytest.approx(1)
    assert torch.isfinite(torch.autograd.grad(estimate.sum(), scores)[0]).all()


def test_soft_becomes_hard_as_the_temperature_falls() -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.rand(100, 30, generator=draw).argsort(1).double() * 0.1
    labels = torch.randint(0, 4, (100, 30), generator=draw).double()
    exact = NDCG()(scores, labels)
    errors = [
        (SoftSortNDCG("ndcg", temperature).estimate(scores, labels) - exact).abs().max().item()
        for temperature in (0.1, 0.01, 0.001)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


def test_a_temperature_above_0_is_wanted() -> None:
    with pytest.raises(ValueError, match=r"^temperature must be a number above 0"):
        SoftSortNDCG("ndcg", temperature=0)

"""ltr/losses/hinge.py: the kernel against its definition."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr.losses import Hinge, hinge, pairwise_hinge
from ltr.losses.hinge import dense_hinge

DOUBLE = torch.float64
Lists = tuple[Tensor, Tensor, Tensor, Tensor]  # scores, labels, mask, weight


@pytest.fixture
def sorting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short lists are sorted too."""
    monkeypatch.setattr(hinge, "SHORT", 0)


def drawn(seed: int, lists: int, documents: int, spread: float, grades: int, step: float) -> Lists:
    """Scores on a grid of this step, where it is not 0: many are tied, or exactly 1 apart."""
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randn(lists, documents, generator=draw, dtype=DOUBLE) * spread
    scores = (scores / step).round() * step if step else scores
    labels = torch.randint(grades, (lists, documents), generator=draw).double() / 3
    mask = torch.rand(lists, documents, generator=draw) < 0.8
    weight = torch.rand(lists, documents, generator=draw, dtype=DOUBLE) * mask
    return scores * mask, labels * mask, mask, weight


def both(loss: Callable[[Tensor], Tensor], scores: Tensor) -> tuple[Tensor, Tensor]:
    leaf = scores.clone().requires_grad_()
    value = loss(leaf)
    return value.detach(), torch.autograd.grad(value, leaf, torch.arange(1.0, len(scores) + 1, dtype=scores.dtype))[0]


def test_the_mean_missing_margin_of_the_pairs() -> None:
    scores, labels = torch.tensor([[0.3, 0.7, -0.2]]).double(), torch.tensor([[2.0, 0.0, 1.0]])
    missing = [1 - (0.3 - 0.7), 1 - (0.3 - -0.2), 1 - (-0.2 - 0.7)]
    assert Hinge()(scores, labels).item() == pytest.approx(sum(missing) / 3)
    assert Hinge("sum")(scores, labels).item() == pytest.approx(sum(missing))
    assert Hinge("batch")(scores, labels).item() == pytest.approx(sum(missing) / 3)
    weighted = Hinge("sum")(scores, labels, weight=torch.tensor([[2.0, 7.0, 3.0]]))
    assert weighted.item() == pytest.approx(2 * (missing[0] + missing[1]) + 3 * missing[2])


@pytest.mark.usefixtures("sorting")
@settings(max_examples=150)
@given(
    st.integers(0, 999),
    st.integers(1, 9),
    st.sampled_from([0.3, 1.0, 30.0]),
    st.sampled_from([2, 5, 40]),
    st.sampled_from([0.0, 0.5]),
)
def test_sorting_is_the_sum_over_pairs(seed: int, documents: int, spread: float, grades: int, step: float) -> None:
    scores, labels, mask, weight = drawn(seed, 3, documents, spread, grades, step)
    found = both(lambda s: pairwise_hinge(s, labels, mask, "sum", weight=weight), scores)
    torch.testing.assert_close(
        found, both(lambda s: dense_hinge(s, labels, mask, weight), scores), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("short", [0, 10**6])
@pytest.mark.parametrize(("grades", "spread"), [(2, 1.0), (5, 30.0), (1000, 0.3)])
def test_long_lists_either_way(short: int, grades: int, spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hinge, "SHORT", short)
    scores, labels, mask, weight = drawn(0, 2, 400, spread, grades, 0.0)
    found = both(lambda s: pairwise_hinge(s, labels, mask, "sum", weight=weight), scores)
    torch.testing.assert_close(
        found, both(lambda s: dense_hinge(s, labels, mask, weight), scores), rtol=1e-11, atol=1e-11
    )


@pytest.mark.usefixtures("sorting")
@pytest.mark.parametrize("offset", [0.0, 1e4, -1e4])
def test_single_precision_far_from_zero(offset: float) -> None:
    """On a grid of 1 / 512, which float32 holds at 10,000 too."""
    scores, labels, mask, weight = drawn(1, 2, 500, 2.0, 5, 1 / 512)
    wanted = both(lambda s: dense_hinge(s, labels, mask, weight), scores)
    shifted = (scores + offset).float()
    found = both(lambda s: pairwise_hinge(s, labels, mask, "sum", weight=weight), shifted)
    torch.testing.assert_close([each.double() for each in found], list(wanted), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("short", [0, 10**6])
def test_a_margin_of_exactly_1_has_no_slope(short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hinge, "SHORT", short)
    labels = torch.tensor([[1.0, 0.0]])
    for ahead, slope in ((1.0, 0.0), (0.75, 1.0), (1.25, 0.0)):
        value, gradient = both(lambda s: pairwise_hinge(s, labels), torch.tensor([[ahead, 0.0]]))
        assert value.item() == max(0.0, 1 - ahead)
        assert gradient.tolist() == [[-slope, slope]]


@pytest.mark.usefixtures("sorting")
def test_a_margin_that_rounds_to_1_is_counted_once_from_each_side() -> None:
    """-1e-20 - 1 is -1 in float64: a document counted from one side alone would cost a whole score."""
    scores = torch.tensor([[-1e-20, -1.0, 5000.0, 5001.0]]).double()
    value, gradient = both(lambda s: pairwise_hinge(s, torch.tensor([[1.0, 0.0, 0.0, 1.0]])), scores)
    assert value.item() == pytest.approx(5001 / 4)
    assert gradient.sum().item() == 0


def test_it_certifies_pairwise_accuracy() -> None:
    assert (Hinge().kind, Hinge().aim.name, Hinge("batch").kind) == ("bound", "pairs", "bound")
    assert (Hinge("sum").kind, Hinge("sum").certificate(torch.zeros(1, 2), torch.zeros(1, 2))) == ("neither", None)


def test_unknown_options() -> None:
    with pytest.raises(ValueError, match=r"^pairs must be one of mean, sum, batch; got 'all'$"):
        Hinge("all")

"""ltr/softening.py: the kernels against their definitions."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ltr import softening
from ltr.softening import (
    centred,
    dense_counts,
    dense_hinge_counts,
    dense_wins,
    hinge_counts,
    soft_counts,
    soft_wins,
    some_rows,
    uncast,
)


def both(rows: torch.Tensor, scores: torch.Tensor, weight: torch.Tensor, temperature: float) -> list[torch.Tensor]:
    """Value and gradients of each of the two, one below the other."""
    found = []
    for count in (soft_counts, dense_counts):
        a, s = rows.clone().requires_grad_(), scores.clone().requires_grad_()
        value = count(a, s, weight, temperature)
        up = torch.linspace(-1, 2, value.numel(), dtype=value.dtype).view(value.shape)
        found.append(torch.cat([each.flatten() for each in (value.detach(), *torch.autograd.grad(value, (a, s), up))]))
    return found


@settings(max_examples=200)
@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 7), st.sampled_from([0.01, 1.0, 30.0]), st.integers(0, 999))
def test_value_and_gradient_are_those_of_the_definition(
    lists: int, rows: int, documents: int, temperature: float, seed: int
) -> None:
    draw = torch.Generator().manual_seed(seed)
    a, s = (torch.randn(lists, size, generator=draw, dtype=torch.float64) * 3 for size in (rows, documents))
    fast, slow = both(a, s, torch.rand(lists, documents, generator=draw, dtype=torch.float64), temperature)
    torch.testing.assert_close(fast, slow, rtol=1e-12, atol=1e-12)


def test_parts_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = torch.Generator().manual_seed(1)
    lists = [torch.randn(2, size, generator=draw, dtype=torch.float64) for size in (9, 5, 5)]
    whole, _ = both(*lists, 0.5)
    monkeypatch.setattr(softening, "CELLS", 20)
    monkeypatch.setattr(softening, "KEPT", 89)  # of 90 pairs
    assert [part.stop - part.start for part in some_rows(9, 10)] == [2] * 5
    torch.testing.assert_close(both(*lists, 0.5)[0], whole, rtol=1e-13, atol=1e-13)


def test_scores_far_apart_are_counted_or_not() -> None:
    scores = torch.tensor([[-1e30, 0.0, 1e30]], dtype=torch.float64, requires_grad=True)
    counts = soft_counts(scores, scores, torch.ones(1, 3, dtype=torch.float64), 1e-3)
    assert counts.tolist() == [[2.5, 1.5, 0.5]]
    assert torch.isfinite(torch.autograd.grad(counts.sum(), scores)[0]).all()


def test_a_second_derivative_is_refused_and_not_wrong() -> None:
    scores = torch.tensor([[0.0, 1.0]], requires_grad=True)
    wanted = (
        r"^a surrogate can be differentiated once: its gradient has no graph; "
        r"create_graph=True \(a second derivative, a gradient penalty\) is refused$"
    )
    for kernel in (lambda s: soft_counts(s, s, None, 1.0), lambda s: soft_wins(s, scores > 0, s > -1, 1.0)[0]):
        with pytest.raises(RuntimeError, match=wanted):
            torch.autograd.grad(kernel(scores).sum(), scores, create_graph=True)
        assert torch.autograd.grad(kernel(scores).sum(), scores)[0].shape == (1, 2)


@settings(max_examples=200)
@given(st.integers(1, 3), st.integers(1, 9), st.sampled_from([0.01, 1.0, 30.0]), st.integers(0, 999))
def test_soft_wins_are_those_of_the_definition(lists: int, documents: int, temperature: float, seed: int) -> None:
    draw, found = torch.Generator().manual_seed(seed), []
    scores = torch.randn(lists, documents, generator=draw, dtype=torch.float64)
    labels = torch.randint(0, 3, (lists, documents), generator=draw).double()
    mask = torch.rand(lists, documents, generator=draw) < 0.8
    up = torch.arange(1.0, lists + 1, dtype=torch.float64)
    for wins in (soft_wins, lambda s, y, m, t: dense_wins(s, y.masked_fill(~m, torch.nan), t)):
        leaf = scores.clone().requires_grad_()
        won, pairs = wins(leaf, labels, mask, temperature)
        found.append((won.detach(), pairs, torch.autograd.grad(won, leaf, up)[0]))
    torch.testing.assert_close(*found, rtol=1e-12, atol=1e-12)


def test_soft_wins_in_parts_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = torch.Generator().manual_seed(1)
    scores, labels = (torch.randn(2, 9, generator=draw, dtype=torch.float64) for _ in range(2))
    whole = soft_wins(scores, labels, labels < 1, 0.5)
    monkeypatch.setattr(softening, "CELLS", 20)
    torch.testing.assert_close(soft_wins(scores, labels, labels < 1, 0.5), whole, rtol=1e-13, atol=1e-13)


def test_centred_scores_lose_what_they_share_and_no_more() -> None:
    scores, mask = torch.tensor([[10000.25, 10000.5, 7.0]], requires_grad=True), torch.tensor([[True, True, False]])
    assert centred(scores, mask).tolist() == [[-0.125, 0.125, 0.0]]
    assert centred(scores[:, :2], mask[:, :2]).tolist() == [[-0.125, 0.125]]
    assert centred(scores, mask, torch.float64).dtype == torch.float64
    assert torch.autograd.grad(centred(scores, mask).sum(), scores)[0].tolist() == [[1.0, 1.0, 0.0]]
    assert centred(scores, ~mask & mask).tolist() == [[0.0] * 3]


def test_matrices_are_multiplied_in_their_own_type() -> None:
    third = torch.full((1, 1), 1 / 3)
    with torch.autocast("cpu", torch.bfloat16):
        assert (third @ third).dtype == torch.bfloat16
        with uncast(third):
            assert (third @ third).dtype == torch.float32
        counts = soft_counts(third, third, torch.full((1, 1), 1 / 3), 1.0)
    assert counts.item() == pytest.approx(1 / 6, rel=1e-6)  # bfloat16 has three digits


@settings(max_examples=200)
@given(st.integers(1, 3), st.integers(1, 9), st.sampled_from([0.3, 1.0, 30.0, 1e4]), st.booleans(), st.integers(0, 999))
def test_hinge_counts_are_those_of_the_definition(
    lists: int, documents: int, spread: float, tied: bool, seed: int
) -> None:
    """Scores on a grid of halves are tied, or exactly at the margin, where there is no slope."""
    draw = torch.Generator().manual_seed(seed)
    scores, found = torch.randn(lists, documents, generator=draw, dtype=torch.float64) * spread, []
    scores = (2 * scores).round() / 2 if tied else scores
    mask = torch.rand(lists, documents, generator=draw) < 0.8
    up = torch.randn(lists, documents, generator=draw, dtype=torch.float64)
    for count in (hinge_counts, dense_hinge_counts):
        leaf = scores.masked_fill(~mask, 0).requires_grad_()
        value = count(leaf, mask)
        found.append((value.detach(), *torch.autograd.grad(value, leaf, up)))
    torch.testing.assert_close(*found, rtol=1e-11, atol=1e-11 * spread)


def test_a_hinge_has_no_slope_at_its_margin() -> None:
    scores = torch.tensor([[0.0, 1.0, 1.5]], dtype=torch.float64, requires_grad=True)
    counts = hinge_counts(scores, torch.ones(1, 3).bool())
    assert counts.tolist() == [[1 + 2 + 2.5, 1 + 0 + 1.5, 1 + 0 + 0.5]]
    assert torch.autograd.grad(counts[0, 1:].sum(), scores)[0].tolist() == [[0, 0, 0]]


@pytest.mark.parametrize("size", [1.0, 1e8, 1e16, 1e17, 1e30, 1e300])
def test_a_hinge_count_is_never_below_the_last_place_among_equal_scores(size: float) -> None:
    """Beyond 2^53 nothing is 1 behind any more, and a difference of sums may be anything."""
    draw = torch.Generator().manual_seed(0)
    scores = (torch.randn(50, 9, generator=draw, dtype=torch.float64) * 2).round() * size
    mask = torch.rand(50, 9, generator=draw) < 0.8
    place = (mask[:, None] & (scores[:, None] >= scores[:, :, None])).sum(2)
    for count in (hinge_counts, dense_hinge_counts):
        assert (count(scores.masked_fill(~mask, 0), mask) >= place)[mask].all()

"""ltr/losses/pairs.py: the kernel against its definition."""

from functools import partial
from itertools import product
from math import exp, log, log2

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr import softening
from ltr.losses.pairs import above_the_lowest, dense_pair_sum, fewest_rows, logistic, pair_count, pair_sum, rows_of

DOUBLE = torch.float64


def drawn(seed: int, lists: int, documents: int) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, rows (each document once at most) and signed weights, a third of them 0."""
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randn(lists, documents, generator=draw, dtype=DOUBLE) * 2
    rows = torch.rand(lists, documents, generator=draw).argsort(1)[:, : max(1, documents // 2)]
    weights = torch.randn(lists, documents, documents, generator=draw, dtype=DOUBLE)
    return scores, rows, weights * (torch.rand(weights.shape, generator=draw) < 0.7)


@settings(max_examples=200)
@given(st.integers(0, 999), st.integers(1, 3), st.integers(1, 7), st.sampled_from([0.3, 2.0]), st.booleans())
def test_value_and_gradient_are_those_of_the_definition(
    seed: int, lists: int, documents: int, sigma: float, damped: bool
) -> None:
    scores, rows, weights = drawn(seed, lists, documents)

    def weigh(some: Tensor) -> Tensor:
        return weights.gather(1, some[:, :, None].expand(-1, -1, documents))

    found = []
    for kernel in (partial(pair_sum, signed=True), dense_pair_sum):
        s = scores.clone().requires_grad_()
        value = kernel(s, rows, weigh, logistic(sigma, "binary"), damped=damped)
        found.append((value.detach(), torch.autograd.grad(value, s, torch.arange(1.0, lists + 1).to(DOUBLE))[0]))
    torch.testing.assert_close(*found, rtol=1e-12, atol=1e-12)


def test_it_is_the_sum_over_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    scores, rows, weights = drawn(3, 1, 5)
    wanted = sum(
        abs(weights[0, i, j].item())
        * log(1 + exp(-0.5 * weights[0, i, j].sign().item() * (scores[0, i] - scores[0, j]).item()))
        for i, j in product(rows[0].tolist(), range(5))
    )
    for cells in (1, 7, 1 << 18):
        monkeypatch.setattr(softening, "CELLS", cells)
        value = pair_sum(scores, rows, lambda some: weights[:, some[0]].clone(), logistic(0.5, "natural"), signed=True)
        assert value.item() == pytest.approx(wanted)


def test_damping_is_that_of_lightgbm() -> None:
    scores, labels = torch.tensor([[0.4, 0.1]], dtype=DOUBLE, requires_grad=True), torch.ones(1, 1, 2, dtype=DOUBLE)
    labels[0, 0, 0] = 0
    value = pair_sum(scores, torch.tensor([[0]]), lambda some: labels.clone(), logistic(1.0, "natural"), damped=True)
    push = 1 / (1 + exp(0.3))
    scale = log2(1 + 2 * push) / (2 * push)
    assert value.item() == pytest.approx(scale * log(1 + exp(-0.3)))
    assert torch.autograd.grad(value.sum(), scores)[0].tolist()[0] == pytest.approx([-scale * push, scale * push])


def test_rows_hold_what_is_flagged_first() -> None:
    flags = torch.tensor([[False, True, False, True], [False, False, False, False]])
    assert rows_of(flags)[0].tolist() == [1, 3]
    assert rows_of(flags & False).shape == (2, 1)
    assert rows_of(flags[:0]).shape[0] == 0
    chosen, rows = fewest_rows(flags, flags.cumsum(1) == 1)
    assert (chosen, rows.shape) == (0, (2, 2))
    assert fewest_rows(~flags, flags)[0] == 1


def test_the_better_document_of_each_pair_and_how_many_pairs_there_are() -> None:
    labels = torch.tensor([[2.0, 0.0, 1.0, 1.0, 9.0], [3.0, 3.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True] * 4 + [False], [True, True, False, False, False]])
    assert above_the_lowest(labels, mask).tolist() == [[True, False, True, True, False], [False] * 5]
    assert pair_count(labels, mask).tolist() == [5, 0]


def test_the_logistic_cost_is_exact_at_both_ends() -> None:
    margins = torch.tensor([-800.0, -40.0, 0.0, 40.0, 800.0], dtype=DOUBLE)
    value, slope = logistic(1.0, "natural")(margins.clone())
    assert value.tolist() == pytest.approx([800, 40, log(2), exp(-40), 0], rel=1e-15)
    assert slope.tolist() == pytest.approx([-1, -1, -0.5, -exp(-40), 0], rel=1e-15)

"""ltr/losses/pairs.py: the kernel against its definition."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import exp, log, log2

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr import softening
from ltr.losses import Hinge, Quantile, RankNet, SoftZeroOne, Surrogate, pairs
from ltr.losses.pairs import (
    above_the_lowest,
    closeness,
    dense_pair_sum,
    every_pair,
    fewest_rows,
    label_pair_sum,
    logistic,
    over_pairs,
    pair_count,
    pair_share,
    pair_sum,
    rows_of,
)
from ltr.metrics import parse

DOUBLE = torch.float64


def drawn(seed: int, lists: int, documents: int) -> tuple[Tensor, Tensor, Tensor]:
    """Scores, rows (each document once at most) and signed weights, a third of them 0."""
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randn(lists, documents, generator=draw, dtype=DOUBLE) * 2
    rows = torch.rand(lists, documents, generator=draw).argsort(1)[:, : max(1, documents // 2)]
    weights = torch.randn(lists, documents, documents, generator=draw, dtype=DOUBLE)
    return scores, rows, weights * (torch.rand(weights.shape, generator=draw) < 0.7)


@settings(max_examples=200)
@given(
    st.integers(0, 999), st.integers(1, 3), st.integers(1, 7), st.sampled_from([0.3, 2.0]), st.booleans(), st.booleans()
)
def test_value_and_gradient_are_those_of_the_definition(
    seed: int, lists: int, documents: int, sigma: float, damped: bool, weighted: bool
) -> None:
    scores, rows, weights = drawn(seed, lists, documents)
    own = torch.rand(scores.shape, generator=torch.Generator().manual_seed(seed), dtype=DOUBLE) if weighted else None

    def weigh(some: Tensor) -> Tensor:
        return weights.gather(1, some[:, :, None].expand(-1, -1, documents))

    found = []
    for kernel in (partial(pair_sum, signed=True), dense_pair_sum):
        s = scores.clone().requires_grad_()
        value = kernel(s, rows, weigh, logistic(sigma, "binary"), weight=own, damped=damped)
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


@pytest.mark.parametrize("few", [0, 10**6])
def test_the_better_document_of_each_pair_and_how_many_pairs_there_are(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "FEW", few)
    labels = torch.tensor([[2.0, 0.0, 1.0, 1.0, 9.0], [3.0, 3.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True] * 4 + [False], [True, True, False, False, False]])
    assert above_the_lowest(labels, mask).tolist() == [[True, False, True, True, False], [False] * 5]
    assert pair_count(labels, mask).tolist() == [5, 0]


def test_the_logistic_cost_is_exact_at_both_ends() -> None:
    margins = torch.tensor([-800.0, -40.0, 0.0, 40.0, 800.0], dtype=DOUBLE)
    value, slope = logistic(1.0, "natural").both(margins.clone())
    assert value.tolist() == pytest.approx([800, 40, log(2), exp(-40), 0], rel=1e-15)
    assert slope.tolist() == pytest.approx([-1, -1, -0.5, -exp(-40), 0], rel=1e-15)


def lists_of_labels(seed: int, lists: int = 6, documents: int = 8) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scores, labels of mostly one grade, mask and weights."""
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randn(lists, documents, generator=draw, dtype=DOUBLE) * 2
    labels = (torch.rand(lists, documents, generator=draw) < (0.85 if seed % 2 else 0.15)).double()
    mask = torch.rand(lists, documents, generator=draw) < 0.8
    weight = torch.rand(lists, documents, generator=draw, dtype=DOUBLE)
    return scores, labels * mask, mask, weight * mask


@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize("seed", range(10))
def test_rows_of_better_documents_or_of_worse_ones(seed: int, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "FEW", few)
    scores, labels, mask, weight = lists_of_labels(seed)
    better = (labels[:, :, None] > labels[:, None]) & mask[:, :, None] & mask[:, None]
    found = []
    for form in ("kernel", "dense"):
        s = scores.clone().requires_grad_()
        if form == "kernel":
            value = label_pair_sum(s, labels, mask, logistic(0.5, "binary"), weight)
        else:
            costs = (1 + torch.exp(-0.5 * (s[:, :, None] - s[:, None]))).log2()
            value = (better * weight[:, :, None] * costs).sum((1, 2))
        found.append((value.detach(), torch.autograd.grad(value, s, torch.arange(1.0, 7).to(DOUBLE))[0]))
    torch.testing.assert_close(*found, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "surrogate",
    [
        *(RankNet(), RankNet(0.5, "binary"), RankNet(ties="half"), RankNet(norm="both"), Hinge(), SoftZeroOne(2.0)),
        *(Quantile(0.3), Quantile(0.3, squared=True)),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_all_at_once_or_row_by_row(surrogate: Surrogate, spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(6):
        scores, labels, mask, weight = lists_of_labels(seed)
        labels = labels * (1 + torch.arange(8) % 3)
        found = []
        for few, cells in ((10**6, 1 << 18), (0, 1 << 18), (0, 100)):
            monkeypatch.setattr(pairs, "FEW", few)
            monkeypatch.setattr(softening, "CELLS", cells)
            leaf = (scores * spread).requires_grad_()
            loss = surrogate(leaf, labels, mask, weight=weight)
            found.append((loss.detach(), torch.autograd.grad(loss.sum(), leaf)[0]))
        for each in found[1:]:
            torch.testing.assert_close(each, found[0], rtol=1e-11, atol=1e-11)


def test_reductions_over_pairs() -> None:
    labels, mask = torch.tensor([[2.0, 0.0, 1.0], [1.0, 1.0, 0.0]]), torch.tensor([[True] * 3, [True, True, False]])
    summed = torch.tensor([6.0, 0.0])
    assert [over_pairs(summed, word, labels, mask).tolist() for word in ("sum", "mean", "batch")] == [
        [6.0, 0.0],
        [2.0, 0.0],
        [2.0, 0.0],
    ]
    assert (pair_share("sum", labels, mask), pair_share("mean", labels, mask)) == (None, None)
    assert pair_share("batch", labels, mask).tolist() == [3, 0]
    assert every_pair(mask).tolist() == [3, 1]


@pytest.mark.parametrize("dtype", [torch.float32, DOUBLE])
def test_the_logistic_cost_of_pairs_of_which_some_are_far_apart(dtype: torch.dtype) -> None:
    """exp(100) is infinite in float32."""
    margins = torch.tensor([-1e4, -100.0, -1.0, 1.0, 100.0, 1e4], dtype=dtype)
    value, slope = logistic(1.0, "natural").both(margins.clone())
    near, flat = logistic(1.0, "natural").both(margins[2:4].clone())
    assert value.tolist() == pytest.approx([1e4, 100, *near.tolist(), exp(-100), 0], rel=1e-6, abs=1e-40)
    assert slope.tolist() == pytest.approx([-1, -1, *flat.tolist(), -exp(-100), 0], rel=1e-6, abs=1e-40)
    assert torch.equal(logistic(1.0, "natural").both(margins[:0].clone())[0], margins[:0])


def test_how_close_two_scores_are() -> None:
    scores, mask = torch.tensor([[0.5, 0.0, 9.0], [2.0, 2.0, 2.0]]), torch.tensor([[True, True, False], [True] * 3])
    near = closeness(scores, mask)(torch.tensor([[0], [1]]))
    assert near[0, 0, :2].tolist() == pytest.approx([0.01, 0.51])
    assert near[1, 0].tolist() == [1, 1, 1]  # all equal: nothing is divided


# -- theory -----------------------------------------------------------------------------------------------------------


def random_lists() -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """25,000 lists of up to 8 documents: narrow to wide scores, tied and not, of two to five grades."""
    draw = torch.Generator().manual_seed(1)
    for spread, grades, step in product((0.0, 0.3, 1.0, 3.0, 10.0), (2, 5), (0.0, 0.5)):
        scores = torch.randn(1250, 8, generator=draw, dtype=DOUBLE) * spread
        scores = (scores / step).round() * step if step else scores
        labels = torch.randint(grades, (1250, 8), generator=draw).double()
        mask = torch.rand(1250, 8, generator=draw) < 0.8
        mask[:, 0] = True
        yield scores, labels * mask, mask


def wrong_share(scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """[B] 1 - pairwise accuracy, with equal scores counted as wrong: the strictest reading. 0 without pairs."""
    better = (labels[:, :, None] > labels[:, None]) & mask[:, :, None] & mask[:, None]
    wrong = better & (scores[:, :, None] <= scores[:, None])
    return wrong.sum((1, 2)).double() / better.sum((1, 2)).clamp(min=1)


@pytest.mark.parametrize(
    "bound",
    [
        Hinge(),
        RankNet(log="binary"),
        RankNet(0.1, log="binary"),
        RankNet(10, log="binary", pairs="batch"),
        lambda *lists: 2 * SoftZeroOne()(*lists),
        lambda *lists: 2 * SoftZeroOne(5.0)(*lists),
    ],
    ids=["hinge", "bits", "bits 0.1", "bits 10", "twice soft zero-one", "twice soft zero-one 5"],
)
def test_the_share_of_wrong_pairs_is_never_above_its_bound(bound: Callable[..., Tensor]) -> None:
    assert sum(len(lists[0]) for lists in random_lists()) == 25_000
    for lists in random_lists():
        assert (bound(*lists) - wrong_share(*lists)).min() >= -1e-12
        assert (bound(*lists) - (1 - parse("pairs")(*lists)) * parse("pairs").defined(*lists[1:])).min() >= -1e-12


@pytest.mark.parametrize("below", [RankNet(), SoftZeroOne()], ids=["nats", "soft zero-one"])
def test_what_bounds_nothing_is_below_the_share_of_wrong_pairs_somewhere(below: Callable[..., Tensor]) -> None:
    found = sum(((below(*lists) - wrong_share(*lists)) < -1e-12).sum().item() for lists in random_lists())
    assert found > 1000


def test_hinges_bound_the_sum_of_relevant_ranks() -> None:
    """sum of y_i r_i <= sum of y_i (1 + sum over j of max(0, 1 - s_ij)). Joachims et al. (2017); equal scores at worst.

    And for two grades, the hinges of the pairs alone bound what the sum of ranks is above its least.
    """
    for scores, labels, mask in random_lists():
        others = mask[:, None] & ~torch.eye(8, dtype=torch.bool)
        above = (others & (scores[:, None] >= scores[:, :, None])).sum(2)
        hinges = (others * (1 - scores[:, :, None] + scores[:, None]).clamp(min=0)).sum(2)
        assert ((labels * (1 + hinges)).sum(1) - (labels * (1 + above)).sum(1)).min() >= -1e-12
        found = (labels > 0).double()
        relevant, total = found.sum(1), (found * (1 + above)).sum(1)
        ties = ((found * (others * found[:, None] * (scores[:, None] == scores[:, :, None])).sum(2)).sum(1)) / 2
        regret = total - ties - relevant * (relevant + 1) / 2
        assert (Hinge("sum")(scores, found, mask) - regret).min() >= -1e-12

"""ltr/losses/soft_rank.py: one contest after the other, against every outcome of all of them."""

from importlib import import_module
from itertools import product
from math import erfc, log2, prod

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ltr.losses import SoftRank
from ltr.losses import soft_rank as function
from ltr.losses.soft_rank import Expect, dense_expected, expected
from ltr.metrics import NDCG, parse
from ltr.testing import check_surrogate

DOUBLE = torch.float64
SCORES, LABELS = [0.3, 0.7, -0.2], [2.0, 0.0, 1.0]
IDEAL = 3 + 1 / log2(3)


def beats(ahead: float, sigma: float) -> float:
    """The chance that a normal number of mean ``ahead`` and variance 2 sigma^2 is above 0."""
    return erfc(-ahead / (2 * sigma)) / 2


def over_outcomes(document: int, sigma: float) -> tuple[float, float]:
    """The expected discount of a document, and its expected rank, by going through the outcomes of its contests."""
    chances = [beats(score - SCORES[document], sigma) for j, score in enumerate(SCORES) if j != document]
    discount = rank = 0.0
    for outcome in product((0, 1), repeat=len(chances)):
        chance = prod(p if won else 1 - p for p, won in zip(chances, outcome, strict=True))
        discount += chance / log2(2 + sum(outcome))
        rank += chance * (1 + sum(outcome))
    return discount, rank


@pytest.mark.parametrize("sigma", [0.1, 0.5, 2.0])
def test_it_is_the_expected_metric_and_not_that_of_the_expected_rank(sigma: float) -> None:
    """The NDCG of expected ranks, PTRanking's, lies below it, since the discount is convex."""
    (first, first_rank), (third, third_rank) = over_outcomes(0, sigma), over_outcomes(2, sigma)
    loss = SoftRank("ndcg", sigma)
    lists = torch.tensor([SCORES], dtype=DOUBLE), torch.tensor([LABELS], dtype=DOUBLE)
    assert loss.estimate(*lists).item() == pytest.approx((3 * first + third) / IDEAL)
    assert loss(*lists).item() == pytest.approx(1 - (3 * first + third) / IDEAL)
    of_ranks = (3 / log2(1 + first_rank) + 1 / log2(1 + third_rank)) / IDEAL
    assert SoftRank("ndcg", sigma, expect="rank").estimate(*lists).item() == pytest.approx(of_ranks)
    assert loss.estimate(*lists).item() > of_ranks


@pytest.mark.parametrize("name", ["ndcg", "ndcg-linear", "ndcg-geometric0.5"])
@pytest.mark.parametrize("sigma", [0.1, 1.0])
def test_the_metric_of_expected_ranks_is_never_more_than_the_expected_metric(name: str, sigma: float) -> None:
    """4,000 lists each."""
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(4000, 8, generator=draw, dtype=DOUBLE)
    labels = torch.randint(0, 5, scores.shape, generator=draw).double()
    mask = torch.rand(scores.shape, generator=draw) < 0.8
    less = [SoftRank(name, sigma, expect=each).estimate(scores, labels, mask) for each in ("rank", "place")]
    assert (less[0] - less[1]).max().item() <= 1e-12
    assert (less[1] - less[0]).max().item() >= 0.01


def test_a_cutoff_fades_from_rank_k_to_the_next() -> None:
    """Three tied documents are all expected at rank 2, two at 1.5. There the expectation may be the lower one."""
    scores, labels = torch.zeros(1, 3, dtype=DOUBLE), torch.tensor([[1.0, 0.0, 0.0]])
    found = [SoftRank(f"dcg@{k}", expect="rank").estimate(scores, labels).item() for k in (1, 2, 3)]
    assert found == pytest.approx([0, 1 / log2(3), 1 / log2(3)])
    assert SoftRank("dcg@2").estimate(scores, labels).item() == pytest.approx(1 / 4 + 1 / 2 / log2(3))
    assert 1 / 4 + 1 / 2 / log2(3) < 1 / log2(3)
    assert SoftRank("precision@1", expect="rank").estimate(scores[:, :2], labels[:, :2]).item() == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@3", "precision@3"])
def test_expected_ranks_keep_the_contract(name: str) -> None:
    loss = SoftRank(name, expect="rank")
    assert loss.cost == "O(R L)"
    assert "second derivatives are right or refused" in check_surrogate(loss)


def test_it_is_the_mean_over_contests_that_are_drawn() -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.randn(1, 6, generator=draw, dtype=DOUBLE)
    labels = torch.tensor([[3.0, 0.0, 1.0, 0.0, 2.0, 0.0]], dtype=DOUBLE)
    chance = torch.erfc((scores[0][:, None] - scores[0]) / 2) / 2  # that the second beats the first, at sigma 1
    chance.fill_diagonal_(0)
    rank = 1 + (torch.rand(200_000, 6, 6, generator=draw) < chance).sum(2)
    dcg = ((2 ** labels[0] - 1) / torch.log2(1 + rank) * (rank <= 4)).sum(1)
    error = (dcg.std() / 200_000**0.5).item()
    assert SoftRank("dcg@4", 1.0).estimate(scores, labels).item() == pytest.approx(dcg.mean().item(), abs=4 * error)


@settings(max_examples=100)
@given(st.integers(1, 2), st.integers(1, 3), st.integers(1, 12), st.integers(1, 12), st.integers(0, 999))
def test_value_and_gradient_are_those_of_the_definition(
    lists: int, rows: int, contests: int, places: int, seed: int
) -> None:
    draw = torch.Generator().manual_seed(seed)
    chances = torch.rand(lists, rows, contests, generator=draw, dtype=DOUBLE)
    place = torch.rand(lists, places, generator=draw, dtype=DOUBLE).sort(1, descending=True).values
    up, found = torch.randn(lists, rows, generator=draw, dtype=DOUBLE), []
    for value_of in (expected, dense_expected):
        beaten = chances.clone().requires_grad_()
        value = value_of(beaten, place)
        found.append((value.detach(), torch.autograd.grad(value, beaten, up)[0]))
    torch.testing.assert_close(*found, rtol=1e-11, atol=1e-13)


def test_documents_in_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = torch.Generator().manual_seed(0)
    chances, place = torch.rand(3, 4, 9, generator=draw), torch.rand(3, 5, generator=draw)
    whole = expected(chances, place)
    monkeypatch.setattr(import_module("ltr.losses.soft_rank"), "CONTESTS", 70)  # two documents of 5 places, 2 x 3 times
    torch.testing.assert_close(expected(chances, place), whole)


def test_padding_and_documents_without_a_gain_play_no_other_part() -> None:
    scores = torch.tensor([[*SCORES, 5.0]], dtype=DOUBLE)
    labels, mask = torch.tensor([[*LABELS, 3.0]], dtype=DOUBLE), torch.tensor([[True, True, True, False]])
    alone = function(scores[:, :3], labels[:, :3], None, NDCG(), 0.5)
    assert function(scores, labels, mask, NDCG(), 0.5).item() == pytest.approx(alone.item(), rel=1e-14)


@pytest.mark.parametrize("expect", ["place", "rank"])
def test_soft_becomes_hard_as_the_noise_falls(expect: Expect) -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.rand(50, 12, generator=draw).argsort(1).double() * 0.1
    labels = torch.randint(0, 4, (50, 12), generator=draw).double()
    exact = parse("ndcg@5")(scores, labels)
    errors = [
        (SoftRank("ndcg@5", sigma, expect).estimate(scores, labels) - exact).abs().max().item()
        for sigma in (1.0, 0.1, 0.005)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


def test_equal_scores_win_half_of_their_contests() -> None:
    """Three tied documents: the relevant one is first, second or third with 1/4, 1/2, 1/4."""
    value = SoftRank("dcg").estimate(torch.zeros(1, 3, dtype=DOUBLE), torch.tensor([[1.0, 0.0, 0.0]]))
    assert value.item() == pytest.approx(1 / 4 + 1 / 2 / log2(3) + 1 / 4 / 2)


def test_a_sigma_above_0_is_wanted() -> None:
    with pytest.raises(ValueError, match=r"^sigma must be a number above 0"):
        SoftRank("ndcg", sigma=0)


def test_what_may_be_expected() -> None:
    with pytest.raises(ValueError, match=r"^expect must be one of place, rank; got 'gain'$"):
        SoftRank("ndcg", expect="gain")  # type: ignore[arg-type]

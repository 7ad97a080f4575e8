"""ltr/losses/p_list_mle.py"""

from itertools import permutations

import pytest
import torch

from ltr.losses import PListMLE
from ltr.testing import check_surrogate

SCORES = torch.tensor([[0.5, -1.0, 2.0, 0.1]], dtype=torch.float64)
LABELS = torch.tensor([[3.0, 1.0, 2.0, 0.0]])
COSTS = [(SCORES[0, pool].logsumexp(0) - SCORES[0, pool[0]]).item() for pool in ([0, 2, 1, 3], [2, 1, 3], [1, 3], [3])]


@pytest.mark.parametrize(("inclusive", "worth"), [(False, [7, 3, 1, 0]), (True, [15, 7, 3, 1])])
def test_a_place_weighs_2_to_the_documents_after_it_less_1(inclusive: bool, worth: list[int]) -> None:
    wanted = sum(a * cost for a, cost in zip(worth, COSTS, strict=True)) / sum(worth)
    assert PListMLE(inclusive=inclusive)(SCORES, LABELS).item() == pytest.approx(wanted)


def test_a_weight_multiplies_the_documents_term() -> None:
    wanted = (7 * 2.0 * COSTS[0] + 3 * 5.0 * COSTS[1] + 1 * 0.5 * COSTS[2]) / 11
    assert PListMLE()(SCORES, LABELS, weight=torch.tensor([[2.0, 0.5, 5.0, 9.0]])).item() == pytest.approx(wanted)


def test_equals_share_the_weights_of_their_places() -> None:
    labels = torch.tensor([[1.0, 1.0, 0.0, 0.0]])
    everything, last = SCORES[0].logsumexp(0), SCORES[0, [2, 3]].logsumexp(0)
    wanted = 5 * (2 * everything - SCORES[0, 0] - SCORES[0, 1]) + 0.5 * (2 * last - SCORES[0, 2] - SCORES[0, 3])
    assert PListMLE(ties="likelihood")(SCORES, labels).item() == pytest.approx(wanted.item() / 11)


def test_shuffles_are_orders_of_the_equals() -> None:
    labels, loss = torch.ones(1, 4), PListMLE(seed=1)
    orders = []
    for order in permutations(range(4)):
        costs = [SCORES[0, list(order[t:])].logsumexp(0) - SCORES[0, order[t]] for t in range(4)]
        orders.append((7 * costs[0] + 3 * costs[1] + costs[2]).item() / 11)
    found = [loss(SCORES, labels).item() for _ in range(20)]
    assert all(min(abs(each - one) for one in orders) < 1e-9 for each in found)
    assert len(set(found)) > 5


@pytest.mark.parametrize("length", [1, 2, 128, 5000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_finite_at_any_length(length: int, dtype: torch.dtype) -> None:
    """sentence-transformers divides inf by inf from 128 on. Where scores are equal, place t costs ln(n - t + 1)."""
    scores = torch.zeros(1, length, dtype=dtype, requires_grad=True)
    loss = PListMLE()(scores, torch.arange(length)[None])
    loss.sum().backward()
    after = torch.arange(length - 1, -1, -1, dtype=torch.float64)
    worth = (torch.exp2(after - length) - 2.0**-length) if length > 1 else torch.ones(1)
    assert loss.item() == pytest.approx((worth / worth.sum() * (after + 1).log()).sum().item(), rel=1e-5)
    assert torch.isfinite(scores.grad).all()


@pytest.mark.parametrize("loss", [PListMLE(ties="likelihood"), PListMLE(inclusive=True)])
def test_the_contract_under_each_option(loss: PListMLE) -> None:
    assert check_surrogate(loss)


def test_unknown_ties() -> None:
    with pytest.raises(ValueError, match=r"^ties must be one of shuffle, index, likelihood; got 'random'$"):
        PListMLE(ties="random")

"""ltr/losses/list_mle.py"""

from itertools import permutations
from math import factorial, log

import pytest
import torch
from torch import Tensor

from ltr.losses import ListMLE
from ltr.losses.levels import dense_costs
from ltr.losses.list_mle import list_mle
from ltr.metrics import parse
from ltr.testing import check_surrogate
from tests.losses.test_softmax import many_lists

SCORES = torch.tensor([[0.5, -1.0, 2.0, 0.1]], dtype=torch.float64)


def of_order(scores: Tensor, order: tuple[int, ...], places: int | None = None) -> float:
    """The negative log likelihood of one order: each place's document against itself and those after it."""
    ordered = scores[0, list(order)]
    return sum((ordered[t:].logsumexp(0) - ordered[t]).item() for t in range(places or len(order)))


def test_a_sum_over_places_in_natural_logarithms() -> None:
    labels = torch.tensor([[3.0, 1.0, 2.0, 0.0]])
    assert ListMLE()(SCORES, labels).item() == pytest.approx(of_order(SCORES, (0, 2, 1, 3)))
    assert ListMLE(stop=True)(SCORES, labels).item() == pytest.approx(of_order(SCORES, (0, 2, 1, 3), places=3))


@pytest.mark.parametrize("ties", ["shuffle", "index", "likelihood"])
def test_a_weight_multiplies_the_documents_term(ties: str) -> None:
    labels, weight = torch.tensor([[3.0, 1.0, 2.0, 0.0]]), [2.0, 0.0, 3.0, 5.0]
    costs = [of_order(SCORES, order, places=1) for order in ((0, 2, 1, 3), (1, 3), (2, 1, 3), (3,))]
    wanted = sum(w * cost for w, cost in zip(weight, costs, strict=True))
    assert ListMLE(ties=ties)(SCORES, labels, weight=torch.tensor([weight])).item() == pytest.approx(wanted)


def test_equal_labels_in_the_order_of_the_noise_or_of_the_input() -> None:
    labels = torch.tensor([[1.0, 1.0, 0.0, 1.0]])
    noise = torch.tensor([0.2, 0.9, 0.5, 0.4]).view(1, 4, 1)
    assert ListMLE()(SCORES, labels, noise=noise).item() == pytest.approx(of_order(SCORES, (1, 3, 0, 2)))
    assert ListMLE(ties="index")(SCORES, labels).item() == pytest.approx(of_order(SCORES, (0, 1, 3, 2)))


def test_every_list_is_shuffled_by_itself_and_evenly() -> None:
    """allRank shuffles all lists of a batch in one way."""
    lists = 6000
    scores, labels = SCORES[:, :3].expand(lists, 3), torch.ones(lists, 3)
    losses = ListMLE(seed=3)(scores, labels)
    orders = [of_order(SCORES[:, :3], order) for order in permutations(range(3))]
    counts = [int(torch.isclose(losses, torch.tensor(each).double()).sum()) for each in orders]
    assert sum(counts) == lists
    assert min(counts) > lists / 6 - 150
    assert max(counts) < lists / 6 + 150


def test_the_likelihood_of_a_level_is_drawn_from_it_and_all_below() -> None:
    labels = torch.tensor([[1.0, 2.0, 0.0, 1.0]])
    everything, below = SCORES[0].logsumexp(0), SCORES[0, [0, 2, 3]].logsumexp(0)
    wanted = (everything - SCORES[0, 1]) + (2 * below - SCORES[0, 0] - SCORES[0, 3])
    assert ListMLE(ties="likelihood", stop=True)(SCORES, labels).item() == pytest.approx(wanted.item())
    assert ListMLE(ties="likelihood")(SCORES, labels).item() == pytest.approx(wanted.item())  # the last costs nothing


def test_the_likelihood_costs_no_less_than_any_order_of_the_equals() -> None:
    labels = torch.tensor([[1.0, 1.0, 0.0, 1.0]])
    of_level = ListMLE(ties="likelihood")(SCORES, labels).item()
    assert of_level >= max(of_order(SCORES, (*order, 2)) for order in permutations((0, 1, 3)))


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("ties", ["shuffle", "index", "likelihood"])
@pytest.mark.parametrize("stop", [False, True])
def test_running_sums_equal_the_definition(spread: float, ties: str, stop: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = (torch.randn(5, 30, generator=generator, dtype=torch.float64) * spread).requires_grad_()
    labels = torch.randint(4, (5, 30), generator=generator).double()
    mask = torch.rand(5, 30, generator=generator) < 0.7
    mask[0] = False
    noise = torch.rand(5, 30, 1, generator=generator, dtype=torch.float64)
    among = noise[..., 0] if ties == "shuffle" else -torch.arange(30).expand(5, 30)
    equal, lower = labels[:, None] == labels[:, :, None], labels[:, None] < labels[:, :, None]
    later = equal if ties == "likelihood" else equal & (among[:, None] <= among[:, :, None])
    costs = dense_costs(scores, (lower | later) & (mask[:, None] | torch.eye(30, dtype=torch.bool)))
    wanted = (mask & (labels > 0) if stop else mask).mul(costs).sum(1)
    found = list_mle(scores, labels, mask, noise, ties, stop)
    assert torch.allclose(found, wanted, rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad(each.sum(), scores)[0] for each in (found, wanted)]
    assert torch.allclose(*gradients, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "loss", [ListMLE(ties="likelihood"), ListMLE(stop=True), ListMLE(ties="likelihood", stop=True)]
)
def test_the_contract_under_each_option(loss: ListMLE) -> None:
    assert check_surrogate(loss)


def test_by_index_the_order_of_the_input_matters() -> None:
    with pytest.raises(AssertionError, match=r"^ListMLE: document order changes nothing: "):
        check_surrogate(ListMLE(ties="index"))


# -- faults of other libraries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_right_order_costs_nothing_at_any_gap(dtype: torch.dtype) -> None:
    """TensorFlow Ranking adds up exp(s - max), which is 0 at these gaps: -inf and NaN. allRank adds 1e-10."""
    labels = torch.tensor([[3.0, 2.0, 1.0]])
    for sign, wanted in ((1, 0), (-1, 2e4 + 1e4)):
        scores = (sign * torch.tensor([[1e4, 0.0, -1e4]], dtype=dtype)).requires_grad_()
        loss = ListMLE()(scores, labels)
        loss.sum().backward()
        assert loss.item() == wanted
        assert scores.grad.tolist() == [[0, 0, 0]] if sign == 1 else [[-1, -1, 2]]


def test_a_common_offset_of_1e4() -> None:
    """sentence-transformers takes exp of the scores as they are: inf from 89 on."""
    labels = torch.tensor([[3.0, 1.0, 2.0, 0.0]])
    assert ListMLE()(SCORES + 1e4, labels).item() == pytest.approx(ListMLE()(SCORES, labels).item())


def test_the_order_of_the_input_is_not_taken_for_the_ideal_one() -> None:
    """In sentence-transformers it is, unless told otherwise."""
    labels, shuffle = torch.tensor([[3.0, 1.0, 2.0, 0.0]]), [2, 3, 0, 1]
    found = ListMLE()(SCORES[:, shuffle], labels[:, shuffle])
    assert found.item() == pytest.approx(of_order(SCORES, (0, 2, 1, 3)))


# -- theory: no list is known where it is below 1 - NDCG, and its value tells little -------------------------------


@pytest.mark.parametrize("ties", ["shuffle", "likelihood"])
def test_it_is_no_less_than_the_regret_of_ndcg(ties: str) -> None:
    loss, metric, lists_in_all = ListMLE(ties=ties), parse("ndcg"), 0
    for lists in many_lists(4):
        regret = (1 - metric(*lists)) * metric.defined(*lists[1:])
        assert (loss(*lists) - regret).min() >= -1e-9
        lists_in_all += len(regret)
    assert lists_in_all >= 20000
    assert loss.kind == "neither"


def test_equal_scores_cost_the_logarithm_of_the_orders() -> None:
    labels = torch.arange(20.0)[None]
    assert ListMLE()(torch.zeros(1, 20), labels).item() == pytest.approx(log(factorial(20)), rel=1e-6)


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"^ties must be one of shuffle, index, likelihood; got 'random'$"):
        ListMLE(ties="random")
    wanted = r"^noise: wanted draws from \(0, 1\), \[lists, documents, 1\], to shuffle equal labels by$"
    with pytest.raises(ValueError, match=wanted):
        list_mle(SCORES, torch.ones(1, 4), None, None)

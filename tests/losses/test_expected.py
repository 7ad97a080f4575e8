"""ExpectedMetric: expected values of Plackett-Luce rankings, and unbiased gradients of them."""

from itertools import permutations
from math import log2

import pytest
import torch
from torch import Tensor

from ltr.losses import ExpectedMetric, expected_metric
from ltr.losses.expected import pl_rank, pl_rank_by_definition
from ltr.metrics import parse

GRADED = ([0.3, -1.2, 2.1, 0.0, 0.7], [1.0, 0.0, 3.0, 2.0, 0.0])
TIED = ([0.41, -0.33, 1.27, 0.08, -1.9, 0.66], [2.0, 2.0, 0.0, 1.0, 1.0, 0.0])
DRAWN = {  # rankings that were drawn from each
    5: [[4, 0, 1, 2, 3], [3, 2, 4, 1, 0], [1, 4, 2, 0, 3], [0, 2, 1, 3, 4], [2, 1, 4, 3, 0], [4, 0, 2, 1, 3]],
    6: [
        *([5, 2, 4, 1, 0, 3], [5, 1, 4, 2, 0, 3], [2, 3, 0, 5, 1, 4]),
        *([5, 0, 2, 1, 3, 4], [0, 3, 1, 4, 2, 5], [0, 3, 5, 4, 1, 2]),
    ],
}


def lists(case: tuple[list[float], list[float]]) -> tuple[Tensor, Tensor]:
    return torch.tensor([case[0]], dtype=torch.float64), torch.tensor([case[1]], dtype=torch.float64)


def noise_of(rankings: Tensor, scores: Tensor) -> Tensor:
    """[1, L, S] uniform draws that give these rankings [S, L] to scores [1, L]."""
    place = rankings.argsort(1).T.double()
    return torch.exp(-torch.exp(0.5 * place + scores.T))[None]


def chances(rankings: Tensor, scores: Tensor) -> Tensor:
    """[S] of each ranking [S, L] under Plackett-Luce."""
    in_order = scores[0][rankings]
    return (in_order - in_order.flip(1).logcumsumexp(1).flip(1)).sum(1).exp()


def everything(scores: Tensor) -> Tensor:
    return torch.tensor(list(permutations(range(scores.shape[1]))))


@pytest.mark.parametrize(
    ("case", "metric", "value", "gradient"),
    [  # PL-Rank git b2f3e7b's cases: enumeration of all rankings, central differences
        (GRADED, "dcg@5", 8.0595095211462, [-0.1920855203, -0.0950889811, 0.6414487093, 0.0512963228, -0.4055705325]),
        (GRADED, "dcg@3", 7.199001056306268, [-0.2778334844, -0.1676475482, 0.739237772, 0.308954128, -0.6027108689]),
        (
            *(TIED, "dcg@6", 4.077065149675348),
            [0.2703432897, 0.1697169548, -0.2154996600, -0.0264819375, -0.0124528400, -0.1856258069],
        ),
        (
            *(TIED, "dcg@3", 2.2200965457397515),
            [0.5110089663, 0.3341066925, -0.3472757904, -0.0848919126, -0.0135955303, -0.3993524256],
        ),
    ],
)
def test_over_all_rankings_it_is_the_expected_metric_and_its_gradient(
    case: tuple[list[float], list[float]], metric: str, value: float, gradient: list[float]
) -> None:
    """Each ranking as often as it is likely: no error of sampling is left."""
    scores, labels = lists(case)
    rankings = everything(scores)
    chance, found = chances(rankings, scores), torch.zeros_like(scores)
    estimates = []
    for one in range(len(rankings)):
        leaf = scores.clone().requires_grad_()
        noise = noise_of(rankings[one : one + 1], scores)
        estimate = expected_metric(leaf, labels, None, parse(metric), noise)
        estimate.sum().backward()
        estimates.append(estimate.item())
        found += chance[one] * leaf.grad
    assert chance.sum().item() == pytest.approx(1)
    assert (chance * torch.tensor(estimates, dtype=torch.float64)).sum().item() == pytest.approx(value, abs=1e-9)
    assert found[0].tolist() == pytest.approx(gradient, abs=1e-8)


def test_its_mean_over_draws_is_the_expected_metric_and_its_gradient() -> None:
    scores, labels = lists(GRADED)
    leaf = scores.clone().requires_grad_()
    loss = ExpectedMetric("dcg@5", samples=100_000)
    estimate = loss.eval().estimate(leaf, labels)
    estimate.sum().backward()
    assert estimate.item() == pytest.approx(8.0595095211462, rel=0.003)
    wanted = torch.tensor([-0.1920855203, -0.0950889811, 0.6414487093, 0.0512963228, -0.4055705325])
    assert ((leaf.grad[0] - wanted).norm() / wanted.norm()).item() < 0.02


@pytest.mark.parametrize(
    ("case", "k", "wanted"),
    [  # PL-Rank git b2f3e7b, PL_rank_1
        (GRADED, 5, [1.3345426761, 1.9088036686, -4.1533884857, 0.0377433728, 0.8722987682]),
        (GRADED, 3, [0.8830407007, 0.3947108779, -2.1417165129, 0.5700262206, 0.2939387137]),
        (TIED, 6, [1.1086712314, 0.6510640969, -2.5707120540, -0.5148996044, 0.8997460911, 0.4261302390]),
        (TIED, 3, [1.1719745696, 0.1782706200, -1.4123269069, 0.1975260776, 0.0667974127, -0.2022417730]),
    ],
)
def test_pl_rank_1_pays_a_document_for_its_place_and_ours_for_all_it_could_have_had(
    case: tuple[list[float], list[float]], k: int, wanted: list[float]
) -> None:
    """The policy gradient with what is still to go, by autograd of the logarithm of each choice, is PL-Rank-1; with a
    document's gain at the place it got exchanged for the sum over places of its chance of each, it is PL-Rank-3."""
    scores, labels = lists(case)
    order = torch.tensor(DRAWN[len(case[0])])[:, :k][None]
    worth, place = 2**labels - 1, 1 / torch.log2(torch.arange(1, k + 1).double() + 1)
    gained = place * worth[0][order[0]]
    to_go = gained.flip(1).cumsum(1).flip(1)
    leaf = scores.clone().requires_grad_()
    taken = torch.zeros(len(order[0]), len(case[0]), dtype=torch.bool)
    objective, exchanged = leaf.new_zeros(()), torch.zeros(len(order[0]), len(case[0])).double()
    for x in range(k):
        here = order[0, :, x : x + 1]
        log_chance = leaf.masked_fill(taken, -torch.inf).log_softmax(1)
        objective = objective + (log_chance.gather(1, here)[:, 0] * to_go[:, x]).sum()
        exchanged += log_chance.detach().exp() * place[x] * worth
        exchanged.scatter_add_(1, here, -gained[:, x : x + 1])
        taken = taken.scatter(1, here, True)
    objective.backward()
    samples = len(order[0])
    assert (leaf.grad[0] / samples).tolist() == pytest.approx(wanted, abs=1e-8)
    ours = pl_rank(scores, torch.ones_like(scores, dtype=torch.bool), worth, place, order).mean(1)
    assert torch.allclose(leaf.grad[0] / samples + exchanged.mean(0), ours[0], atol=1e-12)


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("k", [1, 3, 12])
def test_running_sums_are_the_definition(spread: float, k: int) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(20, 12, generator=generator).double() * spread
    mask = torch.rand(20, 12, generator=generator) < 0.7
    worth = torch.rand(20, 12, generator=generator).double() * mask * (torch.rand(20, 12, generator=generator) < 0.6)
    order = (scores[:, None] + torch.randn(20, 6, 12, generator=generator)).masked_fill(~mask[:, None], -torch.inf)
    given = scores, mask, worth, 1 / torch.arange(1, k + 1).double(), order.topk(k).indices
    assert torch.allclose(pl_rank(*given), pl_rank_by_definition(*given), atol=1e-10, rtol=0)


def test_two_documents_by_arithmetic() -> None:
    """The relevant one comes first with the chance p: 1 - E NDCG = (1 - p) (1 - 1 / log2(3)), slope p (1 - p)."""
    scores, labels = torch.tensor([[0.0, 1.0]]).double().requires_grad_(), torch.tensor([[1.0, 0.0]]).double()
    p = 1 / (1 + torch.e)
    loss = ExpectedMetric("ndcg", samples=200_000).eval()(scores, labels)
    loss.sum().backward()
    assert loss.item() == pytest.approx((1 - p) * (1 - 1 / log2(3)), rel=0.01)
    assert scores.grad[0, 0].item() == pytest.approx(-p * (1 - p) * (1 - 1 / log2(3)), rel=0.01)


def test_the_value_is_that_of_drawn_rankings_not_of_the_one_by_score() -> None:
    """Perfect order, scores close: the exact metric is 1, and a system that draws its rankings is far from it."""
    scores, labels = torch.tensor([[0.02, 0.01, 0.0]]), torch.tensor([[2.0, 1.0, 0.0]])
    loss = ExpectedMetric("ndcg", samples=2000).eval()
    assert parse("ndcg")(scores, labels).item() == 1
    assert loss.estimate(scores, labels).item() < 0.85
    assert loss.estimate(2000 * scores, labels).item() == pytest.approx(1)


@pytest.mark.parametrize("name", ["ndcg", "ndcg-linear@2", "dcg@2", "precision@2", "recall@2", "rbp-p0.5"])
def test_any_sum_of_worth_times_place(name: str) -> None:
    """On average over a list's rankings, each as likely: the metric's own value for equal scores."""
    labels = torch.tensor([[1.0, 0.0, 1.0, 1.0]]).double()
    scores = torch.zeros_like(labels)
    noise = noise_of(everything(scores), scores)
    expected = expected_metric(scores, labels, None, parse(name), noise)
    assert expected.item() == pytest.approx(parse(name)(scores, labels).item())


def test_weights_multiply_the_gain_in_the_metric_and_its_ideal() -> None:
    labels, weight = torch.tensor([[2.0, 1.0, 0.0]]).double(), torch.tensor([[0.5, 3.0, 7.0]]).double()
    scores = torch.tensor([[60.0, 30.0, 0.0]]).double()  # no room for chance
    loss = ExpectedMetric("ndcg")(scores, labels, weight=weight)
    best = 3 + 1.5 / log2(3)
    assert loss.item() == pytest.approx(1 - (1.5 + 3 / log2(3)) / best)
    with pytest.raises(ValueError, match=r"^weight: a document's weight multiplies its gain, and recall@2 has none; l"):
        ExpectedMetric("recall@2")(scores, labels, weight=weight)


def test_the_same_noise_gives_the_same_value_and_gradient() -> None:
    torch.manual_seed(0)
    loss, scores, labels = ExpectedMetric("ndcg@3", samples=4), torch.randn(3, 6), torch.randint(0, 3, (3, 6)).float()
    noise, found = loss.noise(scores), []
    for _ in range(2):
        leaf = scores.clone().requires_grad_()
        value = loss(leaf, labels, noise=noise)
        value.sum().backward()
        found.append((value.detach(), leaf.grad))
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    assert not torch.equal(loss(scores, labels), found[0][0])  # another call, other draws


@pytest.mark.parametrize("name", ["mrr@10", "ap", "err-max4@10", "pairs", "arp"])
def test_other_metrics_are_refused(name: str) -> None:
    wanted = r"wants a metric that sums worth times place \(ndcg, dcg, precision, recall, f1, rbp\), got "
    with pytest.raises(ValueError, match=rf"^ExpectedMetric: {wanted}{name}$"):
        ExpectedMetric(name)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^samples must be a whole number of at least 1"):
        ExpectedMetric("ndcg", samples=0)
    with pytest.raises(ValueError, match=r"^noise must be \[lists, documents, samples\] = \[1, 2, at least 1\]; "):
        ExpectedMetric("ndcg")(torch.zeros(1, 2), torch.ones(1, 2), noise=torch.full((1, 3, 4), 0.5))


def test_a_second_derivative_is_refused_and_not_0() -> None:
    scores = torch.tensor([[0.3, -0.1]], requires_grad=True)
    loss = ExpectedMetric("ndcg").eval()(scores, torch.tensor([[0.0, 1.0]]))
    with pytest.raises(RuntimeError, match=r"^a surrogate can be differentiated once: its gradient has no graph;"):
        torch.autograd.grad(loss.sum(), scores, create_graph=True)


def test_an_offset_costs_no_digits() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randint(-256, 256, (4, 30)) / 128, torch.randint(0, 5, (4, 30)).float()
    loss, found = ExpectedMetric("ndcg@10").eval(), []
    for offset in (0.0, 1e4):
        leaf = (scores + offset).requires_grad_()  # exact in float32: multiples of 1 / 128
        loss(leaf, labels).sum().backward()
        found.append(leaf.grad)
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-6)

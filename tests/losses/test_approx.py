"""ltr/losses/approx.py"""

from math import exp, log2

import pytest
import torch

from ltr.losses import ApproxMetric, approx_metric
from ltr.losses.approx import Soft
from ltr.metrics import parse
from ltr.testing import check_surrogate

SCORES = [0.3, 0.7, -0.2]
LABELS = [2.0, 0.0, 1.0]
SOFT: tuple[Soft, Soft] = ("all", "ranks")
LISTS = torch.tensor([SCORES], dtype=torch.float64), torch.tensor([LABELS], dtype=torch.float64)


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def soft_ranks(temperature: float) -> list[float]:
    return [1 + sum(sigmoid((t - s) / temperature) for t in SCORES if t != s) for s in SCORES]


@pytest.mark.parametrize("temperature", [0.1, 1.0, 3.0])
def test_approx_ndcg(temperature: float) -> None:
    first, _, third = soft_ranks(temperature)
    ndcg = (3 / log2(1 + first) + 1 / log2(1 + third)) / (3 / log2(2) + 1 / log2(3))
    loss = ApproxMetric("ndcg", temperature)
    assert loss(*LISTS).item() == pytest.approx(1 - ndcg)
    assert loss.estimate(*LISTS).item() == pytest.approx(ndcg)


def test_approx_mrr_is_the_best_of_the_relevant_documents() -> None:
    first, _, third = soft_ranks(0.5)
    assert ApproxMetric("mrr", 0.5).estimate(*LISTS).item() == pytest.approx(max(1 / first, 1 / third))


def test_approx_ap_counts_relevant_documents_above_by_their_sigmoids() -> None:
    first, _, third = soft_ranks(0.5)
    ahead = sigmoid((SCORES[0] - SCORES[2]) / 0.5)
    ap = ((1 + 1 - ahead) / first + (1 + ahead) / third) / 2
    assert ApproxMetric("ap", 0.5).estimate(*LISTS).item() == pytest.approx(ap)


@pytest.mark.parametrize(("name", "share"), [("precision@2", 1 / 2), ("recall@2", 1 / 2)])
def test_a_soft_cutoff_lies_between_the_kth_score_and_the_next(name: str, share: float) -> None:
    middle = (0.3 + -0.2) / 2
    inside = sigmoid((0.3 - middle) / 0.5) + sigmoid((-0.2 - middle) / 0.5)
    assert ApproxMetric(name, 0.5).estimate(*LISTS).item() == pytest.approx(inside * share)


def test_a_truncated_ndcg_at_k_weighs_each_discount_by_the_soft_cutoff() -> None:
    first, _, third = soft_ranks(0.5)
    middle = (0.3 + -0.2) / 2
    gains = 3 / log2(1 + first) * sigmoid((0.3 - middle) / 0.5) + sigmoid((-0.2 - middle) / 0.5) / log2(1 + third)
    loss = ApproxMetric("ndcg@2", 0.5, truncate=True)
    assert loss.estimate(*LISTS).item() == pytest.approx(gains / (3 + 1 / log2(3)))


def test_a_cutoff_of_soft_ranks_lies_between_the_kth_and_the_next() -> None:
    """Rax's rule; the document of label 0 is listed by nobody, and has a place all the same."""
    first, second, third = soft_ranks(0.5)
    assert second < first < third
    inside = [sigmoid(((first + third) / 2 - rank) / 0.5) for rank in (first, third)]
    for name in ("precision@2", "recall@2"):
        loss = ApproxMetric(name, 0.5, soft="ranks")
        assert loss.estimate(*LISTS).item() == pytest.approx(sum(inside) / 2)
    gains = 3 / log2(1 + first) * inside[0] + 1 / log2(1 + third) * inside[1]
    loss = ApproxMetric("ndcg@2", 0.5, truncate=True, soft="ranks")
    assert loss.estimate(*LISTS).item() == pytest.approx(gains / (3 + 1 / log2(3)))
    assert loss.constant_parts


def test_the_middle_of_two_soft_ranks_is_constant() -> None:
    scores = LISTS[0].clone().requires_grad_()
    ApproxMetric("recall@2", 0.5, soft="ranks").estimate(scores, LISTS[1]).sum().backward()
    leaf = LISTS[0].clone().requires_grad_()
    rank = 0.5 + torch.sigmoid((leaf[:, None] - leaf[:, :, None]) / 0.5).sum(2)
    middle = (soft_ranks(0.5)[0] + soft_ranks(0.5)[2]) / 2
    (torch.sigmoid((middle - rank) / 0.5)[:, [0, 2]].sum() / 2).backward()
    torch.testing.assert_close(scores.grad, leaf.grad)


def test_without_a_cutoff_dcg_on_soft_ranks_is_the_same_under_both_rules() -> None:
    for name in ("ndcg@2", "dcg", "mrr"):
        one, other = (ApproxMetric(name, 0.5, soft=soft) for soft in SOFT)
        assert torch.equal(one(*LISTS), other(*LISTS))
        assert not other.constant_parts


def test_ap_on_soft_ranks_counts_exactly() -> None:
    first, _, third = soft_ranks(0.5)
    assert ApproxMetric("ap", 0.5, soft="ranks").estimate(*LISTS).item() == pytest.approx((1 / first + 2 / third) / 2)


def test_of_equal_scores_half_are_above() -> None:
    """Rax counts all of them, 4 over the rank 2.5."""
    equal = torch.zeros(1, 4, dtype=torch.float64)
    assert ApproxMetric("ap", soft="ranks").estimate(equal, equal + 1).item() == pytest.approx(1)


@pytest.mark.parametrize("name", ["auc", "bpref", "pairs", "tau"])
def test_soft_ranks_alone_say_nothing_to_a_metric_that_asks_for_none(name: str) -> None:
    with pytest.raises(ValueError, match=rf'^ApproxMetric: soft="ranks" wants a metric of ranks, got {name}$'):
        ApproxMetric(name, soft="ranks")


def test_what_may_be_soft() -> None:
    with pytest.raises(ValueError, match=r"^soft must be one of all, ranks; got 'cutoff'$"):
        ApproxMetric("ndcg", soft="cutoff")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ndcg", "ap", "mrr", "err-max4", "gradedap-max4"])
def test_ranks_that_alone_are_soft_keep_the_contract(name: str) -> None:
    assert "second derivatives are right or refused" in check_surrogate(ApproxMetric(name, soft="ranks"))


@pytest.mark.parametrize("name", ["ndcg@3", "ap@3", "precision@3", "recall@3", "rprec", "f1@3", "success@3"])
def test_cutoffs_of_soft_ranks_keep_the_contract(name: str) -> None:
    """At a temperature that is small against a place, which the scores have no part in."""
    loss = ApproxMetric(name, 0.01, truncate=True, soft="ranks")
    assert loss.constant_parts
    assert "belief keeps its promise" in check_surrogate(loss)


def test_by_default_the_full_list_is_the_aim() -> None:
    assert torch.equal(ApproxMetric("ndcg@1")(*LISTS), ApproxMetric("ndcg")(*LISTS))


@pytest.mark.parametrize("soft", ["all", "ranks"])
@pytest.mark.parametrize(
    "name", ["ndcg", "ndcg@2", "ndcg-linear@3", "dcg@2", "mrr@2", "ap", "ap@2", "precision@2", "recall@1"]
)
def test_soft_becomes_hard_as_the_temperature_falls(name: str, soft: Soft) -> None:
    torch.manual_seed(0)
    scores = torch.rand(200, 6).argsort(1).double() * 0.1
    labels, mask = torch.randint(0, 4, (200, 6)).double(), torch.rand(200, 6) < 0.8
    exact = parse(name)(scores, labels, mask)
    errors = [
        (ApproxMetric(name, temperature, True, soft).estimate(scores, labels, mask) - exact).abs().max().item()
        for temperature in (0.1, 0.01, 0.001)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


def test_loss_17_of_the_field_reports() -> None:
    """tensorflow/ranking/issues/166: at a small temperature the surrogate is the metric, and a lower loss is better."""
    loss = ApproxMetric("ndcg", temperature=0.0001)
    assert loss.estimate(*LISTS).item() == pytest.approx(0.659001804802, abs=1e-4)
    assert parse("ndcg")(*LISTS).item() == pytest.approx(0.659001804802, abs=1e-6)
    assert loss(torch.tensor([LABELS]), LISTS[1]).item() < loss(*LISTS).item()


def test_tied_documents_take_the_middle_rank_which_is_below_the_mean_over_orders() -> None:
    scores = torch.zeros(1, 3, dtype=torch.float64)
    assert ApproxMetric("dcg").estimate(scores, LISTS[1]).item() == pytest.approx((3 + 1) / log2(1 + 2))
    assert ApproxMetric("dcg").estimate(scores, LISTS[1]).item() < parse("dcg")(scores, LISTS[1]).item()


def test_a_list_without_an_answer_is_no_loss() -> None:
    assert ApproxMetric("mrr-rel2")(torch.tensor([[0.1, 0.2]]), torch.tensor([[1.0, 0.0]])).item() == 0


@pytest.mark.parametrize("soft", ["all", "ranks"])
@pytest.mark.parametrize("name", ["precision@3", "recall@3", "recall", "precision", "ndcg@3", "mrr@3", "ap@3"])
def test_lists_no_longer_than_the_cutoff_keep_a_live_graph(name: str, soft: Soft) -> None:
    """Nothing that the scores do can change recall@3 of three documents: zero gradient, and no crash in backward."""
    scores = torch.tensor([[0.3, 0.7, -0.2]], requires_grad=True)
    ApproxMetric(name, truncate=True, soft=soft)(scores, torch.tensor([LABELS])).sum().backward()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()


def test_the_function_takes_the_metric_as_it_is() -> None:
    exact = approx_metric(*LISTS, None, parse("ndcg@2"), temperature=0.001)
    assert exact.item() == pytest.approx(parse("ndcg@2")(*LISTS).item())


def test_a_weight_multiplies_the_gain_here_and_in_the_ideal() -> None:
    first, _, third = soft_ranks(0.5)
    weight = torch.tensor([[2.0, 1.0, 9.0]])
    ndcg = (2 * 3 / log2(1 + first) + 9 / log2(1 + third)) / (9 + 6 / log2(3))
    assert ApproxMetric("ndcg", 0.5)(*LISTS, weight=weight).item() == pytest.approx(1 - ndcg)
    assert ApproxMetric("ndcg", 0.5)(*LISTS, weight=0 * weight).item() == 0
    with pytest.raises(ValueError, match=r"^weight: a document's weight multiplies its gain, and mrr has none"):
        ApproxMetric("mrr")(*LISTS, weight=weight)


def test_the_mean_over_relevant_documents_is_a_dcg() -> None:
    """TensorFlow Ranking's ApproxMRR, sum of y_i / r_i over sum of y_i: an MRR where one document is relevant."""
    first, _, third = soft_ranks(0.5)
    mean = (2 / first + 1 / third) / (2 + 1)
    assert ApproxMetric("dcg-linear-reciprocal", 0.5).estimate(*LISTS).item() / 3 == pytest.approx(mean)


@pytest.mark.parametrize("name", ["ndcg", "ap", "pairs", "precision@3"])
def test_scores_far_from_0_keep_their_digits(name: str) -> None:
    """They are multiples of 1/128, so that float32 holds them at 10,000 too."""
    draw = torch.Generator().manual_seed(0)
    scores, labels = torch.randint(-256, 256, (4, 50), generator=draw) / 128, torch.randint(0, 3, (4, 50)).float()
    mask, found = torch.rand(4, 50, generator=draw) < 0.8, []
    for offset in (0, 1e4):
        leaf = (scores + offset).requires_grad_()
        loss = ApproxMetric(name)(leaf, labels, mask)
        found.append((loss.detach(), torch.autograd.grad(loss.sum(), leaf)[0]))
    for near, far in zip(*found, strict=True):
        assert (far - near).abs().max() <= 1e-6 * near.abs().max()


def test_its_cost_is_that_of_the_metric() -> None:
    """AP and NDCG ask where documents with a gain stand; pairs are of all documents."""
    assert [ApproxMetric(name).cost for name in ("ndcg@10", "ap", "pairs", "tau")] == ["O(R L)"] * 2 + ["O(L^2)"] * 2

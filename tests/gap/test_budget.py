"""The gradient budget: by hand, and with losses that are blind in a known way."""

from importlib import import_module
from math import isnan, log2

import pytest
import torch
from torch import Tensor

from ltr.gap.budget import blind, budget_distance, reach
from ltr.gap.scored import ScoredLists, descent, scored
from ltr.losses import LambdaRank, Softmax
from ltr.metrics import AP, ERR, NDCG, RR, PairAccuracy, Precision, RankingMetric

METRICS = [NDCG(k=10), NDCG(), AP(), RR(), ERR(top=4), PairAccuracy()]
named = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def drawn(lists: int = 60, length: int = 20) -> ScoredLists:
    """Lists of 5 to so many documents, scored at random."""
    generator = torch.Generator().manual_seed(0)
    sizes = torch.randint(5, length + 1, (lists, 1), generator=generator)
    labels = torch.randint(5, (lists, length), generator=generator).double()
    scores = torch.randn(lists, length, generator=generator, dtype=torch.float64)
    return scored(scores, labels, torch.arange(length) < sizes)


def top(lists: ScoredLists) -> Tensor:
    """[B, L] bool: the document with the highest score."""
    scores = lists.scores.masked_fill(~lists.mask, -torch.inf)
    return scores == scores.amax(1, keepdim=True)


def known(values: Tensor) -> Tensor:
    return values[~torch.isnan(values)]


def test_reach_counts_the_first_k_and_those_that_should_be_there() -> None:
    """At k = 2 the model's first two are documents 0 and 1, the best two are 3 and either of 1 and 4."""
    scores = torch.tensor([[5.0, 4.0, 3.0, 2.0, 1.0]])
    labels = torch.tensor([[0.0, 1.0, 0.0, 2.0, 1.0]])
    gradient = torch.tensor([[0.1, -0.2, 0.4, -0.8, 1.6]])
    found = reach(NDCG(k=2), scores, labels, gradient)
    assert found.tolist() == pytest.approx([(0.1 + 0.2 + 0.8 + 1.6) / 3.1])


def test_a_document_without_worth_should_not_be_there() -> None:
    """One document is relevant: the second of the best two is any, so none of them should be there."""
    scores, labels = torch.tensor([[4.0, 3.0, 2.0, 1.0]]), torch.tensor([[0.0, 0.0, 0.0, 1.0]])
    found = reach(Precision(k=2), scores, labels, torch.tensor([[0.1, 0.1, 0.5, 0.3]]))
    assert found.tolist() == pytest.approx([(0.1 + 0.1 + 0.3) / 1.0])


def test_what_is_tied_with_the_kth_may_be_there() -> None:
    scores, labels = torch.tensor([[4.0, 3.0, 3.0, 1.0]]), torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    found = reach(NDCG(k=2), scores, labels, torch.tensor([[0.1, 0.2, 0.3, 0.4]]))
    assert found.tolist() == pytest.approx([0.6 / 1.0])


def test_without_a_cutoff_or_in_a_short_list_all_is_in_reach() -> None:
    scores, labels = torch.tensor([[3.0, 2.0, 1.0, 0.0]]), torch.tensor([[0.0, 0.0, 1.0, 0.0]])
    gradient, mask = torch.tensor([[0.1, 0.2, 0.3, 9.0]]), torch.tensor([[True, True, True, False]])
    for metric in (NDCG(), NDCG(k=3), NDCG(k=100)):
        assert reach(metric, scores, labels, gradient, mask).tolist() == pytest.approx([1.0])


def test_no_share_of_no_gradient() -> None:
    scores, labels = torch.tensor([[2.0, 1.0]] * 2), torch.tensor([[0.0, 1.0]] * 2)
    gradient = torch.tensor([[0.0, 0.0], [torch.nan, 1.0]])
    assert torch.isnan(reach(NDCG(k=1), scores, labels, gradient)).all()
    found = blind(NDCG(), scores, labels, gradient)
    assert found.share[0] == found.top[0] == 1.0
    assert torch.isnan(found.share[1])
    assert torch.isnan(found.top[1])


def test_the_distance_of_the_budgets_by_hand() -> None:
    """Of the gradient the lists have 6/10 and 4/10, of what is left to gain 1/5 and 4/5; the third counts nowhere."""
    gradient = torch.tensor([[0.2, -0.4], [0.1, -0.3], [5.0, 5.0], [7.0, 7.0], [torch.nan, 1.0]])
    regret = torch.tensor([0.1, 0.4, torch.nan, 0.9, 0.3])
    weight, mask = torch.tensor([1.0, 1.0, 1.0, 0.0, 1.0]), torch.ones(5, 2).bool()
    found = budget_distance(gradient, regret, mask, weight)
    assert found == pytest.approx((abs(6 / 10 - 1 / 5) + abs(4 / 10 - 4 / 5)) / 2)


def test_a_weight_counts_on_both_sides() -> None:
    """With weight 2 the first list has 6/8 of the gradient and 2/3 of what is left."""
    gradient, mask = torch.tensor([[0.3, 9.0], [0.1, -0.1]]), torch.tensor([[True, False], [True, True]])
    found = budget_distance(gradient, torch.tensor([0.5, 0.5]), mask, torch.tensor([2.0, 1.0]))
    assert found == pytest.approx((abs(6 / 8 - 2 / 3) + abs(2 / 8 - 1 / 3)) / 2)


def test_the_distance_at_its_ends() -> None:
    gradient, mask = torch.tensor([[0.3, -0.3], [0.1, -0.1]]), torch.ones(2, 2).bool()
    weight = torch.ones(2)
    assert budget_distance(gradient, torch.tensor([0.3, 0.1]), mask, weight) == pytest.approx(0.0, abs=1e-7)
    spent = torch.tensor([[0.3, -0.3], [0.0, 0.0]])
    assert budget_distance(spent, torch.tensor([-1e-9, 0.1]), mask, weight) == 1.0
    assert isnan(budget_distance(gradient * 0, torch.tensor([0.3, 0.1]), mask, weight))
    assert isnan(budget_distance(gradient, torch.tensor([0.0, 0.0]), mask, weight))


def test_blind_by_hand() -> None:
    """DCG's exchanges of labels 1, 0, 2 at ranks 1, 2, 3 are worth |g_i - g_j| (1/log2(1 + i) - 1/log2(1 + j))."""
    scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[1.0, 0.0, 2.0]])
    first, second, third = 1 * (1 - 1 / log2(3)), 2 * (1 - 1 / log2(4)), 3 * (1 / log2(3) - 1 / log2(4))
    whole = first + second + third
    ways: list[tuple[list[float], list[float]]] = [
        ([0.0, 0.5, -0.5], [(first + second) / whole, 1.0, 0.0]),
        ([0.5, 0.0, -0.5], [(first + third) / whole, 0.0, 1.0]),
        ([-0.5, 0.5, -1e-300], [0.0, 0.0, 0.0]),
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
    ]
    for gradient, wanted in ways:
        found = blind(NDCG(), scores, labels, torch.tensor([gradient], dtype=torch.float64))
        assert [each.item() for each in found] == pytest.approx(wanted)


def test_nobody_is_blind_to_what_does_not_matter() -> None:
    """Beyond k an exchange changes nothing, nor does one of documents of one label, or of one worth."""
    scores, labels = torch.tensor([[4.0, 3.0, 2.0, 1.0]]), torch.tensor([[1.0, 1.0, 0.0, 1.0]])
    found = blind(Precision(k=1), scores, labels, torch.tensor([[-0.5, 0.0, 0.5, 0.0]]))
    assert [found.share.item(), found.top.item()] == [0.0, 0.0]
    assert torch.isnan(found.elsewhere).all()
    found = blind(Precision(k=1), scores, labels + 1, torch.zeros(1, 4))
    assert all(torch.isnan(each).all() for each in found)


@named
def test_a_mask_that_drops_the_top_document_is_told(metric: RankingMetric) -> None:
    lists = drawn()
    kept = scored(lists.scores, lists.relevance, lists.mask & ~top(lists))
    gradient = descent(Softmax("ndcg"), kept)
    found = blind(metric, lists.scores, lists.relevance, gradient, lists.mask)
    assert len(known(found.top)) > 40
    assert (known(found.top) == 1).all()
    assert (known(found.elsewhere) == 0).all()
    assert known(found.share).mean() > 0.05
    assert (known(found.share) < 1).any()


@named
def test_a_loss_that_sees_all_documents_is_not_blind(metric: RankingMetric) -> None:
    lists = drawn()
    found = blind(metric, lists.scores, lists.relevance, descent(Softmax("ndcg"), lists), lists.mask)
    for each in found:
        assert len(known(each)) > 10
        assert (known(each) == 0).all()


def test_lambdarank_is_not_blind_to_what_its_own_metric_sees() -> None:
    lists = drawn()
    found = blind(NDCG(k=3), lists.scores, lists.relevance, descent(LambdaRank("ndcg@3"), lists), lists.mask)
    assert (known(found.share) == 0).all()


def test_lambdarank_spends_more_on_the_top_than_softmax() -> None:
    lists = drawn()
    shares = [
        known(reach(NDCG(k=3), lists.scores, lists.relevance, descent(each, lists), lists.mask)).mean().item()
        for each in (LambdaRank("ndcg@3"), Softmax("ndcg"))
    ]
    assert 0.5 < shares[1] < shares[0] < 1


@named
def test_each_list_stands_alone(metric: RankingMetric) -> None:
    lists = drawn(10)
    gradient = descent(LambdaRank("ndcg@2"), lists)
    whole = blind(metric, lists.scores, lists.relevance, gradient, lists.mask)
    near = reach(metric, lists.scores, lists.relevance, gradient, lists.mask)
    for one, size in enumerate(lists.mask.sum(1).tolist()):
        row = [each[one : one + 1, :size] for each in (lists.scores, lists.relevance, gradient, lists.mask)]
        wanted = [each[one].item() for each in whole]
        assert [each.item() for each in blind(metric, *row)] == pytest.approx(wanted, abs=1e-12, nan_ok=True)
        assert reach(metric, *row).item() == pytest.approx(near[one].item(), abs=1e-12, nan_ok=True)


def test_in_parts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = drawn(10)
    gradient = descent(LambdaRank("ndcg@2"), lists)
    whole = blind(AP(), lists.scores, lists.relevance, gradient, lists.mask)
    monkeypatch.setattr(import_module("ltr.gap.alignment"), "CELLS", 1)  # not the function of that name
    parts = blind(AP(), lists.scores, lists.relevance, gradient, lists.mask)
    for each, one in zip(parts, whole, strict=True):
        assert each.tolist() == pytest.approx(one.tolist(), abs=1e-14, nan_ok=True)

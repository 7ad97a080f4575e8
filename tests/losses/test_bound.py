"""ltr/losses/bound.py"""

from math import log2

import pytest
import torch

from ltr.losses import BoundMetric, bound_metric
from ltr.metrics import parse
from tests.losses.test_theory import random_lists

SCORES = torch.tensor([[0.3, 0.7, -0.2]], dtype=torch.float64)
LABELS = torch.tensor([[2.0, 0.0, 1.0]], dtype=torch.float64)
FIRST, THIRD = 1 + 1.4 + 0.5, 1 + 1.5 + 1.9  # 1 + sum of max(0, 1 + s_j - s_i)
IDEAL = 3 + 1 / log2(3)


def test_the_metric_on_hinge_ranks() -> None:
    ndcg = (3 / log2(1 + FIRST) + 1 / log2(1 + THIRD)) / IDEAL
    loss = BoundMetric("ndcg")
    assert loss.certificate(SCORES, LABELS).item() == pytest.approx(ndcg)
    assert loss(SCORES, LABELS).item() == pytest.approx(1 - ndcg)
    assert bound_metric(SCORES, LABELS, None, parse("mrr")).item() == pytest.approx(1 / FIRST)
    rbp = 0.2 * (0.8 ** (FIRST - 1) + 0.8 ** (THIRD - 1))
    assert BoundMetric("rbp").certificate(SCORES, LABELS).item() == pytest.approx(rbp)


def test_a_cut_metric_counts_hinge_ranks_up_to_k() -> None:
    """The function takes a metric as it is; the surrogate aims at the full list, where every document learns."""
    assert bound_metric(SCORES, LABELS, None, parse("dcg@3")).item() == pytest.approx(3 / log2(1 + FIRST))
    assert BoundMetric("ndcg@10").aim == parse("ndcg")


@pytest.mark.parametrize(
    "name", ["ndcg", "ndcg-linear-worst", "ndcg-letor", "dcg", "mrr", "mrr-worst", "rbp", "rbp-p0.5"]
)
def test_a_certificate_is_never_above_its_metric(name: str) -> None:
    surrogate = BoundMetric(name)
    lists = 0
    for scores, labels, mask in random_lists():
        gap = surrogate.metric(scores, labels, mask) - surrogate.certificate(scores, labels, mask)
        assert gap.min() >= -1e-12
        lists += len(scores)
    assert lists >= 20_000


def test_it_is_tight_where_no_document_is_within_the_margin_of_a_better_one() -> None:
    """Every document ahead costs 1 and its lead, so that the bound is tight at the ideal order alone."""
    scores = torch.tensor([[4.0, 2.5, 1.0, 0.0]], dtype=torch.float64)
    for name in ("ndcg", "mrr", "rbp"):
        surrogate = BoundMetric(name)
        labels = torch.tensor([[1.0, 0.0, 0.0, 0.0]])
        assert surrogate.certificate(scores, labels).item() == surrogate.aim(scores, labels).item()
        assert surrogate.certificate(scores, labels.flip(1)).item() < surrogate.aim(scores, labels.flip(1)).item()


def test_the_gradient_moves_relevant_documents_up_against_those_within_the_margin() -> None:
    scores = SCORES.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(BoundMetric("mrr")(scores, LABELS).sum(), scores)
    slope = 1 / FIRST**2
    assert gradient[0].tolist() == pytest.approx([-2 * slope, slope, slope])


def test_a_weight_multiplies_the_gain() -> None:
    weight = torch.tensor([[1.0, 1.0, 6.0]])
    ndcg = (3 / log2(1 + FIRST) + 6 / log2(1 + THIRD)) / (6 + 3 / log2(3))
    assert BoundMetric("ndcg")(SCORES, LABELS, weight=weight).item() == pytest.approx(1 - ndcg)
    with pytest.raises(ValueError, match=r"^weight: a document's weight multiplies its gain, and mrr has none"):
        BoundMetric("mrr")(SCORES, LABELS, weight=weight)


@pytest.mark.parametrize("name", ["ap", "precision@3", "recall@3", "f1@3", "err-max4", "arp", "pairs", "success@3"])
def test_metrics_that_hinge_ranks_do_not_bound_are_refused(name: str) -> None:
    message = (
        r"^BoundMetric: wants a metric of the relevant documents' ranks alone, without a cutoff "
        rf"\(ndcg, dcg, mrr, rbp\); got {name}$"
    )
    with pytest.raises(ValueError, match=message):
        BoundMetric(name)


@pytest.mark.parametrize("size", [1e10, 1e16, 1e17, 1e30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_of_any_size_have_a_certificate(size: float, dtype: torch.dtype) -> None:
    surrogate = BoundMetric("ndcg")
    for scores, labels, mask in random_lists():
        huge, leaf = (scores * size).to(dtype), (scores * size).to(dtype).requires_grad_()
        excess = surrogate.certificate(huge, labels, mask) - surrogate.metric(huge, labels, mask)
        assert excess.max() <= 1e-6
        assert torch.isfinite(torch.autograd.grad(surrogate(leaf, labels, mask).sum(), leaf)[0]).all()

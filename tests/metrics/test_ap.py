"""ltr/metrics/ap.py"""

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ltr.losses import ApproxMetric
from ltr.metrics import AP, Recall, parse
from ltr.ranking import soft_ranking
from ltr.testing import check_metric, check_surrogate


def test_precision_at_the_relevant_documents() -> None:
    assert AP()([5, 4, 3, 2, 1], [1, 0, 1, 0, 1]).item() == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3)
    assert AP()([4, 3, 2, 1], [1, 3, 0, 2]).item() == pytest.approx((1 + 1 + 3 / 4) / 3)


def test_the_three_divisors() -> None:
    labels = [1, 0, 1, 0, 0, 1, 1]  # four relevant, two of them in the first three
    scores = [7, 6, 5, 4, 3, 2, 1]
    assert AP(k=3)(scores, labels).item() == pytest.approx((1 + 2 / 3) / 4)
    assert AP(k=3, divisor="min")(scores, labels).item() == pytest.approx((1 + 2 / 3) / 3)
    assert AP(divisor="min")(scores, labels).item() == AP()(scores, labels).item()
    assert AP(k=3, divisor="hits")(scores, labels).item() == pytest.approx((1 + 2 / 3) / 2)
    assert AP(k=1, divisor="hits")(scores, [0, *labels[1:]]).item() == 0  # no hit to divide by


@given(
    labels=st.lists(st.integers(0, 1), min_size=1, max_size=6).filter(any),
    seen=st.integers(0, 6),
    k=st.one_of(st.none(), st.integers(1, 7)),
)
def test_min_is_one_rule_with_recall(labels: list[int], seen: int, k: int | None) -> None:
    """min(R, k), where k is the number of ranked documents without a cutoff."""
    retrieved = [place < seen for place in range(len(labels))]
    scores = list(range(len(labels), 0, -1))
    share = min(sum(labels), k or max(min(seen, len(labels)), 1)) / sum(labels)
    for over_r, capped in ((AP(k=k), AP(k=k, divisor="min")), (Recall(k=k), Recall(k=k, divisor="min"))):
        value, wanted = (each(scores, labels, retrieved=retrieved).item() for each in (capped, over_r))
        assert value * share == pytest.approx(wanted)


def test_the_first_two_of_three_relevant_documents() -> None:
    returned = {"retrieved": [True, True, False, False]}
    for metric in (AP(divisor="min"), Recall(divisor="min")):
        assert metric([4, 3, 2, 1], [1, 1, 1, 0], **returned).item() == 1
    assert AP()([4, 3, 2, 1], [1, 1, 1, 0], **returned).item() == pytest.approx(2 / 3)


def test_hits_do_not_count_what_was_not_returned() -> None:
    returned = {"retrieved": [True, True, True, False]}
    assert AP()([3, 2, 1, 0], [0, 1, 0, 1], **returned).item() == 1 / 2 / 2
    assert AP(divisor="hits")([3, 2, 1, 0], [0, 1, 0, 1], **returned).item() == 1 / 2


def test_a_threshold() -> None:
    assert parse("ap-rel2")([4, 3, 2, 1], [1, 3, 0, 2]).item() == pytest.approx((1 / 2 + 2 / 4) / 2)


def test_a_tie_of_one_relevant_document_and_one_other() -> None:
    assert AP()([1, 1], [1, 0]).item() == pytest.approx((1 + 1 / 2) / 2)


def test_a_tie_below_relevant_documents() -> None:
    """One relevant on top, then one relevant and one other tied at ranks 2 and 3."""
    assert AP()([2, 1, 1], [1, 0, 1]).item() == pytest.approx(((1 + 2 / 2) / 2 + (1 + 2 / 3) / 2) / 2)


def test_a_tie_across_the_cutoff() -> None:
    assert AP(k=2)([2, 1, 1], [0, 0, 1]).item() == pytest.approx((1 / 2 + 0) / 2)


def test_the_random_order_of_a_large_list() -> None:
    """The expected AP of R relevant among n: the closed form of Bestgen (2015), Exact expected average precision."""
    n, relevant = 200, 7
    harmonic = sum(1 / rank for rank in range(1, n + 1))
    expected = ((relevant - 1) / (n - 1) * (n - harmonic) + harmonic) / n
    labels = torch.tensor([[1.0] * relevant + [0.0] * (n - relevant)])
    assert AP().floor(labels).item() == pytest.approx(expected)


@pytest.mark.parametrize("k", [2, 3, 6, 9, 10, 12, 40])
def test_hits_in_a_tie_across_the_cutoff(k: int) -> None:
    """Two places, then ten tied documents of which four are relevant, then one more: all choices of four places."""
    top, block, total = [1, 0], 10, Fraction(0)
    for chosen in combinations(range(block), 4):
        order = [*top, *(int(place in chosen) for place in range(block)), 1][:k]
        precisions = [Fraction(sum(order[: rank + 1]), rank + 1) for rank, relevant in enumerate(order) if relevant]
        total += sum(precisions) / len(precisions)
    scores, labels = [3, 2, *[1] * block, 0], [*top, *[0, 1] * 4, 0, 0, 1]
    value = AP(k=k, divisor="hits")(scores, labels).item()
    assert value == pytest.approx(float(total / comb(block, 4)), rel=1e-12)


def test_hits_of_a_random_order_of_a_large_list() -> None:
    """Given x hits, the mean over the first k places of (1 + (rank - 1) (x - 1) / (k - 1)) / rank, in exact numbers."""
    n, relevant, k = 1000, 60, 300
    harmonic = sum(Fraction(1, rank) for rank in range(1, k + 1))
    expected = Fraction(0)
    for x in range(1, relevant + 1):
        chance = Fraction(comb(relevant, x) * comb(n - relevant, k - x), comb(n, k))
        expected += chance * (harmonic + Fraction(x - 1, k - 1) * (k - harmonic)) / k
    labels = torch.tensor([[1.0] * relevant + [0.0] * (n - relevant)])
    assert AP(k=k, divisor="hits").floor(labels).item() == pytest.approx(float(expected), rel=1e-11)


def test_hits_of_soft_ranks() -> None:
    """Sharp scores give the exact value, and where nothing is found the gradient is finite."""
    metric = AP(k=2, divisor="hits")
    scores = torch.tensor([[4.0, 3.0, 2.0, 1.0], [4.0, 3.0, 2.0, 1.0]], dtype=torch.float64, requires_grad=True)
    labels = torch.tensor([[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]], dtype=torch.float64)
    value = metric.of(soft_ranking(scores, None, 1e-3), labels)
    assert value.tolist() == pytest.approx([1 / 2, 0])
    (gradient,) = torch.autograd.grad(metric.of(soft_ranking(scores, None, 1.0), labels).sum(), scores)
    assert torch.isfinite(gradient).all()
    assert gradient.any()


@pytest.mark.parametrize("name", ["ap", "ap-min@2", "ap-hits", "ap-hits@1", "ap-hits@3", "ap-rel2-hits-docid@2"])
def test_the_contract(name: str) -> None:
    assert "swap deltas are what a swap does" in check_metric(parse(name))


def test_soft_becomes_hard() -> None:
    assert "belief keeps its promise" in check_surrogate(ApproxMetric("ap-hits"))

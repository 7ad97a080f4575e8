"""ltr/metrics/ap.py"""

import pytest
import torch

from ltr.metrics import AP, parse


def test_precision_at_the_relevant_documents() -> None:
    assert AP()([5, 4, 3, 2, 1], [1, 0, 1, 0, 1]).item() == pytest.approx((1 / 1 + 2 / 3 + 3 / 5) / 3)
    assert AP()([4, 3, 2, 1], [1, 3, 0, 2]).item() == pytest.approx((1 + 1 + 3 / 4) / 3)


def test_the_two_divisors() -> None:
    labels = [1, 0, 1, 0, 0, 1, 1]  # four relevant, two of them in the first three
    scores = [7, 6, 5, 4, 3, 2, 1]
    assert AP(k=3)(scores, labels).item() == pytest.approx((1 + 2 / 3) / 4)
    assert AP(k=3, divisor="min")(scores, labels).item() == pytest.approx((1 + 2 / 3) / 3)
    assert AP(divisor="min")(scores, labels).item() == AP()(scores, labels).item()


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

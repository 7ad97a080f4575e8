"""ltr/metrics/precision.py"""

import pytest

from ltr.metrics import Precision, parse


def test_over_k_even_where_the_list_is_shorter() -> None:
    assert Precision(k=5)([3, 2, 1], [1, 0, 1]).item() == 2 / 5
    assert Precision(k=2)([3, 2, 1], [1, 0, 1]).item() == 1 / 2


def test_over_the_length_of_a_short_list_on_request() -> None:
    assert Precision(k=5, divisor="min")([3, 2, 1], [1, 0, 1]).item() == pytest.approx(2 / 3)
    assert Precision(k=2, divisor="min")([3, 2, 1], [1, 0, 1]).item() == 1 / 2
    mask = [[True, True, False]]
    assert Precision(k=5, divisor="min")([[3, 2, 1]], [[1, 0, 1]], mask).item() == 1 / 2


def test_without_a_cutoff_it_is_the_share_of_relevant_documents() -> None:
    assert Precision()([3, 2, 1], [1, 0, 1]).item() == pytest.approx(2 / 3)


def test_a_tie_across_the_cutoff() -> None:
    assert Precision(k=2)([2, 1, 1, 1], [0, 1, 0, 0]).item() == pytest.approx((1 / 3) / 2)


def test_a_threshold() -> None:
    assert parse("precision-rel2@2")([3, 2, 1], [2, 1, 2]).item() == 1 / 2

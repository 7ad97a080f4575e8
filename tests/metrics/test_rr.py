"""ltr/metrics/rr.py"""

import pytest

from ltr.metrics import RR, parse


@pytest.mark.parametrize(
    ("labels", "value"), [([1, 0, 0], 1), ([0, 1, 1], 1 / 2), ([0, 0, 1], 1 / 3), ([1, 0, 2], 1), ([0, 0, 0], 0)]
)
def test_one_over_the_rank_of_the_first_relevant_document_not_of_the_best(labels: list[int], value: float) -> None:
    assert RR()([3, 2, 1], labels).item() == pytest.approx(value)


def test_zero_beyond_the_cutoff() -> None:
    assert [RR(k=k)([4, 3, 2, 1], [0, 0, 1, 1]).item() for k in (1, 2, 3, 4)] == pytest.approx([0, 0, 1 / 3, 1 / 3])


def test_a_threshold() -> None:
    labels = [1, 3, 0, 2]
    assert [parse(f"mrr-rel{level}")([4, 3, 2, 1], labels).item() for level in (1, 2, 3, 4)] == [1, 0.5, 0.5, 0]


def test_one_relevant_document_in_a_tie_of_four() -> None:
    assert RR()([1] * 4, [0, 1, 0, 0]).item() == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert RR(k=2)([1] * 4, [0, 1, 0, 0]).item() == pytest.approx((1 + 1 / 2) / 4)


def test_two_relevant_documents_in_a_tie_of_three() -> None:
    """The first of them stands on top with probability 2/3, else second."""
    assert RR()([1] * 3, [1, 0, 1]).item() == pytest.approx(2 / 3 * 1 + 1 / 3 * 1 / 2)


def test_a_large_tie_in_closed_form() -> None:
    assert RR()([0] * 3000, [1] + [0] * 2999).item() == pytest.approx(sum(1 / rank for rank in range(1, 3001)) / 3000)

"""ltr/metrics/recall.py"""

import pytest

from ltr.metrics import Recall, parse


def test_over_all_relevant_documents_of_the_list() -> None:
    assert [Recall(k=k)([5, 4, 3, 2, 1], [1, 1, 0, 1, 1]).item() for k in (1, 2, 3, 4, 9)] == [
        *(1 / 4, 2 / 4, 2 / 4, 3 / 4, 1)
    ]


def test_without_a_cutoff_it_is_one() -> None:
    assert Recall()([3, 2, 1], [0, 0, 1]).item() == 1


def test_the_most_that_k_places_can_hold() -> None:
    """trec_eval 10.0's relative_P: precision up to k = R, then recall."""
    values = [Recall(k=k, divisor="min")([5, 4, 3, 2, 1], [1, 1, 0, 1, 1]).item() for k in (1, 2, 3, 4, 9)]
    assert values == [1, 1, pytest.approx(2 / 3), 3 / 4, 1]
    assert Recall(k=2, divisor="min").ceiling([1, 1, 1, 0]).item() == 1


def test_capped_without_a_cutoff_k_is_the_number_of_ranked_documents() -> None:
    """trec_eval 10.0's set_relative_P."""
    given = {"retrieved": [True, True, False, False]}
    assert Recall(divisor="min")([2, 1, 0, 0], [1, 0, 1, 1], **given).item() == 1 / 2
    assert Recall()([2, 1, 0, 0], [1, 0, 1, 1], **given).item() == 1 / 3
    assert Recall(divisor="min")([0, 0], [1, 1], retrieved=[False, False]).item() == 0


def test_a_tie_across_the_cutoff() -> None:
    assert Recall(k=2)([2, 1, 1, 1], [0, 1, 0, 0]).item() == pytest.approx(1 / 3)


def test_a_threshold() -> None:
    assert parse("recall-rel2@1")([3, 2, 1], [2, 1, 2]).item() == 1 / 2


def test_the_ceiling_of_more_relevant_documents_than_places() -> None:
    assert Recall(k=2).ceiling([1, 1, 1, 0]).item() == pytest.approx(2 / 3)

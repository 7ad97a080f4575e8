"""ltr/metrics/success.py"""

from math import comb

import pytest
import torch

from ltr.metrics import RR, Success, parse
from ltr.testing import check_metric


def test_one_from_the_rank_of_the_first_relevant_document_on() -> None:
    assert [Success(k=k)([5, 4, 3, 2], [0, 0, 2, 1]).item() for k in (1, 2, 3, 4, 9)] == [0, 0, 1, 1, 1]


def test_without_a_cutoff_anything_returned_will_do() -> None:
    assert Success()([3, 2, 1], [0, 0, 1]).item() == 1
    assert Success()([3, 2, 1], [0, 0, 1], retrieved=[True, True, False]).item() == 0


def test_a_random_order() -> None:
    """The chance that 3 of 20 places miss all 4 relevant documents is C(16, 3) / C(20, 3)."""
    assert Success(k=3).floor([1] * 4 + [0] * 16).item() == pytest.approx(1 - comb(16, 3) / comb(20, 3))


def test_it_is_where_the_reciprocal_rank_is_not_zero() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(100, 8), (torch.rand(100, 8) < 0.2).double()
    for k in (1, 3, 5):
        assert torch.equal(Success(k=k)(scores, labels), (RR(k=k)(scores, labels) > 0).double())


def test_a_threshold() -> None:
    assert parse("success-rel2@1")([2, 1], [1, 2]).item() == 0
    assert parse("success-rel2@2")([2, 1], [1, 2]).item() == 1


def test_it_keeps_its_cutoff() -> None:
    assert Success(k=3).uncut() == Success(k=3)


@pytest.mark.parametrize("name", ["success", "success@1", "success@3", "success-rel2@2", "success-best@2"])
def test_the_contract(name: str) -> None:
    assert "swap deltas are what a swap does" in check_metric(parse(name))

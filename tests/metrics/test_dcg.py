"""ltr/metrics/dcg.py"""

from math import log2

import pytest
import torch

from ltr.metrics import DCG, Reciprocal, parse


def test_gains_over_log2() -> None:
    assert DCG()([3, 2, 1], [0, 2, 1]).item() == pytest.approx(3 / log2(3) + 1 / log2(4))
    assert DCG(k=2)([3, 2, 1], [0, 2, 1]).item() == pytest.approx(3 / log2(3))
    assert DCG(discount=Reciprocal())([3, 2, 1], [0, 2, 1]).item() == pytest.approx(3 / 2 + 1 / 3)


def test_tied_documents_share_their_places() -> None:
    tied = parse("dcg-linear")([1, 1, 0], [2, 0, 1]).item()
    assert tied == pytest.approx((2 + 0) * (1 + 1 / log2(3)) / 2 + 1 / log2(4))


def test_it_is_not_bounded_by_one() -> None:
    assert not DCG.bounded
    assert DCG()([1], [3]).item() == 7


def test_gains_stay_exact_up_to_labels_of_100() -> None:
    assert DCG()(torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 100.0]])).item() == pytest.approx(2**100 / log2(3))

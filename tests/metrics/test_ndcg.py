"""ltr/metrics/ndcg.py"""

from math import log2

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ltr.metrics import NDCG, Linear, Table, parse

SCORES = [4, 3, 2, 1]
LABELS = [1, 3, 0, 2]


def test_gains_over_log2_over_those_of_the_ideal_order() -> None:
    ideal = 7 + 3 / log2(3) + 1 / log2(4)
    assert NDCG()(SCORES, LABELS).item() == pytest.approx((1 + 7 / log2(3) + 0 + 3 / log2(5)) / ideal)
    assert NDCG(gain=Linear())(SCORES, LABELS).item() == pytest.approx(
        (1 + 3 / log2(3) + 2 / log2(5)) / (3 + 2 / log2(3) + 1 / log2(4))
    )


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12).filter(any), st.sampled_from([1, 3, 10, None]))
def test_the_best_order_has_1_without_a_rounding(labels: list[int], k: int | None) -> None:
    assert NDCG(k=k)(labels, labels).item() == pytest.approx(1, rel=1e-15)
    best = sorted(labels, reverse=True)
    assert NDCG(k=k)(range(len(best), 0, -1), best).item() == NDCG(k=k).ceiling(labels).item() == 1.0


def test_the_ideal_is_cut_after_sorting_all_labels() -> None:
    assert parse("ndcg@2")(SCORES, [1, 0, 3, 2]).item() == pytest.approx(1 / (7 + 3 / log2(3)))


@pytest.mark.parametrize("scale", [1e-3, 1e-8, 1e-16, 1e-20, 1e-300])
@pytest.mark.parametrize("labels", [[1, 3, 0, 2], [3, 1, 0, 0], [0, 0, 0, 1]])
def test_2_to_the_y_less_1_of_small_labels_is_linear(scale: float, labels: list[int]) -> None:
    """2^y - 1 = y ln 2 + O(y^2), down to the smallest labels."""
    small = [scale * label for label in labels]
    assert NDCG().defined(small).all()
    assert NDCG()(SCORES, small).item() == pytest.approx(NDCG(gain=Linear())(SCORES, labels).item(), rel=2 * scale)


def test_a_table_of_gains() -> None:
    table = NDCG(gain=Table((0, 1, 5, 50)))
    ideal = 50 + 5 / log2(3) + 1 / 2
    assert table(SCORES, LABELS).item() == pytest.approx((1 + 50 / log2(3) + 5 / log2(5)) / ideal)


@pytest.mark.parametrize("top", [35.0, 100.0, 1023.0, 2000.0])
def test_labels_of_any_size(top: float) -> None:
    """2^y - 1 of the largest label swallows the rest: document 0 stands at rank 2."""
    for dtype in (torch.float32, torch.float64):
        value = NDCG()(torch.tensor([[1.0, 2.0, 0.0]]), torch.tensor([[top, 1.0, 0.0]], dtype=dtype))
        assert value.item() == pytest.approx(1 / log2(3), abs=1e-9)
        assert NDCG().floor(torch.tensor([[top, 0.0]], dtype=dtype)).item() == pytest.approx((1 + 1 / log2(3)) / 2)


def test_a_list_shorter_than_k_is_zero_under_short0_alone() -> None:
    assert parse("ndcg-short0@5")([2, 1], [1, 0]).item() == 0
    assert parse("ndcg-short0@2")([2, 1], [1, 0]).item() == 1
    assert parse("ndcg@5")([2, 1], [1, 0]).item() == 1
    mask = [[True, True, False, False, False]]
    assert parse("ndcg-short0@5")([[5, 4, 3, 2, 1]], [[1, 0, 1, 1, 1]], mask).item() == 0


def test_padded_labels_are_no_part_of_the_ideal() -> None:
    assert parse("ndcg")([[2, 1, 0]], [[1, 0, 4]], [[True, True, False]]).item() == 1


def test_three_thousand_documents() -> None:
    torch.manual_seed(0)
    labels = torch.randint(0, 5, (1, 3000)).double()
    assert NDCG()(labels, labels).item() == pytest.approx(1)
    constant = NDCG()(torch.zeros(1, 3000), labels)
    gains, discounts = 2**labels - 1, 1 / torch.log2(torch.arange(2, 3002).double())
    ideal = (gains.sort(descending=True).values * discounts).sum()
    assert constant.item() == pytest.approx((gains.mean() * discounts.sum() / ideal).item())

"""ltr/metrics/arp.py"""

import re
from itertools import permutations

import pytest
import torch

from ltr.metrics import ARP, RankingMetric
from ltr.ranking import exact_ranking


def test_the_mean_rank_weighted_by_label() -> None:
    assert ARP()([1, 3, 2], [0, 0, 1]).item() == 2
    assert ARP()([1, 2, 3], [0, 1, 2]).item() == pytest.approx((1 * 2 + 2 * 1) / 3)
    assert ARP()([4, 3, 2, 1], [0.5, 0, 0, 1.5]).item() == pytest.approx((0.5 * 1 + 1.5 * 4) / 2)


def test_a_tie_is_the_mean_rank_of_its_places() -> None:
    assert ARP()([2, 1, 1, 1], [0, 1, 0, 0]).item() == pytest.approx((2 + 3 + 4) / 3)


def test_smaller_is_better_and_nothing_is_the_most() -> None:
    assert not ARP.larger_is_better
    assert not ARP.bounded
    labels = [3, 0, 1, 0, 0]
    orders = torch.tensor(list(permutations(labels)), dtype=torch.float64)
    values = ARP()(torch.arange(5, 0, -1).expand_as(orders), orders)
    assert ARP().floor(labels).item() == pytest.approx(values.mean().item()) == 3
    assert ARP().ceiling(labels).item() == pytest.approx(values.min().item()) == (3 * 1 + 1 * 2) / 4


def test_what_was_not_returned_has_no_rank() -> None:
    assert ARP()([3, 2, 1], [1, 2, 4], retrieved=[True, True, False]).item() == pytest.approx((1 + 2 * 2) / 3)
    assert ARP().defined([0, 2], retrieved=[True, False]).tolist() == [False]
    assert ARP()([2, 1], [0, 2], retrieved=[True, False]).item() == 0


def test_padding_and_unjudged_documents() -> None:
    assert ARP()([9, 3, 2, 1], [5, 0, 9, 1], [False, True, True, True], judged=[True, True, False, True]).item() == 3
    assert ARP(unjudged="ignored")([3, 2, 1], [0, 9, 1], judged=[True, False, True]).item() == 2


def test_labels_near_the_end_of_float64() -> None:
    assert ARP()([2, 1], [1.7e308, 1.7e308]).item() == 1.5


def test_it_takes_no_cutoff() -> None:
    with pytest.raises(ValueError, match=re.escape("arp: is a metric of the full list and takes no cutoff; got k=3")):
        ARP(k=3)


def test_swaps_of_tied_documents() -> None:
    """Over the orders in which the first of the two stands above the other, one place apart or two."""
    ranking = exact_ranking(torch.zeros(1, 3))
    deltas = ARP().swap_deltas(ranking, torch.tensor([[1.0, 0.0, 0.0]]).double())
    assert deltas[0, 0, 1].item() == pytest.approx((1 + 2 + 1) / 3)
    assert deltas[0, 1, 0].item() == pytest.approx(-(1 + 2 + 1) / 3)
    assert deltas[0, 1, 2].item() == 0


def test_swaps() -> None:
    torch.manual_seed(0)
    scores, mask = torch.randn(30, 6), torch.rand(30, 6) < 0.8
    labels, ranking = torch.randint(0, 4, (30, 6)).double() * mask, exact_ranking(scores, mask)
    deltas = ARP().swap_deltas(ranking, labels)
    assert torch.allclose(deltas, RankingMetric.swap_deltas(ARP(), ranking, labels))
    assert deltas.any()

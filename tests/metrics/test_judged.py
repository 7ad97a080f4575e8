"""ltr/metrics/judged.py"""

import re
from typing import Literal

import pytest
import torch

from ltr.metrics import Judged, parse
from ltr.metrics.base import RankingMetric
from ltr.ranking import Ranking, exact_ranking

SCORES, LABELS, JUDGED = [4, 3, 2, 1], [0, 0, 1, 0], [False, True, True, False]


@pytest.mark.parametrize(("k", "value"), [(1, 0), (2, 1 / 2), (3, 2 / 3), (4, 2 / 4), (9, 2 / 4), (None, 2 / 4)])
def test_the_judged_among_those_that_are_seen(k: int | None, value: float) -> None:
    """As ir_measures 0.4.3, a list shorter than k is divided by its length."""
    assert Judged(k=k)(SCORES, LABELS, judged=JUDGED).item() == pytest.approx(value)


def test_all_are_judged_unless_said_otherwise() -> None:
    assert Judged(k=2)(SCORES, LABELS).item() == 1


def test_it_has_an_answer_wherever_something_is_ranked() -> None:
    mask = torch.tensor([[True, True], [False, False]])
    assert Judged(k=5).defined(torch.zeros(2, 2), mask).tolist() == [True, False]
    assert Judged(k=5)(torch.zeros(2, 2), torch.zeros(2, 2), mask).tolist() == [1.0, 0.0]
    assert Judged(k=5).defined([1, 1], retrieved=[False, False]).tolist() == [False]


def test_what_was_not_returned_does_not_count() -> None:
    assert Judged(k=4)(SCORES, LABELS, judged=JUDGED, retrieved=[True, True, False, False]).item() == 1 / 2


def test_a_tie_across_the_cutoff() -> None:
    assert Judged(k=2)([2, 1, 1, 1], LABELS, judged=[True, True, False, False]).item() == pytest.approx((1 + 1 / 3) / 2)


def test_a_random_order_and_the_best() -> None:
    assert Judged(k=2).floor(LABELS, judged=JUDGED).item() == 1 / 2
    assert Judged(k=2).ceiling(LABELS, judged=JUDGED).item() == 1


def test_a_condensed_list_is_judged_throughout() -> None:
    assert Judged(k=3, unjudged="ignored")(SCORES, LABELS, judged=JUDGED).item() == 1
    assert not parse("judged-condensed").defined([0, 0], judged=[False, False]).any()


@pytest.mark.parametrize(("ties", "value"), [("worst", 0), ("best", 1)])
def test_worst_and_best_whatever_the_order_of_the_input(ties: Literal["worst", "best"], value: float) -> None:
    for judged in ([True, False], [False, True]):
        assert Judged(k=1, ties=ties)([1, 1], [0, 0], judged=judged).item() == value


def test_it_has_no_ideal_order() -> None:
    message = "judged: has no ideal order, so ideal has no meaning for it; got 'retrieved'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Judged(k=5, ideal="retrieved")


def test_it_keeps_its_cutoff() -> None:
    assert Judged(k=3).uncut() == Judged(k=3)


@pytest.mark.parametrize("k", [None, 1, 3])
def test_swaps(k: int | None) -> None:
    torch.manual_seed(0)
    scores, judged, mask = torch.randn(30, 6), torch.rand(30, 6) < 0.5, torch.rand(30, 6) < 0.8
    found = exact_ranking(scores, mask)
    ranking = Ranking(found.position, found.block, mask, judged=judged)
    metric, labels = Judged(k=k), torch.zeros(30, 6, dtype=torch.float64)
    deltas = metric.swap_deltas(ranking, labels)
    assert torch.allclose(deltas, RankingMetric.swap_deltas(metric, ranking, labels))
    assert deltas.any() == (k is not None)

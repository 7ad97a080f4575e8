"""ltr/metrics/err.py"""

import re
from itertools import pairwise, product
from math import comb

import pytest
import torch
from torch import Tensor

from ltr.metrics import ERR, RR, RankingMetric, parse
from ltr.ranking import exact_ranking


def test_the_reader_stops_where_satisfied() -> None:
    """Chances of 7/16, 0, 15/16 and 1/16 by the place."""
    wanted = 7 / 16 + 9 / 16 * (15 / 16 / 3 + 1 / 16 * (1 / 16) / 4)
    assert ERR(top=4)([4, 3, 2, 1], [3, 0, 4, 1]).item() == pytest.approx(wanted)
    assert ERR(top=4, k=3)([4, 3, 2, 1], [3, 0, 4, 1]).item() == pytest.approx(7 / 16 + 9 / 16 * 15 / 16 / 3)
    assert ERR(top=4, k=2)([4, 3, 2, 1], [3, 0, 4, 1]).item() == pytest.approx(7 / 16)


@pytest.mark.parametrize(
    ("labels", "value"),
    [
        ([1, 0, 0, 0], 0.0625),
        ([0, 1, 0, 0], 0.03125),
        ([0, 0, 0, 0, 1, 0], 0.0125),
        ([0, 1, 2, 3], 0.17316),
        ([4, 4, 4, 4], 0.96807),
    ],
)
def test_values_of_gdeval(labels: list[int], value: float) -> None:
    """ir_measures 0.4.3, which calls TREC's gdeval; five digits."""
    assert parse("err-max4@5")(range(len(labels), 0, -1), labels).item() == pytest.approx(value, abs=5e-6)


def test_one_sure_grade_makes_it_the_reciprocal_rank() -> None:
    """With a top grade so high that its documents satisfy for sure."""
    torch.manual_seed(0)
    scores, relevant = torch.randn(50, 8).round(), torch.rand(50, 8) < 0.3
    assert torch.allclose(ERR(top=1000)(scores, relevant * 1000), RR()(scores, relevant))


def test_the_scale_is_declared_and_not_read_from_the_list() -> None:
    scores = [3, 2, 1]
    assert ERR(top=3)(scores, [3, 0, 0]).item() == 7 / 8
    assert ERR(top=4)(scores, [3, 0, 0]).item() == 7 / 16
    assert ERR(top=4) != ERR(top=3)


def test_the_top_grade_is_in_the_name() -> None:
    assert ERR(top=4, k=20).name == "err-max4@20"
    assert parse("err-max4@20") == ERR(top=4, k=20)
    assert parse("err-max2.5").name == "err-max2.5"
    assert ERR(top=4).convention == "err max=4 ideal=judged unjudged=zero ties=average empty=skip"
    with pytest.raises(ValueError, match=r"^metric 'err@20': err wants its top in the name, such as err-max4$"):
        parse("err@20")
    with pytest.raises(TypeError, match="top"):
        ERR(k=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("top", [0, -1, float("inf"), float("nan"), True, "4"])
def test_top_grades_that_are_none(top: object) -> None:
    with pytest.raises(ValueError, match=f"^err: the top grade must be a number above 0, got {re.escape(repr(top))}$"):
        ERR(top=top)  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [{}, {"retrieved": [True, True, False]}])
def test_a_grade_above_the_top(given: dict[str, list[bool]]) -> None:
    message = "err-max3@1: the top grade is declared to be 3, and a document has grade 4.5"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse("err-max3@1")([3, 2, 1], [1, 0, 4.5], **given)


def test_the_top_grade_is_reached_in_any_precision() -> None:
    for label in (torch.tensor([0.6, 0.0]), torch.tensor([0.6, 0.0], dtype=torch.float64)):
        assert ERR(top=0.6)([2, 1], label).item() == pytest.approx((2**0.6 - 1) / 2**0.6)


def test_labels_of_any_size() -> None:
    value = ERR(top=1100)([3, 2, 1], [1099, 1100, 0])
    assert value.item() == pytest.approx(1 / 2 + 1 / 2 / 2)
    scores, labels = torch.tensor([[2.0, 2.0, 1.0]]), torch.tensor([[1100.0, 0.0, 1100.0]])
    assert ERR(top=1100)(scores, labels).item() == pytest.approx((1 + 1 / 2) / 2)


def test_a_random_order_of_a_long_list() -> None:
    """n documents of one grade: the closed form of a geometric stop, in whatever order."""
    n, stop = 300, 1 / 4
    labels = torch.ones(1, n)
    wanted = sum(stop * (1 - stop) ** (rank - 1) / rank for rank in range(1, n + 1))
    assert ERR(top=2).floor(labels).item() == pytest.approx(wanted)
    assert ERR(top=2, k=2).floor(labels).item() == pytest.approx(stop + (1 - stop) * stop / 2)


@pytest.mark.parametrize("k", [None, 1, 7, 20])
def test_long_tie_blocks_by_one_more_document_at_a_time(k: int | None) -> None:
    """The mean product over choices of t documents, from the elementary symmetric polynomials of each block."""
    torch.manual_seed(0)
    for levels in (1, 2, 3, 9):
        scores, labels = torch.randint(0, levels, (37,)).double(), torch.randint(0, 5, (37,)).double()
        total, through, rank = 0.0, 1.0, 0
        for level in reversed(range(levels)):
            keep = (1 - (2 ** labels[scores == level] - 1) / 2**4).tolist()
            chances, symmetric = [through], [1.0, *[0.0] * len(keep)]
            for value in keep:
                symmetric = [1.0] + [symmetric[t] + value * symmetric[t - 1] for t in range(1, len(symmetric))]
            chances += [through * symmetric[t] / comb(len(keep), t) for t in range(1, len(keep) + 1)]
            for before, after in pairwise(chances):
                rank += 1
                total += (before - after) / rank if k is None or rank <= k else 0
            through = chances[-1]
        assert ERR(top=4, k=k)(scores, labels).item() == pytest.approx(total)


def every(length: int, grades: int) -> Tensor:
    return torch.tensor(list(product(range(grades), repeat=length)), dtype=torch.float64)


def by_swapping(metric: RankingMetric, scores: Tensor, labels: Tensor) -> Tensor:
    """[B, L, L] with scores that differ."""
    deltas = torch.zeros(*labels.shape, labels.shape[1], dtype=torch.float64)
    for i, j in product(range(labels.shape[1]), repeat=2):
        swapped = scores.clone()
        swapped[:, i], swapped[:, j] = scores[:, j], scores[:, i]
        deltas[:, i, j] = metric(swapped, labels) - metric(scores, labels)
    return deltas


@pytest.mark.parametrize("name", ["err-max2", "err-max4@1", "err-max2@3", "err-max4@9"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_closed_swap_deltas_on_all_short_lists(name: str, length: int) -> None:
    labels, metric = every(length, 3), parse(name)
    torch.manual_seed(length)
    scores = torch.rand_like(labels)
    ranking = exact_ranking(scores)
    wanted = by_swapping(metric, scores, labels)
    assert torch.allclose(metric.swap_deltas(ranking, labels), wanted, atol=1e-12)
    assert torch.allclose(RankingMetric.swap_deltas(metric, ranking, labels), wanted, atol=1e-12)


def test_swap_deltas_break_ties_by_index() -> None:
    labels = every(4, 3)
    for scores in every(4, 2):
        tied = scores.expand_as(labels)
        nudged = tied - torch.arange(4) * 1e-3
        found = parse("err-max2@3").swap_deltas(exact_ranking(tied), labels)
        assert torch.allclose(found, by_swapping(parse("err-max2@3"), nudged, labels), atol=1e-12)


def test_swap_deltas_of_chosen_rows_and_of_padding() -> None:
    torch.manual_seed(0)
    scores, labels, mask = torch.randn(30, 7), torch.randint(0, 5, (30, 7)).double(), torch.rand(30, 7) < 0.7
    ranking, metric, rows = exact_ranking(scores, mask), parse("err-max4@4"), torch.rand(30, 7).argsort(1)[:, :3]
    full = metric.swap_deltas(ranking, labels)
    assert torch.allclose(full, RankingMetric.swap_deltas(metric, ranking, labels), atol=1e-12)
    assert torch.equal(metric.swap_deltas(ranking, labels, rows), full.gather(1, rows[:, :, None].expand(-1, -1, 7)))
    assert (full[~(mask[:, :, None] & mask[:, None])] == 0).all()


@pytest.mark.parametrize("top", [30.0, 60.0, 1100.0])
def test_swap_deltas_where_a_reader_surely_stops(top: float) -> None:
    """1 - R is 2^-top there: nothing may be divided by it."""
    torch.manual_seed(0)
    labels = torch.tensor([0.0, top / 2, top - 2, top - 1, top], dtype=torch.float64)[torch.randint(0, 5, (100, 8))]
    scores, metric = torch.rand(100, 8, dtype=torch.float64), ERR(top=top)
    found = metric.swap_deltas(exact_ranking(scores), labels)
    assert torch.allclose(found, by_swapping(metric, scores, labels), atol=1e-12)

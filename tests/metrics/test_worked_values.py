"""The worked values of docs/conventions: each printed number as arithmetic."""

from itertools import combinations
from math import log2

import pytest
import torch

from ltr.metrics import parse

GRADES = [3, 1, 2, 0, 3]
DOWN = [5, 4, 3, 2, 1]


def value(name: str, grades: list[int], scores: list[int] | None = None) -> float:
    return parse(name)(scores or list(range(len(grades), 0, -1)), grades).item()


def dcg(gains: list[float]) -> float:
    return sum(gain / log2(1 + rank) for rank, gain in enumerate(gains, 1))


IDEAL = dcg([7, 7, 3, 1, 0])


def test_contributions_of_each_place() -> None:
    contributions = [value(f"dcg@{k}", GRADES) - (value(f"dcg@{k - 1}", GRADES) if k > 1 else 0) for k in range(1, 6)]
    assert contributions == pytest.approx([7 / log2(2), 1 / log2(3), 3 / log2(4), 0, 7 / log2(6)])
    assert contributions == pytest.approx([7.000, 0.631, 1.500, 0.000, 2.708], abs=5e-4)


def test_dcg_ideal_and_ndcg() -> None:
    assert value("dcg@5", GRADES) == pytest.approx(dcg([7, 1, 3, 0, 7])) == pytest.approx(11.839, abs=5e-4)
    assert parse("dcg@5").ceiling(GRADES).item() == pytest.approx(IDEAL) == pytest.approx(13.347, abs=5e-4)
    assert value("ndcg@5", GRADES) == pytest.approx(dcg([7, 1, 3, 0, 7]) / IDEAL) == pytest.approx(0.8870, abs=5e-5)
    linear = dcg([3, 1, 2, 0, 3]) / dcg([3, 3, 2, 1, 0])
    assert value("ndcg-linear@5", GRADES) == pytest.approx(linear) == pytest.approx(0.9159, abs=5e-5)


def test_ndcg_neither_rises_nor_falls_with_k_while_recall_never_falls() -> None:
    ndcg = [value(f"ndcg@{k}", GRADES) for k in range(1, 6)]
    gains, ideal = [7, 1, 3, 0, 7], [7, 7, 3, 1, 0]
    assert ndcg == pytest.approx([dcg(gains[:k]) / dcg(ideal[:k]) for k in range(1, 6)])
    assert ndcg == pytest.approx([1.000, 0.668, 0.707, 0.684, 0.887], abs=5e-4)
    recall = [value(f"recall@{k}", GRADES) for k in range(1, 6)]
    assert recall == [1 / 4, 2 / 4, 3 / 4, 3 / 4, 4 / 4]


def test_what_a_place_is_worth() -> None:
    assert 7 / value("dcg@5", GRADES) == pytest.approx(0.59, abs=5e-3)
    alone = [[1 if i == place else 0 for i in range(10)] for place in (0, 4, 9)]
    assert [value("dcg", grades) for grades in alone] == pytest.approx([1, 1 / log2(6), 1 / log2(11)])
    assert [1 / log2(6), 1 / log2(11)] == pytest.approx([0.39, 0.29], abs=5e-3)


def test_average_precision() -> None:
    assert value("ap", GRADES) == pytest.approx((1 / 1 + 2 / 2 + 3 / 3 + 4 / 5) / 4) == pytest.approx(0.95)


def test_the_top_two_swapped() -> None:
    swapped = value("ndcg@5", GRADES, [4, 5, 3, 2, 1])
    assert swapped == pytest.approx(dcg([1, 7, 3, 0, 7]) / IDEAL) == pytest.approx(0.7211, abs=5e-5)


@pytest.mark.parametrize(("k", "selection", "order"), [(3, 0.273, 0.020), (5, 0.0, 0.113)])
def test_the_regret_is_selection_plus_order(k: int, selection: float, order: float) -> None:
    chosen_in_ideal_order = [
        score + 10 * grade if score > 5 - k else score for score, grade in zip(DOWN, GRADES, strict=True)
    ]
    best = value(f"ndcg@{k}", GRADES, chosen_in_ideal_order)
    assert 1 - best == pytest.approx(selection, abs=5e-4)
    assert best - value(f"ndcg@{k}", GRADES) == pytest.approx(order, abs=5e-4)


def test_grades_3_2_0_1() -> None:
    grades = [3, 2, 0, 1]
    assert value("dcg", grades) == pytest.approx(7 + 3 / log2(3) + 1 / log2(5)) == pytest.approx(9.3235, abs=5e-5)
    assert parse("dcg").ceiling(grades).item() == pytest.approx(7 + 3 / log2(3) + 1 / 2)
    assert value("ndcg", grades) == pytest.approx(9.3235 / 9.3928, abs=1e-5) == pytest.approx(0.9926, abs=5e-5)
    linear = (3 + 2 / log2(3) + 1 / log2(5)) / (3 + 2 / log2(3) + 1 / 2)
    assert value("ndcg-linear", grades) == pytest.approx(linear) == pytest.approx(4.6925 / 4.7619, abs=1e-4)


def test_first_relevant_at_rank_two_and_two_relevant_among_five() -> None:
    assert value("mrr", [0, 1, 0]) == 1 / 2
    assert value("precision@5", [0, 1, 0, 0, 1]) == 2 / 5


def test_a_swap_inside_the_window_never_changes_precision_or_recall_at_k() -> None:
    k = 3
    changed = set()
    for i, j in combinations(range(k), 2):
        scores = list(DOWN)
        scores[i], scores[j] = scores[j], scores[i]
        for name in ("precision@3", "recall@3", "mrr@3", "ndcg@3"):
            if value(name, [0, 1, 2, 0, 3], scores) != pytest.approx(value(name, [0, 1, 2, 0, 3])):
                changed.add((name, i, j))
    first_relevant_moved = {("mrr@3", 0, 1), ("mrr@3", 0, 2)}
    assert changed == first_relevant_moved | {("ndcg@3", 0, 1), ("ndcg@3", 0, 2), ("ndcg@3", 1, 2)}


def test_a_reorder_below_the_cutoff_moves_nothing_and_a_regrade_moves_what_looks_at_the_ideal() -> None:
    reordered = [5, 4, 3, 1, 2]
    for name in ("ndcg@3", "dcg@3", "mrr@3", "ap@3", "precision@3", "recall@3"):
        assert value(name, GRADES, reordered) == value(name, GRADES)
    regraded = [3, 1, 2, 1, 3]
    moved = {name for name in ("ndcg@3", "dcg@3", "mrr@3", "ap@3", "precision@3", "recall@3")
             if value(name, regraded) != value(name, GRADES)}  # fmt: skip
    assert moved == {"ap@3", "recall@3"}
    assert value("ndcg@3", [3, 1, 2, 3, 3]) < value("ndcg@3", GRADES)


def test_documents_of_grade_0_at_the_end_never_change_ndcg_but_lift_the_official_scripts() -> None:
    longer = GRADES + [0] * 5
    for name in ("ndcg", "ndcg@5", "ndcg@10", "ndcg-linear@10"):
        assert value(name, longer) == pytest.approx(value(name, GRADES))
    script = "ndcg-letor-short0-stable-zero@10"
    letor = (7 + 1 + 3 / log2(3) + 7 / log2(5)) / (7 + 7 + 3 / log2(3) + 1 / log2(4))
    assert value(script, GRADES) == 0
    assert value(script, longer) == pytest.approx(letor) == pytest.approx(0.787, abs=5e-4)


def test_a_ceiling_below_one() -> None:
    grades = [1] * 40 + [0] * 10
    assert parse("recall@10").ceiling(grades).item() == pytest.approx(10 / 40)


def test_ten_documents_one_order_and_a_constant_scorer() -> None:
    """A collapsed model reads 1.0 in some libraries and 0 in others; the honest value is that of a random order."""
    grades = torch.tensor([1] + [0] * 9)
    constant = parse("mrr")(torch.zeros(10), grades).item()
    assert constant == pytest.approx(sum(1 / rank for rank in range(1, 11)) / 10)

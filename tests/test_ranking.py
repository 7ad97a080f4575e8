"""ltr/ranking.py: where each document stands. Every number here is judged by the orders that ties allow."""

import re
from itertools import permutations, product
from math import exp

import pytest
import torch
from torch import Tensor

from ltr.discounts import Log2, Reciprocal
from ltr.order import rank_order
from ltr.ranking import Pool, Ranking, RankOrder, SoftRanks, exact_ranking, in_order, soft_ranking

LENGTH = 4
EVERY = torch.tensor(list(product([0.0, 1.0, 2.0], repeat=LENGTH)), dtype=torch.float64)  # [81, 4] all tie patterns


def orders(scores: Tensor) -> list[tuple[int, ...]]:
    """All orders of the documents in which no score stands below a smaller one."""
    found = permutations(range(len(scores)))
    return [order for order in found if bool((scores[list(order)].diff() <= 0).all())]


def over_orders(scores: Tensor, table: Tensor) -> Tensor:
    """[L] mean over the orders of the table's entry at each document's rank."""
    places = torch.tensor(orders(scores)).argsort(1)  # [orders, L] the rank of each document, from 0
    return table[places].mean(0)


def test_positions_without_ties() -> None:
    ranking = exact_ranking(torch.tensor([[0.1, 0.9, -5.0, 0.3]]))
    assert ranking.position.tolist() == [[3, 1, 4, 2]]
    assert ranking.block.tolist() == [[1, 1, 1, 1]]


def test_tied_documents_share_a_block() -> None:
    ranking = exact_ranking(torch.tensor([[2.0, 1.0, 2.0, 0.0, 1.0, 1.0]]))
    assert ranking.position.tolist() == [[1, 3, 1, 6, 3, 3]]
    assert ranking.block.tolist() == [[2, 3, 2, 1, 3, 3]]


def test_padding_takes_no_place_and_equals_no_score() -> None:
    scores = torch.tensor([[-torch.inf, 3.0, 7.0, -torch.inf, 3.0]])
    ranking = exact_ranking(scores, torch.tensor([[True, True, False, False, True]]))
    assert ranking.position[ranking.mask].tolist() == [3, 1, 1]
    assert ranking.block[ranking.mask].tolist() == [1, 2, 2]


def test_infinite_scores_have_places_and_tie_with_each_other() -> None:
    ranking = exact_ranking(torch.tensor([[torch.inf, 0.0, -torch.inf, torch.inf, -torch.inf]]))
    assert ranking.position.tolist() == [[1, 3, 4, 1, 4]]
    assert ranking.block.tolist() == [[2, 1, 2, 2, 2]]


def test_minus_zero_ties_with_zero() -> None:
    assert exact_ranking(torch.tensor([[0.0, -0.0]])).block.tolist() == [[2, 2]]


@pytest.mark.parametrize(
    ("ties", "position"),
    [
        ("stable", [1, 2, 3, 4]),
        ("docid", [1, 2, 3, 4]),
        ("worst", [2, 4, 1, 3]),
        ("best", [3, 1, 4, 2]),
    ],
)
def test_tie_rules_on_one_block(ties: str, position: list[int]) -> None:
    labels = torch.tensor([[1.0, 3.0, 0.0, 2.0]])
    ranking = exact_ranking(torch.zeros(1, 4), ties=ties, relevance=labels)
    assert ranking.position.tolist() == [position]
    assert ranking.block.tolist() == [[1, 1, 1, 1]]


def test_tie_rules_move_nothing_that_is_not_tied() -> None:
    scores, labels = torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([[0.0, 2.0, 1.0]])
    for ties in ("average", "stable", "docid", "worst", "best"):
        assert exact_ranking(scores, ties=ties, relevance=labels).position.tolist() == [[1, 3, 2]]


@pytest.mark.parametrize(
    ("ties", "message"),
    [
        ("random", "ties must be one of average, docid, stable, worst, best; got 'random'"),
        ("worst", "ties='worst' orders tied documents by relevance, and none was given"),
    ],
)
def test_what_is_refused(ties: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        exact_ranking(torch.zeros(1, 2), ties=ties)


@pytest.mark.parametrize("k", [None, 1, 2, 3, 7])
def test_mean_within_and_spread_are_means_over_orders(k: int | None) -> None:
    ranking = exact_ranking(EVERY)
    rank = torch.arange(1, LENGTH + 1, dtype=torch.float64)
    inside = (rank <= (k or LENGTH)).double()
    weights = Log2()(rank) * inside
    apart = (weights[:, None] - weights).abs()
    for i, scores in enumerate(EVERY):
        assert torch.allclose(ranking.mean(Log2(), k)[i], over_orders(scores, weights))
        assert torch.allclose(ranking.within(k)[i], over_orders(scores, inside))
        for document in range(LENGTH):
            first, size = int(ranking.position[i, document]) - 1, int(ranking.block[i, document])
            places = apart[first : first + size, first : first + size]
            spread = places.sum() / (size * (size - 1)) if size > 1 else torch.tensor(0.0, dtype=torch.float64)
            assert torch.allclose(ranking.spread(Log2(), k)[i, document], spread)


def test_counts_are_the_weight_above_and_beside() -> None:
    weight = torch.tensor([1.0, 10.0, 100.0, 1000.0], dtype=torch.float64)
    ranking = exact_ranking(EVERY)
    above, beside = ranking.counts(weight.expand_as(EVERY))
    for i, scores in enumerate(EVERY):
        for j, score in enumerate(scores):
            assert above[i, j] == weight[scores > score].sum()
            assert beside[i, j] == weight[scores == score].sum() - weight[j]


@pytest.mark.parametrize("k", [None, 2])
def test_first_is_the_mean_over_orders_of_the_highest_marked_document(k: int | None) -> None:
    rank = torch.arange(1, LENGTH + 1, dtype=torch.float64)
    worth = Reciprocal()(rank) * (rank <= (k or LENGTH))
    for marked in product([False, True], repeat=LENGTH):
        marks = torch.tensor(marked).expand(len(EVERY), -1)
        found = exact_ranking(EVERY).first(marks, Reciprocal(), k)
        for i, scores in enumerate(EVERY):
            each = [next((worth[place] for place, j in enumerate(order) if marked[j]), 0.0) for order in orders(scores)]
            assert found[i].item() == pytest.approx(float(sum(each)) / len(each))


def test_by_index_keeps_the_order_and_lets_the_first_index_win() -> None:
    mask = torch.tensor([[True, False, True, True, True]])
    ranking = exact_ranking(torch.tensor([[1.0, 9.0, 2.0, 1.0, 2.0]]), mask).by_index()
    assert ranking.position[mask].tolist() == [3, 1, 4, 2]
    assert ranking.block.tolist() == [[1] * 5]


def test_soft_ranks_are_one_plus_the_sigmoids_of_the_others() -> None:
    scores = torch.tensor([[0.5, 0.2, 9.0]], dtype=torch.float64)
    ranking = soft_ranking(scores, torch.tensor([[True, True, False]]), 0.1)
    ahead = 1 / (1 + torch.exp(torch.tensor(-(0.5 - 0.2) / 0.1, dtype=torch.float64)))
    assert ranking.position[0, :2].tolist() == pytest.approx([1 + 1 - ahead.item(), 1 + ahead.item()])


def test_soft_becomes_hard() -> None:
    torch.manual_seed(0)
    scores, mask = torch.randn(20, 9, dtype=torch.float64), torch.rand(20, 9) < 0.8
    scores = scores.argsort(1).argsort(1).double()
    exact, weight = exact_ranking(scores, mask), torch.rand(20, 9, dtype=torch.float64)
    for soft, k in product((soft_ranking(scores, mask, 1e-3), SoftRanks(scores, mask, 1e-3)), (None, 1, 3, 9, 20)):
        assert torch.allclose(soft.within(k), exact.within(k))
        assert torch.allclose(soft.mean(Log2(), k) * mask, exact.mean(Log2(), k) * mask)
        assert torch.allclose(soft.first(weight > 0.5, Reciprocal(), k), exact.first(weight > 0.5, Reciprocal(), k))
        assert torch.allclose(soft.counts(weight * mask)[0][mask], exact.counts(weight * mask)[0][mask])


def test_a_cutoff_of_soft_ranks_is_of_all_documents_whichever_are_listed() -> None:
    scores, mask = torch.tensor([[0.5, 0.2, 0.9, 0.1, 9.0]] * 2).double(), torch.tensor([[True] * 4 + [False]] * 2)
    whole, some = SoftRanks(scores, mask, 0.3), SoftRanks(scores, mask, 0.3, torch.tensor([[0, 3], [1, 2]]))
    rank = whole.position[0]
    cutoff = torch.tensor([[2], [4]])  # the second list has no fifth document to cut off
    inside = torch.sigmoid(((rank[0] + rank[1]) / 2 - rank[:4]) / 0.3)  # second and third
    assert torch.allclose(whole.within(cutoff), torch.stack([torch.cat([inside, 0 * inside[:1]]), mask[1].double()]))
    assert torch.allclose(some.within(cutoff)[0], inside[[0, 3]])
    assert some.within(cutoff)[1].tolist() == [1, 1]


def test_who_stands_above_whom_is_exact_where_ranks_alone_are_soft() -> None:
    scores = torch.tensor([[0.5, 0.2, 0.5, 9.0]]).double()
    ranking = SoftRanks(scores, torch.tensor([[True, True, True, False]]), 0.3)
    above, beside = ranking.counts(torch.tensor([[1.0, 10.0, 100.0, 1000.0]]).double())
    assert above.tolist() == [[50, 101, 0.5, 0]]
    assert not beside.any()


def test_pairs_that_stand_right_and_wrong_are_soft_too() -> None:
    scores, labels = torch.tensor([[0.5, 0.2, 0.9, 9.0]]).double(), torch.tensor([[1.0, 0.0, 0.0, 7.0]]).double()
    right, wrong, tied = soft_ranking(scores, torch.tensor([[True] * 3 + [False]]), 0.1).concordance(labels)
    ahead = 1 / (1 + exp(-0.3 / 0.1)) + 1 / (1 + exp(0.4 / 0.1))
    assert (right.item(), wrong.item(), tied.item()) == pytest.approx((ahead, 2 - ahead, 0))


def test_tied_scores_have_the_middle_rank_when_softened() -> None:
    assert soft_ranking(torch.zeros(1, 5), None, 0.1).position.tolist() == [[3.0] * 5]


INF = float("inf")
MIXED = torch.tensor([[2.0, -INF, 2.0, 9.0, INF], [1.0, 1.0, 9.0, 1.0, 0.0], [9.0, 9.0, 9.0, 9.0, 9.0]]).double()
REAL = torch.tensor([[True, True, True, False, True], [True, True, False, True, True], [False] * 5])
GRADES = torch.tensor([[1.0, 0.0, 3.0, 9.0, 2.0], [0.0, 2.0, 9.0, 1.0, 1.0], [9.0] * 5]).double()


@pytest.mark.parametrize("seen", [True, False])
def test_average_keeps_blocks_together(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not seen:
        for room in ("lists", "order", "ranking"):
            monkeypatch.setattr(f"ltr.{room}.may_look", lambda values: False)
    order, equal = rank_order(MIXED, REAL)
    listed = in_order(equal, REAL.gather(1, order))
    exact = exact_ranking(MIXED, REAL)
    assert exact.position[REAL].tolist() == [2, 4, 2, 1, 1, 1, 1, 4]
    for name in ("position", "block"):
        assert torch.equal(getattr(listed, name)[listed.mask], getattr(exact, name).gather(1, order)[listed.mask])
    assert listed.size.tolist() == exact.size.tolist() == [[4], [4], [0]]


@pytest.mark.parametrize("k", [None, 1, 2, 3, 9])
def test_the_fast_path_is_the_general_one(k: int | None) -> None:
    """Documents in rank order without ties: every question has the answer of a ranking that is listed in any order."""
    torch.manual_seed(0)
    mask = torch.arange(6) < torch.tensor([[6], [4], [0]])
    listed = RankOrder(mask)
    general = Ranking(listed.position, torch.ones(3, 6, dtype=torch.float64), mask)
    weight, marked = torch.rand(3, 6, dtype=torch.float64), torch.rand(3, 6) < 0.3
    assert torch.allclose(listed.mean(Log2(), k), general.mean(Log2(), k))
    assert torch.allclose(listed.within(k), general.within(k))
    assert torch.allclose(listed.first(marked, Reciprocal(), k), general.first(marked, Reciprocal(), k))
    assert torch.equal(listed.order(), general.order())
    assert torch.allclose(listed.spread(Log2(), k), general.spread(Log2(), k))
    for one, other in zip(listed.counts(weight), general.counts(weight), strict=True):
        assert torch.allclose(one * mask, other * mask)
    for one, other in zip(listed.concordance(weight), general.concordance(weight), strict=True):
        assert torch.equal(one, other)


def test_a_cut_ranking_is_its_first_places_and_still_knows_how_many_there_were() -> None:
    pool = Pool(GRADES, REAL)
    listed = RankOrder(REAL.sort(dim=1, descending=True).values, judged=GRADES > 0, pool=pool)
    cut = listed.cut(2)
    assert cut.mask.tolist() == [[True, True], [True, True], [False, False]]
    assert cut.position.tolist() == [[1, 2]] * 3
    assert cut.size.tolist() == [[4], [4], [0]]
    assert cut.judged is not None
    assert cut.judged.tolist() == (GRADES[:, :2] > 0).tolist()
    assert cut.pool(GRADES[:, :2]) is pool
    assert listed.cut(None) is listed.cut(5) is listed


@pytest.mark.parametrize("seen", [True, False])
def test_a_pool_gives_its_ideal_order_from_one_sort(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not seen:
        for room in ("lists", "order", "ranking"):
            monkeypatch.setattr(f"ltr.{room}.may_look", lambda values: False)
    pool = Pool(GRADES, REAL)
    assert pool.size.tolist() == [[4], [4], [0]]
    assert pool.top.tolist() == [[3], [2], [0]]
    assert pool.ideal(3)[0].tolist() == [[3, 2, 1], [2, 1, 1], [0, 0, 0]]
    assert pool.ideal(None)[0].tolist() == [[3, 2, 1, 0, 0], [2, 1, 1, 0, 0], [0] * 5]
    assert pool.ideal(None)[1].tolist() == [[True] * 4 + [False], [True] * 4 + [False], [False] * 5]
    assert [pool.count(least).tolist() for least in (1, 2, 3.5)] == [[[3], [3], [0]], [[2], [1], [0]], [[0], [0], [0]]]
    some = pool.rows(torch.tensor([1, 1, 0]))
    assert some.top.tolist() == [[2], [2], [3]]
    assert some.ideal(2)[0].tolist() == [[2, 1], [2, 1], [3, 2]]
    assert Pool(GRADES[:, :0], REAL[:, :0]).top.tolist() == [[0], [0], [0]]


def test_a_ranking_without_a_pool_takes_its_own_documents() -> None:
    assert exact_ranking(MIXED, REAL).pool(GRADES).top.tolist() == [[3], [2], [0]]

"""What a swap does: closed forms against the definition, on all short lists."""

from itertools import permutations, product

import pytest
import torch
from torch import Tensor

from ltr.metrics import METRICS, RankingMetric, parse
from ltr.ranking import Ranking, exact_ranking

LINEAR = [
    *("ndcg", "ndcg@2", "ndcg-linear@3", "ndcg-letor@2", "ndcg-short0@4", "ndcg-positions1_0.7_0.1", "dcg", "dcg@2"),
    *("precision@2", "precision-min@3", "precision-rel2@1", "recall@2", "recall-rel2@3", "recall-min@2"),
    *("f1@1", "f1@3", "f1-rel2@2", "rprec", "rprec-rel2", "rbp", "rbp@2", "rbp-rel2-p0.5@3", "arp"),
]
OTHER = [
    *("mrr", "mrr@1", "mrr@2", "mrr-rel2@3", "success@1", "success@3", "success-rel2@2"),
    *("ap", "ap@1", "ap@2", "ap-min@2", "ap-rel2@3", "ap-hits", "ap-hits@2", "ap-hits@3", "ap-rel2-hits@2"),
    *("gradedap-max2", "gradedap-max4@1", "gradedap-max2@3"),
    *("pairs", "tau", "auc", "auc-rel2", "bpref", "bpref-rel2"),
]


def every(length: int, scores: int) -> tuple[Tensor, Tensor]:
    """All lists of that length with labels 0, 1, 2 and scores from that many levels."""
    levels = torch.tensor(list(product(range(scores), repeat=length)), dtype=torch.float64)
    labels = torch.tensor(list(product(range(3), repeat=length)), dtype=torch.float64)
    return levels.repeat_interleave(len(labels), 0), labels.repeat(len(levels), 1)


def by_definition(metric: RankingMetric, ranking: Ranking, labels: Tensor) -> Tensor:
    """[B, L, L] the metric with places i and j exchanged, minus before; written without a line of the package's own."""
    length = labels.shape[1]
    down = torch.arange(length, 0, -1, dtype=torch.float64).expand_as(labels)
    order = ranking.position.argsort(1)
    before = metric(down, labels.gather(1, order))
    deltas = torch.zeros(*labels.shape, length, dtype=torch.float64)
    for i, j in product(range(length), repeat=2):
        position = ranking.position.clone()
        position[:, i], position[:, j] = ranking.position[:, j], ranking.position[:, i]
        deltas[:, i, j] = metric(down, labels.gather(1, position.argsort(1))) - before
    return deltas


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", LINEAR + OTHER)
def test_closed_forms_are_the_definition_without_ties(name: str, length: int) -> None:
    labels = torch.tensor(list(product(range(3), repeat=length)), dtype=torch.float64)
    ranking = exact_ranking(torch.arange(length, 0, -1, dtype=torch.float64).expand_as(labels))
    wanted = by_definition(parse(name), ranking, labels)
    assert torch.allclose(parse(name).swap_deltas(ranking, labels), wanted)
    assert torch.allclose(RankingMetric.swap_deltas(parse(name), ranking, labels), wanted)


@pytest.mark.parametrize("name", LINEAR + OTHER)
def test_any_order_of_the_documents(name: str) -> None:
    scores, labels = every(4, 4)
    distinct = (scores.sort(1).values.diff(dim=1) > 0).all(1)
    ranking = exact_ranking(scores[distinct])
    wanted = by_definition(parse(name), ranking, labels[distinct])
    assert torch.allclose(parse(name).swap_deltas(ranking, labels[distinct]), wanted)


@pytest.mark.parametrize("name", OTHER)
def test_ties_are_broken_by_index(name: str) -> None:
    scores, labels = every(4, 3)
    ranking = exact_ranking(scores)
    nudged = exact_ranking(scores - torch.arange(4) * 1e-3)
    wanted = by_definition(parse(name), nudged, labels)
    assert torch.allclose(parse(name).swap_deltas(ranking, labels), wanted)


@pytest.mark.parametrize("name", LINEAR)
def test_ties_are_averaged_over_orders_where_the_metric_is_linear(name: str) -> None:
    """For two documents of one tie block, over the orders in which the first of the two stands above the second."""
    length = 3
    scores, labels = every(length, 3)
    total = torch.zeros(len(labels), length, length, dtype=torch.float64)
    count = torch.zeros_like(total)
    for order in permutations(range(length)):
        place = torch.tensor(order).argsort().double().expand_as(scores)  # 0 = on top
        allowed = ((place[:, :, None] < place[:, None]) <= (scores[:, :, None] >= scores[:, None])).all((1, 2))
        tied = scores[:, :, None] == scores[:, None]
        counts = allowed[:, None, None] & (~tied | (place[:, :, None] < place[:, None]))
        total += counts * by_definition(parse(name), exact_ranking(-place), labels)
        count += counts
    assert torch.allclose(parse(name).swap_deltas(exact_ranking(scores), labels), total / count.clamp(min=1))


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda each: each.base)
@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (0, 0)])
def test_nothing_to_swap(metric: type[RankingMetric], shape: tuple[int, int]) -> None:
    """Lists without documents, and no lists; for all rows and for none of them."""
    options = {"top": 4} if "top" in {each.name for each in metric.options()} else {}
    labels = torch.zeros(shape, dtype=torch.float64)
    ranking = exact_ranking(labels)
    for k in (None, 2) if metric.cuts else (None,):
        asked = metric(k=k, **options)
        for deltas in (asked.swap_deltas(ranking, labels), RankingMetric.swap_deltas(asked, ranking, labels)):
            assert list(deltas.shape) == [shape[0], shape[1], shape[1]]
        rows = torch.zeros(shape[0], 0, dtype=torch.int64)
        assert list(asked.swap_deltas(ranking, labels, rows).shape) == [shape[0], 0, shape[1]]


@pytest.mark.parametrize("name", LINEAR + OTHER)
def test_chosen_rows_and_padding(name: str) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(20, 6), torch.randint(0, 3, (20, 6)).double()
    mask = torch.rand(20, 6) < 0.7
    ranking = exact_ranking(scores, mask)
    metric, labels = parse(name), labels * mask
    full = metric.swap_deltas(ranking, labels)
    rows = torch.rand(20, 6).argsort(1)[:, :2]
    assert torch.equal(metric.swap_deltas(ranking, labels, rows), full.gather(1, rows[:, :, None].expand(-1, -1, 6)))
    slow = RankingMetric.swap_deltas(metric, ranking, labels, rows)
    assert torch.allclose(slow, full.gather(1, rows[:, :, None].expand(-1, -1, 6)))
    assert (full[~(mask[:, :, None] & mask[:, None])] == 0).all()


@pytest.mark.parametrize(
    "name",
    [
        "ndcg",
        "ndcg@1",
        "dcg@2",
        "mrr@1",
        "ap@1",
        "ap-hits@1",
        "gradedap-max1@2",
        "precision@1",
        "recall@2",
        "f1@2",
        "success@1",
        "rprec",
        "rbp",
        "arp",
    ],
)
def test_a_fresh_model_with_equal_scores_can_start(name: str) -> None:
    deltas = parse(name).swap_deltas(exact_ranking(torch.zeros(1, 3)), torch.tensor([[1.0, 0.0, 0.0]]).double())
    assert deltas.abs().sum() > 0

"""Equal scores: every metric's closed form against the mean over all orders, on all short lists."""

from itertools import permutations, product

import pytest
import torch
from torch import Tensor

from ltr.metrics import parse

LENGTH = 4
ALL_ORDERS = torch.tensor(list(permutations(range(LENGTH))))  # [24, 4] documents from the top down
PATTERNS = torch.tensor(list(product(range(3), repeat=LENGTH)), dtype=torch.float64)  # [81, 4]
SCORES = PATTERNS.repeat_interleave(len(PATTERNS), 0)  # [6561, 4] every tie pattern with every labelling
LABELS = PATTERNS.repeat(len(PATTERNS), 1)

NAMES = [
    *("ndcg", "ndcg@2", "ndcg-linear@3", "ndcg-letor@3", "ndcg-positions1_0.7_0.1", "dcg@3", "dcg-geometric0.8"),
    *("mrr", "mrr@2", "mrr-rel2", "ap", "ap@2", "ap-min@2", "ap-rel2@3"),
    *("precision", "precision@2", "precision-min@3", "recall@1", "recall-rel2@2", "recall-min", "recall-min@2"),
    *(
        "f1",
        "f1@2",
        "f1-rel2@3",
        "success",
        "success@1",
        "success@3",
        "rprec",
        "rprec-rel2",
        "rbp",
        "rbp-p0.5@2",
        "arp",
    ),
    *("ap-hits", "ap-hits@1", "ap-hits@2", "ap-rel2-hits@3", "gradedap-max2", "gradedap-max4@2"),
]


def in_each_order(name: str) -> tuple[Tensor, Tensor]:
    """[orders, lists] the metric of each order, and whether the scores allow that order."""
    down = torch.arange(LENGTH, 0, -1, dtype=torch.float64).expand_as(LABELS)
    values = torch.stack([parse(name)(down, LABELS[:, order]) for order in ALL_ORDERS])
    allowed = torch.stack([(SCORES[:, order].diff(dim=1) <= 0).all(1) for order in ALL_ORDERS])
    return values, allowed


@pytest.mark.parametrize("name", NAMES)
def test_average_is_the_mean_over_all_orders(name: str) -> None:
    values, allowed = in_each_order(name)
    assert torch.allclose(parse(name)(SCORES, LABELS), (values * allowed).sum(0) / allowed.sum(0))


@pytest.mark.parametrize(
    "name",
    [
        *("ndcg@2", "dcg", "mrr", "ap@3", "ap-hits@2", "gradedap-max2@3", "precision@2", "recall@2", "recall-min@2"),
        *("f1@2", "success@2", "rprec", "err-max2@2", "rbp@3", "bpref", "pairs", "auc-rel2"),
    ],
)
def test_worst_and_best_are_the_extremes_over_all_orders(name: str) -> None:
    values, allowed = in_each_order(name)
    base, _, cut = name.partition("@")
    worst, best = (parse(f"{base}-{rule}" + (f"@{cut}" if cut else "")) for rule in ("worst", "best"))
    assert torch.allclose(worst(SCORES, LABELS), values.where(allowed, torch.inf).min(0).values)
    assert torch.allclose(best(SCORES, LABELS), values.where(allowed, -torch.inf).max(0).values)


@pytest.mark.parametrize("rule", ["stable", "docid"])
def test_documents_keep_the_order_they_are_listed_in(rule: str) -> None:
    """On tensors `docid` means: the caller lists documents in descending id order."""
    metric = parse(f"ndcg-{rule}@2")
    nudged = SCORES - torch.arange(LENGTH) * 1e-3
    assert torch.equal(metric(SCORES, LABELS), metric(nudged, LABELS))


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_scorer_has_the_value_of_a_random_order(name: str) -> None:
    floor = parse(name).floor(PATTERNS)
    assert torch.allclose(parse(name)(torch.full_like(PATTERNS, 0.5), PATTERNS), floor)
    values, _ = in_each_order(name)
    assert torch.allclose(floor, values[:, : len(PATTERNS)].mean(0))

"""Every metric under many conventions, held to the one contract."""

import pytest

from ltr.metrics import METRICS, parse
from ltr.testing import check_metric

NAMES = [
    *("ndcg", "ndcg@1", "ndcg@10", "ndcg-linear@3", "ndcg-binary2@3", "ndcg-table0_1_3_7@2", "ndcg-docid@3"),
    *("ndcg-letor-short0-stable-zero@4", "ndcg-reciprocal", "ndcg-geometric0.8@5", "ndcg-positions1_0.5_0.2"),
    *("dcg", "dcg@3", "dcg-linear-best@2", "mrr", "mrr@1", "mrr-rel2@3", "mrr-worst"),
    *("ap", "ap@2", "ap-rel2@3", "ap-min@3", "precision", "precision@3", "precision-rel2-min@5"),
    *("recall", "recall@1", "recall-rel2-one@3"),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_keeps_the_contract(name: str) -> None:
    passed = check_metric(parse(name))
    assert "swap deltas are what a swap does" in passed
    assert "floor and ceiling" in passed


def test_every_metric_is_here() -> None:
    assert {parse(name).base for name in NAMES} == set(METRICS)

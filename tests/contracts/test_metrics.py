"""Every metric under many conventions, held to the one contract."""

import pytest

from ltr.metrics import METRICS, parse
from ltr.testing import check_metric

NAMES = [
    *("ndcg", "ndcg@1", "ndcg@10", "ndcg-linear@3", "ndcg-binary2@3", "ndcg-table0_1_3_7@2", "ndcg-docid@3"),
    *("ndcg-letor-short0-stable-zero@4", "ndcg-reciprocal", "ndcg-geometric0.8@5", "ndcg-positions1_0.5_0.2"),
    *("ndcg-retrieved-condensed@3", "dcg", "dcg@3", "dcg-linear-best@2", "dcg-condensed", "mrr", "mrr@1"),
    *("mrr-rel2@3", "mrr-worst", "mrr-retrieved", "ap", "ap@2", "ap-rel2@3", "ap-min@3", "ap-hits@3", "ap-condensed"),
    *("gradedap-max3", "gradedap-max5@3", "precision", "precision@3", "precision-rel2-min@5", "recall", "recall@1"),
    *(
        "recall-rel2-one@3",
        "recall-min@2",
        "recall-retrieved@2",
        "f1",
        "f1@3",
        "f1-rel2-worst@2",
        "success",
        "success@2",
    ),
    *("success-rel3@4", "rprec", "rprec-rel2", "rprec-retrieved", "err-max3", "err-max4@3", "err-max3-stable@2", "rbp"),
    *("rbp-p0.95@4", "rbp-rel2-condensed", "bpref", "bpref-rel2", "judged", "judged@3", "pairs", "pairs-worst"),
    *("tau", "tau-condensed", "auc", "auc-rel2", "arp", "arp-condensed-docid"),
]
EVERY = [
    "one value a list",
    "padding changes nothing",
    "document order changes nothing",
    "shift and scale change nothing",
    "the first k places are enough",
    "ties are averaged over their orders",
    "worst and best do not see how documents are listed",
    "swap deltas are what a swap does",
    "a fresh model can start",
    "nothing relevant, no answer",
    "NaN is refused, infinity is not",
    "any number type",
    "documents that were not returned or not judged",
    "floor and ceiling",
    "a cutoff is taken or refused",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_keeps_the_contract(name: str) -> None:
    assert check_metric(parse(name)) == EVERY


def test_every_metric_is_here() -> None:
    assert {parse(name).base for name in NAMES} == set(METRICS)

"""ltr/losses/sums.py"""

import pytest

from ltr.losses.sums import summing
from ltr.metrics import parse


@pytest.mark.parametrize("name", ["ndcg@10", "dcg", "precision@3", "recall@3", "f1@3", "rbp"])
def test_metrics_that_sum_worth_times_place(name: str) -> None:
    assert summing("It", name) == summing("It", parse(name), falling=True) == parse(name)


@pytest.mark.parametrize(("name", "falling"), [("ap", False), ("mrr", True), ("arp", False)])
def test_others_are_refused(name: str, falling: bool) -> None:
    some = "ndcg, dcg, precision, recall, f1, rbp" + ", arp" * falling
    with pytest.raises(ValueError, match=rf"^It: wants a metric that sums worth times place \({some}\), got {name}$"):
        summing("It", name, falling=falling)


def test_arp_where_less_may_be_better() -> None:
    assert summing("It", "arp", falling=True) == parse("arp")

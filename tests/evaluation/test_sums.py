"""Metrics that are sums over a divisor: the weights are the metric's own, and many unjudged documents are no matter."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from ltr.evaluation.extremes import bounds
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.relabelling import Relabelled, Trials, listed
from ltr.evaluation.sums import as_sum, climb, weights
from ltr.evaluation.turning import could_turn
from ltr.metrics import DCG, Answer, parse
from ltr.ranking import Pool

SUMS = ["ndcg", "ndcg@3", "ndcg-letor-short0@3", "ndcg-short0@9", "dcg@2", "precision@2", "precision-min@9",
        "precision", "recall@2", "recall-min@2", "f1@3", "f1", "rbp-p0.5@3"]  # fmt: skip


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", SUMS)
def test_a_metric_is_its_weights_over_what_the_pool_gives_as_the_sum_says(name: str, ties: bool) -> None:
    metric, random = parse(name), np.random.default_rng(3)
    scores = torch.from_numpy(random.integers(0, 3, (5, 6)).astype(float) if ties else random.random((5, 6)))
    mask = torch.ones(5, 6, dtype=torch.bool)
    order = listed(Answer(scores, scores, mask, mask, None))
    given = Answer(scores.gather(1, order), torch.zeros_like(scores), mask, mask, None)
    system = Relabelled(metric, given, torch.arange(1, 7).expand(5, 6))
    terms = as_sum(metric)
    assert terms is not None
    weight, values = weights(metric, system, terms.place, 6), []
    pool = Pool(torch.eye(5, 8)[:, :7], torch.ones(5, 7, dtype=torch.bool))  # one relevant document, not returned
    for marked in (torch.eye(6)[0], torch.eye(6)[3], torch.eye(6)[0] + torch.eye(6)[3]):
        labels = marked.double().expand(5, 6)
        value, _ = system.values(
            torch.arange(5), labels, Pool(torch.cat([pool.relevance, labels], 1), torch.ones(5, 13).bool())
        )
        values.append(value)
    shares = values[0] / (values[0] + values[1])  # the divisor is that of two relevant documents for both
    wanted = weight[:, 0] / (weight[:, 0] + weight[:, 3])
    torch.testing.assert_close(shares, wanted, equal_nan=True)
    assert all((after <= before + 1e-12).all() for before, after in pairwise(weight.T))


def test_other_metrics_are_no_sums() -> None:
    for name in ("ap", "mrr", "err-max3", "recall-min", "gradedap-max2", "pairs", "rprec"):
        assert as_sum(parse(name)) is None

    class Mine(DCG):
        """One of one's own, of which nothing is known."""

    assert as_sum(Mine()) is None


def test_documents_that_cannot_enter_the_ideal_order_do_not() -> None:
    mask = torch.ones(1, 2, dtype=torch.bool)
    given = Answer(torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 0.0]]).double(), mask, mask, None)
    metric = parse("recall-retrieved@1")
    system = Relabelled(metric, given, torch.tensor([[0, 1]]))  # the second of two documents was not returned
    pool = Pool(torch.tensor([[1.0]]).double(), torch.tensor([[True]]))
    trials = Trials(metric, [system], pool, torch.tensor([2]), torch.ones(1, 1).double())
    terms = as_sum(metric)
    assert terms is not None
    among = system.in_slots(system.slot > 0, 2)
    climb(trials, pool, terms, weights(metric, system, terms.place, 2), among)
    assert (trials.low.item(), trials.high.item()) == (1 / 2, 1)


@pytest.mark.parametrize("name", ["ndcg", "ndcg@50", "f1@60", "recall@80", "dcg", "rbp"])
def test_no_labels_of_hundreds_of_documents_lead_beyond_the_ends(name: str) -> None:
    random, size = np.random.default_rng(4), 300
    judged = random.random(size) < 0.3
    labels = np.where(judged, random.integers(0, 4, size), 0.0)
    lists = RankedLists.from_arrays(labels, random.random(size), judged=judged)
    found = bounds(lists, name)
    assert found.proven.all()
    unknown = np.flatnonzero(~judged)
    order = unknown[np.argsort(-lists.score[unknown])]
    for _ in range(300):  # labels that fall down the ranking, and such that rise
        steps = np.sort(random.integers(0, len(unknown) + 1, 3))
        for direction in (order, order[::-1]):
            given = labels.copy()
            for step in steps:
                given[direction[:step]] += 1
            value = parse(name)(lists.score, given).item()
            assert found.low[0] - 1e-12 <= value <= found.high[0] + 1e-12
    other = RankedLists.from_arrays(
        labels, random.random(size), judged=judged, documents=[f"d{at}" for at in range(size)]
    )
    mine = RankedLists.from_arrays(labels, lists.score, judged=judged, documents=[f"d{at}" for at in range(size)])
    turn = could_turn(mine, other, name)
    assert turn.reached == turn.limits
    assert turn.limits.low < turn.difference < turn.limits.high

"""Worst and best case: against every assignment of labels on short lists."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from ltr.evaluation import extremes
from ltr.evaluation.extremes import Range, bounds, mean_range
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import MetricValues, per_query
from ltr.gains import Binary
from ltr.metrics import RankingMetric, parse

METRICS = [
    "ndcg", "ndcg@3", "ndcg-linear@2", "dcg@3", "mrr", "mrr@2", "ap", "ap@3", "ap-min@2", "ap-hits@3", "precision@2",
    "precision-min@9", "recall@3", "recall-min@2", "f1@3", "success@2", "rprec", "err-max2@3", "rbp-p0.5", "bpref",
    "gradedap-max2", "pairs", "tau", "auc", "arp", "judged@3", "ndcg-retrieved@2", "ap-rel2@3", "ndcg-binary2@3",
    "ndcg-condensed@3", "ndcg-worst@2", "ap-best@2", "mrr-docid@2", "ndcg-stable@3", "ndcg-zero@2", "ap-one@2",
    "ndcg-letor-short0@3",
]  # fmt: skip


def made(seed: int, *, pool: bool, ties: bool, lists: int = 9) -> RankedLists:
    """Lists of up to six documents of which up to four are unjudged, and judged documents that were not returned."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 7, lists)
    rows = int(lengths.sum())
    judged = random.random(rows) < 0.5
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    judged |= np.arange(rows) - first >= 4  # no list of more than four unknowns
    relevance = np.where(judged, random.integers(0, 3, rows), 0).astype(float)
    score = random.integers(0, 3, rows).astype(float) if ties else random.permutation(rows).astype(float)
    group = np.repeat(np.arange(lists), lengths)
    known = [np.concatenate([relevance[judged & (group == at)], random.integers(0, 3, at % 3)]) for at in range(lists)]
    return RankedLists(
        query_ids=tuple(f"q{at}" for at in range(lists)),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        score=score,
        relevance=relevance,
        weight=random.random(lists) + 0.5,
        source="made",
        judged=judged,
        pool=np.concatenate(known) if pool else None,
        pool_offsets=np.cumsum([0, *map(len, known)]) if pool else None,
    )


def every_case(lists: RankedLists, metric: RankingMetric, query: int) -> MetricValues:
    """One list under each assignment of labels to its unjudged documents, as so many lists."""
    rows = slice(lists.offsets[query], lists.offsets[query + 1])
    assert lists.judged is not None
    judged, relevance = lists.judged[rows], lists.relevance[rows]
    pool = relevance[judged]
    if lists.pool is not None and lists.pool_offsets is not None:
        pool = lists.pool[lists.pool_offsets[query] : lists.pool_offsets[query + 1]]
    gain = metric.document_gain
    top = max(pool.max(initial=0), gain.threshold if isinstance(gain, Binary) else 0) or 1
    cases = np.array(list(product([0.0, top], repeat=int((~judged).sum()))))
    given = np.tile(relevance, (len(cases), 1))
    given[:, ~judged] = cases
    pools = np.concatenate([np.tile(pool, (len(cases), 1)), cases], 1)
    ends = np.arange(len(cases) + 1)
    names = tuple(map(str, range(len(cases))))
    score = np.tile(lists.score[rows], len(cases))
    (values,) = per_query(
        RankedLists(
            names, ends * given.shape[1], score, given.ravel(), np.ones(len(cases)), "all", None, pools.ravel(),
            ends * pools.shape[1],
        ),
        [metric],
    )  # fmt: skip
    return values


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("pool, ties", [(False, True), (True, False)])
def test_bounds_are_those_of_all_assignments(name: str, pool: bool, ties: bool) -> None:
    lists, metric = made(len(name) + 10 * pool + ties, pool=pool, ties=ties), parse(name)
    found = bounds(lists, metric)
    for query in range(len(lists.query_ids)):
        cases = every_case(lists, metric, query)
        assert (found.ever[query], found.always[query]) == (cases.counted.any(), cases.counted.all())
        if found.ever[query]:
            values = cases.value[cases.counted]
            assert (found.low[query], found.high[query]) == pytest.approx((values.min(), values.max()), abs=1e-12)


def test_labels_as_judged_are_among_the_cases_and_a_list_judged_in_full_has_no_room() -> None:
    lists = made(3, pool=True, ties=False, lists=30)
    for name in ("ndcg@3", "ap", "mrr@2"):
        found = bounds(lists, parse(name))
        counts = found.values.counted
        assert (found.low <= found.values.value + 1e-12)[counts].all()
        assert (found.high >= found.values.value - 1e-12)[counts].all()
    full = replace(lists, judged=None)
    found = bounds(full, parse("ndcg@3"))
    assert found.unjudged == 0
    assert found.mean == pytest.approx((found.values.summary().value,) * 2)


def test_worked_by_hand() -> None:
    # ranks: unjudged, relevant, unjudged; one judged relevant document was not returned
    lists = RankedLists(
        ("q",), np.array([0, 3]), np.array([3.0, 2.0, 1.0]), np.array([0.0, 1.0, 0.0]), np.ones(1), "hand",
        np.array([False, True, False]), np.array([1.0, 1.0]), np.array([0, 2]),
    )  # fmt: skip
    found = bounds(lists, parse("ap"))
    assert found.low.tolist() == pytest.approx([1 / 2 / 2])  # none: 1/2 over two
    assert found.high.tolist() == pytest.approx([(1 + 1 + 1) / 4])  # both: 1/1, 2/2, 3/3 over four
    assert found.unjudged == 2
    assert bounds(lists, parse("recall@1")).mean == Range(0.0, pytest.approx(1 / 3))


def test_a_declared_label_takes_the_place_of_the_querys_own() -> None:
    lists = RankedLists.from_arrays([1, 0], [1.0, 2.0], judged=[True, False])
    own, declared = (bounds(lists, parse("dcg@1"), top).high[0] for top in (None, 3))
    assert (own, declared) == (2**1 - 1, 2**3 - 1)
    assert bounds(lists, parse("mrr-rel2"), 1).high[0] == 1.0  # at least the threshold
    for top in (0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=rf"^top: wanted a label above 0, got {top!r}$"):
            bounds(lists, parse("dcg@1"), top)


def test_the_means_range_is_that_of_all_ways_to_count() -> None:
    random = np.random.default_rng(0)
    for _ in range(200):
        low = random.random(4)
        high, weight = low + random.random(4), random.integers(0, 3, 4).astype(float)
        ever, always = random.random(4) < 0.8, random.random(4) < 0.5
        always &= ever
        means = []
        for counts in product([False, True], repeat=4):
            chosen = np.array(counts) & ever | always
            if weight[chosen].sum():
                means.append([(end * weight)[chosen].sum() / weight[chosen].sum() for end in (low, high)])
        found = mean_range(low, high, ever, always, weight)
        assert found == pytest.approx(
            (min(m[0] for m in means), max(m[1] for m in means)) if means else (np.nan,) * 2, nan_ok=True
        )


@pytest.mark.parametrize("name", ["ndcg", "ap", "mrr", "ndcg@9", "precision@9", "bpref", "pairs"])
def test_of_many_unjudged_documents_some_numbers_are_tried_and_those_beside_the_best(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, lists = np.random.default_rng(2), 20
    full = RankedLists(
        tuple(map(str, range(lists))), 40 * np.arange(lists + 1), random.random(40 * lists),
        random.integers(0, 2, 40 * lists).astype(float), np.ones(lists), "deep", random.random(40 * lists) < 0.3,
    )  # fmt: skip
    full = replace(full, relevance=np.where(full.judged, full.relevance, 0.0))
    every = bounds(full, parse(name))
    monkeypatch.setattr(extremes, "MANY", 8)
    some = bounds(full, parse(name))
    assert (every.low <= some.low).all()
    assert (some.high <= every.high).all()
    np.testing.assert_allclose(some.high, every.high, atol=1e-4)
    np.testing.assert_allclose(some.low, every.low, atol=1e-4)


def test_long_lists_are_worked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = made(5, pool=True, ties=True, lists=40)
    whole = bounds(lists, parse("ap"))
    monkeypatch.setattr("ltr.evaluation.relabelling.CELLS", 20)
    parts = bounds(lists, parse("ap"))
    np.testing.assert_array_equal(whole.low, parts.low)
    np.testing.assert_array_equal(whole.high, parts.high)

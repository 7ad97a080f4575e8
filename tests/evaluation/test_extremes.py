"""Worst and best case: against every assignment of labels on short lists, labels that nobody gave among them."""

import re
from dataclasses import dataclass, replace
from itertools import pairwise, product

import numpy as np
import pytest
from torch import Tensor

from ltr.evaluation import extremes
from ltr.evaluation.extremes import Range, bounds, mean_range
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import MetricValues, per_query
from ltr.gains import Binary, Gain, Linear, Table
from ltr.metrics import RankingMetric, parse
from ltr.ranking import Ranking

METRICS = [
    "ndcg", "ndcg@3", "ndcg-linear@2", "dcg@3", "mrr", "mrr@2", "ap", "ap@3", "ap-min@2", "ap-hits@3", "precision@2",
    "precision-min@9", "recall@3", "recall-min@2", "recall-min", "f1@3", "f1", "success@2", "rprec", "err-max3@3",
    "rbp-p0.5", "bpref", "gradedap-max3", "gradedap-max3@2", "pairs", "tau", "auc", "arp", "judged@3",
    "ndcg-retrieved@2", "f1-retrieved@2", "ap-rel2@3", "ndcg-binary2@3", "ndcg-condensed@3", "ndcg-worst@2",
    "dcg-best@2", "ap-best@2", "mrr-docid@2", "ndcg-stable@3", "ndcg-zero@2", "ndcg-one@2", "ap-one@2", "mrr-one",
    "ndcg-letor-short0@3", "ndcg-table0_1_1_5@3", "ndcg-table1_2_4_9@2",
]  # fmt: skip


def made(seed: int, *, pool: bool, ties: bool, lists: int = 9) -> RankedLists:
    """Lists of up to six documents of which up to three are unjudged, and judged documents that were not returned."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 7, lists)
    rows = int(lengths.sum())
    judged = random.random(rows) < 0.5
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    judged |= np.arange(rows) - first >= 3  # no list of more than three unknowns
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


def labels_to_try(metric: RankingMetric, pool: np.ndarray, top: float | None, unknown: int) -> list[float]:
    """0, the top, those that judges gave, and between any two of these one a document, the lowest just above 0."""
    gain = metric.document_gain
    most = pool.max(initial=0) if top is None else top
    most = max(most, gain.threshold) if isinstance(gain, Binary) else most or 1.0
    known = sorted({0.0, float(most), *(float(label) for label in pool if label < most)})
    if isinstance(gain, Table):  # whole labels alone
        return [float(label) for label in range(int(most) + 1)]
    shares = (1e-9, 0.3, 0.8)[:unknown]
    return known + [low + share * (high - low) for low, high in pairwise(known) for share in shares]


def every_case(lists: RankedLists, metric: RankingMetric, query: int, top: float | None = None) -> MetricValues:
    """One list under each assignment of labels to its unjudged documents, as so many lists."""
    rows = slice(lists.offsets[query], lists.offsets[query + 1])
    assert lists.judged is not None
    judged, relevance = lists.judged[rows], lists.relevance[rows]
    pool = relevance[judged]
    if lists.pool is not None and lists.pool_offsets is not None:
        pool = lists.pool[lists.pool_offsets[query] : lists.pool_offsets[query + 1]]
    unknown = int((~judged).sum())
    cases = np.array(list(product(labels_to_try(metric, pool, top, unknown), repeat=unknown)))
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
@pytest.mark.parametrize("pool, ties, top", [(False, True, None), (True, False, None), (True, True, 3.0)])
def test_bounds_are_those_of_all_labels(name: str, pool: bool, ties: bool, top: float | None) -> None:
    lists, metric = made(len(name) + 10 * pool + ties, pool=pool, ties=ties), parse(name)
    found = bounds(lists, metric, top)
    for query in range(len(lists.query_ids)):
        cases = every_case(lists, metric, query, top)
        assert (found.ever[query], found.always[query]) == (cases.counted.any(), cases.counted.all())
        assert found.proven[query]
        if found.ever[query]:
            values = cases.value[cases.counted]
            low, high = found.low[query], found.high[query]
            assert low <= values.min() + 1e-12
            assert values.max() <= high + 1e-12
            assert (low, high) == pytest.approx((values.min(), values.max()), abs=1e-7)


def test_a_label_between_the_others_can_be_best() -> None:
    # Grade 1 on top, then an unjudged document; another document of grade 1 was not returned. Label 2 puts the second
    # document first in the ideal order, label 1 does not.
    lists = RankedLists(
        ("q",), np.array([0, 2]), np.array([2.0, 1.0]), np.array([1.0, 0.0]), np.ones(1), "hand",
        np.array([True, False]), np.array([1.0, 1.0]), np.array([0, 2]),
    )  # fmt: skip
    found, second = bounds(lists, "ndcg", 2), 1 / np.log2(3)
    assert found.high[0] == pytest.approx((1 + second) / (1 + second + 1 / 2))
    assert found.high[0] > max((1 + 3 * second) / (3 + second + 1 / 2), 1 / (1 + second))
    # 2, 1, 1/2, 0: no two labels are equal, as they are where each unjudged document has 0, 1 or 2
    lists = RankedLists.from_arrays([0, 1, 0, 0], [4.0, 3.0, 2.0, 1.0], judged=[False, True, False, True])
    assert bounds(lists, "tau", 2).high[0] == 1


@dataclass(frozen=True)
class Middling(RankingMetric):
    """A metric of one's own that likes a label in the middle."""

    base = "middling"

    @property
    def document_gain(self) -> Gain:
        return Linear()

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return (relevance * (2 - relevance) * ranking.mask).mean(1)


def test_what_could_not_be_settled_is_said() -> None:
    lists = RankedLists.from_arrays([2, 0], [2.0, 1.0], judged=[True, False])
    found = bounds(lists, Middling())
    assert found.proven.tolist() == [False]
    assert found.high[0] == 0  # labels 0 and 2 were tried, 1 was not
    short, deep = (RankedLists.from_arrays(
        [1, *many * [0]], range(many + 1), judged=[True, *many * [False]]
    ) for many in (64, 65))  # fmt: skip
    for name, settled in (
        ("ap", False),
        ("ap@9", True),
        ("mrr", True),
        ("ndcg", True),
        ("err-max1", True),
        ("f1", True),
    ):
        assert bounds(short, name).proven.all()
        assert bounds(deep, name).proven.tolist() == [settled]
    graded = RankedLists.from_arrays([1, 2, 0, 0, 0, 0, 0, 0], range(8), judged=[True, True, *6 * [False]])
    assert bounds(graded, "gradedap-max2").proven.all()
    assert not bounds(graded, "pairs").proven.any()
    assert bounds(graded, "pairs").high[0] > bounds(graded, "pairs").low[0]
    assert bounds(replace(graded, judged=None), Middling()).proven.all()


def test_metrics_have_names_and_lists_are_what_a_system_returned() -> None:
    lists = made(3, pool=True, ties=False)
    assert bounds(lists, "nDCG@3").mean == bounds(lists, parse("ndcg@3")).mean
    with pytest.raises(ValueError, match=r"^lists: wanted RankedLists \(ltr\.evaluation\), got dict$"):
        bounds({"q": [1.0]}, "ndcg")  # type: ignore[arg-type]


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
    for top in (0, -1.0, float("nan"), float("inf"), "3", True, [3]):
        with pytest.raises(ValueError, match=f"^{re.escape(f'top: wanted a label above 0, got {top!r}')}$"):
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


@pytest.mark.parametrize("name", ["ap", "ap-min@30", "bpref", "pairs", "tau", "gradedap-max2", "ndcg-worst"])
def test_of_many_labellings_some_are_tried_and_those_around_the_best(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random, lists = np.random.default_rng(2), 8
    judged = random.random(40 * lists) < 0.5
    full = RankedLists(
        tuple(map(str, range(lists))), 40 * np.arange(lists + 1), random.integers(0, 30, 40 * lists).astype(float),
        np.where(judged, random.integers(0, 3, 40 * lists), 0.0), np.ones(lists), "deep", judged,
    )  # fmt: skip
    found = []
    for cases in (10**6, 5):
        monkeypatch.setattr(extremes, "CASES", cases)
        monkeypatch.setattr(extremes, "FEWER", cases)
        extremes.most_parts.cache_clear()
        found.append(bounds(full, name))
    extremes.most_parts.cache_clear()
    every, some = found
    assert not some.proven.any()
    if name not in ("pairs", "tau"):  # of which not all are tried even so
        assert every.proven.all()
    assert (every.low <= some.low + 1e-12).all()
    assert (some.high <= every.high + 1e-12).all()
    np.testing.assert_allclose(some.high, every.high, atol=0.01)
    np.testing.assert_allclose(some.low, every.low, atol=0.01)


def test_long_lists_are_worked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = made(5, pool=True, ties=True, lists=40)
    whole = bounds(lists, parse("ap"))
    monkeypatch.setattr("ltr.evaluation.relabelling.CELLS", 20)
    parts = bounds(lists, parse("ap"))
    np.testing.assert_array_equal(whole.low, parts.low)
    np.testing.assert_array_equal(whole.high, parts.high)

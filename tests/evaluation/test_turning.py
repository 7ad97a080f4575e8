"""Could unjudged documents turn the order of two systems? Against every assignment of labels on short lists."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ltr.evaluation import turning
from ltr.evaluation.extremes import bounds, most_parts
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import per_query
from ltr.evaluation.turning import Range, Turn, _selected, could_turn
from ltr.gains import Binary, Table
from ltr.metrics import RankingMetric, parse

SUMS = ["ndcg", "ndcg@2", "ndcg-linear@3", "dcg@3", "precision@2", "precision-min", "recall@2", "recall-min@2",
        "f1@3", "rbp-p0.5@3", "ndcg-zero@2", "ndcg-short0@4", "ndcg-docid@2", "ndcg-condensed@2",
        "ndcg-table0_1_1_5@3"]  # fmt: skip
OTHERS = ["rprec", "bpref", "mrr", "mrr@2", "ap", "ap@3", "ap-min@2", "success@2", "err-max3@3", "gradedap-max3@2",
          "ndcg-worst@2", "f1", "recall-min", "auc", "judged@2"]  # fmt: skip
LOOSE = ["ndcg-retrieved@2", "f1-retrieved@2", "dcg-retrieved@2", "precision-retrieved@2", "arp", "pairs", "tau",
         "dcg-worst@2", "err-max3-best@3", "gradedap-max3-retrieved"]  # fmt: skip


def systems(seed: int, *, ties: bool, queries: int = 5) -> tuple[RankedLists, RankedLists]:
    """Two systems that returned some of seven documents a query, of which four are judged."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 3, (queries, 4)).astype(float)
    found = []
    for name in "ab":
        columns: list[list[Any]] = [[], [], [], []]
        offsets = [0]
        for query in range(queries):
            returned = random.permutation(7)[: random.integers(1, 6)]
            for document in returned:
                judged = document < 4
                score = float(random.integers(0, 3)) if ties else random.random()
                row = (score, labels[query, document] if judged else 0.0, judged, f"d{document}")
                for column, value in zip(columns, row, strict=True):
                    column.append(value)
            offsets.append(len(columns[0]))
        score, relevance, judged, documents = map(np.array, columns)
        lists = RankedLists(
            tuple(f"q{at}" for at in range(queries)), np.array(offsets), score, relevance,
            np.arange(1, queries + 1) / queries, name, judged, labels.ravel(), 4 * np.arange(queries + 1),
            documents.astype(object),
        )  # fmt: skip
        found.append(lists)
    return found[0], found[1]


def one_query(lists: RankedLists, at: int) -> RankedLists:
    return replace(_selected(lists, np.array([at])), weight=np.ones(1))


def labels_to_try(metric: RankingMetric, pool: NDArray[np.float64], top: float | None) -> list[float]:
    """0, the top, those that judges gave, and two between any of these, the lowest just above 0."""
    gain = metric.document_gain
    most = float(pool.max()) if top is None else top
    most = max(most, gain.threshold) if isinstance(gain, Binary) else most or 1.0
    if isinstance(gain, Table):  # whole labels alone
        return [float(label) for label in range(int(most) + 1)]
    known = sorted({0.0, most, *(float(label) for label in pool if label < most)})
    return known + [low + share * (high - low) for low, high in pairwise(known) for share in (1e-9, 0.6)]


def every_case(
    first: RankedLists, second: RankedLists, metric: RankingMetric, top: float | None
) -> NDArray[np.float64]:
    """One query's difference under each assignment of labels to the documents that nobody judged, where it counts."""
    unjudged = [lists.documents[~lists.judged] for lists in (first, second)]  # type: ignore[index, operator]
    union = {name: place for place, name in enumerate(sorted({*unjudged[0], *unjudged[1]}))}
    assert first.pool is not None
    cases = np.array(list(product(labels_to_try(metric, first.pool, top), repeat=len(union))))
    pools = np.concatenate([np.tile(first.pool, (len(cases), 1)), cases], 1)
    ends, names = np.arange(len(cases) + 1), tuple(map(str, range(len(cases))))
    both = []
    for lists in (first, second):
        assert lists.documents is not None
        given = np.tile(lists.relevance, (len(cases), 1))
        for row, name in enumerate(lists.documents):
            if name in union:
                given[:, row] = cases[:, union[name]]
        copies = RankedLists(
            names, ends * given.shape[1], np.tile(lists.score, len(cases)), given.ravel(), np.ones(len(cases)), "all",
            None, pools.ravel(), ends * pools.shape[1], np.tile(lists.documents, len(cases)),
        )  # fmt: skip
        both += per_query(copies, [metric])
    return (both[0].value - both[1].value)[both[0].counted & both[1].counted]


def alone(name: str, ties: bool, top: float | None = None) -> Iterator[tuple[Turn, NDArray[np.float64]]]:
    """Query by query: what was found, and the differences of all assignments under which the query counts."""
    first, second = systems(len(name) + ties, ties=ties)
    for at in range(len(first.query_ids)):
        pair = one_query(first, at), one_query(second, at)
        yield could_turn(*pair, parse(name), top), every_case(*pair, parse(name), top)


def limits_hold(found: Turn, differences: NDArray[np.float64]) -> None:
    if not len(differences):
        assert np.isnan(found.reached).all()
        return
    assert found.limits.low <= differences.min() + 1e-12
    assert found.limits.high >= differences.max() - 1e-12
    if not np.isnan(found.reached.low):
        assert found.limits.low <= found.reached.low + 1e-12
        assert found.limits.high >= found.reached.high - 1e-12
    turns = (found.difference >= 0 and differences.min() < -1e-12) or (
        found.difference <= 0 and differences.max() > 1e-12
    )
    assert found.turns in (None, turns)


@pytest.mark.parametrize("top", [None, 3.0])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", SUMS + OTHERS)
def test_ends_are_those_of_all_labels_where_lists_are_short(name: str, ties: bool, top: float | None) -> None:
    for found, differences in alone(name, ties, top):
        limits_hold(found, differences)
        if len(differences):
            assert found.reached == found.limits == pytest.approx((differences.min(), differences.max()), abs=1e-7)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", LOOSE)
def test_limits_hold_where_each_system_has_a_divisor_of_its_own_or_only_the_order_of_labels_counts(
    name: str, ties: bool
) -> None:
    for found, differences in alone(name, ties, 3.0):
        limits_hold(found, differences)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("cases", [1, 1024])
@pytest.mark.parametrize("name", OTHERS + LOOSE)
def test_limits_hold_and_what_is_reached_is_reached_where_not_all_is_tried(
    name: str, cases: int, ties: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turning, "CASES", 1)
    monkeypatch.setattr("ltr.evaluation.extremes.CASES", cases)
    monkeypatch.setattr(turning, "CUTS", 1)
    most_parts.cache_clear()
    for found, differences in alone(name, ties):
        limits_hold(found, differences)
        for end in found.reached if len(differences) else ():
            assert np.isnan(end) or np.abs(differences - end).min() < 1e-7
    most_parts.cache_clear()


def test_a_label_between_two_others_can_turn_the_order() -> None:
    # Grades from the top down: 0 1 0 and the new document; 0 1 0 2 and the new document.
    labels = {"a": 0.0, "b": 1.0, "c": 0.0, "d": 2.0, "new": 0.0}
    both = []
    for returned in (["a", "b", "c", "new"], ["a", "b", "c", "d", "new"]):
        lists = RankedLists.from_arrays(
            [labels[name] for name in returned], -np.arange(len(returned)), documents=returned,
            judged=[name != "new" for name in returned],
        )  # fmt: skip
        both.append(replace(lists, pool=np.array([0.0, 1.0, 0.0, 2.0]), pool_offsets=np.array([0, 4])))
    found = could_turn(*both, "pairs")
    # labels 0, 0 to 1, 1, 1 to 2, 2: right pairs over pairs with different labels
    differences = [2 / 3 - 3 / 7, 2 / 5 - 3 / 9, 1 / 4 - 2 / 8, 1 / 5 - 2 / 9, 1 / 5 - 1 / 8]
    assert found.reached == found.limits == pytest.approx((min(differences), max(differences)))
    assert found.turns is True


def test_many_queries_at_once_are_the_mean_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = systems(4, ties=False, queries=30)
    metric = parse("ndcg-zero@3")
    found = could_turn(first, second, metric)
    each = [could_turn(one_query(first, at), one_query(second, at), metric) for at in range(30)]
    weights = first.weight / first.weight.sum()
    assert found.difference == pytest.approx(weights @ [turn.difference for turn in each])
    for ends in ("reached", "limits"):
        assert getattr(found, ends) == pytest.approx(weights @ np.array([getattr(turn, ends) for turn in each]))
    assert found.unjudged == sum(turn.unjudged for turn in each)
    monkeypatch.setattr(turning, "CELLS", 20)
    monkeypatch.setattr("ltr.evaluation.relabelling.CELLS", 40)
    assert could_turn(first, second, metric) == found


def test_only_queries_of_both_count_in_whatever_order_they_stand() -> None:
    first, second = systems(4, ties=False, queries=6)
    metric = parse("ap@3")
    some = could_turn(_selected(first, np.array([1, 3, 4])), _selected(second, np.array([1, 3, 4])), metric)
    assert (
        could_turn(_selected(first, np.array([0, 1, 3, 4])), _selected(second, np.array([4, 5, 1, 3])), metric) == some
    )


def test_a_shared_document_has_one_label() -> None:
    # Both systems return the same unjudged document on top, so no label of it can part them.
    common = {"documents": ["new", "x", "y"], "judged": [False, True, True]}
    first = RankedLists.from_arrays([0, 1, 0], [3.0, 2.0, 1.0], **common)
    second = RankedLists.from_arrays([0, 1, 0], [3.0, 1.0, 2.0], **common)
    found = could_turn(first, second, parse("precision@2"))
    assert found.difference == 1 / 2
    assert found.reached == found.limits == (1 / 2, 1 / 2)
    assert found.turns is False
    room = [bounds(lists, parse("precision@2")) for lists in (first, second)]
    assert room[0].low[0] - room[1].high[0] == 0  # each for itself could not tell


def test_a_label_enters_the_pool_of_a_system_that_did_not_return_its_document() -> None:
    first = RankedLists.from_arrays([1], [1.0], documents=["x"])
    second = RankedLists.from_arrays([1, 0], [1.0, 0.5], documents=["x", "new"], judged=[True, False])
    found = could_turn(first, second, parse("recall@9"))
    assert found.difference == 0
    assert found.reached == found.limits == (1 / 2 - 1, 0)


@pytest.mark.parametrize(
    ("difference", "reached", "limits", "turns", "words"),
    [
        (0.02, (-0.01, 0.05), (-0.03, 0.06), True, "leave room for -0.0100 to +0.0500 and could turn the order."),
        (-0.02, (-0.01, 0.0), (-0.03, 0.0), False, "leave room for -0.0300 to +0.0000 and cannot turn the order."),
        (-0.02, (-0.01, 0.0), (-0.03, 0.01), None, "leave room for -0.0300 to +0.0100 and may turn the order."),
    ],
)
def test_the_verdict_rests_on_what_is_known(
    difference: float, reached: tuple[float, float], limits: tuple[float, float], turns: bool | None, words: str
) -> None:
    turn = Turn("ap", difference, Range(*reached), Range(*limits), 12)
    assert turn.turns is turns
    assert turn.sentence("a", "b") == f"ap: a - b is {difference:+.4f}; 12 unjudged documents {words}"


def test_what_cannot_be_compared_is_refused() -> None:
    first, second = systems(1, ties=False)
    with pytest.raises(ValueError, match=r"^a and b: no query in common$"):
        could_turn(first, replace(second, query_ids=tuple("uvwxy")), parse("mrr"))
    assert second.pool is not None
    other = replace(second, pool=np.where(np.arange(20) == 5, 9.0, second.pool))
    with pytest.raises(ValueError, match=r"^a and b: wanted the same judgements; those of query q1 differ$"):
        could_turn(first, other, parse("mrr"))
    with pytest.raises(ValueError, match=r"^b: wanted document ids, by which unjudged documents are matched$"):
        could_turn(first, replace(second, documents=None), parse("mrr"))
    with pytest.raises(ValueError, match=r"^top: wanted a label above 0, got 0$"):
        could_turn(first, second, parse("mrr"), 0)
    with pytest.raises(ValueError, match=r"^second: wanted RankedLists \(ltr\.evaluation\), got list$"):
        could_turn(first, [second], "mrr")  # type: ignore[arg-type]

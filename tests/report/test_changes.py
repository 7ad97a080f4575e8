"""ltr/report/changes.py: what a change does is what it does, and whoever does not see it says why."""

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltr.evaluation.joining import join
from ltr.metrics import NDCG, parse
from ltr.report.explain import Explanation, explain
from tests.report.test_explain import EVERY, GRADES, PLAIN, delta, lists_of, worked

CUT = [
    parse(f"{name}@3")
    for name in ("ndcg", "mrr", "ap", "precision", "recall", "success", "f1", "err-max4", "rbp", "dcg", "judged")
]


def moved(found: Explanation) -> list[str]:
    assert found.change is not None
    return [each.metric.name for each in found.change.deltas if each.moved]


def test_the_top_two_swapped() -> None:
    found = delta(worked(GRADES, swap=[1, 2]), "ndcg@5")
    assert (found.before, found.after) == pytest.approx((0.8870, 0.7211), abs=5e-5)
    assert found.by == pytest.approx(0.7211 - 0.8870, abs=1e-4)


untied = st.lists(st.sampled_from([0.0, 1.0, 2.0, 4.0]), min_size=2, max_size=7)
pair = st.tuples(untied, st.integers(0, 6), st.integers(0, 6))


@settings(max_examples=25)
@given(pair)
def test_a_swap_does_what_it_does(drawn: tuple[list[float], int, int]) -> None:
    grades, first, second = drawn
    first, second = first % len(grades), second % len(grades)
    if first == second:
        return
    swapped = [*grades]
    swapped[first], swapped[second] = swapped[second], swapped[first]
    found = explain(lists_of(grades), "0", PLAIN, [*EVERY, *CUT], swap=[first + 1, second + 1])
    assert found.change is not None
    expected = explain(lists_of(swapped), "0", PLAIN, [*EVERY, *CUT])
    assert [each.after for each in found.change.deltas] == pytest.approx([each.value for each in expected.values])
    assert [each.before for each in found.change.deltas] == [each.value for each in found.values]
    assert list(found.change.grades) == swapped
    k = 3
    window = max(first, second) < k
    for each in found.change.deltas:
        assert each.moved == bool(each.why == "")
        if each.metric.base in ("precision", "recall") and window and each.metric.k == k:
            assert not each.moved
        if each.metric.k == k and min(first, second) >= k:
            assert not each.moved
        if each.metric.base == "mrr" and each.moved:
            relevant = [place for place, grade in enumerate(grades) if grade >= 1]
            assert min(first, second) <= relevant[0] <= max(first, second)


@settings(max_examples=25)
@given(untied, st.integers(0, 6), st.sampled_from([0.0, 1.0, 2.0, 3.0]))
def test_a_regrade_does_what_it_does(grades: list[float], place: int, value: float) -> None:
    place %= len(grades)
    after = [*grades[:place], value, *grades[place + 1 :]]
    found = explain(lists_of(grades), "0", PLAIN, [*EVERY, *CUT], grade=[place + 1, value])
    assert found.change is not None
    expected = explain(lists_of(after), "0", PLAIN, [*EVERY, *CUT])
    assert [each.after for each in found.change.deltas] == pytest.approx([each.value for each in expected.values])
    assert list(found.change.grades) == after
    for each in found.change.deltas:
        inside = each.metric.k is None or place < each.metric.k
        assert bool(each.why) == (not each.moved or not inside or each.by is None), each


def test_a_regrade_below_the_cutoff_moves_what_divides_by_the_pool() -> None:
    names = ("ndcg@3", "recall@3", "ap@3", "precision@3", "mrr@3", "err-max4@3", "dcg@3")
    found = worked([1, 0, 2, 0, 0], *names, grade=[5, 3])
    assert moved(found) == ["ndcg@3", "recall@3", "ap@3"]
    assert delta(found, "ndcg@3").why == (
        "position 5 lies below the cutoff, but the best order to divide by is another now"
    )
    assert (
        delta(found, "recall@3").why
        == delta(found, "ap@3").why
        == ("position 5 lies below the cutoff, but the number of relevant documents to divide by is another now")
    )
    assert delta(found, "precision@3").why == "the position lies below the cutoff"


def test_a_reorder_below_the_cutoff_moves_nothing_at_the_cutoff() -> None:
    found = worked([1, 0, 2, 0, 3], "ndcg@3", "recall@3", "ap@3", "precision@3", "mrr@3", "ap", swap=[4, 5])
    assert moved(found) == ["ap"]
    assert delta(found, "ndcg@3").why == "both positions lie below the cutoff"


SET, BINARY = "only which documents are", "relevant is a grade of 1 or more, and"


@pytest.mark.parametrize(
    ("grades", "change", "metric", "why"),
    [
        ([1, 0, 2], {"swap": [1, 2]}, "precision@2", f"{SET} among the first 2 counts, and not their order"),
        ([1, 0, 2], {"swap": [1, 2]}, "recall@2", f"{SET} among the first 2 counts, and not their order"),
        ([1, 0, 2], {"swap": [1, 2]}, "precision", f"{SET} in the list counts, and not their order"),
        ([1, 0, 2], {"swap": [2, 3]}, "mrr", "the first relevant document stands where it stood"),
        ([1, 0, 2], {"swap": [1, 3]}, "ap", f"{BINARY} both documents are"),
        ([1, 1, 2], {"swap": [1, 2]}, "ndcg@5", "both documents have the same grade"),
        ([1, 0, 2], {"swap": [2, 3]}, "success@2", "the value comes to the same either way"),
        ([1, 0, 2], {"grade": [3, 1]}, "ap", f"{BINARY} the document is, before and after"),
        ([1, 0, 2], {"grade": [2, 0.5]}, "ap", f"{BINARY} the document never is"),
        ([0, 0, 1], {"swap": [1, 2]}, "ap", f"{BINARY} neither document is"),
        ([1, 0, 2], {"swap": [1, 3]}, "judged@2", "no grade counts, only whether somebody judged"),
        ([2, 1, 0], {"swap": [1, 2]}, "ndcg-binary1@5", "the two grades are worth the same"),
        ([1, 0, 2], {"grade": [3, 2]}, "ndcg@5", "the grade is what it was"),
        ([1, 0, 2], {"grade": [3, 0]}, "mrr", "the first relevant document stands where it stood"),
        ([1, 0, 2], {"grade": [3, 0]}, "recall@3", "the value comes to the same either way"),
    ],
)  # fmt: skip
def test_why_a_metric_cannot_see_a_change(
    grades: list[float], change: dict[str, object], metric: str, why: str
) -> None:
    found = worked(grades, metric, **change)
    assert moved(found) == []
    assert delta(found, metric).why == why


@pytest.mark.parametrize("grades", [[2], [2, 2, 2], [0, 0], [0]])
def test_a_metric_without_an_answer_says_by_its_own_words_why(grades: list[float]) -> None:
    found = explain(lists_of(grades), "0", PLAIN, EVERY, grade=[1, grades[0]])
    assert found.change is not None
    silent = [each for each in found.change.deltas if each.before is None]
    assert [each.metric.base for each in silent] == [
        each.base for each in EVERY if not bool(each.defined([grades]).item())
    ]
    assert {"pairs", "tau", "auc"} <= {each.metric.base for each in silent}
    for each in silent:
        why = each.why.removeprefix("no answer before and after: ")
        words = " ".join((type(each.metric).__doc__ or "").split())
        assert f"U{why[1:]}." in words or (each.metric.base, why) == ("dcg", "undefined for a list without any gain")


def test_documents_with_equal_scores_have_no_order_to_swap() -> None:
    lists = lists_of([2, 0, 1], [0.5, 0.5, 0.1])
    named = [parse("ndcg"), parse("ndcg-stable"), parse("mrr")]
    found = explain(lists, "0", NDCG(), named, swap=[1, 2])
    assert moved(found) == ["ndcg-stable"]
    assert delta(found, "mrr").why == "the two have equal scores, and so no order that a swap could change"


def test_a_swap_carries_the_judgement_along() -> None:
    qrels = pl.DataFrame({"query": ["q"], "document": ["b"], "label": [1]})
    run = pl.DataFrame({"query": ["q"] * 2, "document": [*"ab"], "score": [2, 1]})
    found = explain(join(qrels, run), "q", NDCG(), [parse("judged@1"), parse("mrr")], swap=[1, 2])
    assert found.change is not None
    assert found.change.grades == (1, None)
    assert [(each.before, each.after) for each in found.change.deltas] == [(0, 1), (0.5, 1)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"swap": [0, 1]}, "swap: wanted two positions from 1 to 3, such as [1,2]; got [0,1]"),
        ({"swap": [1, 4]}, "swap: wanted two positions from 1 to 3, such as [1,2]; got [1,4]"),
        ({"swap": [2]}, "swap: wanted two positions from 1 to 3, such as [1,2]; got [2]"),
        ({"swap": [2, 2]}, "swap: wanted two different positions, got [2,2]"),
        ({"grade": [4, 0]}, "grade: wanted a position from 1 to 3 and its grade, as [3,0]; got [4,0]"),
        ({"grade": [1.5, 0]}, "grade: wanted a position from 1 to 3 and its grade, as [3,0]; got [1.5,0]"),
        ({"grade": [1]}, "grade: wanted a position from 1 to 3 and its grade, as [3,0]; got [1]"),
        ({"grade": [1, -1]}, "grade: wanted a position and a grade of at least 0, got [1,-1]"),
        ({"grade": [1, float("nan")]}, "grade: wanted a position and a grade of at least 0, got [1,nan]"),
        ({"swap": [1, 2], "grade": [1, 0]}, "swap and grade: wanted one change at a time, got both"),
    ],
)
def test_changes_that_cannot_be(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the whole message is compared
        worked([1, 0, 2], "ndcg@5", **change)
    assert str(refused.value) == message

"""How much work the cases of unjudged documents may be."""

from ltr.evaluation import RankedLists
from ltr.metrics import parse
from ltr.report.unjudged import PAIR, Budget, work

ALL = RankedLists.from_arrays([1, 0, 1], [3, 2, 1], ["a", "a", "b"])
SOME = RankedLists.from_arrays([1, 0, 0, 1, 0], [5, 4, 3, 2, 1], list("aaabb"), judged=[True, False, False, True, True])


def test_work_counts_the_cases_of_lists_with_unjudged_documents() -> None:
    assert work(ALL, parse("ap")) == 0
    assert work(SOME, parse("ap")) == 2 * (2 + 1) * (3 + 1 + 2)
    assert work(SOME, parse("ap@1")) == 2 * (1 + 1) * (3 + 1 + 2)
    many = RankedLists.from_arrays([1, *500 * [0]], range(501), judged=[True, *500 * [False]])
    assert work(many, parse("ap")) == 2 * (130 + 1) * (501 + 1 + 500)
    assert work(many, parse("ndcg")) == 12 * (501 + 1 + 500)


def test_what_is_spent_is_gone() -> None:
    budget = Budget(36)
    assert budget.range(ALL, parse("ap")) is None
    found = budget.range(SOME, parse("ap"))
    assert found is not None
    assert found.mean == (((1 + 2 / 3) / 2 + 1) / 2, 1)  # the third document of one list is relevant, or all are
    assert budget.left == 0
    assert budget.range(SOME, parse("ap")) is None


def test_two_systems_cost_more_than_one() -> None:
    assert not Budget(2 * PAIR * 36 - 1).allows(parse("ap"), SOME, SOME)
    assert Budget(2 * PAIR * 36).allows(parse("ap"), SOME, SOME)

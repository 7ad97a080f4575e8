"""How much work the cases of unjudged documents may be."""

from itertools import permutations

import pytest

from ltr.evaluation import RankedLists, per_query
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
    budget = Budget(37)
    assert budget.range(ALL, parse("ap")) is None
    found = budget.range(SOME, parse("ap"))
    assert found is not None
    assert found.mean == (((1 + 2 / 3) / 2 + 1) / 2, 1)  # the third document of one list is relevant, or all are
    assert budget.left == 1
    assert budget.range(SOME, parse("ap")) is None


@pytest.mark.parametrize(
    "name", ["dcg@2", "ndcg", "precision@2", "recall@2", "f1@2", "rbp", "mrr", "success@2", "err-max4"]
)
def test_what_takes_a_few_labellings_costs_nothing(name: str) -> None:
    assert Budget(0).range(SOME, parse(name)) is not None


@pytest.mark.parametrize("names", list(permutations(["ap@1", "ap", "tau"])))
def test_what_is_least_work_is_done_first_whatever_the_order(names: tuple[str, ...]) -> None:
    values = {name: per_query(SOME, [parse(name)])[0] for name in names}
    done = Budget(60).ranges(values)
    assert {name for name, each in done.items() if each is not None} == {"ap@1", "ap"}


def test_two_systems_cost_more_than_one() -> None:
    assert not Budget(2 * PAIR * 36 - 1).allows(parse("ap"), SOME, SOME)
    assert Budget(2 * PAIR * 36).allows(parse("ap"), SOME, SOME)

"""What hypothesis draws for the properties of metrics: options for all of them at once, and documents in every role."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import strategies as st

from ltr.metrics import METRICS, Answer, Binary, Exp2, Geometric, Letor, Linear, Log2, RankingMetric, Reciprocal, Table
from ltr.metrics import answer as read
from ltr.metrics.base import choices

# What a metric refuses: tau has its own rule for ties, bpref and judged one answer to what is unjudged.
ONE_ANSWER = {("tau", "ties"), ("bpref", "unjudged"), ("judged", "unjudged")}
positive = st.floats(1e-6, 1e6)
USUAL: dict[str, list[Any]] = {  # what says something about short lists with labels 0 to 4
    "k": [None, 3, 1, 2, 4, 6],
    "gain": [Exp2(), Linear(), Binary(2), Table((0, 1, 1, 3, 10)), Table((1, 2, 2, 3, 4))],
    "discount": [Log2(), Letor(), Reciprocal(), Geometric(0.7), Geometric(1.0)],
    "threshold": [1, 2, 0.5, 3.5],
    "top": [4, 6],
    "p": [0.8, 0.5, 0.95],
}
ANY: dict[str, st.SearchStrategy[Any]] = {
    "k": st.none() | st.integers(1, 10**9),
    "gain": st.one_of(
        st.sampled_from([Exp2(), Linear()]),
        positive.map(Binary),
        st.lists(positive, min_size=1, max_size=4).map(lambda gains: Table(tuple(sorted(gains)))),
    ),
    "threshold": positive,
    "top": st.integers(1, 100),
    "p": st.floats(1e-6, 0.999999),
    "discount": st.sampled_from([Log2(), Letor(), Reciprocal()]) | st.floats(1e-6, 1).map(Geometric),
}


def questions(metric: type[RankingMetric]) -> dict[str, tuple[str, ...]]:
    """The options to which a metric takes more than one answer, each with its words; its cutoff among them."""
    named = [each.name for each in metric.options() if (metric.base, each.name) not in ONE_ANSWER]
    return {name: choices(metric, name) for name in [*named, *(["k"] if metric.cuts else [])]}


QUESTIONS = {metric: questions(metric) for metric in METRICS.values()}
WORDED = sorted({name for asked in QUESTIONS.values() for name, words in asked.items() if words})


def of_all(answers: dict[str, Any]) -> list[RankingMetric]:
    """Every metric with these answers, as far as it is asked; a number stands for one of a metric's own words."""
    return [
        metric(**{name: words[answers[name] % len(words)] if words else answers[name] for name, words in asked.items()})
        for metric, asked in QUESTIONS.items()
    ]


# A choice of Python's own for each example, of 10^8: left to itself, hypothesis draws the first of many choices nine
# times in ten, which are all defaults.
choice = st.tuples(*[st.integers(0, 99)] * 4).map(lambda digits: Random(str(digits)))


def some(random: Random) -> list[RankingMetric]:
    return of_all({name: random.choice(USUAL.get(name, range(60))) for name in [*WORDED, *USUAL]})


Document = tuple[int, int, str]  # score, label, role
ROLES = ("seen", "unjudged", "missed", "padded")


def lists_of(longest: int, roles: tuple[str, ...] = ("seen",)) -> st.SearchStrategy[list[Document]]:
    """Lists of 1 to so many documents, many of them tied; the first role is the commonest."""
    often = [*roles[:1] * len(roles), *roles[1:]]

    def documents(random: Random) -> list[Document]:
        length, labels = random.randint(1, longest), random.choice([(0, 1, 2, 3, 4), (0, 0, 0, 1, 4)])
        return [(random.choice((0, 1, 2, -1)), random.choice(labels), random.choice(often)) for _ in range(length)]

    return choice.map(documents)


def answer_of(lists: list[list[Document]]) -> Answer:
    """What metrics read of a batch of lists; garbage stands where nothing may be looked at."""
    width = max(map(len, lists))
    rows = [row + [(9, 3, "padded")] * (width - len(row)) for row in lists]
    score, label = (
        torch.tensor([[each[side] for each in row] for row in rows], dtype=torch.float64) for side in (0, 1)
    )
    seen, unjudged, missed = (torch.tensor([[each[2] == role for each in row] for row in rows]) for role in ROLES[:3])
    label = label.masked_fill(unjudged, 77.0)
    return read(score, label, seen | unjudged | missed, retrieved=seen | unjudged, judged=seen | missed)


@pytest.fixture(scope="session")
def usual() -> st.SearchStrategy[list[RankingMetric]]:
    """All metrics under one draw of options, which short lists with labels 0 to 4 can tell apart."""
    known = {name for asked in QUESTIONS.values() for name in asked}
    assert known == {*WORDED, *USUAL} == {*WORDED, *ANY}, "a new option wants its answers here"
    return choice.map(some)


@pytest.fixture(scope="session")
def anyhow() -> st.SearchStrategy[list[RankingMetric]]:
    """All metrics under one draw of options, numbers of any size among them."""
    return st.fixed_dictionaries(ANY | dict.fromkeys(WORDED, st.integers(0, 59))).map(of_all)


@pytest.fixture(scope="session")
def lists() -> st.SearchStrategy[list[Document]]:
    """Short lists of documents that were returned and judged."""
    return lists_of(7)


@pytest.fixture(scope="session")
def mixed() -> st.SearchStrategy[list[Document]]:
    """Short lists in which some documents were not returned, not judged, or are padding."""
    return lists_of(7, ROLES)


@pytest.fixture(scope="session")
def short() -> st.SearchStrategy[list[Document]]:
    """The same with few enough documents to try all their orders."""
    return lists_of(4, ROLES)


@pytest.fixture(scope="session")
def batched() -> Callable[[list[list[Document]]], Answer]:
    return answer_of

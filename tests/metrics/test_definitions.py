"""ERR, bpref, pairwise accuracy, tau and AUC against their definitions, written for one plain list in one order: over
all orders of tied documents, with padded, unjudged and not returned documents."""

from collections.abc import Callable
from importlib import import_module
from itertools import combinations, pairwise, permutations
from math import nan
from random import Random
from typing import NamedTuple

import pytest
import torch

from ltr.losses import ApproxMetric
from ltr.metrics import parse
from ltr.testing import check_metric, check_surrogate


class Document(NamedTuple):
    score: int
    label: int
    judged: bool
    returned: bool
    real: bool


List = list[Document]
Definition = Callable[[List, List], float]  # of the ranked documents from the top down, and of the pool


def label(document: Document) -> int:
    return document.label if document.judged else 0


def err(top: int, k: int = 99) -> Definition:
    def value(ranked: List, pool: List) -> float:
        total, reached = 0.0, 1.0
        for rank, document in enumerate(ranked[:k], 1):
            stop = (2 ** label(document) - 1) / 2**top
            total += reached * stop / rank
            reached *= 1 - stop
        return total if any(map(label, pool)) else nan

    return value


def bpref(threshold: int) -> Definition:
    def value(ranked: List, pool: List) -> float:
        relevant = sum(label(each) >= threshold for each in pool)
        total, others = 0.0, 0
        for document in ranked:
            if document.judged and label(document) < threshold:
                others += 1
            elif document.judged:
                total += 1 - min(others, relevant) / min(len(pool) - relevant, relevant) if others else 1
        return total / relevant if relevant else nan

    return value


def pairs(ranked: List, pool: List) -> float:
    differ = [(label(i), label(j)) for i, j in combinations(ranked, 2) if label(i) != label(j)]
    return sum(i > j for i, j in differ) / len(differ) if differ else nan


def auc(threshold: int) -> Definition:
    def value(ranked: List, pool: List) -> float:
        marks = [label(each) >= threshold for each in ranked]
        return pairs([each._replace(label=mark, judged=True) for each, mark in zip(ranked, marks, strict=True)], pool)

    return value


def tau(documents: List) -> float:
    """Of documents in any order: it looks at the scores, not at places."""
    sign = [
        ((i.score > j.score) - (i.score < j.score), (label(i) > label(j)) - (label(i) < label(j)))
        for i, j in combinations(documents, 2)
    ]
    scores, labels = (sum(each[side] != 0 for each in sign) for side in (0, 1))
    if not labels:
        return nan
    return float(sum(s * y for s, y in sign) / (scores * labels) ** 0.5) if scores else 0.0


def draw(random: Random) -> List:
    length = random.randint(1, 6)
    return [
        Document(random.randint(0, 2), random.choice([0, 0, 1, 2, 3]), *(random.random() < 0.8 for _ in range(3)))
        for _ in range(length)
    ]


LISTS = [draw(Random(seed)) for seed in range(250)]
DEFINITIONS: dict[str, Definition] = {
    "err-max3": err(3),
    "err-max5@2": err(5, 2),
    "err-max4@1": err(4, 1),
    "err-max3@4": err(3, 4),
    "bpref": bpref(1),
    "bpref-rel2": bpref(2),
    "pairs": pairs,
    "auc": auc(1),
    "auc-rel3": auc(3),
}


def measured(name: str) -> list[float]:
    """The metric of all lists in one batch, undefined ones as NaN; documents without a role carry garbage."""
    width = max(map(len, LISTS))
    rows = [[*each, *[Document(9, 9, True, True, False)] * (width - len(each))] for each in LISTS]
    scores, labels, judged, returned, real = torch.tensor(rows).unbind(-1)
    judged, returned, real = judged.bool(), returned.bool(), real.bool()
    labels = torch.where(judged & real, labels, 77)
    given = {"mask": real, "retrieved": returned, "judged": judged}
    defined = parse(name).defined(labels, **given)
    return torch.where(defined, parse(name)(scores.double(), labels, **given), nan).tolist()


def roles(documents: List, condensed: bool) -> tuple[List, List]:
    real = [each for each in documents if each.real]
    ranked = [each for each in real if each.returned and (each.judged or not condensed)]
    return ranked, [each for each in real if each.judged]


def over_orders(definition: Definition, documents: List, condensed: bool = False) -> list[float]:
    ranked, pool = roles(documents, condensed)
    orders = permutations(ranked)
    allowed = [order for order in orders if all(i.score >= j.score for i, j in pairwise(order))]
    return [definition(list(order), pool) for order in allowed]


@pytest.mark.parametrize("name", DEFINITIONS)
def test_equal_scores_mean_all_orders(name: str) -> None:
    every = [over_orders(DEFINITIONS[name], documents) for documents in LISTS]
    assert measured(name) == pytest.approx([sum(values) / len(values) for values in every], nan_ok=True)


@pytest.mark.parametrize("name", ["err-max3", "err-max5@2", "pairs", "auc"])
def test_condensed_lists(name: str) -> None:
    every = [over_orders(DEFINITIONS[name], documents, condensed=True) for documents in LISTS]
    found = measured(name.replace("@", "-condensed@") if "@" in name else f"{name}-condensed")
    assert found == pytest.approx([sum(values) / len(values) for values in every], nan_ok=True)


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize(("ties", "extreme"), [("worst", min), ("best", max)])
def test_worst_and_best_are_the_extremes(name: str, ties: str, extreme: Callable[[list[float]], float]) -> None:
    base, at, cut = name.partition("@")
    wanted = [extreme(over_orders(DEFINITIONS[name], documents)) for documents in LISTS]
    assert measured(f"{base}-{ties}{at}{cut}") == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_stable_is_the_order_of_the_input(name: str) -> None:
    base, at, cut = name.partition("@")
    wanted = []
    for documents in LISTS:
        ranked, pool = roles(documents, condensed=False)
        wanted.append(DEFINITIONS[name](sorted(ranked, key=lambda each: -each.score), pool))
    assert measured(f"{base}-stable{at}{cut}") == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize("condensed", [False, True])
def test_tau_has_its_own_rule(condensed: bool) -> None:
    wanted = [tau(roles(documents, condensed)[0]) for documents in LISTS]
    assert measured("tau-condensed" if condensed else "tau") == pytest.approx(wanted, nan_ok=True)


@pytest.mark.parametrize("name", [*DEFINITIONS, "tau"])
def test_the_same_where_values_may_not_be_looked_at(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on an accelerator: all lists go one way, tied or not, and no loop ends early."""
    wanted = measured(name)
    for module in ("ltr.inversions", "ltr.lists", "ltr.ranking", "ltr.metrics.err", "ltr.metrics.measure"):
        monkeypatch.setattr(import_module(module), "may_look", lambda values: False)
    assert measured(name) == pytest.approx(wanted, nan_ok=True)


def test_every_kind_of_list_is_there() -> None:
    for name, definition in DEFINITIONS.items():
        every = [over_orders(definition, documents) for documents in LISTS]
        values = {round(value, 6) for values in every for value in values if value == value}
        assert len(values) > 3, name
        assert any(values[0] != values[0] for values in every), name
        assert sum(len({round(value, 9) for value in values}) > 1 for values in every) > 20, name


@pytest.mark.parametrize("name", [*DEFINITIONS, "err-max30", "bpref-worst", "pairs-docid"])
def test_the_contract(name: str) -> None:
    assert "swap deltas are what a swap does" in check_metric(parse(name))


@pytest.mark.parametrize("name", ["err-max4", "bpref", "pairs", "tau", "auc"])
def test_soft_becomes_hard(name: str) -> None:
    assert "belief keeps its promise" in check_surrogate(ApproxMetric(name))

"""ltr/metrics/measure.py: what a call is read as, and one pass for many metrics."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from ltr.metrics import METRICS, answer, measure, parse
from ltr.metrics.measure import Measured
from ltr.order import rank_order

NAMES = ["ndcg@2", "ndcg", "dcg@3", "mrr", "ap@2", "ap-hits@2", "gradedap-max3@2", "precision@2", "recall@1", "f1@3"]
NAMES += ["success@1", "rprec", "err-max3@2", "rbp", "bpref", "judged@2", "pairs", "tau", "auc", "arp"]
SCORES = [[3, 1, 1, 0, 2], [1, 1, 1, 1, 1], [5, 4, 3, 2, 1]]
LABELS = [[0, 1, 3, 2, 0], [1, 0, 0, 2, 0], [0, 0, 0, 0, 0]]


def values(found: list[Measured]) -> list[list[float]]:
    return [each.value.tolist() for each in found]


def test_every_metric_is_here() -> None:
    assert {parse(name).base for name in NAMES} == set(METRICS)


def test_the_values_come_in_the_order_of_the_metrics_and_as_often() -> None:
    metrics = [parse(name) for name in ("mrr", "ndcg-worst@1", "mrr", "ndcg@1", "mrr-best")]
    given = answer([1, 1], [0, 1])
    assert values(measure(metrics, given)) == [[0.75], [0.0], [0.75], [0.5], [1.0]]
    assert measure([], given) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_call_is_a_measurement(name: str) -> None:
    found = measure([parse(name)], answer(SCORES, LABELS))[0]
    assert torch.equal(parse(name)(SCORES, LABELS), found.value)
    assert torch.equal(parse(name).defined(LABELS), found.defined)
    assert found.value.dtype == torch.float64
    assert found.defined.dtype == torch.bool


def test_metrics_of_one_rule_share_one_sort_as_deep_as_the_deepest_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    depths: list[int | None] = []

    def counted(scores: Tensor, mask: Tensor, ties: Any, relevance: Tensor, depth: int | None) -> Any:
        depths.append(depth)
        return rank_order(scores, mask, ties, relevance, depth)

    monkeypatch.setattr(import_module("ltr.metrics.measure"), "rank_order", counted)

    def asked(*names: str) -> list[int | None]:
        depths.clear()
        measure([parse(name) for name in names], answer([[4, 3, 2, 1]], [[0, 1, 2, 0]]))
        return list(depths)

    assert asked("ndcg@1", "mrr@3", "precision@2", "ap-zero@2") == [3]
    assert asked("ndcg@1", "ndcg-worst@2", "ndcg-retrieved@3") == [1, 2, 3]
    assert asked("ndcg@1", "mrr") == [None]  # the first relevant document may stand anywhere
    assert asked("ndcg@1", "bpref") == [None]
    assert asked("ndcg@2", "ndcg-condensed@1") == [2]  # nobody says that a document is unjudged


def test_documents_that_were_not_returned_have_no_score_to_look_at() -> None:
    retrieved = [[True, False, True]]
    found = parse("recall@2")([[1, np.nan, 2]], [[1, 1, 0]], retrieved=retrieved)
    assert found.tolist() == [0.5]
    assert torch.equal(found, parse("recall@2")([[1, -5, 2]], [[1, 1, 0]], retrieved=retrieved))


@pytest.mark.parametrize("label", [np.nan, -1.0, 99.0])
def test_documents_that_nobody_judged_have_no_label_to_look_at(label: float) -> None:
    judged = [[True, False, True]]
    for name in NAMES:
        found = parse(name)([[1, 3, 2]], [[1, label, 0]], judged=judged)
        assert torch.equal(found, parse(name)([[1, 3, 2]], [[1, 0, 0]], judged=judged)), name


def test_a_padded_document_has_no_role_at_all() -> None:
    for name in NAMES:
        wide = parse(name)([[1, np.nan, 2]], [[1, -1, 0]], [[1, 0, 1]], retrieved=[[1, 1, 1]], judged=[[1, 1, 1]])
        assert torch.equal(wide, parse(name)([[1, 2]], [[1, 0]])), name


@pytest.mark.parametrize("role", ["retrieved", "judged"])
def test_a_role_of_another_shape_is_refused(role: str) -> None:
    message = f"{role} must have the shape of scores, [1, 3]; got [3]"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        answer([[1, 2, 3]], [[0, 1, 0]], **{role: [True, True, False]})


def test_all_documents_are_returned_and_judged_unless_said_otherwise() -> None:
    given = answer([1, 2], [1, 0])
    assert given.judged is None
    assert given.retrieved is given.mask
    everything = answer([1, 2], [1, 0], retrieved=[1, 1], judged=[1, 1])
    metrics = [parse(name) for name in [*NAMES, "ndcg-condensed", "ap-retrieved"]]
    assert values(measure(metrics, given)) == values(measure(metrics, everything))


def test_nan_scores_are_nan_under_every_metric_and_in_their_list_alone() -> None:
    scores = torch.tensor(SCORES, dtype=torch.float64)
    whole = measure([parse(name) for name in NAMES], answer(scores, LABELS))
    scores[0, 3] = torch.nan
    for name, (value, defined), before in zip(
        NAMES, measure([parse(name) for name in NAMES], answer(scores, LABELS)), whole, strict=True
    ):
        assert value.isnan().tolist() == [True, False, False], name
        assert torch.equal(value[1:], before.value[1:]), name
        assert torch.equal(defined, before.defined), name


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (0, 0)])
def test_no_list_and_lists_without_a_place(shape: tuple[int, int]) -> None:
    blank = torch.zeros(shape)
    flags = torch.ones(shape, dtype=torch.bool)
    for given in (answer(blank, blank), answer(blank, blank, retrieved=flags, judged=flags)):
        for value, defined in measure([parse(name) for name in NAMES], given):
            assert value.tolist() == [0.0] * shape[0]
            assert defined.tolist() == [False] * shape[0]


@pytest.mark.parametrize("ties", ["average", "docid", "stable", "worst", "best"])
@pytest.mark.parametrize("roles", [(), ("retrieved", "judged")])
def test_nothing_differs_where_values_may_not_be_looked_at(
    ties: str, roles: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on an accelerator, where tied lists cannot be told from others: all are ranked in blocks."""
    torch.manual_seed(0)
    scores, labels = torch.randint(0, 4, (40, 7)).double(), torch.randint(0, 4, (40, 7))
    mask = torch.rand(40, 7) < 0.9
    flags = {role: torch.rand(40, 7) < 0.8 for role in roles}
    names = [f"{base}-{ties}{at}{cut}" for base, at, cut in (name.partition("@") for name in NAMES) if base != "tau"]
    metrics = [parse(name) for name in names]
    wanted = measure(metrics, answer(scores, labels, mask, **flags))
    rooms = [module for name, module in sys.modules.items() if name.startswith("ltr.") and hasattr(module, "may_look")]
    for room in rooms:
        monkeypatch.setattr(room, "may_look", lambda values: False)
    for name, one, other in zip(names, measure(metrics, answer(scores, labels, mask, **flags)), wanted, strict=True):
        assert torch.allclose(one.value, other.value), name
        assert torch.equal(one.defined, other.defined), name


def test_reading_takes_lists_arrays_and_tensors_alike() -> None:
    readers: list[Callable[[Any], Any]] = [lambda rows: rows, np.array, torch.tensor]
    found = [values(measure([parse("ndcg@3")], answer(read(SCORES), read(LABELS)))) for read in readers]
    assert found[0] == found[1] == found[2]
    assert answer(torch.tensor(SCORES, dtype=torch.float32), LABELS).relevance.dtype == torch.float64


@pytest.mark.parametrize("name", [*NAMES, "ndcg-worst@2"])
def test_a_metric_compiles_into_one_graph_of_the_same_value(name: str) -> None:
    scores, labels = torch.tensor([[3, 1, 9], [2, 2, 1]]), torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    torch.compiler.reset()
    compiled = torch.compile(parse(name), fullgraph=True, backend="eager")
    assert torch.allclose(compiled(scores, labels), parse(name)(scores, labels))

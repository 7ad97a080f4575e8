"""ltr/losses/permutations.py: the matrices, and any metric that sums worth times place on one."""

import json
from math import exp, log2
from pathlib import Path
from typing import Any

import pytest
import torch

from ltr.losses.neural_ndcg import NeuralNDCG
from ltr.losses.permutations import (
    Permuting,
    distances,
    neural_rows,
    neural_sort,
    placed,
    read_places,
    soft_sort,
)
from ltr.losses.pi_rank import PiRank
from ltr.losses.smooth_i import SmoothI
from ltr.losses.soft_rank import SoftRank
from ltr.losses.soft_sort import SoftSortNDCG
from ltr.metrics import parse
from ltr.metrics.base import SumMetric
from ltr.softening import centred

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "permutations.json").read_text())["cases"]
DOUBLE = torch.float64
KINDS: list[type[Permuting]] = [SoftSortNDCG, NeuralNDCG, PiRank, SmoothI, SoftRank]
kinds = pytest.mark.parametrize("kind", KINDS)


def sum_metric(name: str) -> SumMetric:
    metric = parse(name)
    assert isinstance(metric, SumMetric)
    return metric


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['sort']} {case['power']} {case['temperature']}")
def test_the_matrices_of_soft_sort_and_neural_sort(case: dict[str, Any]) -> None:
    scores = torch.tensor([case["scores"]], dtype=DOUBLE, requires_grad=True)
    mask, temperature = torch.ones_like(scores).bool(), case["temperature"]
    if case["sort"] == "SoftSort":
        matrix = soft_sort(scores, mask, temperature, power=case["power"])
    else:
        matrix = neural_sort(scores, mask, temperature)
    value = (matrix.flatten() * torch.arange(1, matrix.numel() + 1)).sum()
    (gradient,) = torch.autograd.grad(value, scores)
    assert value.item() == pytest.approx(case["value"], rel=1e-6)
    assert gradient[0].tolist() == pytest.approx(case["gradient"], rel=1e-4, abs=1e-4)


def test_soft_sort_of_two_documents() -> None:
    """Each place holds the document that belongs there with the chance 1 / (1 + e^(-distance / T))."""
    matrix = soft_sort(torch.tensor([[1.0, 2.5]], dtype=DOUBLE), torch.ones(1, 2).bool(), temperature=3.0)
    right = 1 / (1 + exp(-1.5 / 3))
    assert matrix[0].tolist() == [pytest.approx([1 - right, right]), pytest.approx([right, 1 - right])]


def test_neural_sort_of_two_documents() -> None:
    """Row 1: (n + 1 - 2) s = 1 s_i, so that the better one leads by 1.5; both have one distance."""
    matrix = neural_sort(torch.tensor([[1.0, 2.5]], dtype=DOUBLE), torch.ones(1, 2).bool(), temperature=3.0)
    right = 1 / (1 + exp(-1.5 / 3))
    assert matrix[0].tolist() == [pytest.approx([1 - right, right]), pytest.approx([right, 1 - right])]


@pytest.mark.parametrize("sort", [soft_sort, neural_sort])
def test_a_sharp_permutation_sorts_and_padding_is_nowhere(sort: Any) -> None:
    scores = torch.tensor([[2.0, 9.0, 3.0, 1.0], [9.0, 9.0, 9.0, 9.0]])
    mask = torch.tensor([[True, False, True, True], [False] * 4])
    matrix = sort(scores.masked_fill(~mask, 0), mask, 1e-3)
    assert matrix[0, :3].tolist() == [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]]
    assert (matrix[1] == 0).all()


def test_distances_are_the_sums_of_absolute_differences_and_so_is_their_gradient() -> None:
    draw = torch.Generator().manual_seed(0)
    scores = (torch.randn(6, 9, generator=draw, dtype=DOUBLE) * 2).round() / 2
    mask = torch.rand(6, 9, generator=draw) < 0.7
    scores = (scores * mask).requires_grad_()
    fast = distances(scores, mask)
    slow = mask * (mask[:, None] * (scores[:, :, None] - scores[:, None]).abs()).sum(2)
    torch.testing.assert_close(fast, slow)
    up = torch.randn(6, 9, generator=draw, dtype=DOUBLE)
    gradients = [torch.autograd.grad(each, scores, up)[0] for each in (fast, slow)]
    torch.testing.assert_close(*gradients)


def test_neural_rows_are_rows_of_neural_sort() -> None:
    draw = torch.Generator().manual_seed(0)
    scores, mask = torch.randn(4, 7, generator=draw, dtype=DOUBLE), torch.rand(4, 7, generator=draw) < 0.7
    exact = centred(scores, mask) / 0.3
    real = torch.arange(7) < mask.sum(1, keepdim=True)
    rows = neural_rows(exact, distances(exact, mask), mask, slice(2, 5))
    torch.testing.assert_close(rows, (neural_sort(scores, mask, 0.3) * real[:, :, None])[:, 2:5])


def test_places_and_worths_are_those_of_the_metric() -> None:
    scores, labels = torch.zeros(2, 4, dtype=DOUBLE), torch.tensor([[2.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    _, _, worth, place = read_places(scores, labels, mask, sum_metric("ndcg@3"), None)
    ideal = 3 + 1 / log2(3)
    assert worth.tolist() == [pytest.approx([3 / ideal, 0, 1 / ideal, 0]), [1, 0, 0, 0]]
    assert place.tolist() == [pytest.approx([1, 1 / log2(3), 1 / log2(4)]), pytest.approx([1, 1 / log2(3), 0])]
    uniform = torch.full((2, 3, 4), 0.25, dtype=DOUBLE)
    expected = [(1 + 1 / log2(3) + 1 / log2(4)) * 4 / ideal / 4, (1 + 1 / log2(3)) / 4]
    assert placed(uniform, worth, place).tolist() == pytest.approx(expected)


def test_a_weight_multiplies_the_gain_here_and_in_the_ideal() -> None:
    scores, labels = torch.zeros(1, 2, dtype=DOUBLE), torch.tensor([[2.0, 1.0]])
    _, _, worth, _ = read_places(scores, labels, None, sum_metric("ndcg"), torch.tensor([[1.0, 6.0]]))
    ideal = 1 * 6 + 3 / log2(3)
    assert worth[0].tolist() == pytest.approx([3 / ideal, 6 / ideal])


@kinds
@pytest.mark.parametrize("name", ["mrr", "ap", "err-max4", "arp", "pairs", "success@3"])
def test_metrics_that_are_no_such_sum_are_refused(kind: type[Permuting], name: str) -> None:
    message = (
        rf"^{kind.__name__}: wants a metric that sums worth times place "
        rf"\(ndcg, dcg, precision, recall, f1, rbp\), got {name}$"
    )
    with pytest.raises(ValueError, match=message):
        kind(name)


@kinds
def test_sharpened_they_are_the_metric(kind: type[Permuting]) -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.rand(300, 7, generator=draw).argsort(1).double() * 1e4
    labels = torch.randint(0, 4, (300, 7), generator=draw).double()
    mask = torch.rand(300, 7, generator=draw) < 0.8
    mask[:, 0] = True
    for name in ("ndcg", "ndcg@3", "ndcg-linear@2", "dcg@4", "rbp", "precision@3", "recall@3", "f1@3"):
        estimate = kind(name).estimate(scores, labels, mask)
        torch.testing.assert_close(estimate, parse(name)(scores, labels, mask), rtol=1e-9, atol=1e-9)


@kinds
def test_a_list_without_an_answer_is_no_loss_and_a_graph(kind: type[Permuting]) -> None:
    """allRank returns a constant without a graph where no list has an answer."""
    scores = torch.tensor([[0.3, 0.1]], requires_grad=True)
    loss = kind("ndcg@10")(scores, torch.zeros(1, 2))
    assert loss.tolist() == [0]
    assert torch.autograd.grad(loss.sum(), scores)[0].tolist() == [[0, 0]]


@kinds
def test_documents_of_no_weight_are_no_answer(kind: type[Permuting]) -> None:
    loss = kind("ndcg")(torch.tensor([[0.3, 0.1]]), torch.tensor([[1.0, 0.0]]), weight=torch.tensor([[0.0, 1.0]]))
    assert loss.tolist() == [0]
    with pytest.raises(ValueError, match=r"^weight: a document's weight multiplies its gain, and recall@3 has none"):
        kind("recall@3")(torch.zeros(1, 2), torch.ones(1, 2), weight=torch.ones(1, 2))

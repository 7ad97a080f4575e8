"""ltr/losses/unique_softmax.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import UniqueSoftmax
from ltr.losses.unique_softmax import dense_unique_softmax, unique_softmax
from ltr.metrics import parse

SCORES, LABELS = [0.3, 0.7, -0.2, 0.1], [2.0, 0.0, 1.0, 1.0]
LISTS = torch.tensor([SCORES]).double(), torch.tensor([LABELS]).double()
E = [exp(s) for s in SCORES]
COSTS = [log((E[0] + E[1] + E[2] + E[3]) / E[0]), 0, log((E[2] + E[1]) / E[2]), log((E[3] + E[1]) / E[3])]


@pytest.mark.parametrize(("name", "gains"), [("ndcg@10", [3, 0, 1, 1]), ("ndcg-linear", [2, 0, 1, 1])])
def test_each_document_against_those_of_lower_labels(name: str, gains: list[int]) -> None:
    wanted = sum(g * cost for g, cost in zip(gains, COSTS, strict=True)) / sum(gains)
    assert UniqueSoftmax(name)(*LISTS).item() == pytest.approx(wanted)


def test_a_weight_multiplies_the_gain() -> None:
    weight = [0.5, 7.0, 2.0, 0.0]
    gains = [w * g for w, g in zip(weight, [3, 0, 1, 1], strict=True)]
    wanted = sum(g * cost for g, cost in zip(gains, COSTS, strict=True)) / sum(gains)
    assert UniqueSoftmax("ndcg")(*LISTS, weight=torch.tensor([weight])).item() == pytest.approx(wanted)


def test_equals_are_no_rivals() -> None:
    scores = torch.tensor([[0.3, 9.0]], requires_grad=True)
    loss = UniqueSoftmax("ndcg")(scores, torch.ones(1, 2))
    loss.sum().backward()
    assert (loss.item(), scores.grad.tolist()) == (0, [[0, 0]])


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("grades", [2, 5, 100])
def test_running_sums_equal_the_definition(spread: float, grades: int) -> None:
    generator = torch.Generator().manual_seed(grades)
    scores = (torch.randn(5, 30, generator=generator, dtype=torch.float64) * spread).requires_grad_()
    labels = torch.randint(grades, (5, 30), generator=generator).double() / 3
    mask = torch.rand(5, 30, generator=generator) < 0.7
    mask[0] = False
    found = unique_softmax(scores, labels, mask, parse("ndcg"))
    wanted = dense_unique_softmax(scores.masked_fill(~mask, 0), labels * mask, mask, parse("ndcg"))
    assert torch.allclose(found, wanted, rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad(each.sum(), scores)[0] for each in (found, wanted)]
    assert torch.allclose(*gradients, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gaps_of_1e4(dtype: torch.dtype) -> None:
    """In order it costs nothing; out of order, the gap."""
    labels = torch.tensor([[2.0, 1.0, 0.0]])
    for sign, wanted in ((1, 0), (-1, (3 * 2e4 + 1e4) / 4)):
        scores = (sign * torch.tensor([[1e4, 0.0, -1e4]], dtype=dtype)).requires_grad_()
        loss = UniqueSoftmax("ndcg")(scores, labels)
        loss.sum().backward()
        assert loss.item() == pytest.approx(wanted)
        assert scores.grad.tolist() == [[0, 0, 0]] if sign == 1 else [[-0.75, -0.25, 1]]

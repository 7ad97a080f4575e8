"""ltr/losses/distil.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import Distil
from ltr.testing import check_surrogate

SCORES, TEACHER = [0.3, 0.7, -0.2], [5.0, -1.0, 4.0]
LISTS = torch.tensor([SCORES]).double(), torch.zeros(1, 3)


@pytest.mark.parametrize("temperature", [1.0, 4.0])
def test_cross_entropy_of_the_two_softmaxes(temperature: float) -> None:
    target = [exp(t / temperature) / sum(exp(u / temperature) for u in TEACHER) for t in TEACHER]
    normaliser = log(sum(exp(s / temperature) for s in SCORES))
    costs = [q * (normaliser - s / temperature) for q, s in zip(target, SCORES, strict=True)]
    found = Distil(temperature)(*LISTS, teacher=torch.tensor([TEACHER]))
    assert found.item() == pytest.approx(sum(costs))
    weighted = Distil(temperature)(*LISTS, teacher=torch.tensor([TEACHER]), weight=torch.tensor([[2.0, 0.0, 0.5]]))
    assert weighted.item() == pytest.approx(2 * costs[0] + 0.5 * costs[2])


def test_it_is_least_at_the_teachers_scores_whatever_their_level_and_teaches_him_nothing() -> None:
    teacher = torch.tensor([TEACHER]).double().requires_grad_()
    scores = (teacher.detach() + 50).requires_grad_()
    Distil()(scores, LISTS[1], teacher=teacher).sum().backward()
    assert scores.grad.abs().max().item() == pytest.approx(0, abs=1e-12)
    assert teacher.grad is None


def test_what_stands_in_padding_is_nothing_to_it() -> None:
    mask = torch.tensor([[True, True, True, False]])
    wide = torch.tensor([[*SCORES, 9.0]]).double(), torch.zeros(1, 4), mask
    found = Distil()(*wide, teacher=torch.tensor([[*TEACHER, float("nan")]]))
    assert found.item() == pytest.approx(Distil()(*LISTS, teacher=torch.tensor([TEACHER])).item())


def test_another_temperature_keeps_the_contract() -> None:
    assert check_surrogate(Distil(temperature=3))


def test_what_it_refuses() -> None:
    wanted = r"^teacher: wanted the scores of another ranker, one a document; got none$"
    with pytest.raises(ValueError, match=wanted):
        Distil()(*LISTS)
    wanted = r"^teacher must be one a document, \[lists, documents\] = \[1, 3\] as the scores; got \[1, 2\]$"
    with pytest.raises(ValueError, match=wanted):
        Distil()(*LISTS, teacher=torch.zeros(1, 2))
    with pytest.raises(ValueError, match=r"^teacher must be finite: list 0, document 2 has nan$"):
        Distil()(*LISTS, teacher=torch.tensor([[0.0, 1.0, float("nan")]]))
    with pytest.raises(ValueError, match=r"^temperature must be a number above 0, got 0$"):
        Distil(0)

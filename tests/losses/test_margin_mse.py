"""ltr/losses/margin_mse.py"""

import pytest
import torch

from ltr.losses import MarginMSE
from ltr.losses.margin_mse import dense_margin_mse, margin_mse

SCORES, LABELS, TEACHER = [1.0, 0.0, 3.0], [1.0, 0.0, 1.0], [7.0, 3.0, 2.0]
LISTS = torch.tensor([SCORES]), torch.tensor([LABELS])


def test_the_squared_difference_of_margins_over_pairs() -> None:
    """Of the pairs (0, 1) and (2, 1): margins 1 and 3, of the teacher 4 and -1."""
    teacher = torch.tensor([TEACHER])
    assert MarginMSE()(*LISTS, teacher=teacher).item() == pytest.approx(((1 - 4) ** 2 + (3 + 1) ** 2) / 2)
    weighted = MarginMSE()(*LISTS, teacher=teacher, weight=torch.tensor([[2.0, 9.0, 0.5]]))
    assert weighted.item() == pytest.approx((2 * 9 + 0.5 * 16) / 2)


@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("grades", [1, 2, 5, 100])
def test_running_sums_equal_the_definition(spread: float, grades: int) -> None:
    generator = torch.Generator().manual_seed(grades)
    scores = (torch.randn(5, 30, generator=generator, dtype=torch.float64) * spread + 1e4).requires_grad_()
    labels = torch.randint(grades, (5, 30), generator=generator).double()
    mask = torch.rand(5, 30, generator=generator) < 0.7
    mask[0] = False
    teacher, weight = (torch.rand(5, 30, generator=generator, dtype=torch.float64) for _ in range(2))
    found = margin_mse(scores, labels, mask, teacher=teacher, weight=weight)
    wanted = dense_margin_mse(scores, labels, mask, teacher, weight)
    assert torch.allclose(found, wanted, rtol=1e-10, atol=1e-10)
    gradients = [torch.autograd.grad(each.sum(), scores)[0] for each in (found, wanted)]
    assert torch.allclose(*gradients, rtol=1e-9, atol=1e-9)


def test_the_teachers_margins_cost_nothing_and_teach_him_nothing() -> None:
    teacher = torch.tensor([TEACHER], requires_grad=True)
    scores = (teacher.detach() - 100).requires_grad_()
    loss = MarginMSE()(scores, LISTS[1], teacher=teacher)
    loss.sum().backward()
    assert (loss.item(), scores.grad.abs().max().item(), teacher.grad) == (0, 0, None)


def test_no_pair_is_zero_with_a_live_graph() -> None:
    scores = torch.tensor([[1.0, 2.0]], requires_grad=True)
    loss = MarginMSE()(scores, torch.ones(1, 2), teacher=torch.tensor([[9.0, 1.0]]))
    loss.sum().backward()
    assert (loss.item(), scores.grad.tolist()) == (0, [[0, 0]])


def test_without_a_teacher() -> None:
    wanted = r"^teacher: wanted the scores of another ranker, one a document; got none$"
    with pytest.raises(ValueError, match=wanted):
        MarginMSE()(*LISTS)

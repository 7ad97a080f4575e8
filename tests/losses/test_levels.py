"""ltr/losses/levels.py"""

import pytest
import torch

from ltr.losses.levels import dense_costs, levels_of, running_logsumexp


def test_documents_by_rising_label_and_those_below() -> None:
    labels = torch.tensor([[2.0, 0.0, 2.0, 1.0, 5.0]])
    levels = levels_of(labels, torch.tensor([[True, True, True, True, False]]))
    assert levels.order[0, [0, 1, 4]].tolist() == [1, 3, 4]
    assert sorted(levels.order[0, 2:4].tolist()) == [0, 2]
    assert levels.mask.tolist() == [[True, True, True, True, False]]
    assert levels.below[0, :4].tolist() == [0, 1, 2, 2]
    assert levels.through[0, :4].tolist() == [1, 2, 4, 4]


@pytest.mark.parametrize("label", [1.0, 0.25, 1e-9, 3e9])
@pytest.mark.parametrize("compiling", [False, True])
def test_equal_labels_rise_by_another_number(label: float, compiling: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole labels are sorted once, others twice; a compiler may not look which they are."""
    monkeypatch.setattr("torch.compiler.is_compiling", lambda: compiling)
    labels, mask = torch.tensor([[label, label, 0.0, label, 0.0]]), torch.tensor([[True, True, True, True, False]])
    among = torch.tensor([[0.9, 0.0, 0.999, 0.4, 0.0]], dtype=torch.float64)
    levels = levels_of(labels, mask, among)
    assert levels.order.tolist() == [[2, 1, 3, 0, 4]]
    assert levels.mask.tolist() == [[True, True, True, True, False]]


@pytest.mark.parametrize("spread", [1.0, 30.0, 1e4])
def test_running_sums_equal_their_definition(spread: float) -> None:
    """The quick way and the way for wide lists; value and gradient."""
    torch.manual_seed(0)
    values = (torch.randn(6, 20, dtype=torch.float64) * spread).requires_grad_()
    mask = torch.arange(20) < torch.tensor([[20], [13], [1], [0], [20], [7]])
    upstream = torch.randn(6, 20, dtype=torch.float64) * mask
    found = running_logsumexp(values, mask)
    wanted = torch.stack([values[:, : i + 1].logsumexp(1) for i in range(20)], 1)
    assert torch.isfinite(found).all()
    assert torch.allclose(found[mask], wanted[mask], rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad((each * upstream).sum(), values)[0] for each in (found, wanted)]
    assert torch.allclose(*gradients, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("sign", [1, -1])
def test_exact_where_exponentials_would_vanish(sign: int) -> None:
    """Sums of exp(s - max) are 0 below a gap of 745; their logarithm would be -inf, and its gradient NaN."""
    values = (sign * torch.tensor([[-1e4, 0.0, 1e4]], dtype=torch.float64)).requires_grad_()
    found = running_logsumexp(values, torch.ones(1, 3, dtype=torch.bool))
    found.sum().backward()
    assert found.tolist() == [[-1e4, 0, 1e4]] if sign == 1 else [[1e4, 1e4, 1e4]]
    assert values.grad.tolist() == [[1, 1, 1]] if sign == 1 else [[3, 0, 0]]


def test_the_definition_that_judges() -> None:
    scores = torch.tensor([[1.0, 2.0]])
    pools = torch.tensor([[[True, False], [True, True]]])
    wanted = [0, torch.tensor([1.0, 2.0]).logsumexp(0).item() - 2]
    assert dense_costs(scores, pools)[0].tolist() == pytest.approx(wanted)

"""Batch normalisation over real documents only."""

import math

import pytest
import torch
from torch import nn

from ltr.models import MaskedBatchNorm


def test_statistics_see_no_padding() -> None:
    # train-16, github.com/tensorflow/ranking/issues/42
    norm = MaskedBatchNorm(1)
    x = torch.tensor([[[1.0], [3.0]], [[5.0], [99.0]]])
    out = norm(x, torch.tensor([[True, True], [True, False]]))
    mean, variance = (1 + 3 + 5) / 3, ((1 - 3) ** 2 + 0 + (5 - 3) ** 2) / 3
    expected = [(value - mean) / math.sqrt(variance + 1e-5) for value in (1, 3, 5)]
    assert out.flatten().tolist() == pytest.approx([*expected, 0], abs=1e-6)
    assert norm.mean.item() == pytest.approx(0.1 * mean)
    assert norm.variance.item() == pytest.approx(0.9 * 1 + 0.1 * variance * 3 / 2)
    assert norm.variance.item() == pytest.approx(1.3)


def test_agrees_with_torch_on_the_packed_rows() -> None:
    torch.manual_seed(0)
    ours, theirs = MaskedBatchNorm(3), nn.BatchNorm1d(3)
    for _ in range(3):
        mask = torch.rand(4, 6) < 0.6
        x = torch.randn(4, 6, 3, requires_grad=True)
        packed = x.detach()[mask].requires_grad_()
        out, expected = ours(x, mask), theirs(packed)
        torch.testing.assert_close(out[mask], expected)
        out.square().mul(torch.arange(3.0)).sum().backward()
        expected.square().mul(torch.arange(3.0)).sum().backward()
        torch.testing.assert_close(x.grad[mask], packed.grad, atol=1e-5, rtol=1e-4)
        assert (x.grad[~mask] == 0).all()
    torch.testing.assert_close(ours.mean, theirs.running_mean)
    torch.testing.assert_close(ours.variance, theirs.running_var)
    torch.testing.assert_close(ours.eval()(x, mask)[mask], theirs.eval()(packed))


def test_one_document_and_none() -> None:
    norm = MaskedBatchNorm(2)
    out = norm(torch.tensor([[[4.0, -2.0], [9.0, 9.0]]]), torch.tensor([[True, False]]))
    assert out.tolist() == [[[0, 0], [0, 0]]]
    assert norm.mean.tolist() == pytest.approx([0.4, -0.2])
    assert norm.variance.tolist() == [1, 1]
    norm(torch.ones(1, 2, 2), torch.zeros(1, 2, dtype=torch.bool))
    assert norm.mean.tolist() == pytest.approx([0.4, -0.2])
    assert norm.variance.tolist() == [1, 1]


def test_padding_may_hold_anything() -> None:
    norm = MaskedBatchNorm(1)
    x = torch.tensor([[[1.0], [2.0], [math.nan]]], requires_grad=True)
    out = norm(x, torch.tensor([[True, True, False]]))
    out.sum().backward()
    assert out.isfinite().all()
    assert x.grad[0, :2].isfinite().all()
    assert norm.mean.isfinite().all()


def test_gradient_in_float64() -> None:
    norm = MaskedBatchNorm(2).double()
    mask = torch.tensor([[True, True, False], [True, True, True]])
    x = torch.randn(2, 3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: norm(x, mask), x)


def test_half_precision_is_summed_in_float32() -> None:
    norm = MaskedBatchNorm(1)
    x = (torch.arange(4096.0) + 1000).bfloat16().reshape(1, 4096, 1)
    norm(x, torch.ones(1, 4096, dtype=torch.bool))
    assert norm.mean.item() == pytest.approx(0.1 * x.float().mean().item(), rel=1e-5)

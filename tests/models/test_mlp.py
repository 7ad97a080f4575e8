"""The multilayer perceptron."""

import math

import pytest
import torch
from torch import nn

from ltr.models import MLP


@pytest.mark.parametrize("options", [{}, {"batch_norm": False}, {"hidden": [], "dropout": 0}, {"activation": "tanh"}])
def test_padding_order_and_batch_mates_change_nothing(options: dict) -> None:
    torch.manual_seed(0)
    model = MLP(3, **options)
    warm = torch.randn(5, 4, 3)
    model(warm, torch.ones(5, 4, dtype=torch.bool))
    model.eval()
    x = torch.randn(1, 4, 3)
    alone = model(x, torch.ones(1, 4, dtype=torch.bool))
    padded, mask = torch.full((2, 6, 3), 9.0), torch.zeros(2, 6, dtype=torch.bool)
    padded[0, 1:5], mask[0, 1:5] = x[0].flip(0), True
    mask[1] = True
    scores = model(padded, mask)
    assert scores.shape == (2, 6)
    torch.testing.assert_close(scores[0, 1:5].flip(0), alone[0])
    assert scores[0, [0, 5]].tolist() == [0, 0]
    assert alone.std() > 0


def test_layers_are_those_asked_for() -> None:
    model = MLP(3, hidden=[5, 4], activation="gelu", batch_norm=True)
    assert [tuple(layer.weight.shape) for layer in model.layers] == [(5, 3), (4, 5)]
    assert isinstance(model.activation, nn.GELU)
    x, mask = torch.randn(2, 3, 3), torch.ones(2, 3, dtype=torch.bool)
    model.eval()
    hidden = x
    for layer, norm in zip(model.layers, model.norms, strict=True):
        hidden = nn.functional.gelu(norm(layer(hidden), mask))
    torch.testing.assert_close(model(x, mask), model.output(hidden).squeeze(-1))


def test_one_document_trains() -> None:
    model = MLP(2)
    score = model(torch.ones(1, 1, 2), torch.ones(1, 1, dtype=torch.bool))
    score.sum().backward()
    assert score.isfinite().all()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())


def test_padding_moves_no_training_score() -> None:
    x, mask = torch.randn(2, 3, 2), torch.ones(2, 3, dtype=torch.bool)
    model = MLP(2, dropout=0)
    scores = model(x, mask)
    wide = torch.cat([x, torch.full((2, 4, 2), 50.0)], dim=1)
    padded = model(wide, torch.cat([mask, torch.zeros(2, 4, dtype=torch.bool)], dim=1))
    torch.testing.assert_close(padded[:, :3], scores)


def test_garbage_in_padding_gives_finite_gradients() -> None:
    model = MLP(1, hidden=[4])
    x = torch.tensor([[[1.0], [2.0], [math.inf]]])
    model(x.nan_to_num(posinf=3e38), torch.tensor([[True, True, False]])).sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())


@pytest.mark.parametrize(
    "options, message",
    [
        ({"activation": "relux"}, "mlp: wanted an activation among relu, gelu, silu, elu, tanh, got 'relux'"),
        ({"hidden": [8, 0]}, "mlp: wanted features and hidden sizes of at least 1, got [3, 8, 0]"),
        ({"dropout": 1.0}, "mlp: wanted a dropout from 0 to below 1, got 1.0"),
        ({"dropout": -0.1}, "mlp: wanted a dropout from 0 to below 1, got -0.1"),
    ],
)
def test_what_it_refuses(options: dict, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 the whole message is compared below
        MLP(3, **options)
    assert str(caught.value) == message

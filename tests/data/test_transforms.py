"""Feature transforms: the rule for padding, constant columns and cells that are not finite, and each one's own."""

import io
import math

import numpy as np
import pytest
import torch
from torch import nn

from ltr.data import DataError, Identity, Quantile, Standardise, Symlog, read_letor

MAKERS = [Identity, Symlog, Standardise, lambda: Standardise(symlog=True), Quantile]
every_transform = pytest.mark.parametrize("make", MAKERS, ids=["none", "symlog", "standard", "both", "quantile"])


@pytest.fixture
def rows() -> np.ndarray:
    rows = np.random.default_rng(0).lognormal(0, 3, size=(50, 4)).astype(np.float32)
    rows[:, 2] = 7.1
    rows[:25, 3] = -rows[:25, 3]
    return rows


def all_real(*shape: int) -> torch.Tensor:
    return torch.ones(shape, dtype=torch.bool)


@every_transform
def test_the_rule_of_zeros(make, rows: np.ndarray) -> None:
    transform = make().fit(rows)
    x = torch.from_numpy(rows[:6]).reshape(2, 3, 4).clone()
    mask = all_real(2, 3)
    mask[1, 2] = False
    clean = transform(x, mask)
    x[0, 0, 0], x[0, 0, 1], x[0, 0, 3] = math.nan, math.inf, -math.inf
    x[1, 1, 2] = 1e3
    out = transform(x, mask)
    assert out.shape == x.shape
    assert out.dtype == torch.float32
    assert out[0, 0].tolist() == [0, 0, 0, 0]
    assert (out[..., 2] == 0).all()
    assert (out[1, 2] == 0).all()
    assert torch.equal(out.flatten(0, 1)[1:], clean.flatten(0, 1)[1:])
    assert (clean[mask][:, [0, 1, 3]] != 0).all()


@every_transform
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e15, 1e30])
def test_finite_cells_stay_finite(make, scale: float) -> None:
    rows = np.array([[1, -1, 1, 0], [1, 1, 1 + 1e-6, 1], [0.5, 1, 1, 0]], dtype=np.float32) * np.float32(scale)
    transform = make().fit(rows)
    x = torch.tensor([[[1e30, -1e30, 1e-38, 0.0], [3e38, -3e38, 1.0, -1.0]]])
    out = transform(x, all_real(1, 2))
    assert out.isfinite().all()
    assert out.abs().sum() > 0


@every_transform
def test_padding_and_batch_mates_change_nothing(make, rows: np.ndarray) -> None:
    transform = make().fit(rows)
    x = torch.from_numpy(rows[:5])
    padded = torch.full((2, 7, 4), math.nan)
    padded[0, :5] = x
    mask = torch.zeros(2, 7, dtype=torch.bool)
    mask[0, :5] = True
    assert torch.equal(transform(padded, mask)[0, :5], transform(x[None], all_real(1, 5))[0])


@every_transform
def test_state_travels_with_the_model(make, rows: np.ndarray) -> None:
    model = nn.Sequential()
    model.add_module("transform", make().fit(rows))
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    file.seek(0)
    other = nn.Sequential()
    other.add_module("transform", make())
    other.load_state_dict(torch.load(file, weights_only=True))
    x, mask = torch.from_numpy(rows[None]), all_real(1, 50)
    assert torch.equal(other[0](x, mask), model[0](x, mask))
    assert not list(other.parameters())


@every_transform
def test_width_is_known(make, rows: np.ndarray) -> None:
    with pytest.raises(DataError, match=r"^transform: it must be fitted on training rows before it is used$"):
        make()(torch.zeros(1, 1, 4), all_real(1, 1))
    with pytest.raises(DataError, match=r"^transform: it was fitted on 4 features, came 3$"):
        make().fit(rows)(torch.zeros(1, 1, 3), all_real(1, 1))
    with pytest.raises(DataError, match=r"^transform: wanted training rows \[documents, features\], came \[0, 4\]$"):
        make().fit(rows[:0])


@every_transform
def test_rows_that_are_not_finite_do_not_count(make, rows: np.ndarray) -> None:
    more = np.concatenate([rows, np.full((3, 4), np.nan, np.float32), np.full((1, 4), np.inf, np.float32)])
    x, mask = torch.from_numpy(rows[None]), all_real(1, 50)
    assert torch.equal(make().fit(more)(x, mask), make().fit(rows)(x, mask))


def test_symlog_values() -> None:
    transform = Symlog().fit(np.array([[0.0], [1.0]]))
    out = transform(torch.tensor([[[0.0], [1.0], [-99.0]]]), all_real(1, 3))
    assert out.flatten().tolist() == pytest.approx([0, math.log(2), -math.log(100)])


def test_standardised_training_rows_have_mean_0_and_deviation_1(rows: np.ndarray) -> None:
    for transform in (Standardise(), Standardise(symlog=True)):
        out = transform.fit(rows)(torch.from_numpy(rows[None]), all_real(1, 50))[0, :, [0, 1, 3]].double()
        assert out.mean(0).abs().max() < 1e-6
        assert (out.std(0, correction=0) - 1).abs().max() < 1e-6


def test_sums_are_float64() -> None:
    column = np.repeat(np.float32([2e8, 2e8 + 32]), 500_000)[:, None]
    out = Standardise().fit(column)(torch.tensor([[[2e8], [2e8 + 32]]]), all_real(1, 2))
    assert out.flatten().tolist() == pytest.approx([-1, 1], abs=1e-6)


def test_far_cells_are_held() -> None:
    transform = Standardise().fit(np.array([[0.0], [2.0]]))
    assert transform(torch.tensor([[[1e30], [-1e30]]]), all_real(1, 2)).flatten().tolist() == [1e6, -1e6]


def test_one_step_after_a_clipped_cell_is_finite(tmp_path) -> None:
    # data-21, github.com/lightgbm-org/LightGBM/issues/6149
    path = tmp_path / "train.txt"
    path.write_text("1 qid:1 1:1.79769313486e+308 2:1\n0 qid:1 1:2 2:3\n2 qid:1 1:4 2:5\n")
    data = read_letor(path)
    out = Standardise().fit(data.features)(torch.from_numpy(data.features[None]), all_real(1, 3))
    layer = nn.Linear(2, 1)
    loss = (layer(out).squeeze(-1) - torch.from_numpy(data.relevance)).square().mean()
    loss.backward()
    assert out.isfinite().all()
    assert loss.isfinite()
    assert all(weight.grad.isfinite().all() for weight in layer.parameters())


def test_quantiles_are_places_among_the_training_values() -> None:
    transform = Quantile(knots=5).fit(np.array([[0.0], [1.0], [10.0], [100.0], [1000.0]]))
    out = transform(torch.tensor([[[-5.0], [0.0], [0.5], [10.0], [550.0], [1000.0], [1e30]]]), all_real(1, 7))
    assert out.flatten().tolist() == [-1, -1, -0.75, 0, 0.75, 1, 1]


def test_a_value_that_fills_many_quantiles_takes_their_middle() -> None:
    transform = Quantile(knots=5).fit(np.array([[0.0], [0.0], [0.0], [0.0], [8.0]]))
    out = transform(torch.tensor([[[0.0], [4.0], [8.0]]]), all_real(1, 3)).flatten().tolist()
    assert out == [2 * 1.5 / 4 - 1, 2 * 3.5 / 4 - 1, 1]


def test_quantiles_keep_the_order(rows: np.ndarray) -> None:
    transform = Quantile().fit(rows)
    x = torch.from_numpy(np.sort(rows, axis=0)[None])
    assert (transform(x, all_real(1, 50)).diff(dim=1) >= 0).all()


def test_quantile_needs_two_knots() -> None:
    with pytest.raises(DataError, match=r"^quantile: wanted at least 2 knots, got 1$"):
        Quantile(knots=1)

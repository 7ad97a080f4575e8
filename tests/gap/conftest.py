"""Rankers that are trained within a second, healthy or with a fault, and the lists that they score."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from ltr.data import RankingData, Splits, synthetic
from ltr.gap.scored import ScoredLists, scored
from ltr.lists import ragged
from ltr.losses import Surrogate

Train = Callable[..., tuple[ScoredLists, ScoredLists]]


def padded(data: RankingData) -> tuple[Tensor, Tensor, Tensor]:
    index, mask = ragged(len(data.relevance), lengths=data.lengths)
    return (
        torch.from_numpy(data.features)[index] * mask[..., None],
        torch.from_numpy(data.relevance)[index] * mask,
        mask,
    )


def train(
    loss: Surrogate, data: Splits | None = None, *, seed: int = 0, steps: int = 150, hidden: int = 0
) -> tuple[ScoredLists, ScoredLists]:
    """Validation and training lists of made data, scored by a linear model, or by one with a hidden layer."""
    torch.manual_seed(seed)
    data = synthetic(seed=seed) if data is None else data
    assert data.validation is not None
    (x, y, mask), (x_val, y_val, mask_val) = padded(data.train), padded(data.validation)
    width = x.shape[-1]
    model = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, 1)) if hidden else nn.Linear(width, 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss.mean(model(x)[..., 0], y, mask).backward()
        optimizer.step()
    with torch.no_grad():
        return scored(model(x_val)[..., 0], y_val, mask_val), scored(model(x)[..., 0], y, mask)


@pytest.fixture
def trained() -> Train:
    return train

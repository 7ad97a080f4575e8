"""Feature transforms: fitted on training rows, kept in buffers so that they travel with the model.

One rule for all of them: a padded cell, a cell that is not finite, and every cell of a column that was constant in
training come out 0. Finite cells of any size come out finite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ltr.data.ranking_data import DataError

FARTHEST = 1e6  # no training row of less than 10^12 lies so many standard deviations off, and no layer overflows


class _Fitted(nn.Module):
    """What all transforms keep, and how a saved one is loaded: it has not been fitted, so it has no width yet."""

    varies: Tensor  # [F] bool, False = constant in training

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("varies", torch.zeros(0, dtype=torch.bool))

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        for name, buffer in self.named_buffers(recurse=False):
            if prefix + name in state_dict:
                setattr(self, name, buffer.new_empty(state_dict[prefix + name].shape))
        super()._load_from_state_dict(state_dict, prefix, *rest)


class Identity(_Fitted):
    """The features as they are (and 0 by the rule above).

    Example:
        >>> transform = Identity().fit(np.array([[1.0, 5.0], [2.0, 5.0]]))
        >>> transform(torch.tensor([[[3.0, 5.0], [4.0, 5.0]]]), torch.tensor([[True, False]])).tolist()
        [[[3.0, 0.0], [0.0, 0.0]]]
    """

    def fit(self, features: NDArray[Any]) -> Identity:
        """Learn the width and the constant columns from [N, F] training rows."""
        self.varies = torch.from_numpy(_varying(features))
        return self

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        _check_width(features, self.varies)
        return _clean(features, features, mask, self.varies)


class Symlog(_Fitted):
    """sign(x) log(1 + |x|): tames heavy tails, needs no scale, keeps 0 at 0.

    Example:
        >>> transform = Symlog().fit(np.array([[0.0], [7.0]]))
        >>> transform(torch.tensor([[[-7.0], [0.0]]]), torch.ones(1, 2, dtype=torch.bool)).flatten().tolist()
        [-2.0794415, 0.0]
    """

    def fit(self, features: NDArray[Any]) -> Symlog:
        """Learn the width and the constant columns from [N, F] training rows."""
        self.varies = torch.from_numpy(_varying(features))
        return self

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        _check_width(features, self.varies)
        return _clean(_symlog(features), features, mask, self.varies)


class Standardise(_Fitted):
    """(x - mean) / standard deviation of the training column, within +-1e6; after symlog when asked.

    Means and deviations are float64 sums over the finite cells of a column; the deviation is that of the population.

    Args:
        symlog: take sign(x) log(1 + |x|) first.

    Example:
        >>> transform = Standardise().fit(np.array([[1.0], [3.0]]))
        >>> transform(torch.tensor([[[3.0], [5.0]]]), torch.ones(1, 2, dtype=torch.bool)).flatten().tolist()
        [1.0, 3.0]
    """

    mean: Tensor  # [F] float64
    deviation: Tensor  # [F] float64, 1 where the column does not vary

    def __init__(self, symlog: bool = False) -> None:
        super().__init__()
        self.symlog = symlog
        self.register_buffer("mean", torch.zeros(0, dtype=torch.float64))
        self.register_buffer("deviation", torch.zeros(0, dtype=torch.float64))

    def fit(self, features: NDArray[Any]) -> Standardise:
        """Learn mean and deviation of each column from [N, F] training rows."""
        varies = _varying(features)
        mean, deviation = np.zeros(len(varies)), np.ones(len(varies))
        for column in np.flatnonzero(varies):
            cells = features[:, column].astype(np.float64)
            cells = cells[np.isfinite(cells)]
            if self.symlog:
                cells = np.sign(cells) * np.log1p(np.abs(cells))
            mean[column], deviation[column] = cells.mean(), cells.std()
        varies &= deviation > 0  # two values may fall together in the logarithm
        self.varies = torch.from_numpy(varies)
        self.mean, self.deviation = torch.from_numpy(mean), torch.from_numpy(np.where(varies, deviation, 1.0))
        return self

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        _check_width(features, self.varies)
        moved = _symlog(features.double()) if self.symlog else features.double()
        moved = ((moved - self.mean.double()) / self.deviation.double()).clamp(-FARTHEST, FARTHEST)
        return _clean(moved.to(features.dtype), features, mask, self.varies)


class Quantile(_Fitted):
    """The place of x among the training values of its column, from -1 (least) to 1 (largest).

    Linear between the column's quantiles; a value that fills several of them takes the middle of its run.

    Args:
        knots: number of quantiles kept a column, at least 2.

    Raises:
        DataError: fewer than 2 knots.

    Example:
        >>> transform = Quantile(knots=3).fit(np.array([[0.0], [10.0], [100.0]]))
        >>> transform(torch.tensor([[[5.0], [10.0], [1e9]]]), torch.ones(1, 3, dtype=torch.bool)).flatten().tolist()
        [-0.5, 0.0, 1.0]
    """

    edges: Tensor  # [F, knots] float32, the quantiles in rising order

    def __init__(self, knots: int = 128) -> None:
        super().__init__()
        if knots < 2:
            raise DataError(f"quantile: wanted at least 2 knots, got {knots}")
        self.knots = knots
        self.register_buffer("edges", torch.zeros(0, knots))

    def fit(self, features: NDArray[Any]) -> Quantile:
        """Learn the quantiles of each column from [N, F] training rows."""
        varies = _varying(features)
        edges = np.zeros((len(varies), self.knots), dtype=np.float32)
        for column in np.flatnonzero(varies):
            cells = features[:, column].astype(np.float64)
            edges[column] = np.quantile(cells[np.isfinite(cells)], np.linspace(0, 1, self.knots))
        self.varies, self.edges = torch.from_numpy(varies), torch.from_numpy(edges)
        return self

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        _check_width(features, self.varies)
        cells = features.nan_to_num().flatten(0, -2).T.contiguous()  # [F, B * L]
        edges = self.edges.to(cells.dtype)
        below = torch.searchsorted(edges, cells)  # edges < x
        through = torch.searchsorted(edges, cells, right=True)  # edges <= x
        left, right = (below - 1).clamp(min=0), below.clamp(max=edges.shape[1] - 1)
        low, high = edges.gather(1, left).double(), edges.gather(1, right).double()
        share = torch.where(high > low, (cells - low) / torch.where(high > low, high - low, 1.0), 0.0).clamp(0, 1)
        place = torch.where(through > below, (below + through - 1) / 2, left + share)
        scaled = (2 * place / (edges.shape[1] - 1) - 1).to(features.dtype).T.reshape(features.shape)
        return _clean(scaled, features, mask, self.varies)


def _symlog(x: Tensor) -> Tensor:
    return x.sign() * x.abs().log1p()


def _varying(features: NDArray[Any]) -> NDArray[np.bool_]:
    """[F] whether the finite cells of a column of [N, F] take more than one value."""
    if features.ndim != 2 or not features.size:
        raise DataError(f"transform: wanted training rows [documents, features], came {list(features.shape)}")
    finite = np.isfinite(features)
    least = np.where(finite, features, np.inf).min(axis=0)
    return np.asarray(least < np.where(finite, features, -np.inf).max(axis=0))


def _check_width(features: Tensor, varies: Tensor) -> None:
    if not len(varies):
        raise DataError("transform: it must be fitted on training rows before it is used")
    if features.shape[-1] != len(varies):
        raise DataError(f"transform: it was fitted on {len(varies)} features, came {features.shape[-1]}")


def _clean(moved: Tensor, features: Tensor, mask: Tensor, varies: Tensor) -> Tensor:
    return torch.where(mask[..., None] & features.isfinite() & varies, moved, 0.0)

"""Gains: what a document of grade y is worth. The only home of this fact, for metrics and surrogates alike."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from functools import lru_cache
from math import log, ulp
from numbers import Real
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from ltr.lists import may_look

NUMBER = r"\d+(?:\.\d+)?"  # as ``number`` writes it
LEAST, LARGEST = ulp(0.0), sys.float_info.max  # the numbers above 0 that a float holds


class Gain(Protocol):
    """A value (frozen dataclass) that turns labels [...] into gains [...] >= 0, non-decreasing in the label."""

    @property
    def word(self) -> str: ...  # how a metric's name spells it

    @property
    def formula(self) -> str: ...  # how a convention string spells it

    def __call__(self, relevance: Tensor) -> Tensor: ...

    def relative(self, relevance: Tensor, top: Tensor) -> Tensor: ...

    # [B, L] gains over a positive constant per list, at most 1, for labels up to top [B, 1]


@dataclass(frozen=True)
class Exp2:
    """2^y - 1, the default. Example: ``Exp2()(torch.tensor([0.0, 1.0, 3.0]))`` is 0, 1, 7."""

    word = "exp2"
    formula = "2^y-1"

    def __call__(self, relevance: Tensor) -> Tensor:
        return torch.where(relevance < 1, _of_small(relevance), torch.exp2(relevance) - 1)

    def relative(self, relevance: Tensor, top: Tensor) -> Tensor:
        """Gains over 2^top: finite for labels of any size."""
        unit = torch.exp2(-top)
        return torch.where(relevance < 1, _of_small(relevance) * unit, torch.exp2(relevance - top) - unit)


@dataclass(frozen=True)
class Linear:
    """y itself, as in trec_eval, scikit-learn and torchmetrics."""

    word = "linear"
    formula = "y"

    def __call__(self, relevance: Tensor) -> Tensor:
        return relevance

    def relative(self, relevance: Tensor, top: Tensor) -> Tensor:
        return _over(self(relevance), self(top))


@dataclass(frozen=True)
class Binary:
    """1 from the threshold on, else 0."""

    threshold: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", real(self.threshold, "binary gain: the threshold must be a number >= 0"))

    @property
    def word(self) -> str:
        return f"binary{number(self.threshold)}"

    @property
    def formula(self) -> str:
        return f"[y>={number(self.threshold)}]"

    def __call__(self, relevance: Tensor) -> Tensor:
        return at_least(relevance, self.threshold).to(relevance.dtype)

    def relative(self, relevance: Tensor, top: Tensor) -> Tensor:
        return self(relevance)


@dataclass(frozen=True)
class Table:
    """gains[y] for whole labels y = 0, 1, ...; a label that is not in the table is an error.

    Example:
        >>> Table((0, 1, 3, 7, 100))(torch.tensor([4.0, 0.0])).tolist()
        [100.0, 0.0]
    """

    gains: tuple[float, ...]

    def __post_init__(self) -> None:
        wanted = "gain table: wanted numbers >= 0 that never fall, not all of them 0"
        object.__setattr__(self, "gains", tuple(real(gain, wanted) for gain in self.gains))
        if not any(self.gains) or list(self.gains) != sorted(self.gains):
            raise ValueError(f"{wanted}, got {list(self.gains)}")

    @property
    def word(self) -> str:
        return "table" + "_".join(map(number, self.gains))

    @property
    def formula(self) -> str:
        return "table(" + ",".join(map(number, self.gains)) + ")"

    def __call__(self, relevance: Tensor) -> Tensor:
        index = relevance.round().long()
        if may_look(relevance):
            strange = (relevance != index) | (index >= len(self.gains))
            if strange.any():
                label = relevance[strange][0].item()
                raise ValueError(f"gain table: wanted whole labels 0 to {len(self.gains) - 1}, got {number(label)}")
        dtype = relevance.dtype if relevance.is_floating_point() else torch.float32
        return row(self.gains, relevance, dtype)[index.clamp(0, len(self.gains) - 1)]

    def relative(self, relevance: Tensor, top: Tensor) -> Tensor:
        return _over(self(relevance), self(top))


def at_least(relevance: Tensor, threshold: float) -> Tensor:
    """Which labels reach the threshold, compared in float32, so that a label of 0.7 reaches 0.7 in any precision."""
    return relevance >= (lowest(threshold) if relevance.dtype == torch.float64 else threshold)


def lowest(threshold: float) -> float:
    """The lowest number that float32 does not tell apart from the threshold or sees above it."""
    nearest = np.float32(threshold)
    return (float(nearest) + float(np.nextafter(nearest, np.float32(-np.inf)))) / 2


def real(value: Any, wanted: str, low: float = 0, high: float = LARGEST, *, whole: bool = False) -> float:
    """A number of any kind, NumPy's too, as a plain one: the one home of what a parameter may be.

    Args:
        value: what came.
        wanted: how the error begins, such as "rbp: the persistence p must be a number between 0 and 1".
        low, high: the ends of its range, both in it.
        whole: must it be a whole number?

    Raises:
        ValueError: it is no number, a bool, NaN, infinite, or out of the range.
    """
    plain: Any = float(str(value)) if isinstance(value, np.floating) else value  # 0.7 in any precision is 0.7
    fits = isinstance(plain, Real) and not isinstance(plain, bool)
    if not fits or not low <= plain <= high or (whole and plain % 1):
        raise ValueError(f"{wanted}, got {value!r}")
    return float(plain) or 0.0  # and no -0.0, which names cannot spell


def number(value: float) -> str:
    """The shortest digits that read back as the same number, without exponent, sign or a trailing ``.0``."""
    return np.format_float_positional(value, trim="-")


def row(numbers: tuple[float, ...], beside: Tensor, dtype: torch.dtype) -> Tensor:
    """[n] the numbers of a table where a tensor is; copied to an accelerator once, since the program waits for that."""
    if beside.device.type == "cpu" or torch.compiler.is_compiling():
        return torch.tensor(numbers, dtype=dtype, device=beside.device)
    return _kept(numbers, dtype, beside.device)


@lru_cache(maxsize=64)
def _kept(numbers: tuple[float, ...], dtype: torch.dtype, device: torch.device) -> Tensor:
    with torch.inference_mode(False):  # it may be used in training later
        return torch.tensor(numbers, dtype=dtype, device=device)


def _of_small(relevance: Tensor) -> Tensor:
    """2^y - 1 for y < 1, where 2^y minus 1 would lose a label of 1e-16; expm1 is not exact for whole labels above."""
    return torch.expm1(relevance.clamp(max=1) * log(2))


def _over(gains: Tensor, largest: Tensor) -> Tensor:
    return gains / torch.where(largest > 0, largest, 1.0)


def read(word: str) -> Gain | None:
    """The gain that a metric's name spells as ``word``, or None when it spells none."""
    if word == "exp2":
        return Exp2()
    if word == "linear":
        return Linear()
    if match := re.fullmatch(rf"binary({NUMBER})", word):
        return Binary(float(match[1]))
    if match := re.fullmatch(rf"table({NUMBER}(?:_{NUMBER})*)", word):
        return Table(tuple(map(float, match[1].split("_"))))
    return None

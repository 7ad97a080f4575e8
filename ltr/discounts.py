"""Discounts: what a place in the ranking is worth. The only home of this fact, for metrics and surrogates alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ltr.gains import LEAST, NUMBER, number, real, row


class Discount(Protocol):
    """A value (frozen dataclass) that turns ranks >= 1 (soft ones too) into weights >= 0 that never rise."""

    @property
    def word(self) -> str: ...

    @property
    def formula(self) -> str: ...

    @property
    def above_reciprocal(self) -> bool: ...  # is it at least 1/r at every rank? then softmax bounds the metric

    def __call__(self, rank: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Log2:
    """1 / log2(1 + r), the default."""

    word = "log2"
    formula = "1/log2(1+r)"
    above_reciprocal = True

    def __call__(self, rank: Tensor) -> Tensor:
        return torch.log2(1 + rank).reciprocal()


@dataclass(frozen=True)
class Letor:
    """Ranks 1 and 2 undiscounted, then 1 / log2(r): the official LETOR and MSLR scripts."""

    word = "letor"
    formula = "1/log2(max(r,2))"
    above_reciprocal = True

    def __call__(self, rank: Tensor) -> Tensor:
        return 1 / torch.log2(rank.clamp(min=2))


@dataclass(frozen=True)
class Reciprocal:
    """1 / r."""

    word = "reciprocal"
    formula = "1/r"
    above_reciprocal = True

    def __call__(self, rank: Tensor) -> Tensor:
        return 1 / rank


@dataclass(frozen=True)
class Geometric:
    """p^(r - 1): a reader who goes on to the next result with probability p."""

    p: float = 0.8
    above_reciprocal = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", real(self.p, "geometric discount: p must lie in (0, 1]", LEAST, 1))

    @property
    def word(self) -> str:
        return f"geometric{number(self.p)}"

    @property
    def formula(self) -> str:
        return f"{number(self.p)}^(r-1)"

    def __call__(self, rank: Tensor) -> Tensor:
        return torch.pow(self.p, rank - 1)


@dataclass(frozen=True)
class Table:
    """weights[r - 1]: your own examination curve, 0 beyond its end; linear between ranks where they are soft.

    Example:
        >>> Table((1.0, 0.5, 0.25))(torch.tensor([1.0, 3.0, 4.0])).tolist()
        [1.0, 0.25, 0.0]
    """

    weights: tuple[float, ...]
    above_reciprocal = False

    def __post_init__(self) -> None:
        wanted = "discount table: wanted numbers >= 0 that never rise, not all of them 0"
        object.__setattr__(self, "weights", tuple(real(weight, wanted) for weight in self.weights))
        if not any(self.weights) or list(self.weights) != sorted(self.weights, reverse=True):
            raise ValueError(f"{wanted}, got {list(self.weights)}")

    @property
    def word(self) -> str:
        return "positions" + "_".join(map(number, self.weights))

    @property
    def formula(self) -> str:
        return "positions(" + ",".join(map(number, self.weights)) + ")"

    def __call__(self, rank: Tensor) -> Tensor:
        table = row((*self.weights, 0.0, 0.0), rank, rank.dtype)
        rank = rank.clamp(max=len(self.weights) + 1)
        below = rank.detach().floor().long()
        return torch.lerp(table[below - 1], table[below], rank - below)


def read(word: str) -> Discount | None:
    """The discount that a metric's name spells as ``word``, or None when it spells none."""
    for plain in (Log2(), Letor(), Reciprocal()):
        if word == plain.word:
            return plain
    if match := re.fullmatch(rf"geometric({NUMBER})", word):
        return Geometric(float(match[1]))
    if match := re.fullmatch(rf"positions({NUMBER}(?:_{NUMBER})*)", word):
        return Table(tuple(map(float, match[1].split("_"))))
    return None

"""Random lists to hold a metric or a surrogate to its contract, and how two results are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from ltr.losses import Surrogate
from ltr.losses.draws import Drawing

Lists = tuple[Tensor, Tensor, Tensor]  # scores, relevance, mask
Checks = Iterator[tuple[str, Callable[[], None]]]


def random_lists(generator: torch.Generator, labels: tuple[float, ...], *, lists: int, longest: int) -> Lists:
    """Random lists in float64, pads anywhere, each with at least two documents."""
    scores = torch.randn(lists, longest, generator=generator, dtype=torch.float64)
    index = torch.randint(len(labels), (lists, longest), generator=generator)
    relevance = torch.tensor(labels, dtype=torch.float64)[index]
    mask = torch.rand(lists, longest, generator=generator) < 0.8
    mask[:, [0, longest // 2]] = True
    return scores, relevance, mask


def documents(surrogate: Surrogate, scores: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    """What the surrogate takes besides scores, labels and mask: a teacher's scores, and its own draws."""
    more = {}
    if surrogate.needs_teacher:
        more["teacher"] = torch.randn(scores.shape, generator=generator, dtype=scores.dtype)
    if isinstance(surrogate, Drawing):
        more["noise"] = surrogate.noise(scores)
    return more


def wider(scores: Tensor, relevance: Tensor, mask: Tensor, places: int = 3) -> Lists:
    """The same lists with more padded places, and garbage in all of them."""
    more = torch.zeros(len(mask), places, dtype=torch.bool)
    return widened(scores, mask, 7.0, places), widened(relevance, mask, 3.0, places), torch.cat([mask, more], 1)


def widened(values: Tensor, mask: Tensor, garbage: float, places: int = 3) -> Tensor:
    """[B, L + places, ...] the values with more places, and garbage in these and in the padded ones."""
    wide = values.new_full((len(values), values.shape[1] + places, *values.shape[2:]), garbage)
    wide[:, : values.shape[1]][mask] = values[mask]
    return wide


def taken(values: Tensor, order: Tensor) -> Tensor:
    """The documents of values [B, L, ...] in the order [B, L]."""
    return values[torch.arange(len(values))[:, None], order]


def refused(call: Callable[[], object], word: str) -> None:
    try:
        call()
    except ValueError as error:
        if word not in str(error):
            raise AssertionError(f"wanted an error that names the {word}, got {error}") from error
    else:
        raise AssertionError(f"wanted a ValueError that names the {word}, got none")


def same(got: Tensor, wanted: Tensor, tolerance: float = 1e-9) -> None:
    assert torch.allclose(got, wanted, rtol=tolerance, atol=tolerance), f"wanted {wanted.tolist()}, got {got.tolist()}"

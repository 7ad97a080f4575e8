"""Sorting documents by score under a rule for ties, and labels by size: the one home of the tie rules."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from ltr.lists import all_real, may_look

Ties = Literal["average", "docid", "stable", "worst", "best"]
TIES: tuple[str, ...] = get_args(Ties)
GRAIN = 1 << 16  # values below which a thread is not worth its start


def rank_order(
    scores: Tensor, mask: Tensor, ties: Ties = "average", relevance: Tensor | None = None, depth: int | None = None
) -> tuple[Tensor, Tensor]:
    """The documents by descending score, padded ones last, and where neighbours are tied.

    Args:
        scores, mask, ties, relevance: as ``exact_ranking`` takes them.
        depth: how many places are wanted; all when None.

    Returns:
        [B, K] indices of documents (in any order within a tie block under "average"), K = min(depth, L), and
        [B, min(K, L - 1)] bool, does the next place have the same score?
    """
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
    if ties in ("worst", "best") and relevance is None:
        raise ValueError(f"ties={ties!r} orders tied documents by relevance, and none was given")
    key = masked(-scores.detach(), mask, torch.inf)
    labels = None if relevance is None or ties not in ("worst", "best") else relevance * (1 if ties == "worst" else -1)
    if not may_look(key):
        order = _stable_order(key, mask, labels)
    else:
        order = _by_rows(np.argsort, key)  # quick, and blind to the order of equal keys
        if not all_real(mask) and (torch.isposinf(key) & mask).any():
            order = _stable_order(key, mask, labels)  # a score of -inf would stand among the padding
    order = order[:, : None if depth is None else depth + 1]
    value = key.gather(1, order)
    equal = value[:, 1:] == value[:, :-1]
    if not all_real(mask):
        equal &= torch.arange(1, value.shape[1], device=key.device) < mask.sum(1, keepdim=True)
    if ties != "average" and may_look(key):
        rows = torch.from_numpy(np.flatnonzero(equal.numpy().any(1)))
        if len(rows):
            some = None if labels is None else labels[rows]
            order[rows] = _stable_order(key[rows], mask[rows], some)[:, : order.shape[1]]
    return order[:, :depth], equal


def rising(values: Tensor) -> Tensor:
    if may_look(values):
        return _by_rows(np.sort, values)
    return values.sort(dim=1).values


def masked(values: Tensor, mask: Tensor, padding: float) -> Tensor:
    """The values, with padding in the padded places; untouched where there are none, if that can be seen."""
    return values if all_real(mask) else torch.where(mask, values, padding)


def sizes(mask: Tensor) -> Tensor:
    """[B, 1] real documents."""
    if all_real(mask):
        return torch.full((len(mask), 1), mask.shape[1])
    return mask.sum(1, keepdim=True)


def _stable_order(key: Tensor, mask: Tensor, labels: Tensor | None) -> Tensor:
    """By rising key, then by rising label, then by index; padded ones last."""
    order = torch.arange(key.shape[1], device=key.device).expand(key.shape)
    for each in (labels, key, (~mask).to(torch.uint8)):
        if each is not None:
            order = order.gather(1, each.gather(1, order).argsort(dim=1, stable=True))
    return order


def _by_rows(function: Callable[..., Any], values: Tensor) -> Tensor:
    """A NumPy function along each row; as many threads as PyTorch would take share the rows where there are many."""
    threads = min(torch.get_num_threads(), values.numel() // GRAIN)
    if threads < 2:
        return torch.from_numpy(function(values.numpy(), axis=1))
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(lambda part: function(part.numpy(), axis=1), values.chunk(threads))
        return torch.from_numpy(np.concatenate(list(parts)))

"""How an order and labels agree, pair by pair, counted without a matrix of pairs."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import exact_dtype, may_look


def concordance(place: Tensor | None, labels: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """[B] three times: pairs of documents of different labels that stand in the right order, in the wrong one, tied.

    Listed by place, and by falling label where places are equal, a pair in the wrong order is an inversion. Exact;
    O(L) memory a list, O(L log G) steps after a sort for G different labels.

    Args:
        place: [B, L] whole numbers, the smaller the higher, equal where tied; None where documents stand as listed.
        labels: [B, L], the larger the higher the document should stand.
        mask: [B, L] bool, a real document.

    Example:
        >>> place, labels = torch.tensor([[1, 2, 2, 4]]), torch.tensor([[1.0, 2.0, 0.0, 0.0]])
        >>> concordance(place, labels, torch.ones_like(place, dtype=torch.bool))
        (tensor([3.], dtype=torch.float64), tensor([1.], dtype=torch.float64), tensor([1.], dtype=torch.float64))
    """
    grade = _numbered(labels, mask)
    real = mask.sum(1)
    each = torch.zeros_like(grade).scatter_add(1, grade, mask.long())
    apart = _pairs(real) - _pairs(each).sum(1)
    tied = torch.zeros_like(apart)
    if place is not None:
        length = place.shape[1]
        key = torch.where(mask, place.long(), length + 1) * length + grade
        order = _argsort(key)
        grade = grade.gather(1, order)
        block = torch.where(mask, place, length + 1).gather(1, order)
        level = block[:, 1:] == block[:, :-1]
        level &= torch.arange(1, length, device=mask.device) < real[:, None]
        tied = _within_runs(level) - _within_runs(level & (grade[:, 1:] == grade[:, :-1]))
    wrong = inversions(grade)
    counts = (apart - wrong - tied, wrong, tied)
    return tuple(each.to(exact_dtype(mask.device)) for each in counts)  # type: ignore[return-value]


def inversions(numbers: Tensor) -> Tensor:
    """[B] pairs of places i < j whose whole numbers [B, L], all in 0 .. L - 1, fall: numbers_i > numbers_j.

    At the highest bit in which the two differ the first has a 1 and the second a 0. Bit by bit, numbers that agree in
    all higher bits are kept together, in their order.

    Example:
        >>> inversions(torch.tensor([[2, 0, 1, 1]]))
        tensor([3])
    """
    length = numbers.shape[1]
    largest = int(numbers.max()) if len(numbers) and may_look(numbers) else length - 1
    total = torch.zeros(len(numbers), dtype=torch.int64, device=numbers.device)
    numbers = numbers.int()
    place = torch.arange(1, length + 1, device=numbers.device, dtype=numbers.dtype)
    for bit in reversed(range(largest.bit_length())):
        digit, higher = numbers >> bit & 1, numbers >> bit + 1
        ones = digit.cumsum(1, dtype=numbers.dtype)
        fresh = higher[:, 1:] != higher[:, :-1]  # here a group of equal higher bits begins
        earlier = pad(torch.where(fresh, ones[:, :-1], 0), (1, 0)).cummax(1).values
        total += torch.where(digit == 0, ones - earlier, 0).sum(1)
        after = torch.where(digit == 0, place - ones, length - ones[:, -1:] + ones) - 1  # all zeros, then all ones
        numbers = torch.empty_like(numbers).scatter_(1, after.long(), numbers)
    return total


def _numbered(labels: Tensor, mask: Tensor) -> Tensor:
    """[B, L] whole numbers instead of labels: 0 for a list's highest, 1 for the next; padded documents last."""
    key = torch.where(mask, -labels.detach(), torch.inf)
    order = _argsort(key)
    ordered = key.gather(1, order)
    number = pad((ordered[:, 1:] != ordered[:, :-1]).cumsum(1), (1, 0))
    return torch.empty_like(order).scatter_(1, order, number)


def _argsort(key: Tensor) -> Tensor:
    """[B, L] rising, equal ones in any order."""
    return torch.from_numpy(np.argsort(key.numpy(), axis=1)) if may_look(key) else key.argsort(dim=1)


def _within_runs(equal: Tensor) -> Tensor:
    """[B] pairs of places between which all neighbours [B, L - 1] are equal."""
    place = torch.arange(1, equal.shape[1] + 1, device=equal.device)
    return (place - torch.where(equal, 0, place).cummax(1).values).sum(1)


def _pairs(count: Tensor) -> Tensor:
    return count * (count - 1) // 2

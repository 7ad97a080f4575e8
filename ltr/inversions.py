"""How an order and labels agree, pair by pair, counted without a matrix of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
        level &= torch.arange(length, device=mask.device)[1:] < real[:, None]
        tied = _within_runs(level) - _within_runs(level & (grade[:, 1:] == grade[:, :-1]))
    wrong = inversions(grade)
    counts = (apart - wrong - tied, wrong, tied)
    return tuple(each.to(exact_dtype(mask.device)) for each in counts)  # type: ignore[return-value]


def righted(place: Tensor, labels: Tensor, mask: Tensor) -> Callable[[Tensor | None], Tensor]:
    """Rows i [B, R] (all when None) -> [B, R, L] how many more pairs stand right after i and j change places.

    It is C(i, j) - C(i, i) - C(j, j) + C(j, i), where C(x, z) counts the documents above z with a higher label than x,
    less those with a lower one. O(R L), after sorts and O(L log G) steps for G different labels.

    Args:
        place: [B, L] whole numbers from 1, all different.
        labels, mask: as ``concordance`` takes them.

    Example:
        >>> place, labels = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[0.0, 1.0, 2.0]])
        >>> righted(place, labels, labels >= 0)(torch.tensor([[0]])).tolist()
        [[[0.0, 1.0, 3.0]]]
    """
    length = labels.shape[1]
    above = torch.where(mask, place.long() - 1, length - 1)  # documents above
    order = _argsort(torch.where(mask, above, length))
    grade = _numbered(labels, mask)
    listed = grade.gather(1, order)  # by place
    by_grade = _argsort(listed)
    rising = listed.gather(1, by_grade)
    better, no_worse = (torch.searchsorted(rising, grade, right=right) for right in (False, True))
    own = overtaken(rising[:, -1:] - listed) - overtaken(listed)
    own = own.gather(1, above).to(place.dtype)  # C(j, j)

    def of_rows(rows: Tensor | None = None) -> Tensor:
        rows = torch.arange(length, device=labels.device).expand_as(grade) if rows is None else rows
        mine, here = (each.gather(1, rows)[:, :, None] for each in (grade, above))
        counted = pad(torch.sign(mine - listed[:, None]).cumsum(2), (1, 0))  # C(i, z), by place
        higher = pad((by_grade[:, None] < here).cumsum(2), (1, 0))  # of the best, those above i
        change = _taken(counted, above) - counted.gather(2, here)
        change += _taken(higher, better) + _taken(higher, no_worse) - here  # C(j, i)
        both = mask.gather(1, rows)[:, :, None] & mask[:, None]
        return (change - own[:, None]) * both

    return of_rows


def inversions(numbers: Tensor) -> Tensor:
    """[B] pairs of places i < j whose whole numbers [B, L], all in 0 .. L - 1, fall: numbers_i > numbers_j.

    Example:
        >>> inversions(torch.tensor([[2, 0, 1, 1]]))
        tensor([3])
    """
    total = torch.zeros(len(numbers), dtype=torch.int64, device=numbers.device)
    for larger, _ in _bits(numbers):
        total += larger.sum(1)
    return total


def overtaken(numbers: Tensor) -> Tensor:
    """[B, L] how many of the earlier whole numbers are larger, for each of numbers [B, L], all in 0 .. L.

    Example:
        >>> overtaken(torch.tensor([[2, 0, 1, 1]]))
        tensor([[0, 1, 1, 1]])
    """
    count = torch.zeros_like(numbers)
    origin = torch.arange(numbers.shape[1], device=numbers.device).expand_as(numbers)
    for larger, after in _bits(numbers):
        count, origin = (torch.empty_like(count).scatter_(1, after, each) for each in (count + larger, origin))
    return torch.empty_like(count).scatter_(1, origin, count)


def _bits(numbers: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Bit by bit from the highest, for each place [B, L]: the earlier numbers that agree in all higher bits, and have a
    1 where this one has a 0; and the place that it takes among the numbers then, all those with a 0 standing first.

    Two numbers are told apart at the highest bit in which they differ; those that agree so far stay in their order.
    """
    length = numbers.shape[1]
    largest = int(numbers.max()) if numbers.numel() and may_look(numbers) else length
    numbers = numbers.int()
    place = torch.arange(1, length + 1, device=numbers.device, dtype=numbers.dtype)
    for bit in reversed(range(largest.bit_length())):
        digit, higher = numbers >> bit & 1, numbers >> bit + 1
        ones = digit.cumsum(1, dtype=numbers.dtype)
        fresh = higher[:, 1:] != higher[:, :-1]  # here a group of equal higher bits begins
        earlier = pad(torch.where(fresh, ones[:, :-1], 0), (1, 0)).cummax(1).values
        after = (torch.where(digit == 0, place - ones, length - ones[:, -1:] + ones) - 1).long()
        yield torch.where(digit == 0, ones - earlier, 0), after
        numbers = torch.empty_like(numbers).scatter_(1, after, numbers)


def _taken(values: Tensor, index: Tensor) -> Tensor:
    """[B, R, L] of values [B, R, P] those at index [B, L]."""
    return values.gather(2, index[:, None].expand(-1, values.shape[1], -1))


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

"""NeuralNDCG: a metric on NeuralSort's permutation, scaled until its columns sum to 1 too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import exact_dtype, may_look
from ltr.losses.base import positive
from ltr.losses.permutations import (
    Permuting,
    distances,
    falling_order,
    neural_rows,
    neural_sort,
    placed,
    read_places,
)
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric
from ltr.softening import CELLS, centred, once, uncast

STEPS = 50  # of Sinkhorn's scaling at most, each of all columns and then of all rows
BLOCK = 256  # rows of one matrix that share a window of columns
NEAR = 1e-6  # how far the sum of a column may be from 1


def neural_metric(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    temperature: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the metric where NeuralSort's permutation, made doubly stochastic, says what stands at each place.

    O(L^2) time for each step, memory for the matrix of one list. See ``NeuralNDCG``.
    """
    scores, mask, worth, place = read_places(scores, relevance, mask, metric, weight)
    if torch.compiler.is_compiling():
        full = sinkhorn(neural_sort(scores, mask, temperature), mask)
        return placed(full[:, : place.shape[1]], worth, place)
    exact, order = centred(scores, mask, exact_dtype(scores.device)) / temperature, falling_order(scores, mask)
    each = [values.gather(1, order) for values in (exact, distances(exact, mask), worth, mask)]
    with uncast(scores):
        value: Tensor = _Scaled.apply(*each, place)  # type: ignore[no-untyped-call]
    return value


def sinkhorn(permutation: Tensor, mask: Tensor) -> Tensor:
    """[B, L, L] the matrix with columns and rows divided by their sums in turn, for each list until it has converged.

    As it is defined: the judge of ``neural_metric``.
    """
    real = mask.sum(1)[:, None] > torch.arange(mask.shape[1], device=mask.device)  # rows, whose places come in order
    matrix = permutation * real[:, :, None]
    for _ in range(STEPS):
        sums = matrix.sum(1, keepdim=True)
        moving = ((mask[:, None] * (sums - 1)).abs().amax((1, 2)) >= NEAR)[:, None, None]
        scaled = matrix / torch.where(mask[:, None], sums, 1)
        scaled = scaled / torch.where(real[:, :, None], scaled.sum(2, keepdim=True), 1)
        matrix = torch.where(moving, scaled, matrix)
    return matrix


class NeuralNDCG(Permuting):
    """1 - metric on NeuralSort's permutation, made doubly stochastic so that each gain counts once.

    ``loss = 1 - sum_r place(r) sum_i P[r, i] worth_i``, P being Sinkhorn's scaling of
    ``softmax_i(((n + 1 - 2 r) s_i - sum_j |s_i - s_j|) / T)``, n documents in the list: exact as T -> 0 where no scores
    are equal. Source: Pobrotyn, Bialobrzeski (2021), NeuralNDCG: direct optimisation of a ranking metric via
    differentiable relaxation of sorting; its transposed form has the same value and gradient. The logits grow with n:
    one temperature is sharper for long lists.

    NOTE[DIFF] A list stops when its own columns are within 1e-6 of 1, not when all of the batch are, so that no list
    depends on its batch.

    Args:
        metric: one that sums worth times place (ndcg, dcg, rbp, precision, recall, f1), or the name of one.
        temperature: > 0, in units of the scores.

    Raises:
        ValueError: an unknown metric or another one, or a temperature that is not above 0.

    Example:
        >>> loss = NeuralNDCG("ndcg@10")
        >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> round(loss.estimate(scores, labels).item(), 4), round(loss.aim(scores, labels).item(), 4)
        (0.7152, 0.659)
    """

    cost = "O(L^2)"
    softness_in = "temperature"

    def __init__(self, metric: RankingMetric | str, temperature: float = 1.0) -> None:
        super().__init__(metric)
        self.temperature = positive("temperature", temperature)

    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return neural_metric(scores, relevance, mask, self.metric, self.temperature, weight=weight)


class _Scaled(torch.autograd.Function):
    """Scaling P by turns is u_r P[r, i] v_i for vectors u and v, of which each step keeps two: the gradient in P is a
    sum of outer products of such vectors. A few lists are worked at a time, value and gradient at once."""

    @staticmethod
    def forward(ctx: Any, falling: Tensor, apart: Tensor, worth: Tensor, mask: Tensor, place: Tensor) -> Tensor:
        lists, length = mask.shape
        place = pad(place, (0, length - place.shape[1]))
        value, of_falling, of_apart = worth.new_zeros(lists), torch.zeros_like(falling), torch.zeros_like(apart)
        step = max(1, CELLS // length**2)
        for some in (slice(start, start + step) for start in range(0, lists, step)):
            here = _Matrices(falling[some], apart[some], worth[some], mask[some], place[some])
            value[some] = here.value()
            if any(ctx.needs_input_grad):
                of_falling[some], of_apart[some] = here.gradient()
        ctx.save_for_backward(of_falling, of_apart)
        return value

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        of_falling, of_apart = ctx.saved_tensors
        return of_falling * upstream[:, None], of_apart * upstream[:, None], None, None, None


class _Matrices:
    """The matrices of some lists [G, L] of falling scores, in blocks without the columns that are nothing to a row."""

    def __init__(self, falling: Tensor, apart: Tensor, worth: Tensor, mask: Tensor, place: Tensor) -> None:
        self.worth, self.place = worth, place
        self.slope = mask.sum(1, keepdim=True) + 1 - 2 * torch.arange(1, mask.shape[1] + 1, device=mask.device)
        nothing = torch.finfo(worth.dtype).tiny ** 0.5  # products of subnormal numbers are slow
        self.blocks = []
        for rows, columns in _windows(falling, apart, mask, nothing):
            block = neural_rows(falling, apart, mask, rows, columns).to(worth.dtype)
            self.blocks.append((rows, columns, torch.threshold_(block, nothing, 0)))
        real, moving = mask.to(worth.dtype), mask.any(1, keepdim=True)  # documents in front, as the rows of places
        self.steps = [(real, real, moving)]  # u, v, and did the step change them?
        u, v, sums = real, real, self._down(real)
        for _ in range(STEPS):
            moving = moving & ((real * (v * sums - 1)).abs().amax(1, keepdim=True) >= NEAR)
            if may_look(moving) and not moving.any():
                break
            v = torch.where(moving, real / torch.where(mask, sums, 1), v)
            u = torch.where(moving, real / torch.where(mask, self._along(v), 1), u)
            self.steps.append((u, v, moving))
            sums = self._down(u)

    def _along(self, v: Tensor) -> Tensor:
        """[G, L] the matrix times a vector of the columns."""
        return torch.cat([torch.bmm(each, v[:, columns, None])[:, :, 0] for _, columns, each in self.blocks], 1)

    def _down(self, u: Tensor) -> Tensor:
        """[G, L] a vector of the rows times the matrix."""
        sums = torch.zeros_like(u)
        for rows, columns, each in self.blocks:
            sums[:, columns] += torch.bmm(u[:, None, rows], each)[:, 0]
        return sums

    def value(self) -> Tensor:
        u, v, _ = self.steps[-1]
        self.gains = self._along(v * self.worth)  # what stands at each place, before its row is scaled
        return (self.place * u * self.gains).sum(1)

    def gradient(self) -> tuple[Tensor, Tensor]:
        """[G, L] in the scores, and in their distances."""
        u, v, _ = self.steps[-1]
        of_u, of_v = self.place * self.gains, self.worth * self._down(self.place * u)
        left, right = [self.place * u], [v * self.worth]  # whose outer products sum to the matrix's gradient
        for (before, _, _), (u, v, moving) in zip(self.steps[-2::-1], self.steps[:0:-1], strict=True):
            of_sums = torch.where(moving, -u.square() * of_u, 0)
            of_v = of_v + self._down(of_sums)
            left.append(of_sums)
            right.append(v)
            of_sums = torch.where(moving, -v.square() * of_v, 0)
            of_u, of_v = torch.where(moving, self._along(of_sums), of_u), of_v * ~moving
            left.append(before)
            right.append(of_sums)
        down, over = torch.stack(left, 2), torch.stack(right, 1)
        of_falling, of_apart = torch.zeros_like(u), torch.zeros_like(u)
        for rows, columns, block in self.blocks:
            change = torch.bmm(down[:, rows], over[:, :, columns])
            change = block * (change - (change * block).sum(2, keepdim=True))  # through the softmax of each row
            of_falling[:, columns] += torch.bmm(self.slope[:, None, rows].to(change.dtype), change)[:, 0]
            of_apart[:, columns] -= change.sum(1)
        return of_falling, of_apart


def _windows(falling: Tensor, apart: Tensor, mask: Tensor, nothing: float) -> Iterator[tuple[slice, slice]]:
    """Blocks of rows, all of them once, with the columns outside of which no row holds more than nothing.

    A row falls on both sides of its own place, and faster to the left the lower the row is, to the right the higher:
    the first row of a block reaches furthest to the left, the last one to the right.
    """
    length = mask.shape[1]
    if len(mask) > 1 or not may_look(mask):
        yield slice(0, length), slice(0, length)
        return
    size = max(1, int(mask.sum()))
    for start in range(0, length, BLOCK):
        stop = min(start + BLOCK, length)
        first, last = (min(row, size - 1) for row in (start, stop - 1))
        edges = [neural_rows(falling, apart, mask, slice(row, row + 1))[0, 0] > nothing for row in (first, last)]
        yield slice(start, stop), slice(int(edges[0].int().argmax()), length - int(edges[1].flip(0).int().argmax()))

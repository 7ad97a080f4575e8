"""Worst and best case of a metric over the labels that nobody gave."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ltr.evaluation.answers import answers
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.padding import Doubles, Flags
from ltr.evaluation.relabelling import GrowingPool, Relabelled, check_top, chunks, in_reach, listed, top_label
from ltr.evaluation.tables import MetricValues, per_query
from ltr.metrics import Answer, RankingMetric
from ltr.ranking import Pool

MANY = 64  # unjudged documents in reach of a metric from which not every number of relevant ones is tried


class Range(NamedTuple):
    """The least and the largest value that something can take."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Bounds:
    """One metric's worst and best case on each list; ``mean`` says what that makes of the mean."""

    values: MetricValues  # as judged
    low: Doubles  # [Q] over the labels under which the list counts
    high: Doubles  # [Q]
    ever: Flags  # [Q] does the list count under some labels?
    always: Flags  # [Q] under all?
    unjudged: int  # returned documents that nobody judged

    @cached_property
    def mean(self) -> Range:
        """The least and the largest mean, each unjudged document having label 0 or the top; NaN over no list."""
        return mean_range(self.low, self.high, self.ever, self.always, self.values.weight)


def bounds(lists: RankedLists, metric: RankingMetric, top: float | None = None) -> Bounds:
    """The least and the largest value of the metric on each list, when each unjudged document has label 0 or the top.

    Of all ways to give m of them the top label, the best gives it to the m that stand highest and the worst to the m
    that stand lowest: to exchange the labels of two documents so that the better one is on top never lowers a metric.
    So all m are tried, and nothing else. Where more than 64 unjudged documents can stand where the metric looks, 64
    values of m are, and then all those beside the best and the worst of them, which may miss an end by a little. The
    documents are then judged ones: they enter R and the ideal order, and no rule for unjudged documents applies.
    Memory is bounded.

    Args:
        lists: with unjudged documents.
        metric: any.
        top: the label that they can have; None: the highest of the query. At least the threshold, or 1 where nothing
            is worth anything.

    Raises:
        ValueError: top is not a number above 0, or as ``per_query`` and the metric say.

    Example:
        >>> from ltr.metrics import parse
        >>> lists = RankedLists.from_arrays([1, 0, 0], [0.1, 0.9, 0.5], judged=[True, False, True])
        >>> found = bounds(lists, parse("mrr"))
        >>> found.low.tolist(), found.high.tolist()
        ([0.3333], [1.0])
    """
    check_top(top)
    (values,) = per_query(lists, [metric])
    low, high = values.value.copy(), values.value.copy()
    ever, always = values.counted.copy(), values.counted.copy()
    if lists.judged is None:
        return Bounds(values, low, high, ever, always, 0)
    for queries, given in answers(values.lists):
        assert given.judged is not None
        some, tied = (given.mask & ~given.judged).any(1), torch.from_numpy(values.tied[queries])
        for rows in ((some & ~tied).nonzero()[:, 0], (some & tied).nonzero()[:, 0]):
            if len(rows):
                places, order = queries[rows.numpy()], listed(given)[rows]
                parts = (given.scores, given.relevance, given.mask, given.mask, given.judged)
                found = _Search(
                    metric,
                    Answer(*(each[rows].gather(1, order) for each in parts)),
                    given.pool("judged").rows(rows),
                    top,
                ).found()
                low[places], high[places], ever[places], always[places] = (each.numpy() for each in found)
    return Bounds(values, low, high, ever, always, int((~lists.judged).sum()))


def mean_range(low: Doubles, high: Doubles, ever: Flags, always: Flags, weight: Doubles) -> Range:
    """The least and the largest weighted mean of values between low and high, where some lists need not count.

    Example:
        >>> yes, no = np.array([True, True]), np.array([True, False])
        >>> mean_range(np.array([0.2, 0.4]), np.array([0.6, 0.5]), yes, no, np.ones(2))
        Range(low=0.2, high=0.6)
    """
    ends = []
    for sign, values in ((-1, low), (1, high)):
        must = always & (weight > 0)
        total, share = float((values * weight)[must].sum()), float(weight[must].sum())
        free = np.flatnonzero(ever & ~always & (weight > 0))
        for place in free[np.argsort(-sign * values[free])]:
            if share and sign * (values[place] - total / share) <= 0:
                break
            total, share = total + float(values[place] * weight[place]), share + float(weight[place])
        ends.append(total / share if share else float("nan"))
    return Range(*ends)


class _Search:
    """The ends of B lists in rank order.

    A candidate is a range of places among the unjudged documents of a list, 1 for the highest: those at
    ``above`` < place <= ``last`` are relevant. They are the h highest, h from 0 to ``near``, and all but the l highest,
    l from 0 to ``near``: what is out of the metric's reach counts for the pool alone, which is at its worst when all of
    it is relevant and at its best when none is.
    """

    def __init__(self, metric: RankingMetric, given: Answer, pool: Pool, top: float | None) -> None:
        assert given.judged is not None
        self.lists, self.given, self.pool = Relabelled(metric, given), given, GrowingPool(pool)
        self.label = top_label(metric, pool, top)  # [B, 1]
        self.unknown = given.mask & ~given.judged
        self.place = self.unknown.cumsum(1)
        self.count = self.unknown.sum(1)
        self.near = (self.unknown & in_reach(metric, given)).sum(1)
        self.step = (self.near + MANY - 1).div(MANY, rounding_mode="floor").clamp(min=1)
        size = self.count.shape
        self.low, self.high = (torch.full(size, end, dtype=torch.float64) for end in (torch.inf, -torch.inf))
        self.ever, self.always = torch.zeros_like(self.count), torch.ones_like(self.count)

    def found(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """[B] low, high, ever and always."""
        many = (self.near + self.step - 1).div(self.step, rounding_mode="floor") + 1  # values of h: the last is near
        row = torch.arange(len(many)).repeat_interleave(2 * many)
        turn = torch.arange(len(row)) - (2 * (many.cumsum(0) - many))[row]
        best = turn < many[row]
        h = torch.minimum(torch.where(best, turn, turn - many[row]) * self.step[row], self.near[row])
        value, counts = self._try(row, best, h)
        for extreme in (self.low, self.high):
            hit = (counts & (value == extreme[row])).nonzero()[:, 0]
            first = torch.full_like(self.count, -1).scatter_reduce(0, row[hit], hit, "amax")
            first = first[(first >= 0) & (self.step > 1)]
            beside = 2 * self.step[row[first]] - 1  # all between the neighbours that were tried
            at = first.repeat_interleave(beside)
            move = torch.arange(len(at)) - (beside.cumsum(0) - beside).repeat_interleave(beside)
            near_by = (h[at] + move - self.step[row[at]] + 1).clamp(min=0)
            self._try(row[at], best[at], torch.minimum(near_by, self.near[row[at]]))
        ever = self.ever > 0
        return torch.where(ever, self.low, 0), torch.where(ever, self.high, 0), ever, self.always > 0

    def _try(self, row: Tensor, best: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """[C] value and whether it counts, of the h highest or of all but these; the ends are kept."""
        above, last = torch.where(best, 0, h), torch.where(best, h, self.count[row])
        values, counted = [], []
        for chunk in chunks(len(row), self.place.shape[1] + self.pool.labels.shape[1]):
            at = row[chunk]
            place = self.place[at]
            marked = self.unknown[at] & (place > above[chunk, None]) & (place <= last[chunk, None])
            relevance = torch.where(marked, self.label[at], self.given.relevance[at])
            pool = self.pool.grown(at, self.label[at], (last - above)[chunk], self.count[at])
            value, counts = self.lists.values(at, relevance, pool)
            self.low.scatter_reduce_(0, at, torch.where(counts, value, torch.inf), "amin")
            self.high.scatter_reduce_(0, at, torch.where(counts, value, -torch.inf), "amax")
            self.ever.scatter_reduce_(0, at, counts.long(), "amax")
            self.always.scatter_reduce_(0, at, counts.long(), "amin")
            values.append(value)
            counted.append(counts)
        return torch.cat(values) if values else h.double(), torch.cat(counted) if counted else best

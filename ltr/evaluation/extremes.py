"""Worst and best case of a metric over the labels that nobody gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ltr.evaluation.answers import answers
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.padding import Doubles, Flags, Integers
from ltr.evaluation.relabelling import Relabelled, Trials, after_zero, check_top, in_reach, listed, ragged, top_label
from ltr.evaluation.sums import as_sum, climb, weights
from ltr.evaluation.tables import MetricValues, per_query
from ltr.gains import Binary
from ltr.metrics import Answer, RankingMetric, parse
from ltr.ranking import Pool

CASES = 1024  # labellings of a list up to which all are tried
FEWER = 130  # that are tried of more
MANY = 64  # unjudged documents in reach of a metric up to which they are told apart
GRADES = 8  # different labels that are tried
REACH = 3  # places that a threshold is moved up and down at once


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
    proven: Flags  # [Q] do no labels lead beyond low and high? Else they are the best that was found
    unjudged: int  # returned documents that nobody judged

    @cached_property
    def mean(self) -> Range:
        """The least and the largest mean over such labels; NaN over no list."""
        return mean_range(self.low, self.high, self.ever, self.always, self.values.weight)


def bounds(lists: RankedLists, metric: str | RankingMetric, top: float | None = None) -> Bounds:
    """The least and the largest value of the metric on each list over all labels, 0 to the top, of unjudged documents.

    They are then judged ones: they enter R and the ideal order, and no rule for unjudged documents applies. Of two of
    them the one that stands higher has the better label in the best case, the worse label in the worst case: to
    exchange labels so that the better document is on top never lowers a metric. Beyond that:

    - MRR, success and ERR never fall when a label rises: their ends come with all labels 0 and all at the top.
    - DCG, NDCG, precision, recall, F1 and RBP are sums over documents, over a divisor: their ends are found in a few
      steps, among labels 0, the top, and for graded ones those that somebody gave.
    - For other binary metrics and ARP labels 0 and the top are tried, for GradedAP those that somebody gave too, for
      pairs and tau also labels between these, one a document.

    All such labellings are tried where they are at most 1,024 and the metric can see at most 64 unjudged documents of
    the list. Of more some are tried, and those around the best and the worst: then ``proven`` is False, for an end may
    be missed by a little. So it is for a metric that does not say where its ends are (``known``). An end that comes as
    near as one likes, and is not reached, counts (DCG and ERR where only labels above 0 make the list count). Memory is
    bounded.

    Args:
        lists: with unjudged documents.
        metric: any, or its name.
        top: the highest label that they can have; None: the highest of the query. At least the threshold, or 1 where
            nothing is worth anything.

    Raises:
        ValueError: top is not a number above 0, lists are no ``RankedLists``, or as ``per_query`` and the metric say.

    Example:
        >>> lists = RankedLists.from_arrays([1, 0, 0], [0.1, 0.9, 0.5], judged=[True, False, True])
        >>> found = bounds(lists, "mrr")
        >>> found.low.tolist(), found.high.tolist(), found.proven.tolist()
        ([0.3333], [1.0], [True])
    """
    check_top(top)
    check_lists(lists=lists)
    metric = parse(metric)
    (values,) = per_query(lists, [metric])
    low, high = values.value.copy(), values.value.copy()
    ever, always = values.counted.copy(), values.counted.copy()
    proven = np.ones_like(ever)
    if lists.judged is None:
        return Bounds(values, low, high, ever, always, proven, 0)
    for queries, given in answers(values.lists):
        assert given.judged is not None
        some, tied = (given.mask & ~given.judged).any(1), torch.from_numpy(values.tied[queries])
        for rows in ((some & ~tied).nonzero()[:, 0], (some & tied).nonzero()[:, 0]):
            if len(rows):
                places, order = queries[rows.numpy()], listed(given)[rows]
                parts = (given.scores, given.relevance, given.mask, given.mask, given.judged)
                listing = Answer(*(each[rows].gather(1, order) for each in parts))
                found = _ends(metric, listing, given.pool("judged").rows(rows), top)
                for whole, part in zip((low, high, ever, always, proven), found, strict=True):
                    whole[places] = part.numpy()
    return Bounds(values, low, high, ever, always, proven, int((~lists.judged).sum()))


def check_lists(**given: object) -> None:
    """Raises ValueError when one of these is not what a system returned."""
    for name, lists in given.items():
        if not isinstance(lists, RankedLists):
            raise ValueError(f"{name}: wanted RankedLists (ltr.evaluation), got {type(lists).__name__}")


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


def _ends(metric: RankingMetric, given: Answer, pool: Pool, top: float | None) -> tuple[Tensor, ...]:
    """[B] low, high, ever, always and proven of lists in rank order."""
    assert given.judged is not None
    unknown = given.mask & ~given.judged
    system = Relabelled(metric, Answer(*given[:4], None), torch.where(unknown, unknown.cumsum(1), 0))
    trials = Trials(metric, [system], pool, unknown.sum(1), top_label(metric, pool, top))
    proven = explore(trials, torch.arange(len(unknown)), guess=True)
    return *trials.found(), proven


def explore(trials: Trials, rows: Tensor, *, guess: bool) -> Tensor:
    """[B] bool: of the lists ``rows`` [R] of one system, which have ends that no labels pass?

    Args:
        trials: of one system, which keep the ends.
        rows: the lists that are wanted.
        guess: are the others to be searched all the same?
    """
    metric, (system,) = trials.metric, trials.systems
    terms = None if system.moving else as_sum(metric)
    if terms is None:
        search = Search(trials)
        search.run(rows if guess else rows[search.proven[rows]])
        return search.proven
    pool, among, slots = trials.known, trials.real, trials.real.shape[1]
    if metric.ideal != "judged":
        pool = Pool(system.given.relevance, system.given.mask & (system.slot == 0))
        among = system.in_slots(system.slot > 0, slots)
    climb(trials, pool, terms, weights(metric, system, terms.place, slots), among)
    return torch.full_like(trials.real[:, 0], known(metric))


def cases(metric: RankingMetric, near: Integers) -> Doubles:
    """[Q] how many labellings ``bounds`` tries, at most, of lists with ``near`` [Q] unjudged documents in reach.

    Example:
        >>> [cases(each, np.array([0, 3, 500])).tolist() for each in (parse("ndcg"), parse("ap"), parse("tau"))]
        [[12.0, 12.0, 12.0], [2.0, 8.0, 262.0], [2.0, 512.0, 2048.0]]
    """
    two = isinstance(metric.document_gain, Binary) or metric.ends == "two"
    tried: Doubles = 2 * np.clip(near + 1.0, 0, FEWER + 1) if two else 2 * np.clip((near + 1.0) ** 4, 0, CASES)
    return np.full_like(tried, 12) if few(metric) else tried


def few(metric: RankingMetric) -> bool:
    """Are a few labellings all that ``bounds`` tries, however many unjudged documents there are?"""
    return metric.ends == "all" or as_sum(metric) is not None


def known(metric: RankingMetric) -> bool:
    """Is it known with which labels of unjudged documents the ends come? The metric's ``ends`` says so:

    - "all": all have label 0, or all the top one, for it never falls when a label rises;
    - "two": some have label 0 and some the top one, and so it is for all binary metrics;
    - "grades": some have labels of judged documents, for it is a sum over steps of the scale over another such sum;
    - "order": any labels, but only their order counts.

    All but "order" also hold for the difference of two systems whose divisor, if any, is the same.
    """
    two = isinstance(metric.document_gain, Binary)
    return two or (metric.ends is not None and not (metric.ends == "all" and metric.empty == "one"))


class Search:
    """The ends of one system's metric, among labels that never rise down the ranking, and such that never fall.

    Labels are told by thresholds: the m_l highest documents reach step l of a ladder of labels, or all but these do.
    What is out of the metric's reach counts for the pool alone, which is at its best when none of it is relevant and at
    its worst when all is.
    """

    def __init__(self, trials: Trials) -> None:
        (system,) = trials.systems
        metric, slots = trials.metric, trials.real.shape[1]
        self.trials, self.few = trials, metric.ends == "all"
        height = system.in_slots(torch.arange(system.slot.shape[1], 0, -1), slots)
        order = height.argsort(dim=1, descending=True, stable=True)
        self.place = torch.empty_like(order).scatter_(1, order, torch.arange(1, 1 + slots).expand_as(order))
        self.near = system.in_slots(in_reach(metric, system.given).long(), slots).sum(1)
        self.ladder, self.steps, whole = ladder(trials, self.near, lambda steps, near: near <= most_parts(steps, CASES))
        steps = range(1, int(self.steps.max()) + 1)
        most, some = (
            torch.tensor([most_parts(each, cases) for each in steps])[self.steps - 1] for cases in (CASES, FEWER)
        )
        self.parts = torch.where(self.near <= most, self.near, some).clamp(min=1)
        self.proven = known(metric) & whole & (self.few | (self.near <= most))

    def run(self, rows: Tensor) -> None:
        """Try the labels of the lists ``rows`` [R]."""
        for steps in set(self.steps[rows].tolist()):
            lists = rows[self.steps[rows] == steps]
            near, parts = self.near[lists, None], self.parts[lists, None]
            if self.few:  # all, none, or the lowest alone where the list needs one to count
                cuts, parts = torch.cat([0 * near, (near - 1).clamp(min=0), near], 1), torch.full_like(parts, 2)
            else:
                cuts = torch.arange(int(parts.max()) + 1) * near // parts
            row, turn = ragged(torch.tensor([comb(part + steps, steps) for part in range(cuts.shape[1])])[parts[:, 0]])
            m = cuts[row[:, None], torch.tensor(thresholds(steps, cuts.shape[1]))[turn]]
            gap = (near + parts - 1)[:, 0] // parts[:, 0]
            for sign in (-1, 1):
                worth = self._try(lists[row], m, sign)
                best = _first(row, worth, len(lists))
                if not self.few:
                    self._zoom(lists[row[best]], m[best], sign, gap[row[best]], worth[best])

    def _zoom(self, lists: Tensor, m: Tensor, sign: int, gap: Tensor, best: Tensor) -> None:
        """Move one threshold at a time of m [R, S] while that helps, by ``gap`` [R] places and then by fewer."""
        index = torch.arange(m.shape[1])
        moves = torch.cartesian_prod(index, torch.arange(-REACH, REACH + 1))
        live = gap > 1
        while live.any():
            lists, m, gap, best = (each[live] for each in (lists, m, gap, best))
            row = torch.arange(len(lists)).repeat_interleave(len(moves))
            which, move = moves.repeat(len(lists), 1).T[:, :, None]
            new = (m[row].gather(1, which) + move * gap[row, None]).clamp(min=0)
            new = torch.minimum(new, self.near[lists[row], None])
            pushed = torch.where(index < which, torch.maximum(m[row], new), torch.minimum(m[row], new))
            moved = torch.where(index == which, new, pushed)
            worth = self._try(lists[row], moved, sign)
            first = _first(row, worth, len(lists))
            rises, m = worth[first] > best, moved[first]
            live, best = rises | (gap > 1), worth[first]
            gap = torch.where(rises, gap, (gap + REACH) // (REACH + 1))

    def _try(self, at: Tensor, m: Tensor, sign: int) -> Tensor:
        """[C] sign * value of the lists ``at`` under thresholds m [C, S], -inf where they do not count.

        Labels fall down the ranking for the best value, and rise for the worst.
        """
        falls = (sign > 0) == self.trials.metric.larger_is_better

        def labels(chunk: slice) -> Tensor:
            reached = (self.place[at[chunk]][:, :, None] <= m[chunk][:, None]).sum(2)
            return self.ladder[at[chunk]].gather(1, reached if falls else m.shape[1] - reached)

        value, counts = self.trials.tried(at, labels, depth=m.shape[1])
        return torch.where(counts, sign * value, -torch.inf)


def ladder(trials: Trials, near: Tensor, fits: Callable[[int, int], bool]) -> tuple[Tensor, Tensor, Tensor]:
    """([B, S + 1] rising labels that unjudged documents are given, [B] steps between them, [B] are those all it takes?)

    Args:
        trials: of B lists.
        near: [B] documents that get them.
        fits: are so many steps not too many for so many documents?
    """
    metric, top = trials.metric, trials.top
    if isinstance(metric.document_gain, Binary) or metric.ends in ("all", "two"):
        return after_zero(top), torch.ones_like(near), torch.ones_like(near, dtype=torch.bool)
    rising = torch.cat([torch.zeros_like(top), torch.minimum(trials.pool.labels, top).flip(1), top], 1)
    index = after_zero((rising.diff(dim=1) > 0).cumsum(1))
    labels, steps = torch.zeros_like(rising).scatter_(1, index, rising), index[:, -1]
    whole = steps < GRADES
    pick = torch.arange(GRADES) * steps[:, None].clamp(min=GRADES - 1) // (GRADES - 1)
    labels, steps = labels.gather(1, torch.minimum(pick, steps[:, None])), steps.clamp(max=GRADES - 1)
    if metric.ends == "order":  # of labels between two others, each document can have its own
        each = zip(steps.tolist(), near.tolist(), strict=True)
        parts = 1 + torch.tensor([many if fits(step * (1 + many), many) else 1 for step, many in each])
        place = torch.arange(int((steps * parts).max()) + 1)
        below = torch.minimum(place // parts[:, None], steps[:, None] - 1)
        share = (place - below * parts[:, None]) / parts[:, None]
        labels = torch.lerp(labels.gather(1, below), labels.gather(1, below + 1), share.to(labels.dtype))
        whole, steps = whole & (parts > near), steps * parts
    return labels, steps, whole


@cache
def most_parts(steps: int, cases: int) -> int:
    """How many parts documents can be told apart in, at least 1, so that there are no more labellings than that."""
    return next(parts for parts in range(MANY, 0, -1) if parts == 1 or comb(parts + steps, steps) <= cases)


@cache
def thresholds(steps: int, cuts: int) -> list[tuple[int, ...]]:
    """The ways to choose so many of the cuts, each from the last to the first; those of fewer cuts stand first."""
    return sorted((each[::-1] for each in combinations_with_replacement(range(cuts), steps)), key=max)


def _first(row: Tensor, value: Tensor, rows: int) -> Tensor:
    """Where the largest value [C] of each row stands, for those that have one above -inf."""
    largest = torch.full((rows,), -torch.inf, dtype=value.dtype).scatter_reduce(0, row, value, "amax")
    hit = ((value == largest[row]) & (value > -torch.inf)).nonzero()[:, 0]
    first = torch.full((rows,), -1).scatter_reduce(0, row[hit], hit, "amax")
    return first[first >= 0]

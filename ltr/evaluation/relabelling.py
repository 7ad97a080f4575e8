"""The same ranked lists under labels that change: what worst and best cases are searched with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from numbers import Real

import torch
from torch import Tensor

from ltr.evaluation.answers import CELLS, with_pool
from ltr.evaluation.tables import measured
from ltr.gains import Binary
from ltr.metrics import Answer, RankingMetric
from ltr.order import rank_order
from ltr.ranking import Pool, Ranking, RankOrder, exact_ranking


class Relabelled:
    """B lists whose documents keep their ranks, all of them judged now.

    Args:
        metric: any.
        given: the lists, with the documents of each in the order of ``listed``.
        slot: [B, L] which of the query's unjudged documents each one is, from 1; 0 for one that somebody judged.
    """

    def __init__(self, metric: RankingMetric, given: Answer, slot: Tensor) -> None:
        self.metric, self.given, self.slot = metric, given, slot
        scores, mask = given.scores, given.mask
        tied = bool(((scores[:, 1:] == scores[:, :-1]) & mask[:, 1:]).any())
        self.moving = tied and metric.ties in ("worst", "best")  # do ranks hang on labels?
        self.slow = self.moving or not bool(mask.any(1).all())
        blocks = tied and metric.ties == "average"
        self.ranking: Ranking = exact_ranking(scores, mask) if blocks else RankOrder(mask)

    def values(self, at: Tensor, relevance: Tensor, pool: Pool) -> tuple[Tensor, Tensor]:
        """[C] the values of the lists ``at`` with these labels [C, L] and pools, and which of them count.

        That is said by the rule ``empty``; under "error" what it would refuse does not count.
        """
        metric, mask = self.metric, self.given.mask[at]
        if self.slow:
            given = Answer(self.given.scores[at], relevance, mask, mask, None)
            value, defined = measured([metric], with_pool(given, pool))[0]
        else:
            pool = Pool(relevance, mask) if metric.ideal == "retrieved" else pool
            ranking = Ranking(self.ranking.position[at], self.ranking.block[at], mask, pool=pool)
            if self.ranking.untied:
                ranking = RankOrder(mask, pool=pool).cut(metric.k if metric.windowed else None)
                relevance = relevance[:, : ranking.mask.shape[1]]
            defined = metric.answered(ranking, relevance)
            value = torch.where(defined, metric.of(ranking, relevance), 0)
        return (value, defined) if metric.empty == "error" else metric.settle(value, defined)

    def in_slots(self, values: Tensor, slots: int) -> Tensor:
        """[B, U] the values [B, L] of the unjudged documents, 0 for those that this system did not return."""
        found = values.new_zeros(len(self.slot), slots + 1)
        return found.scatter_(1, self.slot, values.expand_as(self.slot))[:, 1:]


class Trials:
    """B queries whose U unjudged documents are given labels, and the ends of what comes of it.

    That is the value of one system, or the difference of two: a document that both returned has one label, and each
    document enters R and the ideal order of both.

    Args:
        metric: any.
        systems: one or two.
        pool: what is judged.
        count: [B] unjudged documents.
        top: [B, 1] the label that they can have at most.
    """

    def __init__(
        self, metric: RankingMetric, systems: list[Relabelled], pool: Pool, count: Tensor, top: Tensor
    ) -> None:
        self.metric, self.systems, self.known, self.count, self.top = metric, systems, pool, count, top
        self.pool = GrowingPool(pool)
        self.real = torch.arange(int(count.max())) < count[:, None]  # [B, U]
        self.width = sum(each.slot.shape[1] for each in systems) + pool.mask.shape[1] + 2 * self.real.shape[1]
        self.low, self.high = (torch.full(count.shape, end, dtype=torch.float64) for end in (torch.inf, -torch.inf))
        self.ever, self.always = torch.zeros_like(count), torch.ones_like(count)
        # Where nothing is worth anything, such a value comes as near to 0 as one likes: labels can be that small.
        self.shrinks = metric.ends == "all" and not isinstance(metric.document_gain, Binary)

    def tried(self, at: Tensor, labels: Callable[[slice], Tensor], depth: int = 1) -> tuple[Tensor, Tensor]:
        """[C] what comes of some labels in the lists ``at``, and whether it counts; the ends are kept.

        Args:
            at: [C].
            labels: of a part of the C, [c, U]; those of documents that are not there are not read.
            depth: numbers that are held for each document while labels are made.
        """
        values, counted = [], []
        for chunk in chunks(len(at), self.width * depth):
            here, given = at[chunk], torch.where(self.real[at[chunk]], labels(chunk), 0)
            pool = self.pool.grown(here, given, self.count)
            column = after_zero(given)
            found = []
            for each in self.systems:
                slot = each.slot[here]
                relevance = torch.where(slot > 0, column.gather(1, slot), each.given.relevance[here])
                found.append(each.values(here, relevance, pool))
            value, counts = found[0]
            for other, others in found[1:]:
                value, counts = value - other, counts & others
            known = counts | (self.shrinks & ~torch.stack([each for _, each in found]).any(0))
            self.low.scatter_reduce_(0, here, torch.where(known, value, torch.inf), "amin")
            self.high.scatter_reduce_(0, here, torch.where(known, value, -torch.inf), "amax")
            self.ever.scatter_reduce_(0, here, counts.long(), "amax")
            self.always.scatter_reduce_(0, here, counts.long(), "amin")
            values.append(value)
            counted.append(counts)
        if not values:
            return torch.zeros(0, dtype=torch.float64), torch.zeros(0, dtype=torch.bool)
        return torch.cat(values), torch.cat(counted)

    def found(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """[B] low and high, 0 for a list that never counts; does it count under some labels, and under all?"""
        ever = self.ever > 0
        return torch.where(ever, self.low, 0), torch.where(ever, self.high, 0), ever, self.always > 0


class GrowingPool:
    """The pools of B lists, to which documents are added that somebody judges.

    Args:
        pool: what is judged.
    """

    def __init__(self, pool: Pool) -> None:
        self.labels, self.size, self.top = pool.ideal(None)[0], pool.size, pool.top

    def grown(self, at: Tensor, labels: Tensor, count: Tensor) -> Pool:
        """The pools ``at`` [C] and ``count`` [B] more documents, whose labels [C, U] are 0 from there on."""
        known, more = self.labels[at], count[at][:, None]
        highest = labels.amax(1, keepdim=True)
        if bool(((labels > 0) & ((labels < highest) | (labels < self.top[at]))).any()):
            places = torch.arange(known.shape[1]) < self.size[at], torch.arange(labels.shape[1]) < more
            return Pool(torch.cat([known, labels], 1), torch.cat(places, 1))
        width, marked = known.shape[1], (labels > 0).sum(1, keepdim=True)
        place = torch.arange(width + labels.shape[1])
        behind = place - marked
        sorted_labels = known.gather(1, behind.clamp(0, width - 1)) * (behind < width)
        return _Falling(torch.where(behind < 0, highest, sorted_labels), place < self.size[at] + more)


class _Falling(Pool):
    """A pool whose labels never rise from left to right, so that nobody need sort them."""

    @cached_property
    def falling(self) -> Tensor:
        return torch.where(self.mask, -self.relevance, 1)


def listed(given: Answer) -> Tensor:
    """[B, L] the documents of each list in the order of their ranks, those with equal scores as they stand."""
    return rank_order(given.scores, given.mask, "stable")[0]


def check_top(top: object) -> None:
    """Raises ValueError when the declared top label is not a number above 0."""
    if top is not None and (isinstance(top, bool) or not isinstance(top, Real) or not 0 < float(top) < float("inf")):
        raise ValueError(f"top: wanted a label above 0, got {top!r}")


def top_label(metric: RankingMetric, pool: Pool, top: float | None) -> Tensor:
    """[B, 1] the highest label that an unjudged document can have."""
    label = pool.top if top is None else torch.full_like(pool.top, top)
    gain = metric.document_gain
    return label.clamp(min=gain.threshold) if isinstance(gain, Binary) else torch.where(label > 0, label, 1.0)


def in_reach(metric: RankingMetric, given: Answer) -> Tensor:
    """[B, L] which documents can stand where the metric looks: all, unless it looks at the first k alone."""
    k = metric.k
    if k is None or not metric.windowed or k >= given.mask.shape[1]:
        return given.mask
    scores = torch.where(given.mask, given.scores, -torch.inf)
    return given.mask & (scores >= scores.topk(k, dim=1).values[:, -1:])


def chunks(count: int, width: int) -> Iterator[slice]:
    """``count`` lists of this width in parts that are within CELLS."""
    step = max(1, CELLS // max(1, width))
    for start in range(0, count, step):
        yield slice(start, start + step)


def ragged(size: Tensor) -> tuple[Tensor, Tensor]:
    """([C] the list, [C] the number within it) of ``size`` [B] things each."""
    at = torch.arange(len(size)).repeat_interleave(size)
    return at, torch.arange(len(at)) - (size.cumsum(0) - size)[at]


def after_zero(values: Tensor) -> Tensor:
    """[B, 1 + L] the values [B, L] after a 0."""
    return torch.cat([torch.zeros_like(values[:, :1]), values], 1)

"""Two systems on the same judgements: could the labels that nobody gave turn their order?"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ltr.evaluation.answers import CELLS, tensor_of
from ltr.evaluation.extremes import MANY, Range, mean_range
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.padding import Doubles, Integers, batches_by_width, padded
from ltr.evaluation.relabelling import GrowingPool, Relabelled, check_top, chunks, in_reach, listed, top_label
from ltr.evaluation.tables import per_query
from ltr.metrics import DCG, F1, NDCG, RBP, Answer, Precision, RankingMetric, Recall
from ltr.ranking import Pool

FEW = 8  # unjudged documents of a query of which all combinations are tried
SAME = 1e-12


class Turn(NamedTuple):
    """What may become of the difference of two systems' means once the unjudged documents are judged."""

    metric: str
    difference: float  # first minus second, as judged
    reached: Range  # differences that some labels bring about
    limits: Range  # differences beyond which no labels lead; the same where every list could be worked out
    unjudged: int  # documents that at least one of the two returned

    @property
    def turns(self) -> bool | None:
        """Do some labels turn the order? None where that is not known."""
        return True if self._other_side(self.reached) else False if not self._other_side(self.limits) else None

    def sentence(self, first: str = "the first", second: str = "the second") -> str:
        """The verdict in words.

        Example:
            >>> print(Turn("ap", 0.02, Range(-0.01, 0.05), Range(-0.01, 0.05), 40).sentence("a", "b"))
            ap: a - b is +0.0200; 40 unjudged documents leave room for -0.0100 to +0.0500 and could turn the order.
        """
        verdict = {True: "could turn the order", False: "cannot turn the order", None: "may turn the order"}[self.turns]
        room = self.limits if self.turns is not True else self.reached
        return (
            f"{self.metric}: {first} - {second} is {self.difference:+.4f}; {self.unjudged} unjudged documents "
            f"leave room for {room.low:+.4f} to {room.high:+.4f} and {verdict}."
        )

    def _other_side(self, room: Range) -> bool:
        return (self.difference >= 0 and room.low < -SAME) or (self.difference <= 0 and room.high > SAME)


def could_turn(first: RankedLists, second: RankedLists, metric: RankingMetric, top: float | None = None) -> Turn:
    """The room for the difference of two systems' means over all labels, 0 or the top one, of unjudged documents.

    A document that both returned has one label, and each labelled document enters R and the ideal order of both.
    Queries that only one of them has do not count. For each query:

    - DCG, NDCG, precision, recall, F1 and RBP are sums over documents, over a divisor that only the number of
      relevant ones moves. So the m documents that gain the first most, less what they gain the second, are marked,
      for every m: these ends are exact.
    - Otherwise, where at most 8 unjudged documents are in reach of the metric, all combinations are tried: exact.
    - Otherwise the limits are the first's worst case less the second's best, and the other way round, as if a document
      that both returned could have two labels; what is reached is the best that was found.
    - Where more than 64 unjudged documents are in reach, and for R-precision and bpref, which more relevant documents
      can raise or lower, there are no limits but those of the metric.

    Args:
        first, second: on the same judgements, with document ids.
        metric: any.
        top: the label that unjudged documents can have; None: the highest of the query, as for ``bounds``.

    Raises:
        ValueError: no query in common, other judgements, no document ids, or as ``per_query`` says.

    Example:
        >>> from ltr.metrics import parse
        >>> a = RankedLists.from_arrays([1, 0], [2.0, 1.0], documents=["x", "new"], judged=[True, False])
        >>> b = RankedLists.from_arrays([0, 1], [2.0, 1.0], documents=["new", "x"], judged=[False, True])
        >>> could_turn(a, b, parse("mrr")).reached  # with "new" relevant, both are right at once
        Range(low=0.0, high=0.5)
    """
    check_top(top)
    first, second = _common(first, second)
    pool, pool_offsets = _same_judgements(first, second)
    ours, theirs = (per_query(lists, [metric])[0] for lists in (first, second))
    slots, union = _union(ours.lists, theirs.lists)
    ever, always = (ours.counted & theirs.counted for _ in range(2))
    low, high, least, most = (ours.value - theirs.value for _ in range(4))
    difference = mean_range(low, high, ever, always, first.weight).low

    unjudged = np.diff(union)
    tied = ours.tied | theirs.tied
    for queries in (np.flatnonzero((unjudged > 0) & each) for each in (~tied, tied)):
        width = np.maximum(first.lengths, second.lengths)[queries]
        for part in (queries[places] for places in batches_by_width(width, CELLS)):
            sides = [
                _Side(metric, lists, slot, part) for lists, slot in zip((ours.lists, theirs.lists), slots, strict=True)
            ]
            (labels,), real = padded([pool], pool_offsets, part)
            pair = _Pair(metric, sides, Pool(tensor_of(labels), tensor_of(real)), torch.from_numpy(unjudged[part]), top)
            for whole, each in zip((low, high, least, most, ever, always), pair.explored(), strict=True):
                whole[part] = each.numpy()
    return Turn(
        metric.name,
        difference,
        mean_range(low, high, ever, always, first.weight),
        mean_range(least, most, ever, always, first.weight),
        int(union[-1]),
    )


class _Side:
    """What one system returned for B queries, in rank order."""

    def __init__(self, metric: RankingMetric, lists: RankedLists, slot: Integers, queries: Integers) -> None:
        columns, mask = padded([lists.score, lists.relevance, slot], lists.offsets, queries)
        scores, relevance, place, real = (tensor_of(each) for each in (*columns, mask))
        order = listed(Answer(scores, relevance, real, real, None))
        scores, relevance, place, real = (each.gather(1, order) for each in (scores, relevance, place, real))
        self.given = Answer(scores, relevance, real, real, None)
        self.slot = place  # [B, L] the place of an unjudged document among those of both systems, from 1; 0 for others
        self.lists = Relabelled(metric, self.given)


class _Pair:
    """B queries of two systems, and all that is tried on their U unjudged documents."""

    def __init__(self, metric: RankingMetric, sides: list[_Side], pool: Pool, count: Tensor, top: float | None) -> None:
        self.metric, self.sides, self.pool, self.count = metric, sides, GrowingPool(pool), count
        self.slots = torch.arange(int(count.max())) < count[:, None]  # [B, U]
        self.label = top_label(metric, pool, top)
        self.width = sum(side.slot.shape[1] for side in sides) + pool.mask.shape[1] + 2 * self.slots.shape[1]
        # the least and the largest difference, value of the first, and value of the second
        self.ends = [torch.full(count.shape, end, dtype=torch.float64) for end in 3 * (torch.inf, -torch.inf)]
        self.ever, self.always = torch.zeros_like(count), torch.ones_like(count)

    def explored(self) -> tuple[Tensor, ...]:
        """[B] reached low and high, low and high limit, ever and always."""
        near = [self._in_slots(in_reach(self.metric, side.given), side) > 0 for side in self.sides]
        ranks = [
            self._in_slots(torch.arange(side.slot.shape[1], 0, -1).expand_as(side.slot), side) for side in self.sides
        ]
        for rank, reach in zip(ranks, near, strict=True):
            self._cuts(rank, ~reach)
        either = (near[0] | near[1]) & self.slots
        few = either.sum(1) <= MANY
        place = [
            torch.where(rank > 0, side.slot.shape[1] + 1 - rank, torch.inf)
            for rank, side in zip(ranks, self.sides, strict=True)
        ]
        self._cuts(
            torch.where(few[:, None], self._probed(either & few[:, None], either), 1 / place[0] - 1 / place[1]), ~either
        )
        exact = few if self._linear() else self._combined(either)
        low, high, low_1, high_1, low_2, high_2 = self.ends
        if self.metric.pooled and not self.metric.windowed:
            few = torch.zeros_like(few)
        all_there_is = 1.0 if self.metric.bounded else torch.inf
        limits = torch.where(few, low_1 - high_2, -all_there_is), torch.where(few, high_1 - low_2, all_there_is)
        limits = torch.where(exact, low, limits[0]), torch.where(exact, high, limits[1])
        ever = self.ever > 0
        return *(torch.where(ever, each, 0) for each in (low, high, *limits)), ever, self.always > 0

    def _linear(self) -> bool:
        """Is the metric a sum over documents, over a divisor that both systems have in common or that is constant?"""
        metric = self.metric
        if metric.ties in ("worst", "best") or metric.ideal != "judged":
            return False
        if isinstance(metric, F1 | Recall) and metric.k is None:  # divided by the number of returned documents
            return isinstance(metric, Recall) and metric.divisor == "R"
        return type(metric) in (DCG, NDCG, Precision, Recall, F1, RBP)

    def _in_slots(self, values: Tensor, side: _Side) -> Tensor:
        """[B, U] the values [B, L] of a side's documents, 0 for those that it did not return."""
        found = torch.zeros(len(values), self.slots.shape[1] + 1, dtype=torch.int64)
        return found.scatter_(1, side.slot, values.long())[:, 1:]

    def _try(self, at: Tensor, marked: Tensor) -> Tensor:
        """[C] the differences of the lists ``at`` when these of their unjudged documents [C, U] are relevant; the ends
        are kept."""
        label = self.label[at]
        pool = self.pool.grown(at, label, marked.sum(1), self.count[at])
        column = torch.cat([torch.zeros_like(marked[:, :1]), marked], 1)
        found = []
        for side in self.sides:
            relevance = torch.where(column.gather(1, side.slot[at]), label, side.given.relevance[at])
            found.append(side.lists.values(at, relevance, pool))
        (one, one_counts), (two, two_counts) = found
        both = one_counts & two_counts
        for place, (value, counts) in enumerate(((one - two, both), (one, one_counts), (two, two_counts))):
            self.ends[2 * place].scatter_reduce_(0, at, torch.where(counts, value, torch.inf), "amin")
            self.ends[2 * place + 1].scatter_reduce_(0, at, torch.where(counts, value, -torch.inf), "amax")
        self.ever.scatter_reduce_(0, at, both.long(), "amax")
        self.always.scatter_reduce_(0, at, both.long(), "amin")
        return one - two

    def _cuts(self, key: Tensor, out: Tensor) -> None:
        """Try the m documents with the largest keys [B, U], and all but these, for all m.

        Among documents that are out of reach only their number counts, and its ends are enough. Of more numbers
        than MANY documents in reach have, some are tried.
        """
        key = torch.where(self.slots, key.double(), -torch.inf)
        order = key.argsort(dim=1, descending=True, stable=True)
        place = torch.empty_like(order).scatter_(1, order, torch.arange(order.shape[1]).expand_as(order))
        beyond = out.gather(1, order)
        edge = torch.zeros_like(beyond[:, :1])
        between = torch.cat([edge, beyond[:, 1:] & beyond[:, :-1], edge], 1)
        cut = torch.arange(order.shape[1] + 1)
        last = cut == self.count[:, None]
        wanted = (cut <= self.count[:, None]) & (~between | last)
        step = (wanted.sum(1, keepdim=True) / (2 * MANY + 2)).ceil()
        wanted &= (wanted.cumsum(1) % step == 0) | last | (cut == 0)
        at, m = wanted.nonzero().unbind(1)
        for chunk in chunks(len(at), self.width):
            above = (place[at[chunk]] < m[chunk, None]) & self.slots[at[chunk]]
            self._try(at[chunk], above)
            self._try(at[chunk], ~above & self.slots[at[chunk]])

    def _probed(self, wanted: Tensor, near: Tensor) -> Tensor:
        """[B, U] the difference when one of the wanted documents alone is relevant; those out of reach are alike."""
        out = self.slots & ~near
        sample = out & (out.cumsum(1) == 1)
        at, slot = (wanted | sample).nonzero().unbind(1)
        key = torch.zeros(self.slots.shape, dtype=torch.float64)
        for chunk in chunks(len(at), self.width):
            marked = torch.arange(self.slots.shape[1]) == slot[chunk, None]
            key[at[chunk], slot[chunk]] = self._try(at[chunk], marked)
        return torch.where(out, (key * sample).sum(1, keepdim=True), key)

    def _combined(self, near: Tensor) -> Tensor:
        """[B] bool: lists of which all combinations were tried."""
        many = near.sum(1)
        few = (many <= FEW) & ((many == self.count) | (self.metric.ideal == "judged"))
        size = torch.where(few, 2 ** (1 + many.clamp(max=FEW)), 0)
        at = torch.arange(len(size)).repeat_interleave(size)
        code = torch.arange(len(at)) - (size.cumsum(0) - size)[at]
        place = near.cumsum(1)  # bit 0 says what the documents out of reach are
        for chunk in chunks(len(at), self.width):
            rows = at[chunk]
            bit = torch.where(near[rows], place[rows], 0)
            self._try(rows, ((code[chunk, None] >> bit) & 1).bool() & self.slots[rows])
        return few


def _union(first: RankedLists, second: RankedLists) -> tuple[list[Integers], Integers]:
    """([N] of each: the place of an unjudged document among those of its query in both, from 1, else 0; [Q + 1])."""
    import polars as pl

    tables, rows = [], []
    for lists in (first, second):
        unjudged = np.flatnonzero(~lists.judged) if lists.judged is not None else np.zeros(0, np.int64)
        if len(unjudged) and lists.documents is None:
            raise ValueError(f"{lists.source}: wanted document ids, by which unjudged documents are matched")
        group = np.repeat(np.arange(len(lists.query_ids)), lists.lengths)[unjudged]
        ids = [] if lists.documents is None else np.asarray(lists.documents[unjudged]).tolist()
        tables.append(pl.DataFrame({"group": group, "document": pl.Series(ids, dtype=pl.String)}))
        rows.append(unjudged)
    both = pl.concat(tables)
    known = both.unique().sort("group", "document")
    place = both.join(known.with_row_index("place"), on=both.columns, how="left", maintain_order="left")["place"]
    offsets = np.searchsorted(known["group"].to_numpy(), np.arange(len(first.query_ids) + 1)).astype(np.int64)
    within = place.to_numpy().astype(np.int64) - offsets[both["group"].to_numpy()] + 1
    slots = []
    for lists, unjudged, start in ((first, rows[0], 0), (second, rows[1], len(rows[0]))):
        slot = np.zeros(len(lists.score), np.int64)
        slot[unjudged] = within[start : start + len(unjudged)]
        slots.append(slot)
    return slots, offsets


def _same_judgements(first: RankedLists, second: RankedLists) -> tuple[Doubles, Integers]:
    """The pool of both. Raises ValueError where they were judged in two ways."""
    pools = [_pool(lists) for lists in (first, second)]
    sizes, sums = np.diff([offsets for _, offsets in pools]), []
    for (labels, _), size in zip(pools, sizes, strict=True):
        sums.append(np.bincount(np.repeat(np.arange(len(size)), size), labels, len(size)))
    other = (sizes[0] != sizes[1]) | ~np.isclose(sums[0], sums[1])
    if other.any():
        query = first.query_ids[int(other.argmax())]
        raise ValueError(
            f"{first.source} and {second.source}: wanted the same judgements; those of query {query} differ"
        )
    return pools[0]


def _common(first: RankedLists, second: RankedLists) -> tuple[RankedLists, RankedLists]:
    """The queries of both, in the order of the first."""
    if first.query_ids == second.query_ids:
        return first, second
    place = {query: at for at, query in enumerate(second.query_ids)}
    both = [(at, place[query]) for at, query in enumerate(first.query_ids) if query in place]
    if not both:
        raise ValueError(f"{first.source} and {second.source}: no query in common")
    ours, theirs = np.array(both, dtype=np.int64).T
    return _selected(first, ours), _selected(second, theirs)


def _selected(lists: RankedLists, places: Integers) -> RankedLists:
    rows, offsets = _ranges(lists.offsets, places)
    pool, pool_offsets = lists.pool, lists.pool_offsets
    if pool is not None and pool_offsets is not None:
        labels, pool_offsets = _ranges(pool_offsets, places)
        pool = pool[labels]
    return replace(
        lists,
        query_ids=tuple(lists.query_ids[place] for place in places),
        offsets=offsets,
        score=lists.score[rows],
        relevance=lists.relevance[rows],
        weight=lists.weight[places],
        judged=None if lists.judged is None else lists.judged[rows],
        pool=pool,
        pool_offsets=pool_offsets,
        documents=None if lists.documents is None else lists.documents[rows],
        attributes={},
    )


def _ranges(offsets: Integers, places: Integers) -> tuple[Integers, Integers]:
    """The rows of some lists one after another, and their offsets there."""
    lengths = np.diff(offsets)[places]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return np.arange(ends[-1]) + np.repeat(offsets[places] - ends[:-1], lengths), ends


def _pool(lists: RankedLists) -> tuple[Doubles, Integers]:
    if lists.pool is not None and lists.pool_offsets is not None:
        return lists.pool, lists.pool_offsets
    known = np.ones(len(lists.score), np.bool_) if lists.judged is None else lists.judged
    return lists.relevance[known], np.concatenate([[0], np.cumsum(known)])[lists.offsets]

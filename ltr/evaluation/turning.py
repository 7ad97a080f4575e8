"""Two systems on the same judgements: could the labels that nobody gave turn their order?"""

from __future__ import annotations

from dataclasses import replace
from math import log2
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from ltr.evaluation.answers import CELLS, tensor_of
from ltr.evaluation.extremes import CASES, Range, check_lists, explore, known, ladder, mean_range
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.padding import Doubles, Integers, batches_by_width, padded
from ltr.evaluation.relabelling import Relabelled, Trials, check_top, in_reach, listed, ragged, top_label
from ltr.evaluation.sums import as_sum, climb, weights
from ltr.evaluation.tables import per_query
from ltr.gains import Binary
from ltr.metrics import Answer, RankingMetric, parse
from ltr.ranking import Pool

CUTS = 32  # numbers of relevant documents that are tried where not all labels are
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


def could_turn(first: RankedLists, second: RankedLists, metric: str | RankingMetric, top: float | None = None) -> Turn:
    """The room for the difference of two systems' means over all labels, 0 to the top, of unjudged documents.

    A document that both returned has one label, and each labelled document enters R and the ideal order of both.
    Queries that only one of them has do not count. For each query:

    - DCG, NDCG, precision, recall, F1 and RBP are sums over documents, over a divisor that both systems have in common:
      the ends are exact, as for ``bounds``.
    - Otherwise, where the labels that matter (as ``bounds`` says) make at most 1,024 cases, all are tried: exact, but
      not where each system has a divisor of its own and labels between matter (ARP; ``ideal="retrieved"``).
    - Otherwise the limits are the first's worst case less the second's best, and the other way round, as if a document
      that both returned could have two labels; what is reached is the best that was found.
    - Where ``bounds`` cannot prove these, and for R-precision and bpref, which more relevant documents can raise or
      lower, there are no limits but those of the metric.

    Args:
        first, second: on the same judgements, with document ids.
        metric: any, or its name.
        top: the highest label that unjudged documents can have; None: the highest of the query, as for ``bounds``.

    Raises:
        ValueError: no query in common, other judgements, no document ids, or as ``bounds`` says.

    Example:
        >>> a = RankedLists.from_arrays([1, 0], [2.0, 1.0], documents=["x", "new"], judged=[True, False])
        >>> b = RankedLists.from_arrays([0, 1], [2.0, 1.0], documents=["new", "x"], judged=[False, True])
        >>> could_turn(a, b, "mrr").reached  # with "new" relevant, both are right at once
        Range(low=0.0, high=0.5)
    """
    check_top(top)
    check_lists(first=first, second=second)
    metric = parse(metric)
    first, second = _common(first, second)
    pool, pool_offsets = _same_judgements(first, second)
    ours, theirs = (per_query(lists, [metric])[0] for lists in (first, second))
    slots, union = _union(ours.lists, theirs.lists)
    apart, both = ours.value - theirs.value, ours.counted & theirs.counted
    limits, reached = ((apart.copy(), apart.copy(), both.copy(), both.copy()) for _ in range(2))

    unjudged = np.diff(union)
    tied = ours.tied | theirs.tied
    for queries in (np.flatnonzero((unjudged > 0) & each) for each in (~tied, tied)):
        width = np.maximum(first.lengths, second.lengths)[queries]
        for part in (queries[places] for places in batches_by_width(width, CELLS)):
            systems = [
                _ranked(metric, lists, slot, part)
                for lists, slot in zip((ours.lists, theirs.lists), slots, strict=True)
            ]
            (labels,), real = padded([pool], pool_offsets, part)
            known = Pool(tensor_of(labels), tensor_of(real))
            count = torch.from_numpy(unjudged[part])
            trials = Trials(metric, systems, known, count, top_label(metric, known, top))
            for ends, found in zip((limits, reached), _room(trials), strict=True):
                for whole, each in zip(ends, found, strict=True):
                    whole[part] = each.numpy()
    return Turn(
        metric.name,
        mean_range(apart, apart, both, both, first.weight).low,
        mean_range(*reached, first.weight),
        mean_range(*limits, first.weight),
        int(union[-1]),
    )


def _ranked(metric: RankingMetric, lists: RankedLists, slot: Integers, queries: Integers) -> Relabelled:
    """What one system returned for B queries, in rank order."""
    columns, mask = padded([lists.score, lists.relevance, slot], lists.offsets, queries)
    scores, relevance, place, real = (tensor_of(each) for each in (*columns, mask))
    order = listed(Answer(scores, relevance, real, real, None))
    scores, relevance, place, real = (each.gather(1, order) for each in (scores, relevance, place, real))
    return Relabelled(metric, Answer(scores, relevance, real, real, None), place)


class _Ends(NamedTuple):
    """Of B queries."""

    low: Tensor
    high: Tensor
    ever: Tensor  # does the query count under some labels?
    always: Tensor  # under all?


def _room(trials: Trials) -> tuple[_Ends, _Ends]:
    """The limits of the difference of two systems, and what is reached."""
    metric, (one, two), slots = trials.metric, trials.systems, trials.real.shape[1]
    terms = None if one.moving or two.moving else as_sum(metric)
    exact = torch.full_like(trials.count, known(metric), dtype=torch.bool)
    if terms is not None and not terms.own:
        apart = weights(metric, one, terms.place, slots) - weights(metric, two, terms.place, slots)
        climb(trials, trials.known, terms, apart, trials.real)
    else:
        tried = _combined(trials)
        exact &= tried & _settled(metric, one.moving or two.moving)
        _cuts(trials, (~tried).nonzero()[:, 0])
    reached = _Ends(*trials.found())
    if exact.all():
        return reached, reached
    (low, high, ever, always, sure), other = (_alone(trials, each, (~exact).nonzero()[:, 0]) for each in (one, two))
    sure, wide = sure & other[-1], 1.0 if metric.bounded else torch.inf
    alone = _Ends(low - other[1], high - other[0], ever & other[2], always & other[3])
    widest = _Ends(*(torch.full_like(each, end) for each, end in zip(alone, (-wide, wide, True, True), strict=True)))
    limits = zip(reached, alone, widest, strict=True)
    return _Ends(*(torch.where(exact, a, torch.where(sure, b, c)) for a, b, c in limits)), reached


def _alone(trials: Trials, system: Relabelled, rows: Tensor) -> tuple[Tensor, ...]:
    """[B] low, high, ever and always of one of the two systems in the lists ``rows``, and do no labels lead further?"""
    metric = trials.metric
    alone = Trials(metric, [system], trials.known, trials.count, trials.top)
    proven = explore(alone, rows, guess=False)
    if metric.pooled and not metric.windowed:  # what it did not return can raise it or lower it
        proven = proven & ((system.slot > 0).sum(1) == trials.count)
    return *alone.found(), proven


def _settled(metric: RankingMetric, moving: bool) -> bool:
    """Have differences their ends at the labels at which each of the two values has?"""
    own, two = not metric.pooled or metric.ideal != "judged", metric.ends in ("all", "two")
    return isinstance(metric.document_gain, Binary) or metric.ends == "order" or not (own or (moving and two))


def _combined(trials: Trials) -> Tensor:
    """[B] bool: the lists of which all labels were tried that documents in reach of the metric can have.

    The others are all of label 0 or all of the top one: they count for a divisor in common alone.
    """
    slots = trials.real.shape[1]
    seen = [each.in_slots(in_reach(trials.metric, each.given), slots) for each in trials.systems]
    near = trials.real & torch.stack(seen).any(0)
    many = near.sum(1)
    beyond = many < trials.count
    rungs, steps, whole = ladder(trials, many, lambda steps, many: many < 10 and 2 * (1 + steps) ** many <= CASES)
    few = whole & (many * (1.0 + steps).log2() <= log2(CASES / 2)) & ~(beyond & (trials.metric.ideal != "judged"))
    size = torch.where(few, (1 + steps) ** torch.where(few, many, 0) * (1 + beyond.long()), 0)
    at, code = ragged(size)
    place, base = near.cumsum(1) - 1, 1 + steps

    def labels(chunk: slice) -> Tensor:
        here = at[chunk]
        turn = torch.where(beyond[here], code[chunk] // 2, code[chunk])[:, None]
        digit = turn // base[here, None] ** torch.where(near[here], place[here], 0) % base[here, None]
        rung = torch.where(near[here], digit, code[chunk, None] % 2 * steps[here, None])
        return rungs[here].gather(1, rung)

    trials.tried(at, labels)
    return few


def _cuts(trials: Trials, rows: Tensor) -> None:
    """Try the m documents that stand highest in the first and lowest in the second, and all but these, for some m."""
    count, slots = trials.count[rows], trials.real.shape[1]
    row, turn = ragged(count.clamp(max=CUTS) + 1)
    m = (turn * count[row] // count[row].clamp(max=CUTS)).repeat(2)
    at, above = rows[row].repeat(2), torch.arange(2 * len(row)) < len(row)
    deepest = max(each.slot.shape[1] for each in trials.systems)
    rank = torch.arange(1.0, 1 + deepest)
    for height in (1 / rank, 1 + deepest - rank):  # documents on top weigh most, or all places alike
        one, two = (each.in_slots(height[: each.slot.shape[1]], slots) for each in trials.systems)
        order = torch.where(trials.real, one - two, -torch.inf).argsort(dim=1, descending=True, stable=True)
        place = torch.empty_like(order).scatter_(1, order, torch.arange(slots).expand_as(order))

        def labels(chunk: slice, place: Tensor = place) -> Tensor:
            marked = (place[at[chunk]] < m[chunk, None]) == above[chunk, None]
            return torch.where(marked, trials.top[at[chunk]], 0)

        trials.tried(at, labels)


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

"""Which of several systems is better on one metric, and what that hangs on: chance, labels nobody gave, ties, gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltr.evaluation import Evaluation, Interval, MetricValues, Turn, could_turn, interval, paired_t
from ltr.evaluation.notes import all_of, tie_range
from ltr.evaluation.paired import ALPHA, SAME
from ltr.gap.numbers import counted, number, span
from ltr.report.layout import Block, too_few
from ltr.report.unjudged import Budget

RIVALS = 5  # systems that the best one is held against


class Rival(NamedTuple):
    """The best system's values less those of another, on the lists that count for both."""

    name: str
    values: MetricValues
    lists: int
    difference: float
    interval: Interval  # 95 %
    p: float  # of a paired t-test; NaN where lists are weighted, for which there is none
    won: tuple[int, int, int]  # lists that the best one won, tied, lost
    turn: Turn | None  # what unjudged documents could do; None: there are none, or too many to tell
    unknown: bool  # are they too many to tell?


def standing(systems: Mapping[str, Evaluation], budget: Budget) -> tuple[list[Block], list[str]]:
    """The best system by the first metric against the next ones, as a table and as sentences; nothing about one alone.

    Args:
        systems: name -> what was found; the same metrics for all.
        budget: what may still be spent on cases of unjudged documents.
    """
    values = {name: table.values[0] for name, table in systems.items() if _mean(table.values[0]) is not None}
    if len(values) < 2:
        return [], []
    table = next(iter(systems.values()))
    metric = table.values[0].metric
    title = metric.name if table.aggregate == "mean" else f"mean {metric.name}"
    sign = -1.0 if metric.larger_is_better else 1.0
    best, *others = sorted(values, key=lambda name: sign * (_mean(values[name]) or 0.0))
    rivals = [
        found for name in others[:RIVALS] if (found := _against(values[best], name, values[name], budget)) is not None
    ]
    rows = [
        (
            each.name,
            {
                "difference": number(each.difference, sign=True),
                "95 % interval": span(*each.interval[:2], sign=True),
                "won/tied/lost": "/".join(map(str, each.won)),
                "if all were judged": _room(each),
            },
        )
        for each in rivals
    ]
    left = len(others) - len(rivals)
    sentences = [
        *([f"{counted(left, 'more system')} {'stands' if left == 1 else 'stand'} further behind."] if left > 0 else []),
        *_shared_by(values[best], rivals),
        *_chance(best, rivals, len(values) * (len(values) - 1) // 2),
        *_judgements(best, rivals),
        *_ties(best, values[best], rivals),
        *_gaps(best, values[best], rivals),
    ]
    return [Block(f"{title}, {best} minus", rows)], sentences if rivals else []


def _against(best: MetricValues, name: str, other: MetricValues, budget: Budget) -> Rival | None:
    ours, theirs = _shared(best, other)
    if not len(ours):
        return None
    difference, weight = best.value[ours] - other.value[theirs], best.weight[ours]
    p = np.nan if np.ptp(weight) else paired_t(difference).p
    if np.ptp(difference) <= SAME < abs(difference[0]):  # the same difference on each list
        p = 0.0
    better = difference if best.metric.larger_is_better else -difference
    unjudged = best.lists.judged is not None or other.lists.judged is not None
    affordable = unjudged and budget.allows(best.metric, best.lists, other.lists)
    return Rival(
        name,
        other,
        len(difference),
        float(np.average(difference, weights=weight)),
        interval(difference, weight),
        p,
        (int((better > SAME).sum()), int((np.abs(better) <= SAME).sum()), int((better < -SAME).sum())),
        could_turn(best.lists, other.lists, best.metric) if affordable else None,
        unjudged and not affordable,
    )


def _shared_by(best: MetricValues, rivals: Sequence[Rival]) -> Iterator[str]:
    """Which pairs were not compared on all lists that count?"""
    fewer = [
        f"{each.lists} for {each.name}"
        for each in rivals
        if each.lists < max(int(values.counted.sum()) for values in (best, each.values))
    ]
    if fewer:
        yield f"Compared on the lists that count for both: {all_of(fewer)}."


def _chance(best: str, rivals: Sequence[Rival], pairs: int) -> Iterator[str]:
    """What another draw of queries could do."""
    fewest = min((each.lists for each in rivals), default=0)
    if few := too_few(fewest):
        yield few
        return
    if any(np.isnan(each.p) for each in rivals):
        yield "Weighted lists have no test here: the intervals alone say how far two stand apart."
        return
    apart = [each.name for each in rivals if each.p * pairs < ALPHA]
    level = [each.name for each in rivals if each.name not in apart]
    how = "by a paired t-test" + (f", corrected for {pairs} pairs (Bonferroni)" if pairs > 1 else "")
    if apart:
        yield f"{best} stands apart from {all_of(apart)} on queries like these, {how}."
    if level:
        yield f"These {fewest} lists do not tell {best} from {all_of(level)}" + (f", {how}." if not apart else ".")


def _judgements(best: str, rivals: Sequence[Rival]) -> Iterator[str]:
    """What the labels that nobody gave could do."""
    could = [each.name for each in rivals if each.turn and each.turn.turns]
    may = [each.name for each in rivals if each.turn and each.turn.turns is None]
    unknown = [each.name for each in rivals if each.unknown]
    if could:
        yield (
            f"Labels for the unjudged documents could put {all_of(could)} level with {best} or ahead: judge those "
            "documents before you decide."
        )
    if may:
        yield f"Labels for the unjudged documents may put {all_of(may)} ahead of {best}: no such labels were found."
    if unknown:
        yield (
            f"Whether unjudged documents could turn {best} against {all_of(unknown)} was not worked out: there are too "
            "many."
        )


def _ties(best: str, values: MetricValues, rivals: Sequence[Rival]) -> Iterator[str]:
    """Does the order of documents with equal scores decide?"""
    ours: tuple[float, float] | None = None
    for each in rivals:
        if not (values.tied.any() or each.values.tied.any()):
            continue
        ours = tie_range(values) if ours is None else ours
        theirs = tie_range(each.values)
        if ours and theirs and each.difference and ours[0] <= theirs[1] and theirs[0] <= ours[1]:
            yield (
                f"The order of documents with equal scores could turn {best} ({_ends(ours)}) and {each.name} "
                f"({_ends(theirs)})."
            )


def _gaps(best: str, values: MetricValues, rivals: Sequence[Rival]) -> Iterator[str]:
    """Do queries that one of the two lacks decide?"""
    sign = 1 if values.metric.larger_is_better else -1
    for each in rivals:
        ours, theirs = _shared(values, each.values)
        there = (values.lists.lengths[ours] > 0) & (each.values.lists.lengths[theirs] > 0)
        if there.all() or not there.any() or not values.weight[ours][there].any():
            continue
        weight = values.weight[ours][there]
        mine = float(np.average(values.value[ours][there], weights=weight))
        other = float(np.average(each.values.value[theirs][there], weights=weight))
        if sign * (mine - other) < 0:
            both = counted(int(there.sum()), "list")
            yield (
                f"Missing queries decide: on the {both} that both answered, {each.name} has "
                f"{number(other)} and {best} {number(mine)}."
            )


def _shared(one: MetricValues, other: MetricValues) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the lists that count for both, in the one and in the other."""
    if one.query_ids == other.query_ids:
        both = np.flatnonzero(one.counted & other.counted & (one.weight > 0))
        return both, both
    place = {query: at for at, query in enumerate(other.query_ids)}
    pairs = [(at, place[query]) for at, query in enumerate(one.query_ids) if query in place]
    ours, theirs = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    kept = one.counted[ours] & other.counted[theirs] & (one.weight[ours] > 0)
    return ours[kept], theirs[kept]


def _mean(values: MetricValues) -> float | None:
    weight = values.weight * values.counted
    mean = float(np.average(values.value, weights=weight)) if weight.sum() > 0 else np.nan
    return mean if np.isfinite(mean) else None


def _ends(ends: tuple[float, float]) -> str:
    return number(ends[0]) if ends[1] - ends[0] < SAME else span(*ends)


def _room(rival: Rival) -> str:
    if rival.turn is None:
        return "?" if rival.unknown else "-"
    return span(*(rival.turn.reached if rival.turn.turns else rival.turn.limits), sign=True)

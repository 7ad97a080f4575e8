"""How much of a loss is the scale of the scores, which no metric sees, and how much their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite, log10
from typing import NamedTuple

import torch

from ltr.gap.scored import ScoredLists, losses
from ltr.losses import Surrogate
from ltr.losses.base import mean_over_lists
from ltr.softening import centred

LEAST, MOST = 1e-3, 1e3  # of the sizes of scores that are searched, as ``_size`` measures them
FIRST = (-1.0, -0.5, 0.0, 0.5, 1.0, 2.0)  # log10 of those looked at first: approximations are best far beyond 1
LOOKS = 11  # evaluations of the search


class ScaleSplit(NamedTuple):
    """A mean loss, and the best that one factor on all scores makes of it."""

    loss: float  # l, at the scores as they are
    best: float  # l* = min over c of l(c s), never above l
    factor: float  # c* > 0; below 1 the scores are larger than serves the loss: over-confident
    constant: float  # l(0 s)
    r2: float | None  # 1 - l* / l(0 s); None where that has no meaning: l(0 s) <= 0, or one of them is not finite


def scale_split(surrogate: Surrogate, lists: ScoredLists) -> ScaleSplit:
    """The mean loss, split into what one factor c > 0 on all scores could mend and what it could not.

    ``l* = min over c of sum_q w_q l_q(c s) / sum_q w_q``, w a list's weight times the surrogate's own share. Metrics,
    and l*, are the same at scores c s as at s; l is not. 13 evaluations of the loss: l(s), l(0 s), and a search over
    log c by successive parabolas, between 0.001 and 1000 times the c at which scores are of size 1 on average.

    Where l is convex in c (softmax, RankNet, ListMLE, MSE and others), l* is right to a thousandth of l(0 s) - l*;
    elsewhere it is as good as the best of six sizes of the scores, made better from there.

    Args:
        surrogate: the loss.
        lists: those to take the mean over; of those without weight nothing is looked at.

    Returns:
        The split; with ``best = loss`` and factor 1 where the scores are all equal or not finite.

    Source: the search by parabolas, Brent (1973), Algorithms for minimization without derivatives, chapter 5; the share
    of a loss that a model leaves, McFadden (1974), Conditional logit analysis of qualitative choice behavior.

    Example:
        >>> from ltr.gap.scored import scored
        >>> from ltr.losses import MSE
        >>> lists = scored(torch.tensor([[4.0, 2.0, 0.0]]), torch.tensor([[2.0, 1.0, 0.0]]))
        >>> found = scale_split(MSE(), lists)
        >>> round(found.factor, 4), round(found.best, 4), round(found.r2, 4)
        (0.5, 0.0, 1.0)
    """
    weight = surrogate.shares(lists.scores, lists.relevance, lists.mask, lists.weight)

    def loss(factor: float) -> float:
        values = losses(surrogate, lists.with_scores(lists.scores * factor))
        return mean_over_lists(torch.where(weight > 0, values, 0), weight).item()

    now, constant, size = loss(1.0), loss(0.0), _size(surrogate, lists)
    best, factor = now, 1.0
    if isfinite(size) and size > 0:
        found, place = _minimum(lambda place: loss(10**place / size), log10(LEAST), log10(MOST))
        if found < now or not isfinite(now):
            best, factor = found, 10**place / size
    known = isfinite(constant) and isfinite(best) and constant > 0
    return ScaleSplit(now, best, factor, constant, 1 - best / constant if known else None)


def scale_share(before: Sequence[float | None], after: Sequence[float | None]) -> float | None:
    """The share of the change in the loss between two states that is scale alone: ``(dl - dl*) / dl``.

    It is 1 where the loss changed and l* did not, 0 where both changed alike; above 1, or below 0, where they went
    different ways.

    Args:
        before, after: l and l* of each state, as a ``ScaleSplit`` begins.

    Returns:
        None where one of the four is not known or not finite, or the loss did not change.

    Example:
        >>> scale_share((3.0, 2.0), (2.5, 1.9))
        0.8
    """
    given = [*before[:2], *after[:2]]
    old, old_best, new, new_best = (inf if each is None else each for each in given)
    change, change_best = new - old, new_best - old_best
    if not (isfinite(change) and isfinite(change_best)) or abs(change) <= 1e-12 * max(abs(old), abs(new)):
        return None
    return round((change - change_best) / change, 12)


def _size(surrogate: Surrogate, lists: ScoredLists) -> float:
    """The mean |score| over documents, about the mean of each list where that does not count; 0 where all are equal."""
    heard = lists.mask & (lists.weight > 0)[:, None]
    documents = heard.sum().clamp(min=1)
    whole = torch.where(heard, lists.scores.abs(), 0).sum() / documents
    if not surrogate.shift_invariant:
        return whole.item()
    apart = torch.where(heard, centred(lists.scores, lists.mask).abs(), 0).sum() / documents
    return torch.where(apart > 1e-12 * whole, apart, whole * 0).item()  # not rounding, and NaN where one is


def _minimum(of: Callable[[float], float], least: float, most: float) -> tuple[float, float]:
    """The least value found, and its place, between two bounds of log10 c."""
    seen: dict[float, float] = {}

    def look(place: float) -> None:
        value = of(place)
        seen[place] = value if isfinite(value) else inf

    def around() -> tuple[float, float, float]:
        places = sorted(seen)
        at = min(range(len(places)), key=lambda index: seen[places[index]])
        return places[max(0, at - 1)], places[at], places[min(len(places) - 1, at + 1)]

    for place in FIRST:
        look(place)
    while len(seen) < LOOKS:
        low, middle, high = around()
        if low == middle > least:
            look(max(least, middle - 1))
        elif high == middle < most:
            look(min(most, middle + 1))
        else:
            look(_between(seen, low, middle, high, by_factor=len(seen) % 2 == 0))
    place = min(seen, key=seen.__getitem__)
    return seen[place], place


def _between(seen: dict[float, float], low: float, middle: float, high: float, *, by_factor: bool) -> float:
    """Where to look next: at the lowest point of a parabola in c or in log c, which suit losses that grow with c and
    those that level out; inside the wider side where there is none, or where it is known already."""
    if low < middle < high:
        left, centre, right = (10**place if by_factor else place for place in (low, middle, high))
        before = (centre - left) * (seen[middle] - seen[high])
        after = (centre - right) * (seen[middle] - seen[low])
        if isfinite(before) and isfinite(after) and before != after:
            lowest = centre - ((centre - left) * before - (centre - right) * after) / (before - after) / 2
            place = low if by_factor and lowest <= 0 else log10(lowest) if by_factor else lowest
            if low + 0.01 <= place <= high - 0.01 and abs(place - middle) >= 0.01:
                return place
    below, above = middle - low, high - middle
    return middle - 0.4 * below if (below, seen[high]) > (above, seen[low]) else middle + 0.4 * above

"""Labels that make the most of a sum of gains over what the ideal order of all judged documents sums to."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ltr.evaluation.relabelling import GrowingPool, Relabelled, Trials, after_zero, chunks
from ltr.metrics import DCG, F1, NDCG, RBP, Precision, RankingMetric, Recall
from ltr.ranking import Curve, Pool, RankOrder


class Sum(NamedTuple):
    """A metric that adds up gain(label) * place(rank) and divides by the same of the ideal order, with ``ideal``."""

    place: Curve
    ideal: Curve
    deepest: int | None  # place of the ideal order that counts
    own: bool  # has each system a divisor of its own, or documents of its own that decide whether a list counts?


def as_sum(metric: RankingMetric) -> Sum | None:
    """The metric as such a sum, up to a number in the divisor that no label moves; None when it is none."""
    k, own, kind = metric.k, metric.ideal != "judged", type(metric)
    if isinstance(metric, NDCG) and kind is NDCG:
        return Sum(metric.place, metric.place, k, own)
    if isinstance(metric, DCG | RBP) and kind in (DCG, RBP):
        return Sum(metric.place, torch.zeros_like, k, own)
    if kind is Precision:
        return Sum(torch.ones_like, torch.zeros_like, k, own)
    if kind is F1:
        return Sum(lambda rank: torch.full_like(rank, 2), torch.ones_like, None, own or k is None)
    if isinstance(metric, Recall) and kind is Recall and (k is not None or metric.divisor == "R"):
        return Sum(torch.ones_like, torch.ones_like, k if metric.divisor == "min" else None, own)
    return None


def weights(metric: RankingMetric, system: Relabelled, place: Curve, slots: int) -> Tensor:
    """[B, U] what a gain of 1 adds to the sum at each unjudged document's place."""
    worth = system.ranking.mean(place, metric.k)
    if isinstance(metric, NDCG) and metric.short == "zero" and metric.k is not None:
        worth = worth * (system.ranking.size >= metric.k)
    if isinstance(metric, Precision):
        worth = worth * metric.worth(system.ranking, torch.full_like(worth, metric.threshold))
    return system.in_slots(worth, slots)


def climb(trials: Trials, pool: Pool, terms: Sum, weight: Tensor, among: Tensor) -> None:
    """Try the labels that make the most, and the least, of such a sum, or of the difference of two.

    For a guess t of the largest value f/g, the largest f - t g is sought, and its labels' value is the next guess
    (Dinkelbach 1967, On nonlinear fractional programming). Between two judged gains, with J documents of the pool at
    the upper one or above, f - t g is linear in the gains of the m unjudged documents that are there too: it gains the
    weights of m documents, at best the m largest, and loses t times the ideal worth of places J + 1 to J + m. So some m
    is best for each such level, and as the ideal worth never rises with the place, m never rises with the level:
    labels that somebody gave, 0 and the top suffice. Where t is not above 0, f - t g is convex in the gains, and each
    document has label 0 or the top. The least value is the largest of -f.

    Args:
        trials: of the metric; they keep the ends.
        pool: what the ideal order is taken over, as judged.
        terms: the metric.
        weight: [B, U] what a gain of 1 adds at each unjudged document's place.
        among: [B, U] bool, the documents that can enter that ideal order.
    """
    lists, slots = trials.real.shape
    both = torch.cat([torch.zeros_like(trials.top), trials.top])
    trials.tried(torch.arange(lists).repeat(2), lambda chunk: both[chunk].expand(-1, slots))
    levels = _Levels(trials, pool, terms, among.sum(1))
    for sign in (1, -1):
        worth = torch.where(among, sign * weight, 0)
        order = torch.where(among, worth, -torch.inf).argsort(dim=1, descending=True, stable=True)
        place = torch.empty_like(order).scatter_(1, order, torch.arange(1, 1 + slots).expand_as(order))
        total = after_zero(worth.gather(1, order).cumsum(1))  # [B, U + 1]
        best = trials.high.clone() if sign > 0 else -trials.low
        at = torch.isfinite(best).nonzero()[:, 0]
        while len(at):
            labels = levels.labels(at, total, best[at], place)
            value, counts = trials.tried(at, labels.__getitem__)
            rises = counts & (sign * value > best[at])
            at = at[rises]
            best[at] = sign * value[rises]


class _Levels:
    """The levels of B lists between 0, the labels of the pool and the top, as far as their gains differ."""

    def __init__(self, trials: Trials, pool: Pool, terms: Sum, count: Tensor) -> None:
        known, gain, self.count = GrowingPool(pool), trials.metric.document_gain, count
        edge = torch.cat([trials.top, torch.minimum(known.labels, trials.top), torch.zeros_like(trials.top)], 1)
        step = -gain.relative(edge, torch.maximum(trials.top, known.top)).diff(dim=1)
        level = (
            (step > 0).byte().argsort(dim=1, descending=True, stable=True)[:, : max(1, int((step > 0).sum(1).max()))]
        )
        # [B, G] of each level the label it leads to, how much gain that adds, and how many of the pool have it
        self.label, self.step, self.reached = edge.gather(1, level), step.gather(1, level), level
        places = RankOrder(torch.ones(1, edge.shape[1] + trials.real.shape[1], dtype=torch.bool))
        self.ideal = after_zero(places.mean(terms.ideal, terms.deepest).cumsum(1))[0]
        self.bare = ~(gain(known.top) > 0)  # [B, 1] is nothing that is judged worth anything? then m = 0 is no answer

    def labels(self, at: Tensor, total: Tensor, guess: Tensor, place: Tensor) -> Tensor:
        """[A, U] the best labels for a guess [A], where the weightiest m documents weigh ``total`` [B, U + 1]."""
        m, found = torch.arange(total.shape[1]), []
        for chunk in chunks(len(at), total.shape[1] * self.step.shape[1]):
            here, t = at[chunk], guess[chunk, None, None]
            cost = self.ideal[self.reached[here][:, :, None] + m]  # [a, G, U + 1]
            worth = self.step[here][:, :, None] * (total[here][:, None] - t * cost)
            worth = torch.where(t > 0, worth, worth.sum(1, keepdim=True))
            least, most = (t <= 0) & self.bare[here][:, None], self.count[here][:, None, None]
            worth = torch.where((m < least) | (m > most), -torch.inf, worth)
            reached = place[here][:, None] <= worth.argmax(2, keepdim=True)  # [a, G, U]
            found.append(torch.where(reached, self.label[here][:, :, None], 0).amax(1))
        return torch.cat(found)

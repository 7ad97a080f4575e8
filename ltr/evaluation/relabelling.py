"""The same ranked lists under labels that change: what worst and best cases are searched with."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

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
    """

    def __init__(self, metric: RankingMetric, given: Answer) -> None:
        self.metric, self.given = metric, given
        scores, mask = given.scores, given.mask
        self.slow = metric.ties in ("worst", "best") or not bool(mask.any(1).all())  # ranks move, or there are none
        same = (scores[:, 1:] == scores[:, :-1]) & mask[:, 1:]
        tied = metric.ties == "average" and bool(same.any())
        self.ranking = exact_ranking(scores, mask) if tied and not self.slow else None

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
            if self.ranking is not None:
                ranking = Ranking(self.ranking.position[at], self.ranking.block[at], mask, pool=pool)
            else:
                ranking = RankOrder(mask, pool=pool)
                if metric.windowed:
                    ranking, relevance = ranking.cut(metric.k), relevance[:, : metric.k]
            defined = metric.answered(ranking, relevance)
            value = torch.where(defined, metric.of(ranking, relevance), 0)
        return (value, defined) if metric.empty == "error" else metric.settle(value, defined)


class GrowingPool:
    """The pools of B lists, to which documents are added that somebody judges.

    Args:
        pool: what is judged.
    """

    def __init__(self, pool: Pool) -> None:
        self.labels, self.size, self.top = pool.ideal(None)[0], pool.size, pool.top

    def grown(self, at: Tensor, label: Tensor, marked: Tensor, count: Tensor) -> Pool:
        """The pools ``at`` [C] with ``count`` [C] more, of which ``marked`` [C] have this label [C, 1], others 0."""
        width = self.labels.shape[1]
        place = torch.arange(width + int(count.max()))
        behind = place - marked[:, None]
        labels = self.labels[at].gather(1, behind.clamp(0, width - 1)) * (behind < width)
        labels = torch.where(behind < 0, label, labels)
        pool = _Falling if bool((label >= self.top[at]).all()) else Pool
        return pool(labels, place < self.size[at] + count[:, None])


class _Falling(Pool):
    """A pool whose labels never rise from left to right, so that nobody need sort them."""

    @cached_property
    def falling(self) -> Tensor:
        return torch.where(self.mask, -self.relevance, 1)


def listed(given: Answer) -> Tensor:
    """[B, L] the documents of each list in the order of their ranks, those with equal scores as they stand."""
    return rank_order(given.scores, given.mask, "stable")[0]


def check_top(top: float | None) -> None:
    """Raises ValueError when the declared top label is not a number above 0."""
    if top is not None and not 0 < top < float("inf"):
        raise ValueError(f"top: wanted a label above 0, got {top!r}")


def top_label(metric: RankingMetric, pool: Pool, top: float | None) -> Tensor:
    """[B, 1] the label that an unjudged document can have."""
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

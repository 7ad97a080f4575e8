"""One pass for many metrics: each list is sorted once for each rule, and looked at only as deep as some metric does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ltr.lists import all_real, as_tensor, check_lists, exact_dtype, may_look
from ltr.order import Ties, rank_order, sizes
from ltr.ranking import Pool, Ranking, RankOrder, in_order

if TYPE_CHECKING:
    from ltr.metrics.base import Ideal, RankingMetric, Unjudged


class Measured(NamedTuple):
    """A metric on each list: its value, 0 where undefined (NaN where a score is), and whether it has an answer."""

    value: Tensor  # [B]
    defined: Tensor  # [B] bool


class Answer(NamedTuple):
    """What a system returned for each list, and what is known of it, as metrics want it."""

    scores: Tensor  # [B, L]
    relevance: Tensor  # [B, L] float64, 0 where nobody judged
    mask: Tensor  # [B, L] bool, a real document
    retrieved: Tensor  # [B, L] bool, a real document that has a rank
    judged: Tensor | None  # [B, L] bool, a real document with a label; None: all of them

    @property
    def labels(self) -> Tensor:
        """[B, L] what "worst" and "best" order tied documents by: the relevance, and -1 where nobody judged."""
        return self.relevance if self.judged is None else self.relevance.masked_fill(~self.judged, -1)

    def rows(self, index: Tensor) -> Answer:
        """Some of the lists, each as often as it is named."""
        return Answer(*(None if each is None else each[index] for each in self))  # type: ignore[arg-type]

    def ranked(self, unjudged: Unjudged) -> Tensor:
        """[B, L] bool, which documents have a rank under the rule for unjudged ones."""
        return self.retrieved & self.judged if unjudged == "ignored" and self.judged is not None else self.retrieved

    def pool(self, ideal: Ideal) -> Pool:
        """The documents that R and the ideal order are taken over."""
        known = self.retrieved if ideal == "retrieved" else self.mask
        return Pool(self.relevance, known if self.judged is None else known & self.judged)


def answer(
    scores: Any,
    relevance: Any,
    mask: Any = None,
    *,
    retrieved: Any = None,
    judged: Any = None,
    finite_scores: bool = False,
) -> Answer:
    """Read what a metric was called with; the arguments are those of ``RankingMetric.__call__``.

    Raises:
        ValueError: shapes differ, a label is NaN or negative, or a score is NaN where that is refused.
    """
    scores, relevance = as_tensor(scores, "scores"), as_tensor(relevance, "relevance")
    if retrieved is not None:  # what was not retrieved has no score
        retrieved = _flags(retrieved, "retrieved", scores)
        scores = torch.where(retrieved, scores, 0)
    if judged is not None:  # what nobody judged has no label
        judged = _flags(judged, "judged", scores)
        relevance = relevance.masked_fill(~judged.to(relevance.device), 0)
    scores, relevance, mask = check_lists(scores, relevance, mask, finite_scores=finite_scores)
    ranked, known = (None if each is None or not each.numel() else mask & each for each in (retrieved, judged))
    return Answer(scores, relevance.to(exact_dtype(mask.device)), mask, mask if ranked is None else ranked, known)


def measure(metrics: Sequence[RankingMetric], given: Answer) -> list[Measured]:
    """Each metric on each list.

    Metrics under one rule for ties, unjudged documents and the ideal share one sort, cut at the deepest of their
    cutoffs; lists with ties inside that depth are then ranked anew, block by block.

    Args:
        metrics: any.
        given: of B lists, as ``answer`` reads them.

    Example:
        >>> from ltr.metrics import parse
        >>> found = measure([parse("mrr"), parse("ndcg@1")], answer([3, 2, 1], [0, 1, 2]))
        >>> [each.value.item() for each in found]
        [0.5, 0.0]
    """
    groups: dict[tuple[Ties, Unjudged, Ideal], list[int]] = {}
    for place, metric in enumerate(metrics):
        unjudged = "zero" if given.judged is None else metric.unjudged
        groups.setdefault((metric.ties, unjudged, metric.ideal), []).append(place)
    pools = {ideal: given.pool(ideal) for _, _, ideal in groups}
    found: dict[int, Measured] = {}
    for (ties, unjudged, ideal), places in groups.items():
        values = _by_one_rule([metrics[place] for place in places], given, ties, given.ranked(unjudged), pools[ideal])
        found |= zip(places, values, strict=True)
    return [found[place] for place in range(len(metrics))]


def _by_one_rule(
    metrics: Sequence[RankingMetric], given: Answer, ties: Ties, ranked: Tensor, pool: Pool
) -> list[Measured]:
    quick = ties != "average" or may_look(given.scores)  # tied lists can be told from others
    depth = max([0, *[metric.k or 0 for metric in metrics]])  # a list: what torch.compile can read
    deep = not quick or any(metric.k is None or not metric.windowed for metric in metrics)
    labels = given.labels if ties in ("worst", "best") else None
    order, equal = rank_order(given.scores, ranked, ties, labels, None if deep else depth)
    relevance = given.relevance.gather(1, order)
    judged = None if given.judged is None else given.judged.gather(1, order)
    size = sizes(ranked)
    if all_real(ranked):
        mask = ranked.new_ones(order.shape)
    else:
        mask = torch.arange(order.shape[1], device=order.device) < size
    if quick:
        listed: Ranking = RankOrder(mask, judged=judged, pool=pool, size=size)
    else:
        listed = in_order(equal, mask, judged=judged, pool=pool)
    found = [_value(metric, listed, relevance) for metric in metrics]
    if quick and ties == "average" and equal.numpy().any():
        rows = torch.from_numpy(np.flatnonzero(equal.numpy().any(1)))
        some = given.rows(rows)
        order, equal = rank_order(some.scores, ranked[rows])
        judged = None if some.judged is None else some.judged.gather(1, order)
        tied = in_order(equal, ranked[rows].gather(1, order), judged=judged, pool=pool.rows(rows))
        for metric, each in zip(metrics, found, strict=True):
            each.value[rows] = _value(metric, tied, some.relevance.gather(1, order)).value
    if not may_look(given.scores) or (
        given.scores.numel() and torch.isnan(given.scores.min())
    ):  # on an accelerator nobody refused them
        strange = torch.isnan(given.scores).any(1)
        found = [Measured(torch.where(strange, torch.nan, each.value), each.defined) for each in found]
    return found


def _value(metric: RankingMetric, ranking: Ranking, relevance: Tensor) -> Measured:
    if metric.windowed and isinstance(ranking, RankOrder):
        ranking = ranking.cut(metric.k)
        relevance = relevance[:, : metric.k]
    defined = metric.answered(ranking, relevance)
    return Measured(torch.where(defined, metric.of(ranking, relevance), 0), defined)


def _flags(values: Any, name: str, scores: Tensor) -> Tensor:
    flags = as_tensor(values, name).to(scores.device)
    if flags.shape != scores.shape:
        raise ValueError(f"{name} must have the shape of scores, {list(scores.shape)}; got {list(flags.shape)}")
    return flags.bool()

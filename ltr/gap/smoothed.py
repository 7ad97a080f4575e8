"""A metric smoothed by noise on one score at a time: exactly, with its gradient, for any metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from math import pi, sqrt
from typing import NamedTuple

import torch
from torch import Tensor

from ltr.discounts import Reciprocal
from ltr.gap.scored import ScoredLists
from ltr.lists import check_lists, exact_dtype
from ltr.metrics import AP, RR, RankingMetric
from ltr.metrics.base import SumMetric
from ltr.order import rank_order
from ltr.ranking import Curve, Pool, Ranking, RankOrder, in_order

CELLS = 1 << 18  # numbers in one tensor at a time
SLOW = 8  # lists that are enough where each takes long
ROUNDING = 1e-13  # of a value: smaller differences are none, else a list without any would have a direction

Jumps = Iterator[tuple[Tensor, Tensor, Tensor]]  # lists [R], places [R] of documents, and [R, C] jumps


def default_sigma(scores: Tensor, mask: Tensor) -> Tensor:
    """[B] the noise that a list is smoothed with: a quarter of the standard deviation of its scores (divisor n).

    Example:
        >>> default_sigma(torch.tensor([[1.0, -1.0, 0.0]]), torch.tensor([[True, True, False]]))
        tensor([0.2500], dtype=torch.float64)
    """
    known = torch.where(mask, scores, 0).to(exact_dtype(scores.device))
    count = mask.sum(1).clamp(min=1)
    away = torch.where(mask, known - (known.sum(1) / count)[:, None], 0)
    return (away.square().sum(1) / count).sqrt() / 4


def smoothed_gradient(
    metric: RankingMetric, scores: Tensor, relevance: Tensor, mask: Tensor | None, sigma: Tensor
) -> Tensor:
    """[B, L] the derivative by each score of the metric, smoothed by Gaussian noise on that score alone.

    ``d/ds_i E M(s_i + sigma e) = sum over j != i of jump_ij * phi((s_i - s_j) / sigma) / sigma``, e standard normal
    with density phi, and jump_ij what the metric gains as s_i passes s_j. Exact, without sampling: O(L * min(L, k)) a
    list for metrics that sum up what each document is worth times its place, and without ties for AP and RR; for others
    the metric is worked out with each document at each place that it looks at, O(L k^2), or O(L^3) without a cutoff.

    Source: Sehnke et al. (2010), Parameter-exploring policy gradients, for gradients through noise; that one score's
    noise can be integrated exactly follows from the metric being a step function of it.

    Args:
        metric: any; between documents that are tied with one another its own rule for ties holds.
        scores: [B, L], any real unit.
        relevance: [B, L], labels >= 0.
        mask: [B, L], True for a real document; all when None.
        sigma: [B] > 0, the standard deviation of the noise, in units of the scores (``default_sigma``).

    Returns:
        In units of the metric per unit of score; 0 where padded; NaN for a list whose sigma is not above 0 or whose
        scores are not finite.

    Raises:
        ValueError: shapes differ, a label is negative or no number.

    Example:
        >>> from ltr.metrics import Precision
        >>> scores, labels = torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]])
        >>> smoothed_gradient(Precision(k=1), scores, labels, None, torch.tensor([1.0]))  # 1 / sqrt(2 pi)
        tensor([[ 0.3989, -0.3989]], dtype=torch.float64)
    """

    def density(distance: Tensor) -> Tensor:
        return torch.exp(-distance.square() / 2) / sqrt(2 * pi)

    lists = _listed(metric, scores, relevance, mask, sigma)
    return lists.unlisted(_climbed(metric, lists, density) / lists.sigma[:, None])


def affordable(metric: RankingMetric, lists: ScoredLists) -> ScoredLists:
    """The lists, or the first few of them where the gradient of the smoothed metric is worked out by definition, over
    the whole of each: O(L^3).

    Example:
        >>> from ltr.gap.scored import scored
        >>> from ltr.metrics import parse
        >>> lists = scored(torch.rand(50, 3), torch.ones(50, 3))
        >>> [len(affordable(parse(name), lists)) for name in ("ndcg", "ap", "err-max4@10", "tau")]
        [50, 50, 50, 8]
    """
    if isinstance(metric, SumMetric | AP | RR) or (metric.windowed and metric.k is not None):
        return lists
    return lists.pick(torch.arange(min(SLOW, len(lists)), device=lists.scores.device))


def smoothed_metric(
    metric: RankingMetric, scores: Tensor, relevance: Tensor, mask: Tensor | None, sigma: Tensor
) -> Tensor:
    """[B, L] for each document i the expected metric when s_i alone gets Gaussian noise: what ``smoothed_gradient``
    is the derivative of, by s_i.

    ``E M(s_i + sigma e) = M(s_i = -inf) + sum over j != i of jump_ij * Phi((s_i - s_j) / sigma)``, Phi the standard
    normal distribution function. Arguments and what is not defined are those of ``smoothed_gradient``.

    Example:
        >>> from ltr.metrics import Precision
        >>> scores, labels = torch.tensor([[0.0, 0.0]]), torch.tensor([[1.0, 0.0]])
        >>> smoothed_metric(Precision(k=1), scores, labels, None, torch.tensor([1.0]))
        tensor([[0.5000, 0.5000]], dtype=torch.float64)
    """
    lists = _listed(metric, scores, relevance, mask, sigma)
    value = _climbed(metric, lists, torch.special.ndtr)
    for one, size, tied in lists.each(metric, lists.real.any(1)):
        for some in torch.split(torch.arange(size, device=value.device), max(1, CELLS // size)):
            value[one, some] += _inserted(metric, lists, one, size, tied, some, torch.full_like(some, size - 1))
    return lists.unlisted(value)


class _Lists(NamedTuple):
    """Documents in rank order, [B, L] each."""

    order: Tensor
    scores: Tensor
    labels: Tensor
    real: Tensor
    ranking: Ranking  # with its tie blocks, where the metric averages over them
    sigma: Tensor  # [B]

    def unlisted(self, values: Tensor) -> Tensor:
        """The values where their documents were given; NaN for lists that have none."""
        fit = (self.sigma > 0) & torch.isfinite(self.scores).all(1) & torch.isfinite(self.sigma)
        values = torch.where(self.real, torch.where(fit[:, None], values, torch.nan), 0)
        return torch.zeros_like(values).scatter(1, self.order, values)

    def tied(self, metric: RankingMetric) -> Tensor:
        """[B] bool: does the metric see tied documents when one of the others moves?"""
        tied = self.ranking.block > 1
        if metric.windowed and metric.k is not None:
            tied = tied[:, : metric.k + 1]  # the document that moves may be one of the first k
        return tied.any(1)

    def each(self, metric: RankingMetric, wanted: Tensor) -> Iterator[tuple[int, int, bool]]:
        """The wanted lists [B] that have documents: index, size, and ``tied``."""
        listed = torch.stack([wanted.long(), self.real.sum(1), self.tied(metric).long()])  # one wait for the device
        for one, (want, size, tied) in enumerate(listed.T.tolist()):
            if want and size:
                yield one, size, bool(tied)


def _listed(metric: RankingMetric, scores: Tensor, relevance: Tensor, mask: Tensor | None, sigma: Tensor) -> _Lists:
    scores, relevance, mask = check_lists(scores.detach(), relevance, mask)
    kind = exact_dtype(scores.device)
    scores, relevance = scores.to(kind), relevance.to(kind)
    order, equal = rank_order(scores, mask, metric.ties, relevance)
    scores, relevance, real = (each.gather(1, order) for each in (scores, relevance, mask))
    ranking = in_order(equal, real) if metric.ties == "average" else RankOrder(real)
    return _Lists(order, scores, relevance, real, ranking, sigma.to(scores))


def _climbed(metric: RankingMetric, lists: _Lists, step: Callable[[Tensor], Tensor]) -> Tensor:
    """[B, L] sum over the others j of jump_ij * step((s_i - s_j) / sigma), in rank order."""
    found = torch.zeros_like(lists.scores)
    form = _form(metric, lists)
    for one, place, jumps in chain(_in_closed_form(metric, form, lists), _by_definition(metric, ~form.holds, lists)):
        others = lists.scores[:, : jumps.shape[1]][one]
        distance = (lists.scores[one, place, None] - others) / lists.sigma[one, None]
        found[one, place] = (jumps * step(distance)).sum(1)
    return found


class _Form(NamedTuple):
    """jump_ij = (worth_i - worth_j) (p(r) - p(r + 1)) c(n), j the r-th of the others, n of which are relevant and above
    it: for metrics in which nothing below two neighbours tells what their exchange is worth."""

    holds: Tensor  # [B] bool
    worth: Tensor  # [B, L]
    place: Curve
    relevant: Tensor | None = None  # [B, L], what n counts
    reach: Curve = torch.ones_like  # c


def _form(metric: RankingMetric, lists: _Lists) -> _Form:
    ranking, each = RankOrder(lists.real), torch.ones_like(lists.sigma, dtype=torch.bool)
    if isinstance(metric, SumMetric):
        return _Form(each, metric.worth(ranking, lists.labels), metric.place)
    untied = ~lists.tied(metric)
    if isinstance(metric, RR):
        flag = metric.relevant(ranking, lists.labels).to(lists.scores)
        return _Form(untied, flag, Reciprocal(), flag, lambda above: (above == 0).to(above))
    if isinstance(metric, AP) and metric.divisor != "hits":
        flag = metric.relevant(ranking, lists.labels).to(lists.scores)
        divisor = (metric.capped if metric.divisor == "min" else metric.total)(ranking, lists.labels)
        return _Form(untied, flag / divisor, Reciprocal(), flag, lambda above: above + 1)
    return _Form(~each, lists.scores, torch.ones_like)


def _in_closed_form(metric: RankingMetric, form: _Form, lists: _Lists) -> Jumps:
    """The documents of a tie block of the others stand in any order: each is worth the mean of the block, of which i
    itself is no part."""
    length = lists.real.shape[1]
    seen = length if metric.k is None else min(length, metric.k + 1)  # j may stand below i, which is one of the first k
    rank = torch.arange(1, length + 2, device=lists.real.device, dtype=lists.scores.dtype)
    worth_at = form.place(rank) if metric.k is None else form.place(rank) * (rank <= metric.k)
    fall = worth_at[:-1] - worth_at[1:]
    first, block = lists.ranking.position, lists.ranking.block
    beside = lists.ranking.counts(form.worth)[1]
    mean, without = (beside + form.worth) / block, beside / (block - 1).clamp(min=1)
    above = None if form.relevant is None else RankOrder(lists.real).counts(form.relevant)[0]
    column = torch.arange(seen, device=lists.real.device)
    for index in torch.split((lists.real & form.holds[:, None]).nonzero(), max(1, CELLS // seen)):
        one, place = index.unbind(1)
        mine, alike = form.worth[one, place, None], first[one, place, None] == first[:, :seen][one]
        jumps = mine - torch.where(alike, without[one, place, None], mean[:, :seen][one])
        jumps = torch.where(jumps.abs() > ROUNDING * mine.abs(), jumps, 0)
        jumps *= fall[_other(column, place)] * ((column != place[:, None]) & lists.real[:, :seen][one])
        if above is not None and form.relevant is not None:
            itself = form.relevant[one, place, None] * (column > place[:, None])
            jumps *= form.reach(above[:, :seen][one] - itself)
        yield one, place, jumps


def _by_definition(metric: RankingMetric, wanted: Tensor, lists: _Lists) -> Jumps:
    """The metric with document i at each place among the others, less that at the next place."""
    for one, size, tied in lists.each(metric, wanted):
        places, width = size, size
        if metric.windowed and metric.k is not None and not tied:
            places, width = min(size, metric.k + 1), min(size, metric.k)
        column = torch.arange(places, device=lists.real.device)
        for some in torch.split(torch.arange(size, device=lists.real.device), max(1, CELLS // places)):
            document, place = some.repeat_interleave(places), column.repeat(len(some))
            parts = zip(*(torch.split(each, max(1, CELLS // size)) for each in (document, place)), strict=True)
            values = torch.cat([_inserted(metric, lists, one, width, tied, *part) for part in parts]).view(-1, places)
            fall = torch.cat([values[:, :-1] - values[:, 1:], torch.zeros_like(values[:, :1])], 1)
            rounding = ROUNDING * values.abs().amax(1, keepdim=True)
            fall = torch.where(fall.abs() > rounding, fall, 0)
            jumps = fall.gather(1, _other(column, some)) * (column != some[:, None])
            yield torch.full_like(some, one), some, jumps


def _other(column: Tensor, place: Tensor) -> Tensor:
    """[R, C] the place, from 0, that the document of a column has among all but the one at the row's place."""
    return (column - (column > place[:, None]).long()).clamp(min=0)


def _inserted(
    metric: RankingMetric, lists: _Lists, one: int, width: int, tied: bool, document: Tensor, place: Tensor
) -> Tensor:
    """[R] the metric of a list whose document [R] is moved to a place [R] among the others, from its first places
    alone. Inside a tie block of the others the value means nothing; differences over the whole block do."""
    column = torch.arange(width, device=document.device)
    other = column - (column > place[:, None]).long()
    source = torch.where(column == place[:, None], document[:, None], other + (other >= document[:, None]).long())
    size = lists.real[one].sum()
    mask = (column < size).expand(source.shape)
    same = torch.zeros_like(document)
    pool = Pool(lists.labels[one : one + 1], lists.real[one : one + 1]).rows(same)
    labels = lists.labels[one][source]
    if tied:
        first = lists.ranking.position[one][source]
        moved = column == place[:, None]
        equal = (first[:, 1:] == first[:, :-1]) & ~moved[:, 1:] & ~moved[:, :-1]
        ranking = in_order(equal, mask, pool=pool)
    else:
        ranking = RankOrder(mask, pool=pool, size=size.expand(len(mask), 1))
    return torch.where(metric.answered(ranking, labels), metric.of(ranking, labels), 0)

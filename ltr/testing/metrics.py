"""The contract that every metric is held to, yours included."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product

import torch
from torch import Tensor

from ltr.metrics import RankingMetric
from ltr.order import rank_order
from ltr.ranking import Pool, RankOrder, exact_ranking
from ltr.testing.drawn import Checks, random_lists, same, wider


def check_metric(metric: RankingMetric, *, labels: tuple[float, ...] = (0, 1, 2, 3), seed: int = 0) -> list[str]:
    """Hold a metric to the contract; returns the names of the checks that it passed.

    One value per list, in [0, 1] where ``bounded``; unchanged by padding, document order, and a shift or positive
    scaling of the scores; the same of the first k places alone where ``windowed``; with averaged ties, the mean over
    all orders of the tied documents, unjudged and unreturned ones among them or not; "worst" and "best" do not depend
    on how they are listed; the floor is the mean over all orders, the ceiling the best (the smallest where smaller is
    better) over all lists of as many documents, from the pool where ``pooled``; ``swap_deltas`` is the metric after the
    swap minus before, and does not vanish for equal scores; lists without an answer are 0; NaN scores are refused,
    infinite ones are not; labels of any number type give the same; documents that were neither returned nor judged
    are padding, those that were not returned are so too where not ``pooled``, and unjudged ones leave a condensed
    list; a cutoff is refused where not ``cuts``, and forgotten by ``uncut``.

    Args:
        metric: the one to check.
        labels: the labels to draw from.
        seed: of the random lists.

    Raises:
        AssertionError: which check failed, with the values.

    Example:
        >>> from ltr.metrics import NDCG
        >>> len(check_metric(NDCG(k=3)))
        15
    """
    generator = torch.Generator().manual_seed(seed)
    passed = []
    for name, check in _metric_checks(metric, labels, generator):
        try:
            check()
        except AssertionError as error:
            raise AssertionError(f"{metric.name}: {name}: {error}") from None
        passed.append(name)
    return passed


def _metric_checks(metric: RankingMetric, labels: tuple[float, ...], generator: torch.Generator) -> Checks:
    scores, relevance, mask = random_lists(generator, labels, lists=8, longest=6)
    roles = [torch.rand(scores.shape, generator=generator) < 0.7 for _ in ("retrieved", "judged")]
    value = metric(scores, relevance, mask)

    def shape() -> None:
        assert value.shape == (8,), f"wanted one value for each of 8 lists, got the shape {list(value.shape)}"
        assert value.dtype == torch.float64, f"wanted float64, got {value.dtype}"
        if metric.bounded:
            assert ((value >= 0) & (value <= 1 + 1e-12)).all(), f"values outside [0, 1]: {value.tolist()}"

    def padding() -> None:
        same(metric(*wider(scores, relevance, mask)), value)

    def order() -> None:
        shuffle = torch.rand(scores.shape, generator=generator).argsort(1)
        same(metric(*(each.gather(1, shuffle) for each in (scores, relevance, mask))), value)

    def scale() -> None:
        same(metric(scores * 4 - 8, relevance, mask), value)

    def window() -> None:
        if not (metric.windowed and metric.cuts):
            return
        order, _ = rank_order(scores, mask)
        labels = relevance.gather(1, order)
        ranking = RankOrder(mask.gather(1, order), pool=Pool(relevance, mask))
        for k in (1, 2, 3):
            cut = replace(metric, k=k)
            first = ranking.cut(k)
            same(cut.of(first, labels[:, :k]), cut.of(ranking, labels))
            assert torch.equal(cut.answered(first, labels[:, :k]), cut.answered(ranking, labels)), f"answered at k={k}"

    def extremes() -> None:
        shuffle = torch.rand(scores.shape, generator=generator).argsort(1)
        s, y, m, r, j = (each.gather(1, shuffle) for each in (scores.round(), relevance, mask, *roles))
        for rule in ("worst", "best") if not metric.own_ties else ():
            ruled = replace(metric, ties=rule)
            found = ruled(scores.round(), relevance, mask, retrieved=roles[0], judged=roles[1])
            same(ruled(s, y, m, retrieved=r, judged=j), found)

    def ties() -> None:
        if metric.ties != "average" or metric.own_ties:
            return
        for s, y, r, j, real in zip(scores.round(), relevance, *roles, mask, strict=True):
            s, y = s[real], y[real]
            orders = [order for order in _orders(len(s)) if bool((s[order][:-1] >= s[order][1:]).all())]
            for given in ({}, {"retrieved": r[real], "judged": j[real]}):
                same(metric(s, y, **given), _over_orders(metric, y, orders, **given).mean()[None])

    def bounds() -> None:
        for y, r, j in zip(relevance[:4], *roles, strict=False):
            for given in ({}, {"retrieved": r, "judged": j}):
                every = _over_orders(metric, y, _orders(len(y)), **given)
                same(metric.floor(y, **given), every.mean()[None])
                alike = metric(y * j if given else y, y, **given)  # scores tied just as the labels are
                every = torch.cat([_of_one_length(metric, y, **given), alike])
                same(metric.ceiling(y, **given), (every.max() if metric.larger_is_better else every.min())[None])

    def swaps() -> None:
        ranking = exact_ranking(scores, mask)
        deltas = metric.swap_deltas(ranking, relevance)
        same(deltas, RankingMetric.swap_deltas(metric, ranking, relevance))
        s, y = scores[0, mask[0]], relevance[0, mask[0]]
        real = mask[0].nonzero()[:, 0]
        for i, j in product(range(len(s)), repeat=2):
            swapped = s.clone()
            swapped[i], swapped[j] = s[j], s[i]
            same(deltas[0, real[i], real[j]], (metric(swapped, y) - metric(s, y))[0])

    def start() -> None:
        y = torch.full((1, (metric.k or 2) + 1), min(labels), dtype=torch.float64)
        y[0, 0] = max(labels)
        untied = metric.swap_deltas(exact_ranking(torch.arange(y.shape[1])[None].double()), y)
        deltas = metric.swap_deltas(exact_ranking(torch.zeros_like(y)), y)
        assert (untied == 0).all() or (deltas != 0).any(), "swap_deltas all vanish for equal scores"

    def undefined() -> None:
        nothing = torch.zeros(1, 3)
        real = metric.document_gain(nothing) <= 0  # no document where a label of 0 is worth something
        assert not metric.defined(nothing, real).any(), "a list with nothing relevant has an answer"
        assert metric(nothing, nothing, real).item() == 0, "a list without an answer is not 0"

    def odd_scores() -> None:
        try:
            metric([float("nan"), 0.2], [1, 0])
        except ValueError:
            same(metric([float("-inf"), 0.5, float("inf")], [0, 1, 2]), metric([1, 2, 3], [0, 1, 2]))
        else:
            raise AssertionError("a NaN score was not refused")

    def number_types() -> None:
        y = torch.tensor([3, 0, 1, 2]).clamp(max=int(max(labels)))
        for dtype in (torch.int32, torch.int64, torch.float32, torch.float64):
            same(metric([0.1, 0.4, 0.3, 0.2], y.to(dtype)), metric([0.1, 0.4, 0.3, 0.2], y))

    def parts() -> None:
        retrieved, judged = roles
        found = metric(scores, relevance, mask, retrieved=retrieved, judged=judged)
        wrong, strange = scores.masked_fill(~retrieved, 9.0), relevance.masked_fill(~judged, max(labels))
        same(metric(wrong, strange, mask, retrieved=retrieved, judged=judged), found)
        shuffle = torch.rand(scores.shape, generator=generator).argsort(1)
        s, y, m, r, j = (each.gather(1, shuffle) for each in (scores, relevance, mask, retrieved, judged))
        if metric.ties == "average":
            same(metric(s, y, m, retrieved=r, judged=j), found)
        known = mask & (retrieved | judged)
        same(metric(scores, relevance, known, retrieved=retrieved, judged=judged), found)
        if not metric.pooled or metric.ideal == "retrieved":
            same(metric(scores, relevance, mask & retrieved, judged=judged), found)
        if metric.unjudged == "ignored":
            same(metric(scores, relevance, mask & judged, retrieved=retrieved), found)

    def cutoff() -> None:
        if metric.cuts:
            assert replace(metric, k=1).name.endswith("@1"), "the name does not tell the cutoff"
            assert metric.uncut() in (metric, replace(metric, k=None)), f"uncut gives {metric.uncut()}"
            return
        try:
            replace(metric, k=1)
        except ValueError:
            return
        raise AssertionError("a cutoff was not refused")

    yield "one value a list", shape
    yield "padding changes nothing", padding
    yield "document order changes nothing", order
    yield "shift and scale change nothing", scale
    yield "the first k places are enough", window
    yield "ties are averaged over their orders", ties
    yield "worst and best do not see how documents are listed", extremes
    yield "swap deltas are what a swap does", swaps
    yield "a fresh model can start", start
    yield "nothing relevant, no answer", undefined
    yield "NaN is refused, infinity is not", odd_scores
    yield "any number type", number_types
    yield "documents that were not returned or not judged", parts
    yield "floor and ceiling", bounds
    yield "a cutoff is taken or refused", cutoff


def _orders(length: int) -> list[Tensor]:
    return [torch.tensor(order) for order in permutations(range(length))]


def _over_orders(metric: RankingMetric, relevance: Tensor, orders: list[Tensor], **roles: Tensor) -> Tensor:
    """[orders] the metric with the documents in each of the given orders."""
    ordered, *flags = (torch.stack([each[order] for order in orders]) for each in (relevance, *roles.values()))
    down = torch.arange(ordered.shape[1], 0, -1).expand(ordered.shape).double()
    return metric(down, ordered, **dict(zip(roles, flags, strict=True)))


def _of_one_length(metric: RankingMetric, relevance: Tensor, **roles: Tensor) -> Tensor:
    """[orders] the metric of every list that has as many documents as the given one, from all that it may choose."""
    every = torch.ones_like(relevance, dtype=torch.bool)
    retrieved, judged = (roles.get(name, every) for name in ("retrieved", "judged"))
    ranked = retrieved & judged if metric.unjudged == "ignored" else retrieved
    choice = retrieved | judged if metric.pooled and metric.ideal == "judged" else retrieved
    choice = choice & judged if metric.unjudged == "ignored" else choice
    first = torch.arange(int(choice.sum())) < ranked.sum()
    orders = torch.stack(_orders(len(first)))
    labels, known = (each[choice][orders] for each in (relevance, judged))
    down = torch.arange(len(first), 0, -1).expand(orders.shape).double()
    return metric(down, labels, first | known, retrieved=first.expand(orders.shape), judged=known)

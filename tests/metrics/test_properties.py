"""What holds for every metric under any options on any list: CONVENTIONS as properties, a thousand examples each.

An example is one draw of options, which every metric takes as far as it knows them, and one list. Under any rule for
equal scores but the mean over their orders, tied documents keep the order in which they are listed.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from random import Random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr.metrics import METRICS, Answer, RankingMetric, measure
from ltr.order import rank_order
from ltr.ranking import Ranking, RankOrder

List = list[Any]  # of documents: score, label, role
Batched = Callable[[list[List]], Answer]
Metrics = st.SearchStrategy[list[RankingMetric]]
Lists = st.SearchStrategy[List]

thousand = settings(max_examples=1000)


def same(found: Tensor, wanted: Tensor) -> bool:
    return bool((found - wanted).abs().max() <= 1e-9)


def shuffled(documents: List, seed: int) -> List:
    """Another order of the documents, in which those of equal score keep theirs."""
    other = Random(seed).sample(documents, len(documents))
    queues = {score: iter([each for each in documents if each[0] == score]) for score, _, _ in documents}
    return [next(queues[score]) for score, _, _ in other]


@thousand
@given(st.data(), st.integers(0, 99), st.sampled_from([0.25, 3, 1e9]), st.integers(-(10**6), 10**6))
def test_order_scale_shift_and_padding_change_nothing(
    usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject, seed: int, scale: float, shift: int
) -> None:
    metrics, documents = data.draw(usual), data.draw(mixed)
    moved = [(score * scale + shift, label, role) for score, label, role in documents]
    padded = [(7, 2, "padded"), *documents, (0, 4, "padded")]
    free = [documents[i] for i in torch.randperm(len(documents), generator=torch.Generator().manual_seed(seed))]
    given = batched([documents, shuffled(documents, seed), moved, padded, free])
    for metric, (value, defined) in zip(metrics, measure(metrics, given), strict=True):
        assert same(value[: 5 if metric.ties == "average" else 4], value[:1]), metric
        assert (defined == defined[0]).all(), metric
        assert (value[~defined] == 0).all(), metric
        if metric.bounded:
            assert ((value >= 0) & (value <= 1 + 1e-12)).all(), metric


@thousand
@given(st.data(), st.integers(0, 2))
def test_no_order_is_better_than_the_ideal_one(
    usual: Metrics, lists: Lists, batched: Batched, data: st.DataObject, which: int
) -> None:
    """Labels as scores reach it; NDCG is then 1, but 0 for a list shorter than k where that is asked for.

    What a metric says of its ceiling is asked of a third of them at a time.
    """
    metrics, documents = data.draw(usual), data.draw(lists)
    given = batched([documents, [(label, label, role) for _, label, role in documents]])
    for place, (metric, (value, defined)) in enumerate(zip(metrics, measure(metrics, given), strict=True)):
        sign = 1 if metric.larger_is_better else -1
        assert sign * value[0] <= sign * value[1] + 1e-9, metric
        if metric.base == "tau":  # whose ceiling is that of an order without ties
            assert value[1].item() == pytest.approx(float(defined[1]))
        elif place % 3 == which:
            assert same(value[1:], metric.ceiling_of(given)[1:]), metric
        if metric.base == "ndcg" and defined[0] and (metric.short == "keep" or len(documents) >= (metric.k or 0)):
            assert value[1].item() == pytest.approx(1), metric


@thousand
@given(st.data(), st.integers(1, 5))
def test_relations_between_metrics(usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject, k: int) -> None:
    """Under one rule for ties, thresholds, unjudged documents and the ideal."""
    drawn, documents = {metric.base: metric for metric in data.draw(usual)}, data.draw(mixed)
    cuts = [(base, cut) for base in ("mrr", "success", "recall", "dcg") for cut in (1, k)]
    named = {f"{base}@{cut}": replace(drawn[base], k=cut) for base, cut in [*cuts, ("ap", k), ("precision", 1)]}
    named |= {base: drawn[base].uncut() for base in ("mrr", "ap")}
    given = batched([documents])
    found = {name: each.value.item() for name, each in zip(named, measure(list(named.values()), given), strict=True)}
    assert found[f"mrr@{k}"] <= found["mrr"] + 1e-12
    assert found[f"mrr@{k}"] <= found[f"success@{k}"] + 1e-12
    assert found["success@1"] <= found[f"success@{k}"] + 1e-12
    assert found["dcg@1"] <= found[f"dcg@{k}"] + 1e-12
    if drawn["recall"].divisor == "R":
        assert found["recall@1"] <= found[f"recall@{k}"] + 1e-12
    assert found["precision@1"] == pytest.approx(found["success@1"]) == pytest.approx(found["mrr@1"])
    pool = given.pool(drawn["ap"].ideal)
    if (pool.mask & (pool.relevance >= drawn["ap"].threshold)).sum() == 1:
        assert found["ap"] == pytest.approx(found["mrr"])
        assert found[f"ap@{k}"] == pytest.approx(found[f"mrr@{k}"])


@thousand
@given(st.data(), st.integers(0, 2))
def test_a_constant_scorer_has_the_value_of_a_random_order(
    usual: Metrics, short: Lists, batched: Batched, data: st.DataObject, which: int
) -> None:
    """The mean over all orders, tau too; and what a metric says of its floor, asked of a third of them at a time."""
    metrics, documents = data.draw(usual), data.draw(short)
    metrics = [metric if metric.base == "tau" else replace(metric, ties="average") for metric in metrics]
    scores = [[0] * len(documents), *permutations(range(len(documents)))]
    given = batched([[(score, *each[1:]) for score, each in zip(s, documents, strict=True)] for s in scores])
    for place, (metric, (value, _)) in enumerate(zip(metrics, measure(metrics, given), strict=True)):
        assert same(value[0], value[1:].mean()), metric
        if place % 3 == which:
            assert same(metric.floor_of(given)[:1], value[:1]), metric


@thousand
@given(st.data(), st.integers(0, 5))
def test_together_and_alone(usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject, which: int) -> None:
    """One pass gives what each list gives alone, unpadded, and each metric (asked of a third of them at a time)."""
    metrics, batch = data.draw(usual), data.draw(st.lists(mixed, min_size=2, max_size=3))
    given = batched(batch)
    together, row = measure(metrics, given), which % len(batch)
    for metric, many, alone in zip(metrics, together, measure(metrics, batched([batch[row]])), strict=True):
        assert same(many.value[row], alone.value[0]), metric
        assert many.defined[row] == alone.defined[0], metric
    for metric, many in list(zip(metrics, together, strict=True))[which % 3 :: 3]:
        alone = metric.measured(given)
        assert same(alone.value, many.value), metric
        assert torch.equal(alone.defined, many.defined), metric


@thousand
@given(st.data())
def test_what_a_list_without_an_answer_counts(
    usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject
) -> None:
    """Nothing, 0 or 1, and the others what they are worth: the mean of the lists one by one."""
    metric = data.draw(usual.flatmap(st.sampled_from))
    given = batched(data.draw(st.lists(mixed, min_size=1, max_size=4)))
    value, defined = metric.measured(given)
    if metric.empty == "error":
        if not defined.all():
            with pytest.raises(ValueError, match=f"^{re.escape(metric.name)}: list .* has nothing relevant"):
                metric.settle(value, defined)
        return
    worth = {"skip": None, "zero": 0.0, "one": 1.0}[metric.empty]
    wanted = [v if known else worth for v, known in zip(value.tolist(), defined.tolist(), strict=True)]
    values, counted = metric.settle(value, defined)
    assert counted.tolist() == [each is not None for each in wanted]
    assert values[counted].tolist() == [each for each in wanted if each is not None]


@thousand
@given(st.data(), st.integers(0, 99))
def test_any_way_to_write_a_ranking(
    usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject, seed: int
) -> None:
    """A ranking cut to the first k places, the whole of it in order, and the same with its documents in any order."""
    metrics, documents = data.draw(usual), data.draw(mixed)
    given, width = batched([documents]), len(documents)
    pools = {"judged": given.pool("judged"), "retrieved": given.pool("retrieved")}
    orders = {each: rank_order(given.scores, given.ranked(each), "stable")[0] for each in ("zero", "ignored")}
    shuffle = torch.randperm(width, generator=torch.Generator().manual_seed(seed))[None]
    for metric in metrics:
        order, pool = orders[metric.unjudged], pools[metric.ideal]
        columns = [each.gather(1, order) for each in (given.ranked(metric.unjudged), given.judged, given.relevance)]
        mask, judged, labels = columns
        listed = RankOrder(mask, judged=judged, pool=pool)
        value, defined = metric.of(listed, labels), metric.answered(listed, labels)
        place = torch.where(mask, listed.position, 1)
        place, mask, judged, mixed_up = (each.gather(1, shuffle) for each in (place, *columns))
        general = Ranking(place, torch.ones_like(place), mask, judged=judged, pool=pool)
        assert same(metric.of(general, mixed_up), value), metric
        assert metric.answered(general, mixed_up) == defined, metric
        if metric.windowed and metric.k is not None and metric.k < width:
            cut, window = listed.cut(metric.k), labels[:, : metric.k]
            assert same(metric.of(cut, window), value), metric
            assert metric.answered(cut, window) == defined, metric


def test_every_metric_is_among_them(usual: Metrics) -> None:
    @settings(max_examples=1)
    @given(usual)
    def all_of_them(metrics: list[RankingMetric]) -> None:
        assert [metric.base for metric in metrics] == list(METRICS)

    all_of_them()

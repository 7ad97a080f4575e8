"""What holds for every metric under any options on any list: the conventions, a thousand examples for each metric.

An example is one draw of options, which every metric takes as far as it knows them, and one list. Only where ties are
"stable" or "docid" does it matter how tied documents are listed.
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

thousand = settings(max_examples=1150)  # some are drawn again


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
        assert same(value[: 4 if metric.ties in ("stable", "docid") else 5], value[:1]), metric
        assert (defined == defined[0]).all(), metric
        assert (value[~defined] == 0).all(), metric
        if metric.bounded:
            assert ((value >= 0) & (value <= 1 + 1e-12)).all(), metric


@thousand
@given(st.data())
def test_floor_and_ceiling_lie_around_the_value(
    usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject
) -> None:
    """Whatever was not returned or not judged; labels as scores reach the ceiling where all was returned."""
    metrics, documents = data.draw(usual), data.draw(mixed)
    ideal = [(label if role == "seen" else -1, label, role) for _, label, role in documents]
    given, whole = batched([documents, ideal]), all(role != "missed" for _, _, role in documents)
    for metric, (value, defined) in zip(metrics, measure(metrics, given), strict=True):
        floor, ceiling = metric.floor_of(given)[:1], metric.ceiling_of(given)[:1]
        sign = 1 if metric.larger_is_better else -1
        assert sign * floor <= sign * ceiling + 1e-9, metric
        assert sign * value[:1] <= sign * ceiling + 1e-9, metric
        if metric.bounded:
            assert ceiling <= 1 + 1e-12, metric
        if metric.own_ties:  # unjudged documents then stand beside those of label 0
            assert same(ceiling, defined[:1].double()), metric
        elif whole:
            assert same(value[1:], ceiling), metric


@thousand
@given(st.data(), st.integers(0, 6))
def test_ndcg_of_the_labels_is_1(
    usual: Metrics, lists: Lists, batched: Batched, data: st.DataObject, place: int
) -> None:
    """But 0 for a list shorter than k where that is asked for; one document at least has a gain."""
    documents = [(label, label, role) for _, label, role in data.draw(lists)]
    documents.insert(place, (4, 4, "seen"))
    for metric in data.draw(usual):
        if metric.base == "ndcg":
            short = metric.short == "zero" and len(documents) < (metric.k or 0)
            assert metric.measured(batched([documents])).value.item() == pytest.approx(0 if short else 1), metric


@thousand
@given(st.data(), st.integers(1, 5))
def test_relations_between_metrics(usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject, k: int) -> None:
    """Under one rule for ties, thresholds, unjudged documents and the ideal; in the second list R is 1."""
    drawn, documents = {metric.base: metric for metric in data.draw(usual)}, data.draw(mixed)
    one = [(score, 0, role) for score, _, role in documents] + [(documents[0][0], 4, "seen")]
    cuts = [(base, cut) for base in ("mrr", "success", "recall", "dcg") for cut in (1, k)]
    named = {f"{base}@{cut}": replace(drawn[base], k=cut) for base, cut in [*cuts, ("ap", k), ("precision", 1)]}
    named |= {base: drawn[base].uncut() for base in ("mrr", "ap")}
    values = [each.value.tolist() for each in measure(list(named.values()), batched([documents, one]))]
    found, single = (dict(zip(named, side, strict=True)) for side in zip(*values, strict=True))
    assert found[f"mrr@{k}"] <= found["mrr"] + 1e-12
    assert found[f"mrr@{k}"] <= found[f"success@{k}"] + 1e-12
    assert found["success@1"] <= found[f"success@{k}"] + 1e-12
    assert found["dcg@1"] <= found[f"dcg@{k}"] + 1e-12
    if drawn["recall"].divisor == "R":
        assert found["recall@1"] <= found[f"recall@{k}"] + 1e-12
    assert found["precision@1"] == pytest.approx(found["success@1"]) == pytest.approx(found["mrr@1"])
    assert single["ap"] == pytest.approx(single["mrr"])
    assert single[f"ap@{k}"] == pytest.approx(single[f"mrr@{k}"])


@thousand
@given(st.data())
def test_a_constant_scorer_has_the_value_of_a_random_order(
    usual: Metrics, short: Lists, batched: Batched, data: st.DataObject
) -> None:
    """The mean over all orders, tau too; and what a metric says of its floor."""
    metrics, documents = data.draw(usual), data.draw(short)
    metrics = [metric if metric.base == "tau" else replace(metric, ties="average") for metric in metrics]
    scores = [[0] * len(documents), *permutations(range(len(documents)))]
    given = batched([[(score, *each[1:]) for score, each in zip(s, documents, strict=True)] for s in scores])
    constant = given.rows(torch.tensor([0]))
    for metric, (value, _) in zip(metrics, measure(metrics, given), strict=True):
        assert same(value[0], value[1:].mean()), metric
        assert same(metric.floor_of(constant), value[:1]), metric


@thousand
@given(st.data(), st.integers(0, 5))
def test_together_and_alone(usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject, which: int) -> None:
    """One pass gives what each metric gives alone, of each list alone and unpadded."""
    metrics, batch = data.draw(usual), data.draw(st.lists(mixed, min_size=2, max_size=3))
    row = which % len(batch)
    one = batched([batch[row]])
    for metric, (value, defined) in zip(metrics, measure(metrics, batched(batch)), strict=True):
        alone = metric.measured(one)
        assert same(value[row], alone.value[0]), metric
        assert defined[row] == alone.defined[0], metric


@thousand
@given(st.data())
def test_what_a_list_without_an_answer_counts(
    usual: Metrics, mixed: Lists, batched: Batched, data: st.DataObject
) -> None:
    """Nothing, 0 or 1, and the others what they are worth: the mean of the lists one by one."""
    metrics, given = data.draw(usual), batched(data.draw(st.lists(mixed, min_size=1, max_size=4)))
    for metric, (value, defined) in zip(metrics, measure(metrics, given), strict=True):
        if metric.empty == "error":
            if not defined.all():
                with pytest.raises(ValueError, match=f"^{re.escape(metric.name)}: list .* has nothing relevant"):
                    metric.settle(value, defined)
            continue
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

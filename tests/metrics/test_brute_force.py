"""Every metric under any options against its definition: one list, plain Python, each order of equal scores in turn."""

from collections.abc import Callable, Iterator
from itertools import chain, combinations, groupby, permutations, product
from math import log2, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltr.gains import Table
from ltr.metrics import (
    METRICS,
    Answer,
    Binary,
    Exp2,
    Geometric,
    Letor,
    Linear,
    Log2,
    RankingMetric,
    Reciprocal,
    measure,
)

Document = tuple[float, float | None]  # score, label (None: nobody judged it)
List = list[Document]  # from the top down
Pool = list[float]  # labels
Definition = Callable[[Any, List, Pool], float]  # NaN: this list has no answer


def gain(metric: Any, label: float | None) -> float:
    if label is None:  # not even what a label of 0 is worth
        return 0.0
    match metric.gain:
        case Exp2():
            return 2**label - 1
        case Linear():
            return label
        case Binary(threshold):
            return float(label >= threshold)
        case Table(gains):
            return float(gains[int(label)])
    raise AssertionError(metric.gain)


def discount(metric: Any, rank: int) -> float:
    match metric.discount:
        case Log2():
            return 1 / log2(1 + rank)
        case Letor():
            return 1 / log2(max(rank, 2))
        case Reciprocal():
            return 1 / rank
        case Geometric(p):
            return float(p ** (rank - 1))
    raise AssertionError(metric.discount)


def dcg(metric: Any, ranked: List, pool: Pool) -> float:
    total = sum(gain(metric, label) * discount(metric, rank) for rank, (_, label) in enumerate(ranked[: metric.k], 1))
    return total if any(gain(metric, label) > 0 for label in pool) else nan


def ndcg(metric: Any, ranked: List, pool: Pool) -> float:
    ideal = dcg(metric, [(0, label) for label in sorted(pool, reverse=True)], pool)
    cut_short = metric.short == "zero" and metric.k is not None and len(ranked) < metric.k
    return (0 if cut_short else dcg(metric, ranked, pool)) / ideal


def hits(ranked: List, threshold: float, k: int | None) -> list[int]:
    """The ranks within k at which something relevant stands."""
    return [rank for rank, (_, label) in enumerate(ranked[:k], 1) if label is not None and label >= threshold]


def relevant(metric: Any, pool: Pool) -> float:
    """R, and no number where it is 0."""
    return sum(label >= metric.threshold for label in pool) or nan


def found(metric: Any, ranked: List) -> list[int]:
    return hits(ranked, metric.threshold, metric.k)


def mrr(metric: Any, ranked: List, pool: Pool) -> float:
    return sum(1 / rank for rank in found(metric, ranked)[:1]) + 0 * relevant(metric, pool)


def success(metric: Any, ranked: List, pool: Pool) -> float:
    return min(1, len(found(metric, ranked))) + 0 * relevant(metric, pool)


def ap(metric: Any, ranked: List, pool: Pool) -> float:
    ranks, total = found(metric, ranked), relevant(metric, pool)
    divisor = {"R": total, "min": min(total, metric.k or len(ranked) or 1), "hits": len(ranks) or 1}[metric.divisor]
    return sum(count / rank for count, rank in enumerate(ranks, 1)) / divisor + 0 * total


def gradedap(metric: Any, ranked: List, pool: Pool) -> float:
    """An AP for each grade that a reader may ask for, times the documents that reach it."""
    grades = [hits(ranked, grade, metric.k) for grade in range(1, metric.top + 1)]
    reach = sum(label >= grade for label in pool for grade in range(1, metric.top + 1))
    summed = sum(count / rank for ranks in grades for count, rank in enumerate(ranks, 1))
    return summed / reach if reach else nan


def precision(metric: Any, ranked: List, pool: Pool) -> float:
    places = metric.k or len(ranked)
    divisor = min(places, len(ranked)) if metric.divisor == "min" else places
    return len(found(metric, ranked)) / (divisor or 1) + 0 * relevant(metric, pool)


def recall(metric: Any, ranked: List, pool: Pool) -> float:
    total, places = relevant(metric, pool), metric.k or len(ranked)
    return len(found(metric, ranked)) / (min(total, places or 1) if metric.divisor == "min" else total) + 0 * total


def f1(metric: Any, ranked: List, pool: Pool) -> float:
    return 2 * len(found(metric, ranked)) / ((metric.k or len(ranked)) + relevant(metric, pool))


def rprec(metric: Any, ranked: List, pool: Pool) -> float:
    total = relevant(metric, pool)
    return len(hits(ranked, metric.threshold, int(total))) / total if total > 0 else nan


def err(metric: Any, ranked: List, pool: Pool) -> float:
    value, reached = 0.0, 1.0
    for rank, (_, label) in enumerate(ranked[: metric.k], 1):
        stop = (2 ** (label or 0) - 1) / 2**metric.top
        value += reached * stop / rank
        reached *= 1 - stop
    return value if any(pool) else nan


def rbp(metric: Any, ranked: List, pool: Pool) -> float:
    return (1 - metric.p) * sum(metric.p ** (rank - 1) for rank in found(metric, ranked)) + 0 * relevant(metric, pool)


def bpref(metric: Any, ranked: List, pool: Pool) -> float:
    total, others, value = relevant(metric, pool), 0, 0.0
    for _, label in ranked:
        if label is None:
            continue
        if label < metric.threshold:
            others += 1
        else:
            value += 1 - (min(others, total) / min(total, len(pool) - total) if others else 0)
    return value / total


def judged(metric: Any, ranked: List, pool: Pool) -> float:
    seen = [label for _, label in ranked[: metric.k]]
    return sum(label is not None for label in seen) / len(seen) if seen else nan


def right_share(labels: list[float]) -> float:
    """Of the pairs of different labels, from the top down, those with the higher one above."""
    pairs = [(above, below) for above, below in combinations(labels, 2) if above != below]
    return sum(above > below for above, below in pairs) / len(pairs) if pairs else nan


def pairs(metric: Any, ranked: List, pool: Pool) -> float:
    return right_share([label or 0 for _, label in ranked])


def auc(metric: Any, ranked: List, pool: Pool) -> float:
    return right_share([(label or 0) >= metric.threshold for _, label in ranked])


def tau(metric: Any, ranked: List, pool: Pool) -> float:
    """It sees the scores, so that all orders of equal ones are the same to it."""
    signs = [
        ((s > t) - (s < t), ((y or 0) > (z or 0)) - ((y or 0) < (z or 0))) for (s, y), (t, z) in combinations(ranked, 2)
    ]
    scores, labels = (sum(sign[side] != 0 for sign in signs) for side in (0, 1))
    return sum(s * y for s, y in signs) / ((scores * labels) ** 0.5 or 1) if labels else nan


def arp(metric: Any, ranked: List, pool: Pool) -> float:
    total = sum(label or 0 for _, label in ranked)
    return sum((label or 0) * rank for rank, (_, label) in enumerate(ranked, 1)) / total if total else nan


EVERY = [
    dcg,
    ndcg,
    mrr,
    success,
    ap,
    gradedap,
    precision,
    recall,
    f1,
    rprec,
    err,
    rbp,
    bpref,
    judged,
    pairs,
    auc,
    tau,
    arp,
]
DEFINITIONS: dict[str, Definition] = {each.__name__: each for each in EVERY}


def orders(metric: RankingMetric, documents: List) -> Iterator[List]:
    """The orders of the documents that the scores and the rule for equal ones allow."""
    if metric.ties == "average":
        down = sorted(documents, key=lambda each: -each[0])
        blocks = [list(block) for _, block in groupby(down, lambda each: each[0])]
        yield from (list(chain(*order)) for order in product(*map(permutations, blocks)))
        return
    sign = {"worst": 1, "best": -1}.get(metric.ties, 0)
    yield sorted(documents, key=lambda each: (-each[0], sign * (-1 if each[1] is None else each[1])))


def by_definition(metric: RankingMetric, documents: list[tuple[int, int, str]]) -> float:
    roles = ("seen",) if metric.unjudged == "ignored" else ("seen", "unjudged")
    ranked: List = [(score, label if role == "seen" else None) for score, label, role in documents if role in roles]
    known = ("seen",) if metric.ideal == "retrieved" else ("seen", "missed")
    pool: Pool = [label for _, label, role in documents if role in known]
    values = [DEFINITIONS[metric.base](metric, order, pool) for order in orders(metric, ranked)]
    return sum(values) / len(values)


@settings(max_examples=1000)
@given(st.data())
def test_every_metric_is_what_its_definition_says(
    usual: st.SearchStrategy[list[RankingMetric]],
    short: st.SearchStrategy[list[tuple[int, int, str]]],
    batched: Callable[[list[list[tuple[int, int, str]]]], Answer],
    data: st.DataObject,
) -> None:
    metrics, documents = data.draw(usual), data.draw(short)
    given = batched([documents])
    for metric, (value, defined) in zip(metrics, measure(metrics, given), strict=True):
        wanted = by_definition(metric, documents)
        assert defined.item() == (wanted == wanted), metric
        assert value.item() == pytest.approx(0 if wanted != wanted else wanted, abs=1e-9), metric


def test_every_metric_has_its_definition_here() -> None:
    assert set(DEFINITIONS) == set(METRICS)

"""What one must know before one believes a table, in words: the one home of these sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ltr.evaluation.tables import MetricValues, per_query
from ltr.gap.numbers import counted, number
from ltr.metrics import RankingMetric

if TYPE_CHECKING:
    from ltr.evaluation.results import Evaluation

MOVES = 0.01  # share of tied lists from which their order can move a mean
RULES = {"skip": "left out", "zero": "each counts 0", "one": "each counts 1"}


def notes_of(table: Evaluation, others: bool) -> Iterator[str]:
    """The findings of a table, a sentence each, and nothing about what is as it should be.

    Args:
        table: of one system.
        others: say too what a mean would be under the other rules for lists without an answer.
    """
    found, queries = table.findings, counted(len(table.lists.query_ids), "query")
    if found.missing:
        rule = RULES["zero" if set(found.missing) & set(table.lists.query_ids) else "skip"]
        rule += " where it has an answer" if set(found.missing).intersection(*found.blank.values()) else ""
        yield f"lacks {counted(len(found.missing), 'query')} that somebody judged ({rule}): {some(found.missing)}"
    if found.extra:
        yield f"has {counted(len(found.extra), 'query')} that nobody judged (left out): {some(found.extra)}"
    if found.tied:
        yield f"equal scores in {len(found.tied)} of {queries}: {some(found.tied)}{_tied(table)}"
    name_of = brief([each.metric for each in table.values])
    alike: dict[tuple[tuple[str, ...], str], list[MetricValues]] = {}
    for each in table.values:
        if ids := found.blank[each.metric.name]:
            alike.setdefault((ids, RULES[each.metric.empty]), []).append(each)
    for (ids, rule), values in alike.items():
        names = [name_of[each.metric] for each in values]
        other = _blank(values[0], names[0]) if others and table.aggregate == "mean" else ""
        yield f"no answer by {all_of(names)} in {len(ids)} of {queries} ({rule}): {some(ids)}{other}"


def tie_range(values: MetricValues) -> tuple[float, float] | None:
    """The mean with tied documents in the worst and in the best order; None where the metric has a rule of its own.

    Example:
        >>> from ltr.evaluation import RankedLists
        >>> from ltr.metrics import parse
        >>> tie_range(per_query(RankedLists.from_arrays([1, 0], [0.5, 0.5]), [parse("mrr")])[0])
        (0.5, 1.0)
    """
    if values.metric.own_ties:
        return None
    rules = [replace(values.metric, ties="worst"), replace(values.metric, ties="best")]
    ends = [_mean(each) for each in (per_query(values.lists, rules) if values.tied.any() else [values])]
    return (min(ends), max(ends)) if np.isfinite(ends).all() else None


def brief(metrics: Sequence[RankingMetric]) -> dict[RankingMetric, str]:
    """What a sentence calls each metric: base and cutoff where these tell it from the others, else its name.

    Example:
        >>> from ltr.metrics import parse
        >>> list(brief([parse("ndcg-linear-docid@10"), parse("ap"), parse("ap-rel2")]).values())
        ['ndcg@10', 'ap', 'ap-rel2']
    """
    words = {metric: metric.convention.partition(" ")[0] for metric in metrics}
    return {metric: word if list(words.values()).count(word) == 1 else metric.name for metric, word in words.items()}


def some(names: Sequence[str], most: int = 5) -> str:
    """The first few by name.

    Example:
        >>> some(["q1", "q2"]), some(["q1", "q2", "q3"], 2)
        ('q1, q2', 'q1, q2 and 1 more')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def all_of(names: Sequence[str]) -> str:
    """The names as words of a sentence.

    Example:
        >>> all_of(["a"]), all_of(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _tied(table: Evaluation) -> str:
    """What the first metric would be by another order of equal scores, where that can matter."""
    values = table.values[0]
    ends = tie_range(values) if values.tied.mean() > MOVES and table.aggregate == "mean" else None
    if ends is None or ends[1] - ends[0] <= 5e-5:
        return ""
    name = brief([each.metric for each in table.values])[values.metric]
    return f"; by their order {name} is {number(ends[0])} to {number(ends[1])}"


def _blank(values: MetricValues, name: str) -> str:
    """What the metric would be under the other rules for lists without an answer."""
    weight, defined = values.weight, values.defined
    if not weight[~defined].any():
        return ""
    total, answered = weight.sum(), float((values.value * weight)[defined].sum())
    others = {
        "skip": ("left out", answered / weight[defined].sum() if weight[defined].any() else np.nan),
        "zero": ("as 0", answered / total),
        "one": ("as 1", (answered + weight[~defined].sum()) / total),
    }
    told = [
        f"{number(value)} {words}"
        for rule, (words, value) in others.items()
        if rule != values.metric.empty and np.isfinite(value)
    ]
    return f"; {name} would be {' and '.join(told)}"


def _mean(values: MetricValues) -> float:
    weight = values.weight * values.counted
    return float(np.average(values.value, weights=weight)) if weight.sum() > 0 else np.nan

"""One ranking under the conventions of every program: the quickest way to see why two papers disagree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ltr.data import DataError
from ltr.evaluation import RankedLists, evaluate_lists
from ltr.evaluation.aggregates import How
from ltr.gap.numbers import known
from ltr.metrics import RankingMetric, parse
from ltr.metrics.presets import PRESETS
from ltr.report.layout import Block, Page

OURS = "ltr"
WHAT = "what it is here"


def print_presets(
    systems: Callable[[str], Mapping[str, RankedLists]],
    metrics: Sequence[str | RankingMetric],
    how: How,
    *,
    negative: bool = False,
) -> None:
    """Print each metric of each system under this toolkit's conventions and those of every program that has it.

    Args:
        systems: name -> lists, for a rule which queries count: "judged", "intersection" or "strict".
        metrics: names, or metrics.
        how: the aggregate.
        negative: were there labels below 0, which these lists take to say that nobody judged, as only some programs do?
    """
    page = Page()
    names = list(systems("judged"))
    for metric in dict.fromkeys(metrics):
        for name in names:
            title = parse(metric).name + (f", {name}" if len(names) > 1 else "")
            rows = [(preset, _cells(systems, name, metric, preset, how, negative)) for preset in (OURS, *PRESETS)]
            page.table([Block(title, rows)], text=(WHAT,))
    page.lines([f"{WHAT}: the name to ask for; -: the program has no such metric"], apart=True)


def _cells(
    systems: Callable[[str], Mapping[str, RankedLists]],
    system: str,
    metric: str | RankingMetric,
    preset: str,
    how: How,
    negative: bool,
) -> dict[str, str]:
    rules = PRESETS.get(preset)

    def nothing(why: str) -> dict[str, str]:
        return {how: "-", "n": "-", "undefined": "-", WHAT: why}

    if rules is not None and parse(metric).base not in rules.metrics:
        return nothing("-")
    if negative and not (rules and rules.unjudged_label):
        return nothing("not followed: labels below 0")
    try:
        lists = systems("judged" if rules is None else rules.queries)[system]
    except DataError:
        return nothing("refuses it: not the same queries on both sides")
    try:
        (values,) = evaluate_lists(lists, [metric], preset=rules).values
        found = values.summary(how)
    except ValueError as error:  # a list that the metric refuses
        return nothing(str(error))
    counts = {"n": str(found.lists), "undefined": str(found.undefined)}
    return {how: known(found.value), **counts, WHAT: values.metric.name}

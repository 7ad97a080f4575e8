"""One ranking under the conventions of every program: the quickest way to see why two papers disagree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ltr.data import DataError
from ltr.evaluation import RankedLists, evaluate_lists
from ltr.evaluation.aggregates import How
from ltr.gap.numbers import number
from ltr.metrics import RankingMetric, parse
from ltr.metrics.presets import PRESETS
from ltr.report.layout import Block, Page

OURS = "ltr"
WHAT = "what it is here"


def print_presets(
    systems: Callable[[str], Mapping[str, RankedLists]], metrics: Sequence[str | RankingMetric], how: How
) -> None:
    """Print each metric of each system under this toolkit's conventions and those of every program that has it.

    Args:
        systems: name -> lists, for a rule which queries count: "judged", "intersection" or "strict".
        metrics: names, or metrics.
        how: the aggregate.
    """
    page = Page()
    names = list(systems("judged"))
    for metric in dict.fromkeys(metrics):
        for name in names:
            title = parse(metric).name + (f", {name}" if len(names) > 1 else "")
            rows = [(preset, _cells(systems, name, metric, preset, how)) for preset in (OURS, *PRESETS)]
            page.table([Block(title, rows)], least=("undefined",), text=(WHAT,))
    page.lines([f"{WHAT}: the name to ask for; -: the program has no such metric", *page.dropped()], apart=True)


def _cells(
    systems: Callable[[str], Mapping[str, RankedLists]], system: str, metric: str | RankingMetric, preset: str, how: How
) -> dict[str, str]:
    nothing = {how: "-", "n": "-", "undefined": "-", WHAT: "-"}
    rules = None if preset == OURS else PRESETS[preset]
    if rules is not None and parse(metric).base not in rules.metrics:
        return nothing
    try:
        lists = systems("judged" if rules is None else rules.queries)[system]
        (values,) = evaluate_lists(lists, [metric], preset=rules).values
        found = values.summary(how)
    except DataError:
        return nothing | {WHAT: "refuses it: not the same queries on both sides"}
    counts = {"n": str(found.lists), "undefined": str(found.undefined)}
    return {how: number(found.value), **counts, WHAT: values.metric.name}

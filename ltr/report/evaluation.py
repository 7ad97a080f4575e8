"""What ``ltr evaluate`` prints: metrics by systems, and what one must know before one believes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ltr.data import DataError
from ltr.evaluation import Evaluation, MetricValues, Summary
from ltr.evaluation.aggregates import slices
from ltr.evaluation.tables import per_query
from ltr.gap.numbers import number
from ltr.metrics.judged import Judged
from ltr.report.curves import Curves, curve_blocks
from ltr.report.layout import Block, Page, all_of, brief, percent, some, span
from ltr.report.losses import kinds, losses, shown_lines, what_is_lost
from ltr.report.standing import standing, tie_range
from ltr.report.unjudged import Budget

LEAST = ("se", "sd", "n", "ceiling", "floor")  # columns that go first where there is no room
SLICES = 40  # slices that are printed
MOVES = 0.01  # share of tied lists from which their order can move a mean
RULES = {"skip": "left out", "zero": "each counts 0", "one": "each counts 1"}

Integers = NDArray[np.int64]
Row = tuple[str, Mapping[str, str]]


def print_evaluations(
    systems: Mapping[str, Evaluation],
    about: Sequence[str] = (),
    note: str = "",
    *,
    shown: int | None = None,
    by: str | None = None,
    curves: Curves | None = None,
) -> None:
    """Print the table of one or more systems, slices, findings, and the convention of every number.

    Args:
        systems: name -> what was found; the same metrics for all.
        about: lines that stand above, as they are.
        note: what stands above the conventions.
        shown: how many results the product displays.
        by: an attribute to slice by; ``date:year`` and ``date:month`` read it as dates.
        curves: the metrics under each setting of an option.

    Raises:
        DataError: there is no such attribute, or it holds no dates.
    """
    page, first = Page(), next(iter(systems.values()))
    sliced, left = ([], []) if by is None else slice_blocks(systems, by)  # refused before anything is printed
    rivals, sentences = standing(systems, Budget())
    for line in about:
        print(line)
    page.table(score_blocks(systems), least=LEAST)
    page.table(sliced, least=LEAST)
    page.lines(left)
    page.table(rivals, least=("won/tied/lost",))
    page.lines(sentences)
    found = findings(systems)
    page.lines(found.pop("", []), apart=True)
    page.lines([line for title, said in found.items() for line in (title, *(f"  {each}" for each in said))], apart=True)
    lost = losses(systems)
    page.table(what_is_lost(lost), least=("perfect", "no answer", "wrong order"))
    if shown:
        longest = max(int(each.lists.lengths.max(initial=1)) for each in systems.values())
        page.lines(shown_lines([each.metric for each in first.values], shown, longest), apart=True)
    for table, sentence in curve_blocks(curves, page.width) if curves else ():
        page.table(table, least=("undefined", "n"), text=("",))
        page.lines(sentence)
    legend = [*_legend(systems, page), *kinds(lost, page.heads), *page.dropped()]
    page.lines([*legend, *([note] if note else [])], apart=True)
    for convention in dict.fromkeys(each.convention for each in first.summaries):
        page.lines([convention], whole=True)


# -- tables -----------------------------------------------------------------------------------------------------------


def score_blocks(systems: Mapping[str, Evaluation]) -> list[Block]:
    """What each metric comes to: a block a metric with a row a system, or one block where there is one system."""
    budget, names = Budget(), [each.metric for each in next(iter(systems.values())).summaries]
    blocks = []
    for place, metric in enumerate(names):
        rows = []
        for name, table in systems.items():
            summary, values = table.summaries[place], table.values[place]
            share = table.findings.unjudged.get(values.metric.k)
            asked = share is not None and table.aggregate == "mean" and values.metric.base != "judged"
            found = budget.range(values.lists, values.metric) if asked else None
            worst = {"worst to best": "-" if found is None else span(*found.mean)}
            rows.append((name if len(systems) > 1 else metric, _cells(summary, share) | worst))
        blocks.append(Block(metric, rows))
    return blocks if len(systems) > 1 else [Block("metric", [row for block in blocks for row in block.rows])]


def slice_blocks(systems: Mapping[str, Evaluation], by: str) -> tuple[list[Block], list[str]]:
    """The same for the queries of each value of an attribute, and how many values have no room.

    Raises:
        DataError: there is no such attribute, or it holds no dates.
    """
    attribute, _, part = by.partition(":")
    groups: dict[str, dict[str, Integers]] = {}
    for name, table in systems.items():
        try:
            found = slices(table.lists.attributes[attribute], part or None)  # type: ignore[arg-type]
        except DataError:
            raise
        except ValueError as error:
            raise DataError(_by_id(str(error), table.lists.query_ids)) from error
        for value, lists in found.items():
            groups.setdefault(value, {})[name] = lists
    large = sorted(groups, key=lambda value: -max(map(len, groups[value].values())))[:SLICES]
    kept = [value for value in groups if value in large]
    judged = {name: _judged(table) for name, table in systems.items()}
    blocks = []
    for place, metric in enumerate(each.metric for each in next(iter(systems.values())).values):
        alone: list[Row] = []
        for value in kept:
            rows: list[Row] = []
            for name, lists in groups[value].items():
                table = systems[name]
                summary = table.values[place].summary(table.aggregate, among=lists, seed=table.seed)
                known = judged[name].get(metric.k)
                returned = lists[table.lists.lengths[lists] > 0]
                share = None if known is None or not len(returned) else 1 - float(known.value[returned].mean())
                rows.append((name if len(systems) > 1 else value, _cells(summary, share)))
            if len(systems) > 1:
                blocks.append(Block(f"{metric.name}, {attribute} {value}", rows))
            alone += rows
        if len(systems) == 1:
            blocks.append(Block(f"{metric.name}, by {by}", alone))
    left = len(groups) - len(kept)
    return blocks, [f"{left} more values of {attribute}, each of fewer queries, are not shown."] if left else []


def _judged(table: Evaluation) -> dict[int | None, MetricValues]:
    """Cutoff of a metric -> judged share of each list; nothing where all is judged."""
    if table.lists.judged is None:
        return {}
    cutoffs = dict.fromkeys(each.metric.k for each in table.values)
    return dict(zip(cutoffs, per_query(table.lists, [Judged(k=k, empty="one") for k in cutoffs]), strict=True))


def _cells(summary: Summary, unjudged: float | None) -> dict[str, str]:
    return {
        summary.aggregate: number(summary.value),
        "95 % interval": span(*summary.interval[:2]),
        "sd": _known(summary.sd),
        "se": _known(summary.se),
        "n": str(summary.lists),
        "floor": _known(summary.floor),
        "ceiling": _known(summary.ceiling),
        "unjudged": "-" if unjudged is None else percent(unjudged),
    }


def _by_id(message: str, query_ids: Sequence[str]) -> str:
    """The message with a query's id in place of its number."""
    return re.sub(r"list (\d+)", lambda number: f"query {query_ids[int(number[1])]}", message)


def _known(value: float) -> str:
    return number(value) if value == value else "-"


# -- sentences --------------------------------------------------------------------------------------------------------


def findings(systems: Mapping[str, Evaluation]) -> dict[str, list[str]]:
    """What may lie behind the numbers, by system; what holds of all of several is said once.

    Queries are named by id; what is as it should be is not mentioned.
    """
    said = {name: list(_finding(table, alone=len(systems) == 1)) for name, table in systems.items()}
    told = list(said.values())
    if len(told) == 1:
        return {"": told[0]}
    shared = [line for line in told[0] if all(line in lines for lines in told)]
    rest = {name: [line for line in lines if line not in shared] for name, lines in said.items()}
    return {title: lines for title, lines in {"all systems": shared, **rest}.items() if lines}


def _finding(table: Evaluation, alone: bool) -> Iterator[str]:
    found, total = table.findings, len(table.lists.query_ids)
    if found.missing:
        rule = "each counts 0" if set(found.missing) & set(table.lists.query_ids) else "left out"
        yield f"lacks {_queries(len(found.missing))} that somebody judged ({rule}): {some(found.missing)}"
    if found.extra:
        yield f"has {_queries(len(found.extra))} that nobody judged (left out): {some(found.extra)}"
    if found.tied:
        yield f"equal scores in {len(found.tied)} of {_queries(total)}: {some(found.tied)}{_tied(table)}"
    name_of = brief([each.metric for each in table.values])
    alike: dict[tuple[tuple[str, ...], str], list[MetricValues]] = {}
    for each in table.values:
        ids = found.blank[each.metric.name]
        if ids:
            alike.setdefault((ids, RULES[each.metric.empty]), []).append(each)
    for (ids, rule), metrics in alike.items():
        names = all_of([name_of[each.metric] for each in metrics])
        first = metrics[0]  # several systems move by the same
        other = _blank(table, first, name_of[first.metric]) if alone else ""
        yield f"no answer by {names} in {len(ids)} of {_queries(total)} ({rule}): {some(ids)}{other}"


def _tied(table: Evaluation) -> str:
    """What the first metric would be by another order of equal scores, where that can matter."""
    values = table.values[0]
    name = brief([each.metric for each in table.values])[values.metric]
    ends = tie_range(values) if values.tied.mean() > MOVES and table.aggregate == "mean" else None
    return f"; by their order {name} is {span(*ends)}" if ends and ends[1] - ends[0] > 5e-5 else ""


def _blank(table: Evaluation, values: MetricValues, name: str) -> str:
    """What the metric would be under the other rules for lists without an answer."""
    weight = values.weight
    if table.aggregate != "mean" or not weight[~values.defined].any():
        return ""
    total, answered = weight.sum(), float((values.value * weight)[values.defined].sum())
    others = {
        "skip": ("left out", answered / weight[values.defined].sum() if weight[values.defined].any() else np.nan),
        "zero": ("as 0", answered / total),
        "one": ("as 1", (answered + weight[~values.defined].sum()) / total),
    }
    told = [f"{number(value)} {words}" for rule, (words, value) in others.items() if rule != values.metric.empty]
    return f"; {name} would be {' and '.join(told)}"


def _queries(count: int) -> str:
    return f"{count} {'query' if count == 1 else 'queries'}"


def _legend(systems: Mapping[str, Evaluation], page: Page) -> Iterator[str]:
    """What the columns are that stand on the page."""
    tables = systems.values()
    methods = dict.fromkeys(each.interval.method for table in tables for each in table.summaries)
    for heads, text in (
        (("95 % interval",), f"95 % interval: {'; '.join(methods)}"),
        (("sd", "se"), "sd: over lists; se: of the mean"),
        (("floor", "ceiling"), "floor: a random order of the same documents; ceiling: the ideal order"),
        (("unjudged",), "unjudged: share of the documents up to the cutoff that nobody judged"),
        (
            ("worst to best",),
            "worst to best: where the mean could lie if each of those had label 0 or the top one",
        ),
        (("if all were judged",), "if all were judged: the differences that such labels leave room for"),
    ):
        if page.heads & set(heads):
            yield text

"""What ``ltr evaluate`` prints: metrics by systems, and what one must know before one believes them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ltr.data import DataError
from ltr.evaluation import Bounds, Evaluation, MetricValues, RankedLists
from ltr.evaluation.aggregates import slices
from ltr.evaluation.notes import all_of
from ltr.evaluation.results import cells, spread
from ltr.evaluation.surrogates import loss_notes
from ltr.evaluation.tables import per_query
from ltr.gap.numbers import counted, span
from ltr.metrics.judged import Judged
from ltr.report.curves import Curves, curve_blocks
from ltr.report.layout import Block, Page
from ltr.report.losses import kinds, losses, shown_lines, what_is_lost
from ltr.report.standing import standing
from ltr.report.unjudged import Budget

SLICES = 40  # slices that are printed

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
    scores, unknown = score_blocks(systems)
    page.table(scores)
    page.lines(unknown)
    page.table(loss_blocks(systems), text=("unit", "what it is"))
    page.lines(_about_losses(systems))
    page.table(sliced)
    page.lines(left)
    page.table(rivals)
    page.lines(sentences)
    found = findings(systems)
    page.lines(found.pop("", []), apart=True)
    page.lines([line for title, said in found.items() for line in (title, *(f"  {each}" for each in said))], apart=True)
    lost = losses(systems)
    page.table(what_is_lost(lost))
    if shown:
        longest = max(int(each.lists.lengths.max(initial=1)) for each in systems.values())
        page.lines(shown_lines([each.metric for each in first.values], shown, longest), apart=True)
    for table, said in curve_blocks(curves) if curves else ():
        page.table(table, text=("",))
        page.lines(said)
    some = any(row["worst to best"].startswith("about") for block in scores for _, row in block.rows)
    page.terms(dict(_legend(systems, page.heads, some)) | kinds(lost, page.heads))
    page.lines([note] if note else [], apart=True)
    page.lines(list(dict.fromkeys(each.convention for each in first.summaries)), apart=not note, whole=True)


# -- tables -----------------------------------------------------------------------------------------------------------


def score_blocks(systems: Mapping[str, Evaluation]) -> tuple[list[Block], list[str]]:
    """What each metric comes to, and whose worst and best case was too much work.

    It is a block a metric with a row a system, or one block where there is one system.
    """
    names = [each.metric for each in next(iter(systems.values())).summaries]
    found = Budget().ranges(
        {
            (name, metric): values
            for name, table in systems.items()
            for metric, values in zip(names, table.values, strict=True)
            if table.lists.judged is not None and table.aggregate == "mean" and values.metric.base != "judged"
        }
    )
    blocks = []
    for place, metric in enumerate(names):
        rows = []
        for name, table in systems.items():
            summary, values = table.summaries[place], table.values[place]
            given = cells(summary, table.findings.unjudged.get(values.metric.k))
            worst = {"worst to best": _worst(found.get((name, metric)))}
            rows.append((name if len(systems) > 1 else metric, given | worst | spread(summary)))
        blocks.append(Block(metric, rows))
    blocks = blocks if len(systems) > 1 else [Block("metric", [row for block in blocks for row in block.rows])]
    return blocks, _too_much([key for key, each in found.items() if each is None], systems, names)


def _worst(found: Bounds | None) -> str:
    return "-" if found is None else ("" if found.proven.all() else "about ") + span(*found.mean)


def _too_much(lacking: Sequence[tuple[str, str]], systems: Collection[str], metrics: Sequence[str]) -> list[str]:
    """Why a worst and best case is not there."""
    told = []
    for metric in metrics:
        without = [name for name in systems if (name, metric) in lacking]
        if without:
            told.append(metric if len(without) == len(systems) else f"{metric} ({', '.join(without)})")
    why = "there are too many unjudged documents"
    return [f"worst to best was not worked out for {all_of(told)}: {why}."] if told else []


def loss_blocks(systems: Mapping[str, Evaluation]) -> list[Block]:
    """What each loss comes to, as ``score_blocks`` has it for metrics."""
    if len(systems) == 1:
        found = next(iter(systems.values())).losses
        return [Block("loss", [(name, each.cells()) for name, each in found.items()])] if found else []
    names = next(iter(systems.values())).losses
    return [Block(each, [(name, table.losses[each].cells()) for name, table in systems.items()]) for each in names]


def _about_losses(systems: Mapping[str, Evaluation]) -> list[str]:
    """What one must know of the losses; what holds of all of several systems is said once."""
    said = {name: loss_notes(table.lists) for name, table in systems.items() if table.losses}
    lines = {line: [name for name, told in said.items() if line in told] for each in said.values() for line in each}
    return [line if len(names) == len(said) else f"{all_of(names)}: {line}" for line, names in lines.items()]


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
                summary = table.values[place].summary(among=lists)
                share = _unjudged(judged[name].get(metric.k), table.lists, lists)
                rows.append((name if len(systems) > 1 else value, cells(summary, share)))
            if len(systems) > 1:
                blocks.append(Block(f"{metric.name}, {attribute} {value}", rows))
            alone += rows
        if len(systems) == 1:
            blocks.append(Block(f"{metric.name}, {by}", alone))
    left = len(groups) - len(kept)
    said = f"{counted(left, 'more value')} of {attribute}, of fewer queries, {'is' if left == 1 else 'are'} not shown."
    return blocks, [said] if left else []


def _judged(table: Evaluation) -> dict[int | None, MetricValues]:
    """Cutoff of a metric -> judged share of each list; nothing where all is judged."""
    if table.lists.judged is None:
        return {}
    cutoffs = dict.fromkeys(each.metric.k for each in table.values)
    return dict(zip(cutoffs, per_query(table.lists, [Judged(k=k, empty="one") for k in cutoffs]), strict=True))


def _unjudged(judged: MetricValues | None, all_lists: RankedLists, among: Integers) -> float | None:
    """The weighted mean, over some lists, of the share that nobody judged; None where all is judged, or none counts."""
    weight = (all_lists.weight * (all_lists.lengths > 0))[among]
    if judged is None or not weight.any():
        return None
    return float(np.average(1 - judged.value[among], weights=weight))


def _by_id(message: str, query_ids: Sequence[str]) -> str:
    """The message with a query's id in place of its number."""
    return re.sub(r"list (\d+)", lambda number: f"query {query_ids[int(number[1])]}", message)


# -- sentences --------------------------------------------------------------------------------------------------------


def findings(systems: Mapping[str, Evaluation]) -> dict[str, list[str]]:
    """What may lie behind the numbers, by system; what holds of all of several is said once.

    Queries are named by id; what is as it should be is not mentioned.
    """
    said = {name: table.notes(others=len(systems) == 1) for name, table in systems.items()}
    told = list(said.values())
    if len(told) == 1:
        return {"": told[0]}
    shared = [line for line in told[0] if all(line in lines for lines in told)]
    rest = {name: [line for line in lines if line not in shared] for name, lines in said.items()}
    return {title: lines for title, lines in {"all systems": shared, **rest}.items() if lines}


def _legend(systems: Mapping[str, Evaluation], heads: Collection[str], about: bool) -> Iterator[tuple[str, str]]:
    """What the columns are that stand on the page; says a cell "about"?"""
    tables = systems.values()
    methods = dict.fromkeys(each.interval.method for table in tables for each in table.summaries)
    for head, text in (
        ("95 % interval", "; ".join(methods).replace("all values", "one point where all values")),
        ("n", "lists that count"),
        ("floor", "what a random order of the same documents is worth"),
        ("ceiling", "what the best list of as many documents is worth"),
        ("unjudged", "share of the documents up to the cutoff that nobody judged"),
        (
            "worst to best",
            "where the mean could lie if each document that nobody judged, below the cutoff too, had any label from 0 "
            f"to the top one{'; about: the best that was found, not all labels were tried' if about else ''}",
        ),
        ("sd", "standard deviation over lists"),
        ("se", "standard error of the mean"),
        ("if all were judged", "the differences that such labels leave room for"),
    ):
        if head in heads:
            yield head, text

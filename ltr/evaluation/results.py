"""One system's table: metrics by queries, what they come to, and what one must know before one believes it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ltr.evaluation.aggregates import How, check_how, slices
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.notes import notes_of
from ltr.evaluation.output import write_rows
from ltr.evaluation.queries import QueryRow, query_rows
from ltr.evaluation.surrogates import LossValues, loss_notes, loss_values, surrogates_of
from ltr.evaluation.tables import MetricValues, Summary, per_query
from ltr.gap.numbers import known, percent, span
from ltr.intervals import check_seed
from ltr.metrics import RankingMetric, parse
from ltr.metrics.judged import Judged
from ltr.metrics.presets import PRESETS, Preset

if TYPE_CHECKING:
    from ltr.losses import Surrogate

USUAL = ("ndcg@10", "ap", "mrr")  # the metrics of a table for which none is named


class Findings(NamedTuple):
    """What may lie behind the numbers of a table."""

    missing: tuple[str, ...]  # queries that were judged, and that the run lacks
    extra: tuple[str, ...]  # queries of the run that nobody judged: left out
    tied: tuple[str, ...]  # queries with two returned documents of the same score
    blank: Mapping[str, tuple[str, ...]]  # metric -> queries without an answer
    unjudged: Mapping[int | None, float]  # cutoff -> mean share of documents up to there that nobody judged


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The table of ``ltr.evaluate``; ``print`` shows what each metric comes to."""

    lists: RankedLists
    values: tuple[MetricValues, ...]
    asked: tuple[str, ...]  # the metrics' names before a preset
    by: tuple[str, ...] = ()  # attributes whose slices are printed
    losses: Mapping[str, LossValues] = field(default_factory=dict)  # by name, as they were asked for

    @property
    def aggregate(self) -> How:
        """What the values of each metric come to."""
        return self.values[0].aggregate

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """What each metric comes to, with its interval, floor and ceiling."""
        return tuple(each.summary() for each in self.values)

    def __getitem__(self, metric: str | RankingMetric) -> MetricValues:
        """One metric's column, by its name or by the one that it was asked for under.

        Raises:
            ValueError: the table has no such metric.
        """
        for name, each in zip(self.asked, self.values, strict=True):
            if parse(metric) in (parse(name), each.metric):
                return each
        names = ", ".join(each.metric.name for each in self.values)
        raise ValueError(f"wanted a metric of this table ({names}), got {str(metric)!r}")

    def per_query(self, metric: str | RankingMetric) -> dict[str, float | None]:
        """Query -> the metric's value, in the order of the input; None where the mean skips the query.

        Raises:
            ValueError: the table has no such metric.
        """
        return {row.query: row.value for row in self[metric].rows()}

    def rows(self) -> list[QueryRow]:
        """One row a metric or loss and query, those that only one side has among them."""
        return [*query_rows(self.values), *(row for each in self.losses.values() for row in each.rows())]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the rows to a .csv, .parquet or .json file, in one step.

        Raises:
            ValueError: another ending.
            OSError: the file cannot be written.
        """
        write_rows({None: self.rows()}, path)

    def slices(self, attribute: str, by: Literal["year", "month"] | None = None) -> dict[str, tuple[Summary, ...]]:
        """What each metric comes to on the queries of each value of an attribute.

        Args:
            attribute: one that the lists have.
            by: read it as dates and slice by "year" or "month".

        Raises:
            DataError: there is no such attribute, or it is not one value a query.
        """
        groups = slices(self.lists.attributes[attribute], by)
        return {value: tuple(each.summary(among=rows) for each in self.values) for value, rows in groups.items()}

    @cached_property
    def findings(self) -> Findings:
        """Queries that are missing, extra, tied or without an answer, and how much nobody judged."""
        ids = np.array(self.lists.query_ids, dtype=object)
        return Findings(
            missing=self.lists.missing,
            extra=self.lists.extra,
            tied=tuple(ids[self.values[0].tied]),
            blank={each.metric.name: tuple(ids[~each.defined]) for each in self.values},
            unjudged=_unjudged(self.lists, [each.metric for each in self.values]),
        )

    def notes(self, *, others: bool = True) -> list[str]:
        """The findings in words, a sentence each, and nothing about what is as it should be.

        Args:
            others: say too what a mean would be under the other rules for lists without an answer.
        """
        return list(notes_of(self, others))

    def __str__(self) -> str:
        rows = [
            {"metric": each.metric} | cells(each, self.findings.unjudged.get(values.metric.k)) | spread(each)
            for each, values in zip(self.summaries, self.values, strict=True)
        ]
        heads = [head for head in rows[0] if any(row[head] != "-" for row in rows)]
        blocks = [_aligned([heads, *([row[head] for head in heads] for row in rows)])]
        if self.losses:
            found = {name: each.cells() for name, each in self.losses.items()}
            table = [("loss", "mean", "n", "unit"), *((name, *list(row.values())[:3]) for name, row in found.items())]
            blocks.append("\n".join([_aligned(table), *loss_notes(self.lists)]))
        for attribute in self.by:
            sliced = [
                (value, *(f"{known(each.value)} ({each.lists})" for each in found))
                for value, found in self.slices(attribute).items()
            ]
            blocks.append(_aligned([(attribute, *(each.metric.name for each in self.values)), *sliced]))
        conventions = [each.convention for each in self.summaries]
        return "\n\n".join([*blocks, *("\n".join(lines) for lines in (self.notes(), conventions) if lines)])


def evaluate_lists(
    lists: RankedLists,
    metrics: str | RankingMetric | Sequence[str | RankingMetric] = USUAL,
    *,
    preset: str | Preset | None = None,
    aggregate: How = "mean",
    by: str | Sequence[str] = (),
    losses: str | Surrogate | Sequence[str | Surrogate] = (),
    seed: int = 0,
) -> Evaluation:
    """The table of what a system returned.

    Args:
        lists: what it returned, and what the judges say; which queries count was settled when they were joined.
        metrics: names or metrics; one that is named twice stands once.
        preset: another program's conventions, by name; what a metric's name says for itself wins, and scores are
            compared in the precision in which the program holds them.
        aggregate: what the values come to: "mean", "micro", "median", "geometric" or "min".
        by: attributes of the lists whose slices are printed.
        losses: surrogates to stand beside the metrics, by the names of conf/loss (made for the first metric, with
            their defaults) or as they are; see ``ltr.evaluation.surrogates.loss_values``.
        seed: of intervals that resample.

    Raises:
        ValueError: no metric, an unknown metric, preset, aggregate, attribute, loss or seed, a metric that the preset
            lacks, that micro cannot pool or that a loss cannot be made for, or as ``per_query`` says.

    Example:
        >>> lists = RankedLists.from_arrays([0, 1, 0, 1], [0.9, 0.1, 0.2, 0.6], ["a", "a", "b", "b"])
        >>> table = evaluate_lists(lists, ["mrr"])
        >>> table.per_query("mrr"), table.summaries[0].value
        ({'a': 0.5, 'b': 1.0}, 0.75)
    """
    named = [metrics] if isinstance(metrics, str | RankingMetric) else metrics
    if not isinstance(named, Iterable) or not (named := list(named)):
        raise ValueError(f"metrics: wanted at least one name or metric, got {metrics!r}")
    rules = preset_named(preset)
    wanted: dict[RankingMetric, str] = {}
    for each in named:
        if rules is None:
            metric = parse(each)
        else:
            metric = rules.parse(each) if isinstance(each, str) else rules.apply(each)
        wanted.setdefault(metric, str(each))
    check_seed(seed)
    for metric in wanted:
        check_how(aggregate, metric.name, hasattr(metric, "fraction"))
    wished = surrogates_of(losses, next(iter(wanted)))
    sliced = (by,) if isinstance(by, str) else tuple(by)
    for attribute in sliced:
        lists.attributes[attribute]
    if rules is not None:
        lists = lists.held_in(rules.scores)
    values = (replace(each, aggregate=aggregate, seed=seed) for each in per_query(lists, list(wanted)))
    return Evaluation(lists, tuple(values), tuple(wanted.values()), sliced, loss_values(lists, wished))


def cells(summary: Summary, unjudged: float | None) -> dict[str, str]:
    """The columns of a table that say what a metric comes to, "-" where there is no such number.

    Args:
        summary: of some lists.
        unjudged: share of their documents that nobody judged; None where all are judged.
    """
    return {
        summary.aggregate: known(summary.value),
        "95 % interval": span(*summary.interval[:2]),
        "n": str(summary.lists),
        "floor": known(summary.floor),
        "ceiling": known(summary.ceiling),
        "unjudged": "-" if unjudged is None else percent(unjudged),
    }


def spread(summary: Summary) -> dict[str, str]:
    """And those that say how far the values lie apart."""
    return {"sd": known(summary.sd), "se": known(summary.se)}


def preset_named(preset: str | Preset | None) -> Preset | None:
    """The preset of this name. Raises ValueError where there is none."""
    if preset is None or isinstance(preset, Preset):
        return preset
    if preset not in list(PRESETS):
        raise ValueError(f"unknown preset {preset!r}: wanted one of {', '.join(PRESETS)}")
    return PRESETS[preset]


def _unjudged(lists: RankedLists, metrics: Iterable[RankingMetric]) -> dict[int | None, float]:
    """Cutoff of a metric -> weighted mean, over queries with documents, of the share up to it that nobody judged."""
    if lists.judged is None:
        return {}
    cutoffs = list(dict.fromkeys(each.k for each in metrics))
    weight = lists.weight * (lists.lengths > 0)
    found = per_query(lists, [Judged(k=k) for k in cutoffs])
    return {
        k: float(np.average(1 - each.value, weights=weight)) if weight.any() else 0.0
        for k, each in zip(cutoffs, found, strict=True)
    }


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    """Text columns: the first to the left, the others to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)

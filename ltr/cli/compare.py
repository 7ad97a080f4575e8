"""``ltr compare FIRST SECOND``: two runs on the lists that both were measured on."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import Any, Literal

from ltr import runs
from ltr.cli.screen import show, span
from ltr.evaluation import Comparison, differing
from ltr.evaluation import compare as compare_values
from ltr.metrics import RankingMetric, parse

Row = dict[str, Any]


def compare(
    *,
    first: str,
    second: str,
    split: Literal["validation", "test"],
    metrics: Sequence[str] | None,
    root: str | Path,
) -> None:
    """Print, for each metric that both runs have, the difference first minus second and how sure it is."""
    one, other = (_Measured(runs.find(name, root), split) for name in (first, second))
    names = _shared_metrics(one, other, metrics)
    missing = _missing(one, other)
    _same_data(one, other)
    results = []
    for name in names:
        ours, theirs = one.values(name), other.values(name)
        shared = [query for query in ours if query in theirs]
        if shared:
            weight = {query: one.table[name][query]["weight"] for query in shared}
            if not any(weight.values()):
                raise runs.RunError(f"{name}: every {split} list that the runs share has weight 0")
            results.append(
                compare_values(
                    {query: ours[query] for query in shared},
                    {query: theirs[query] for query in shared},
                    name,
                    weight=weight,
                    larger_is_better=one.larger_is_better(name),
                )
            )
    if not results:
        raise runs.RunError(f"{first} and {second} share no {split} query with a value")
    _show(one, other, results, missing)


class _Measured:
    """A run's values by metric and query."""

    def __init__(self, run: runs.Run, split: str) -> None:
        self.run, self.split = run, split
        self.table: dict[str, dict[str, Row]] = {}
        for row in run.read_per_query(split):
            self.table.setdefault(row["metric"], {})[row["query"]] = row
        info = run.read_info()
        self.conventions: dict[str, str] = info.get("conventions", {})
        self.larger: dict[str, bool] = info.get("larger_is_better", {})
        self.data: dict[str, Any] = info.get("data", {}).get(split, {})

    def values(self, metric: str) -> dict[str, float]:
        """query -> value, without the lists that the mean skips.

        Raises:
            RunError: a value is not a number.
        """
        found = {query: row["value"] for query, row in self.table[metric].items() if row["value"] is not None}
        for query, value in found.items():
            if isnan(value):
                raise runs.RunError(f"{self.run.path} has no number but nan as {metric} of {self.split} query {query}")
        return found

    def column(self, name: str) -> dict[str, Any]:
        """query -> what the column holds for it, the same for every metric."""
        return {query: row[name] for rows in self.table.values() for query, row in rows.items()}

    def convention(self, metric: str) -> str:
        return self.conventions[metric] if metric in self.conventions else self._parsed(metric).convention

    def larger_is_better(self, metric: str) -> bool:
        return self.larger[metric] if metric in self.larger else self._parsed(metric).larger_is_better

    def _parsed(self, metric: str) -> RankingMetric:
        """What the name says, where run.json says nothing: a metric of the user's own has no name to read."""
        try:
            return parse(metric)
        except ValueError as error:
            raise runs.RunError(f"{self.run.info_path} does not say what {metric} is: {error}") from error


def _shared_metrics(one: _Measured, other: _Measured, wanted: Sequence[str] | None) -> list[str]:
    """The metrics to compare.

    Raises:
        RunError: a run has not one that is wanted, they share none, or one means different things in the two.
    """
    names = list(wanted) if wanted else [name for name in one.table if name in other.table]
    for side in (one, other):
        lacking = [name for name in names if name not in side.table]
        if lacking:
            raise runs.RunError(f"{side.run.path} has no {lacking[0]} on {side.split}; it has {', '.join(side.table)}")
    if not names:
        ours, theirs = next(iter(one.table)), next(iter(other.table))
        parts = "; ".join(differing(one.convention(ours), other.convention(theirs)))
        raise runs.RunError(f"the runs share no metric, so no number of one compares with one of the other: {parts}")
    for name in names:
        parts = "; ".join(differing(one.convention(name), other.convention(name)))
        if parts:
            raise runs.RunError(f"{name} means two things in these runs, so they are not compared: {parts}")
    return names


def _missing(one: _Measured, other: _Measured) -> list[str]:
    """Who lacks which queries.

    Raises:
        RunError: a query has another number of documents, or another weight, in the two runs.
    """
    for name, words in (("documents", "{} documents"), ("weight", "weight {:g}")):
        ours, theirs = one.column(name), other.column(name)
        for query in ours:
            if query in theirs and ours[query] != theirs[query]:
                raise runs.RunError(
                    f"query {query} has {words.format(ours[query])} in {one.run.path.name} and "
                    f"{words.format(theirs[query])} in {other.run.path.name}: the runs were measured on different data"
                )
    lines = []
    for side, there, here in ((one, theirs, ours), (other, ours, theirs)):
        lacking = [query for query in there if query not in here]
        if lacking:
            some = ", ".join(lacking[:5]) + (", ..." if len(lacking) > 5 else "")
            lines.append(f"left out: {len(lacking)} queries that {side.run.path.name} lacks ({some})")
    return lines


def _same_data(one: _Measured, other: _Measured) -> None:
    """Refuse runs whose lists differ in anything: features, labels as the run saw them, queries, weights.

    Raises:
        RunError: the hashes of the split differ.
    """
    ours, theirs = one.data.get("hash"), other.data.get("hash")
    if ours and theirs and ours != theirs:
        raise runs.RunError(
            f"the runs were measured on different {one.split} data, so they are not compared: "
            f"{one.run.path.name} on {one.data.get('source')} (hash {ours[:8]}), "
            f"{other.run.path.name} on {other.data.get('source')} (hash {theirs[:8]})"
        )


def _show(one: _Measured, other: _Measured, results: Sequence[Comparison], missing: Sequence[str]) -> None:
    print(f"first   {one.run.path}")
    print(f"second  {other.run.path}")
    for line in missing:
        print(line)
    show(
        ("metric", "first", "second", "difference", "95 % interval", "p (t)", "p (flip)", "won/tied/lost", "n"),
        (
            (
                each.metric,
                f"{each.first:.4f}",
                f"{each.second:.4f}",
                f"{each.difference:+.4f}",
                span(each.interval.low, each.interval.high, "+"),
                *("-" if isnan(test.p) else f"{test.p:.4f}" for test in (each.t_test, each.sign_flip)),
                f"{each.wins}/{each.ties}/{each.losses}",
                str(each.lists),
            )
            for each in results
        ),
    )
    how = [method for each in results for method in (each.interval.method, each.t_test.method, each.sign_flip.method)]
    print(f"difference = first minus second, paired by query; {'; '.join(dict.fromkeys(how))}")
    for each in results:
        print(each.sentence(one.run.path.name, other.run.path.name))
    if len(results) > 1:
        print(f"{len(results)} metrics were looked at: p-values are not corrected for that.")
    for each in results:
        print(one.convention(each.metric))

"""The tables that end a run and a sweep: who believed what, and what was true."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ltr.evaluation import Comparison, compare, interval
from ltr.gap.numbers import counted, number
from ltr.report.layout import too_few
from ltr.runs import Run

PAIRS = 6  # comparisons that a sweep prints one by one
MEANING = (
    "A surrogate is the loss that is trained on in place of the metric; beside what it believes of the metric stands "
    "what is true of the same lists."
)
TAU = (
    "tau: does a falling loss go with a rising metric, from -1 to 1; regret: what choosing the epoch by the loss would "
    "have cost."
)


def print_run(run: Run, console: Console | None = None) -> None:
    """Print what a run believed over its validations, and what was true on its test lists.

    Args:
        run: a finished run.
        console: where to; standard output when None.

    Raises:
        RunError: the run left no run.json.
    """
    console = console or _console()
    info, rows = run.read_info(), run.gap_rows()
    if rows:
        did = "was worth" if rows[-1]["kind"] == "neither" else "believed"
        _title(
            console, f"what {rows[-1]['surrogate']} {did} on {counted(rows[-1]['lists'], 'list')} of validation data"
        )
        console.print(_history(rows, int(info["best"]["epoch"])))
        if info["best"].get("value", 0.0) is None:
            console.print(f"No state was better than NaN by {info['best']['metric']}: * is the first one.")
        console.print(_between(rows[-1]), _meaning(rows[-1]), _agreement(rows[-1]), sep="\n")
    if info["test"]:
        _title(console, f"what was true on {_tested_lists(run, info['metric'])}")
        console.print(_tested([(run.path.name, run)], info))
        for name in info["test"]:
            if name in info["conventions"]:
                console.print(info["conventions"][name])
        console.print(f"tested: {info['checkpoint']}, epoch {info['best']['epoch']}", soft_wrap=True)
    console.print(f"run folder: {run.path}", soft_wrap=True)


def print_sweep(runs: Sequence[Run], console: Console | None = None) -> None:
    """Print who believed what and what was true over the runs of a sweep, without crowning a winner that is not one.

    Args:
        runs: the runs of one sweep, failed ones included.
        console: where to; standard output when None.
    """
    console = console or _console()
    done = [(run.path.name, run) for run in runs if run.read_info()["status"] == "finished"]
    tested = [(name, run) for name, run in done if run.read_info()["test"]]
    if tested:
        lists = counted(tested[0][1].read_info()["test_gap"]["lists"], "list")
        _title(console, f"who believed what on {lists} of test data, each at the epoch that validation chose")
        console.print(MEANING)
        console.print(_beliefs(tested))
        for line in dict.fromkeys(_meaning(run.read_info()["test_gap"]) for _, run in tested):
            console.print(line)
        _title(console, "did the loss go with the metric, over the validations?")
        console.print(_concordance(tested), TAU, sep="\n")
    for alike in _comparable(tested):
        info = alike[0][1].read_info()
        _title(console, f"what was true on {_tested_lists(alike[0][1], info['metric'])}")
        console.print(_tested(alike, info, only=info["metric"]))
        console.print(info["conventions"][info["metric"]], *_differences(alike, info), sep="\n")
    if runs:
        console.print(f"run folders: {runs[0].path.parent}", soft_wrap=True)


def _history(rows: Sequence[dict[str, Any]], best: int) -> Table:
    """A few of the validations: the first, the best, the last, and some between."""
    last = rows[-1]
    table = _table("epoch", "val/loss", *_belief_heads(last), f"val/{last['target']}")
    even = {round(place) for place in np.linspace(0, len(rows) - 1, min(7, len(rows)))}
    for place, row in enumerate(rows):
        if place in even or row["epoch"] == best:
            mark = " *" if row["epoch"] == best else ""
            loss = f"{number(row['val_loss'])} {row['loss_unit']}"
            table.add_row(f"{row['epoch']}{mark}", loss, *_belief_cells(row), number(row["val_target"]))
    return table


def _between(row: dict[str, Any]) -> str:
    target, floor, ceiling = row["target"], number(row["floor"]), number(row["ceiling"])
    text = f"* the best epoch by val/{target}; a random order is worth {floor} {target}, the ideal one {ceiling}"
    if not row["left_out"]:
        return text
    what = "tau and regret" if row["kind"] == "neither" else "belief, gap, tau and regret"
    return f"{text}\n{what} leave out {counted(row['left_out'], 'list')} without an order to learn, val/ does not"


def _belief_heads(row: dict[str, Any]) -> list[str]:
    if row["kind"] == "neither":
        return []
    word = "guaranteed" if row["kind"] == "bound" else "believed"
    heads = [f"{word} {row['aim']}", f"exact {row['aim']}", f"gap, {row['aim']}"]
    return [*heads, f"gap to {row['target']}"] if _reaches_target(row) else heads


def _reaches_target(row: dict[str, Any]) -> bool:
    """Is there a gap to the target beside that to the surrogate's own aim?"""
    return row["aim"] != row["target"] and (row["gap_target"] is not None or row["belief"] is None)


def _belief_cells(row: dict[str, Any]) -> list[str]:
    if row["kind"] == "neither":
        return []
    gaps = ["vacuous"] * 2 if row["vacuous"] else [number(row[name], sign=True) for name in ("gap_aim", "gap_target")]
    return [number(row["belief"]), number(row["aim_value"]), *gaps[: 1 + _reaches_target(row)]]


def _beliefs(runs: Sequence[tuple[str, Run]]) -> Table:
    targets = {run.read_info()["metric"] for _, run in runs}
    reported = f"gap to {targets.pop()}" if len(targets) == 1 else "gap to the target"
    table = _table("run", "kind", "believed", "exact", "gap to its aim", reported, left=2)
    for name, run in runs:
        row = run.read_info()["test_gap"]
        aim = row["aim"]
        if aim is None:
            table.add_row(
                name, row["kind"], "nothing", f"{row['target']} {number(row['target_value'])}", "none", "none"
            )
            continue
        sign = {"exact - certificate": ">= ", "certificate - exact": "<= "}.get(row["gap_says"], "")
        unlike = row["gap_target"] is None and row["belief"] is not None
        to_target = "none" if unlike else number(row["gap_target"], sign=True)
        gaps = [f"{number(row['gap_aim'], sign=True)} {aim}", to_target]
        table.add_row(
            *(name, row["kind"], f"{aim} {sign}{number(row['belief'])}", f"{aim} {number(row['aim_value'])}"),
            *(["vacuous"] * 2 if row["vacuous"] else gaps),
        )
    return table


def _concordance(runs: Sequence[tuple[str, Run]]) -> Table:
    table = _table("run", "loss at the best epoch", "validations", "tau", "regret", left=1)
    for name, run in runs:
        rows, best = run.gap_rows(), run.read_info()["best"]["epoch"]
        if not rows:
            continue
        row, last = next((each for each in rows if each["epoch"] == best), rows[-1]), rows[-1]
        regret = "-" if last["regret"] is None else f"{number(last['regret'])} {last['target']}"
        loss = f"{number(row['loss'])} {row['loss_unit']}"
        table.add_row(name, loss, str(last["validations"]), number(last["tau"], 2), regret)
    return table


def _tested(runs: Sequence[tuple[str, Run]], info: dict[str, Any], only: str | None = None) -> Table:
    values = runs[0][1].read_per_query("test")
    names = [only] if only else list(dict.fromkeys(row["metric"] for row in values))
    table = _table("run", "metric", "mean", "95 % interval", "random", "ideal", "lists", "best epoch", left=2)
    for name, run in runs:
        for metric in names:
            mine = run.read_info()
            kept = [row for row in _rows(run, metric) if row["value"] is not None]
            low, high, _ = interval([row["value"] for row in kept], [row["weight"] for row in kept])
            spread = "-" if np.isnan(low) else f"{number(low)} to {number(high)}"
            epoch = str(mine["best"]["epoch"])
            bounds = [number(info["test_bounds"][metric][name]) for name in ("floor", "ceiling")]
            table.add_row(name, metric, number(mine["test"][metric]), spread, *bounds, str(len(kept)), epoch)
    return table


def _comparable(runs: Sequence[tuple[str, Run]]) -> Iterable[list[tuple[str, Run]]]:
    """The runs in groups that report one metric, under one convention, on the same test data."""
    groups: dict[tuple[str, ...], list[tuple[str, Run]]] = {}
    for name, run in runs:
        info = run.read_info()
        same = (info["metric"], info["conventions"][info["metric"]], info["data"]["test"]["hash"])
        groups.setdefault(same, []).append((name, run))
    return groups.values()


def _differences(runs: Sequence[tuple[str, Run]], info: dict[str, Any]) -> Iterable[str]:
    """What the test lists can say about pairs of runs, seeds of one setting being averaged first."""
    target = info["metric"]
    settings: dict[str, list[dict[str, float]]] = {}
    for name, run in runs:
        values = _values(run, target)
        if np.isnan(list(values.values())).any():
            yield f"{name} has NaN among its test values, and is compared with nothing."
        else:
            settings.setdefault(_without_seed(name), []).append(values)
    means = {name: _averaged(values) for name, values in settings.items()}
    if len(means) < 2 or len({frozenset(values) for values in means.values()}) > 1:
        return
    weight = {row["query"]: row["weight"] for row in _rows(runs[0][1], target)}
    options: dict[str, Any] = {"larger_is_better": info["larger_is_better"][target]}
    if len({weight[query] for query in next(iter(means.values()))}) > 1:
        options["weight"] = weight
    pairs = [
        (first, second, compare(means[first], means[second], target, **options))
        for first, second in combinations(means, 2)
    ]
    if any(len(values) > 1 for values in settings.values()):
        yield "The values of each list are averaged over the seeds of a setting before settings are compared."
    if len(pairs) <= PAIRS:
        for first, second, found in pairs:
            span = " to ".join(number(each, sign=True) for each in found.interval[:2])
            yield f"{first} minus {second}: {number(found.difference, sign=True)} {target}, 95 % interval {span}"
    yield from _verdict(pairs, target)


def _verdict(pairs: Sequence[tuple[str, str, Comparison]], target: str) -> Iterable[str]:
    lists = pairs[0][2].lists
    if few := too_few(lists):
        yield few
        return
    if any(np.isnan(each[2].sign_flip.p) for each in pairs):
        said = f", and none of the {len(pairs)} is corrected for the others" if len(pairs) > 1 else ""
        yield f"Weighted lists have no test here: the intervals alone say how far two stand apart{said}."
        return
    apart = [each for each in pairs if each[2].sign_flip.p * len(pairs) < 0.05]
    for first, second, found in apart:
        yield found.sentence(first, second)
    told = f"told apart by a sign-flip test, Bonferroni-corrected for {counted(len(pairs), 'comparison')}"
    yield f"{len(apart)} of them {told}." if apart else f"On {target} these {lists} lists leave no two {told}."


def _meaning(row: dict[str, Any]) -> str:
    name, aim, target = row["surrogate"], row["aim"], row["target"]
    if row["kind"] == "neither":
        return f"{name} has no unit in common with {target}: its loss and the metric can only be compared in direction."
    if row["kind"] == "bound":
        side = "below" if row["gap_says"] == "exact - certificate" else "above"
        text = f"{name} guarantees that {aim} is not {side} its certificate; gap = {row['gap_says']}, never negative."
        return text + (" Vacuous: worse than a random order." if row["vacuous"] else "")
    about = f", not {target}, which is reported" if aim != target else ""
    return f"{name} estimates {aim}{about}; gap = estimate - exact, on the same lists."


def _agreement(row: dict[str, Any]) -> str:
    left_out = f" ({row['not_finite']} more not finite)" if row["not_finite"] else ""
    over = counted(row["validations"], "validation") + left_out
    if row["tau"] is None:
        return f"{over}, too few or too alike to tell whether the loss goes with the metric."
    text = f"over {over}: tau of -loss and {row['target']} is {row['tau']:.2f}"
    if row["regret"] is not None:
        text += f"; choosing the epoch by the loss would have cost {number(row['regret'])} {row['target']}"
    return text + "."


def _rows(run: Run, metric: str) -> list[dict[str, Any]]:
    return [row for row in run.read_per_query("test") if row["metric"] == metric]


def _values(run: Run, metric: str) -> dict[str, float]:
    return {row["query"]: row["value"] for row in _rows(run, metric) if row["value"] is not None}


def _tested_lists(run: Run, metric: str) -> str:
    rows = _rows(run, metric)
    silent = sum(not row["defined"] for row in rows)
    return f"{counted(len(rows), 'list')} of test data" + (f", {silent} of them without an answer" if silent else "")


def _averaged(values: Sequence[dict[str, float]]) -> dict[str, float]:
    shared = set.intersection(*(set(each) for each in values))
    return {query: float(np.mean([each[query] for each in values])) for query in values[0] if query in shared}


def _without_seed(name: str) -> str:
    return "_".join(part for part in name.split("_") if not part.startswith("seed-")) or name


def _table(*heads: str, left: int = 0) -> Table:
    """A table without lines, whose first ``left`` columns are text."""
    table = Table(box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < left else "right", no_wrap=place < left)
    return table


def _title(console: Console, text: str) -> None:
    console.print()
    console.print(text, style="bold", soft_wrap=True)


def _console() -> Console:
    console = Console()
    wide = not console.is_terminal and "COLUMNS" not in os.environ
    return Console(width=132 if wide else console.width, markup=False, highlight=False)

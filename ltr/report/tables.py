"""The tables that end a run and a sweep: who believed what, and what was true."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ltr.evaluation import Comparison, compare, interval
from ltr.metrics import parse
from ltr.runs import Run

FEW = 50  # lists below which intervals of a mean cover less than they say
PAIRS = 6  # comparisons that a sweep prints one by one
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
        _title(console, f"what {rows[-1]['surrogate']} {did} on {_lists(rows[-1]['lists'])} of validation data")
        console.print(_history(rows, int(info["best"]["epoch"])))
        console.print(_between(rows[-1]), _meaning(rows[-1]), _agreement(rows[-1]), sep="\n")
    if info["test"]:
        _title(console, f"what was true on {_lists(info['data']['test']['queries'])} of test data")
        console.print(_tested([(run.path.name, run)], info))
        for name in info["test"].keys() & info["conventions"].keys():
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
        lists = _lists(tested[0][1].read_info()["test_gap"]["lists"])
        _title(console, f"who believed what on {lists} of test data, each at the epoch that validation chose")
        console.print(_beliefs(tested))
        for line in dict.fromkeys(_meaning(run.read_info()["test_gap"]) for _, run in tested):
            console.print(line)
        _title(console, "did the loss go with the metric, over the validations?")
        console.print(_concordance(tested), TAU, sep="\n")
    for alike in _comparable(tested):
        info = alike[0][1].read_info()
        _title(console, f"what was true on {_lists(info['data']['test']['queries'])} of test data")
        console.print(_tested(alike, info, only=info["metric"]))
        console.print(info["conventions"][info["metric"]], *_differences(alike, info["metric"]), sep="\n")
    if runs:
        console.print(f"run folders: {runs[0].path.parent}", soft_wrap=True)


def _history(rows: Sequence[dict[str, Any]], best: int) -> Table:
    """A few of the validations: the first, the best, the last, and some between."""
    last = rows[-1]
    table = _table("epoch", "loss", *_belief_heads(last), f"exact {last['target']}")
    even = {round(place) for place in np.linspace(0, len(rows) - 1, min(7, len(rows)))}
    for place, row in enumerate(rows):
        if place in even or row["epoch"] == best:
            mark = " *" if row["epoch"] == best else ""
            loss = f"{_number(row['loss'])} {row['loss_unit']}"
            table.add_row(f"{row['epoch']}{mark}", loss, *_belief_cells(row), _number(row["target_value"]))
    return table


def _between(row: dict[str, Any]) -> str:
    target, floor, ceiling = row["target"], _number(row["floor"]), _number(row["ceiling"])
    left_out = f"; {_lists(row['left_out'])} without an order to learn left out" if row["left_out"] else ""
    return (
        f"* the best epoch by {target}, of which a random order is worth {floor} and the ideal one {ceiling}{left_out}"
    )


def _belief_heads(row: dict[str, Any]) -> list[str]:
    if row["kind"] == "neither":
        return []
    word = "guaranteed" if row["kind"] == "bound" else "believed"
    same = row["aim"] == row["target"]
    return [f"{word} {row['aim']}", *([] if same else [f"exact {row['aim']}"]), f"gap, {row['aim']}"]


def _belief_cells(row: dict[str, Any]) -> list[str]:
    if row["kind"] == "neither":
        return []
    exact = [] if row["aim"] == row["target"] else [_number(row["aim_value"])]
    return [_number(row["belief"]), *exact, "vacuous" if row["vacuous"] else f"{row['gap_aim']:+.4f}"]


def _beliefs(runs: Sequence[tuple[str, Run]]) -> Table:
    targets = {run.read_info()["metric"] for _, run in runs}
    reported = f"gap to {targets.pop()}" if len(targets) == 1 else "gap to the target"
    table = _table("run", "kind", "believed", "exact", "gap to its aim", reported, left=2)
    for name, run in runs:
        row = run.read_info()["test_gap"]
        aim = row["aim"]
        if aim is None:
            table.add_row(
                name, row["kind"], "nothing", f"{row['target']} {_number(row['target_value'])}", "none", "none"
            )
            continue
        sign = ">= " if row["kind"] == "bound" else ""
        gaps = [f"{row['gap_aim']:+.4f} {aim}", f"{row['gap_target']:+.4f}"]
        table.add_row(
            *(name, row["kind"], f"{aim} {sign}{_number(row['belief'])}", f"{aim} {_number(row['aim_value'])}"),
            *(["vacuous"] * 2 if row["vacuous"] else gaps),
        )
    return table


def _concordance(runs: Sequence[tuple[str, Run]]) -> Table:
    table = _table("run", "loss at the best epoch", "validations", "tau", "regret", left=1)
    for name, run in runs:
        rows, best = run.gap_rows(), run.read_info()["best"]["epoch"]
        row, last = next((each for each in rows if each["epoch"] == best), rows[-1]), rows[-1]
        regret = "-" if last["regret"] is None else f"{last['regret']:.4f} {last['target']}"
        loss = f"{_number(row['loss'])} {row['loss_unit']}"
        table.add_row(name, loss, str(last["validations"]), _number(last["tau"], 2), regret)
    return table


def _tested(runs: Sequence[tuple[str, Run]], info: dict[str, Any], only: str | None = None) -> Table:
    values = runs[0][1].read_per_query("test")
    names = [only] if only else list(dict.fromkeys(row["metric"] for row in values))
    table = _table("run", "metric", "mean", "95 % interval", "lists", "best epoch", left=2)
    floor, ceiling = (_number(info["test_bounds"][name]) for name in ("floor", "ceiling"))
    table.add_row("random order", info["metric"], floor, "", "", "")
    for name, run in runs:
        for metric in names:
            mine = run.read_info()
            kept = [row for row in run.read_per_query("test") if row["metric"] == metric and row["value"] is not None]
            low, high, _ = interval([row["value"] for row in kept], [row["weight"] for row in kept])
            spread, epoch = f"{_number(low)} to {_number(high)}", str(mine["best"]["epoch"])
            table.add_row(name, metric, _number(mine["test"][metric]), spread, str(len(kept)), epoch)
    table.add_row("ideal order", info["metric"], ceiling, "", "", "")
    return table


def _comparable(runs: Sequence[tuple[str, Run]]) -> Iterable[list[tuple[str, Run]]]:
    """The runs in groups that report one metric, under one convention, on the same test data."""
    groups: dict[tuple[str, ...], list[tuple[str, Run]]] = {}
    for name, run in runs:
        info = run.read_info()
        same = (info["metric"], info["conventions"][info["metric"]], info["data"]["test"]["hash"])
        groups.setdefault(same, []).append((name, run))
    return groups.values()


def _differences(runs: Sequence[tuple[str, Run]], target: str) -> Iterable[str]:
    """What the test lists can say about pairs of runs, seeds of one setting being averaged first."""
    settings: dict[str, list[dict[str, float]]] = {}
    for name, run in runs:
        settings.setdefault(_without_seed(name), []).append(_values(run, target))
    means = {name: _averaged(values) for name, values in settings.items()}
    if len(means) < 2 or len({frozenset(values) for values in means.values()}) > 1:
        return
    larger = parse(target).larger_is_better
    pairs = [
        (first, second, compare(means[first], means[second], target, larger_is_better=larger))
        for first, second in combinations(means, 2)
    ]
    if len(pairs) <= PAIRS:
        for first, second, found in pairs:
            low, high, _ = found.interval
            yield f"{first} minus {second}: {found.difference:+.4f} {target}, 95 % interval {low:+.4f} to {high:+.4f}"
    yield from _verdict(pairs, target)


def _verdict(pairs: Sequence[tuple[str, str, Comparison]], target: str) -> Iterable[str]:
    lists = pairs[0][2].lists
    if lists < FEW:
        yield (
            f"{lists} lists are too few to name a winner: below {FEW}, such intervals cover less than they say, and "
            "another draw of queries could turn any of these orders around."
        )
        return
    apart = [each for each in pairs if each[2].sign_flip.p * len(pairs) < 0.05]
    for first, second, found in apart:
        yield found.sentence(first, second)
    told = f"told apart by a sign-flip test, Bonferroni-corrected for {len(pairs)} comparisons"
    yield f"{len(apart)} of them {told}." if apart else f"On {target} these {lists} lists leave no two {told}."


def _meaning(row: dict[str, Any]) -> str:
    name, aim, target = row["surrogate"], row["aim"], row["target"]
    if row["kind"] == "neither":
        return f"{name} has no unit in common with {target}: its loss and the metric can only be compared in direction."
    if row["kind"] == "bound":
        text = f"{name} guarantees that {aim} is not below its certificate; gap = exact - certificate, never negative."
        return text + (" Vacuous: below what a random order is worth." if row["vacuous"] else "")
    about = f", not {target}, which is reported" if aim != target else ""
    return f"{name} estimates {aim}{about}; gap = estimate - exact, on the same lists."


def _agreement(row: dict[str, Any]) -> str:
    if row["tau"] is None:
        return f"{row['validations']} validations, too few or too alike to tell whether the loss goes with the metric."
    text = f"over {row['validations']} validations: tau of -loss and {row['target']} is {row['tau']:.2f}"
    if row["regret"] is not None:
        text += f"; choosing the epoch by the loss would have cost {row['regret']:.4f} {row['target']}"
    return text + "."


def _values(run: Run, metric: str) -> dict[str, float]:
    rows = run.read_per_query("test")
    return {row["query"]: row["value"] for row in rows if row["metric"] == metric and row["value"] is not None}


def _averaged(values: Sequence[dict[str, float]]) -> dict[str, float]:
    shared = set.intersection(*(set(each) for each in values))
    return {query: float(np.mean([each[query] for each in values])) for query in values[0] if query in shared}


def _without_seed(name: str) -> str:
    return "_".join(part for part in name.split("_") if not part.startswith("seed-")) or name


def _lists(count: int) -> str:
    return f"{count} {'list' if count == 1 else 'lists'}"


def _number(value: float | None, digits: int = 4) -> str:
    return "-" if value is None or not np.isfinite(value) else f"{value:.{digits}f}"


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
    return console if console.is_terminal else Console(width=132)

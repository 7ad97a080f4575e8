"""An explanation for a person at a terminal: every number of one query, in plain words."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ltr import gains
from ltr.gap.numbers import number
from ltr.metrics import BinaryMetric
from ltr.report.explain import Change, Delta, Explanation, Row
from ltr.report.tables import _console, _title

FEWEST, MOST = 10, 20  # positions that are shown however small the cutoff, and where there is none
TERMS = 8  # of a sum that is written out


def print_explanation(found: Explanation, title: str, console: Console | None = None) -> None:
    """Print an explanation.

    Args:
        found: what ``ltr.report.explain.explain`` gives.
        title: what was explained: the query, the file.
        console: where to; standard output when None.
    """
    console = console or _console()
    _title(console, title)
    _list(found, console)
    _sums(found, console)
    _metrics(found, console)
    if found.change is not None:
        _what_if(found.change, console)
    _title(console, "by these rules")
    for each in dict.fromkeys((found.metric, *(value.metric for value in found.values))):
        console.print(each.convention, soft_wrap=True)


def _say(console: Console, *sentences: str) -> None:
    console.print(" ".join(each for each in sentences if each))


# -- the list ---------------------------------------------------------------------------------------------------------


def _list(found: Explanation, console: Console) -> None:
    metric, rows = found.metric, found.rows
    top = max(rows, key=lambda row: row.gain)
    _say(
        console,
        "Somebody has graded each document: 0 is worth nothing, and the higher the better. A grade has a gain, "
        f"{metric.gain.formula} for grade y"
        + (f": {_whole(top.gain)} for grade {gains.number(top.grade)}." if top.grade and top.gain else "."),
        "Readers start at the top and few go far, so a position keeps only a part of the gain, its discount, "
        f"{metric.discount.formula} at position r. Gain times discount are the points that count.",
        f"Only the first {metric.k} positions count." if metric.k and metric.k < len(rows) else "",
        "Here gains are parts of the largest one, which is too large to write down." if found.scaled else "",
    )
    console.print(_rows_table(found))
    shown = _shown(found)
    if more := len(rows) - len(shown):
        rest = _decimals(found.dcg - sum(row.worth for row in shown))
        count = f"count for {rest} points" if metric.k is None else "do not count"
        _say(console, f"Below, {more} {_documents(more)} {count}.")
    if many := found.left_out:
        _say(console, f"{many} {_documents(many)} that nobody has graded left the list (unjudged=ignored).")
    blocks = dict.fromkeys(row.block for row in shown if row.block[0] < row.block[1])
    if blocks:
        named = "; ".join(f"{first} to {end}" for first, end in blocks)
        _say(
            console,
            f"=: documents with equal scores (positions {named}). Nobody can say which comes first, so each gets the "
            "mean discount of its positions.",
        )
    if any(row.grade is None for row in shown):
        _say(console, "-: nobody has graded this document; it counts as one of grade 0.")


def _shown(found: Explanation) -> list[Row]:
    """The first positions, and those that the change touches."""
    touched = found.change.positions if found.change else ()
    return [row for row in found.rows if row.position <= _many(found) or row.position in touched]


def _many(found: Explanation) -> int:
    return max(FEWEST, found.metric.k or MOST)


def _rows_table(found: Explanation) -> Table:
    named = any(row.document is not None for row in found.rows)
    table = _table("position", *(["document"] if named else []), left=1 + named)
    for head in ("grade", "gain", "discount", "points", "sum", "|", "best grade", "points"):
        table.add_column(head, justify="right", no_wrap=head != "best grade")
    before = 0
    for row in _shown(found):
        if row.position > before + 1:
            table.add_row("...")
        before = row.position
        table.add_row(
            f"{row.position}{'=' if row.block[0] < row.block[1] else ''}",
            *([row.document or ""] if named else []),
            *(_grade(row.grade), _whole(row.gain), _decimals(row.discount), _decimals(row.worth), _decimals(row.total)),
            *_best(found, row.position),
        )
    for position in range(len(found.rows) + 1, min(len(found.ideal), _many(found)) + 1):  # the list is short
        table.add_row(str(position), *[""] * (5 + named), *_best(found, position))
    return table


def _best(found: Explanation, position: int) -> list[str]:
    """The cells of the best order at a position."""
    if position > len(found.ideal):
        return ["|", "", ""]
    row = found.ideal[position - 1]
    return ["|", _grade(row.grade), _decimals(row.worth)]


# -- the sums ---------------------------------------------------------------------------------------------------------


def _sums(found: Explanation, console: Console) -> None:
    metric = found.metric
    counted = [row.worth for row in found.rows if metric.k is None or row.position <= metric.k]
    best = max(found.rows, key=lambda row: row.worth)
    _title(console, "DCG, discounted cumulative gain: the points that this list collects")
    _say(console, "The points, added up from the top down.")
    _say(console, f"DCG = {_sum(counted, found.dcg)}")
    if found.dcg > 0 and len(counted) > 1:
        _say(console, f"Position {best.position} alone holds {_percent(best.worth / found.dcg)} of it.")
    _title(console, "IDCG, ideal DCG: the points that the best order would collect")
    _say(console, "The same sum, with the highest grades first.", _missed(found))
    _say(console, f"IDCG = {_sum([row.worth for row in found.ideal], found.idcg)}")
    _title(console, "NDCG, normalised DCG: how near the one comes to the other")
    if found.value is None:
        _say(
            console,
            "No document is worth anything, so no order is better than another, and there is no answer.",
            _empty(found),
        )
        return
    parts = f"{_decimals(found.dcg)} / {_decimals(found.idcg)} = {number(found.dcg / found.idcg)}"
    console.print(f"{metric} = DCG / IDCG = {parts}", soft_wrap=True)
    if found.value == 0 < found.dcg:
        _say(console, f"By this rule it counts 0 all the same: the list has fewer than {metric.k} documents (short0).")
        return
    _say(
        console,
        f"This list collects {_percent(found.value)} of what the best order would; 1 is the best there is.",
        f"The same documents in a random order come to {number(found.floor)} on average.",
    )


def _missed(found: Explanation) -> str:
    many, good = len(found.missed), sum(grade > 0 for grade in found.missed)
    if not many:
        return ""
    lacks = f"The list lacks {many} graded {_documents(many)}, {good or 'none'} of them above grade 0"
    if found.metric.ideal == "retrieved":
        return f"{lacks}; by this rule (ideal=retrieved) they do not count."
    return f"{lacks}; they count here." if good else f"{lacks}."


def _empty(found: Explanation) -> str:
    rule = {"skip": "leaves such a list out", "zero": "counts it as 0", "one": "counts it as 1", "error": "refuses it"}
    return f"A mean over lists {rule[found.metric.empty]} (empty={found.metric.empty})."


def _sum(terms: Sequence[float], total: float) -> str:
    written = [_decimals(term) for term in terms]
    if len(written) > TERMS + 2:
        written = [*written[:TERMS], "...", written[-1]]
    return f"{' + '.join(written)} = {_decimals(total)}" if len(written) > 1 else _decimals(total)


# -- the metrics ------------------------------------------------------------------------------------------------------


def _metrics(found: Explanation, console: Console) -> None:
    _title(console, "every metric on this list")
    thresholds = {each.metric.threshold for each in found.values if isinstance(each.metric, BinaryMetric)}
    _say(
        console,
        "Each asks something else of the same list.",
        f"Relevant means a grade of {gains.number(*thresholds)} or more." if len(thresholds) == 1 else "",
        "A position moved a metric if its value would be another with a worthless document (grade 0) in that place.",
    )
    table = _table("metric", "value", "moved by positions", "what it is", left=1)
    table.columns[0].no_wrap = True
    table.columns[2].justify = table.columns[3].justify = "left"
    told: set[str] = set()
    for each in found.values:
        about = "" if each.metric.base in told else (inspect.getdoc(type(each.metric)) or "").partition("\n")[0]
        told.add(each.metric.base)
        table.add_row(each.metric.name, number(each.value), _positions(each.moved_by), about)
    console.print(table)
    if any(each.value is None for each in found.values):
        _say(console, "-: no document is worth anything to it, so it has no answer here.")


def _positions(positions: Sequence[int]) -> str:
    """Runs as one: 1-3, 5."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and runs[-1][-1] == position - 1:
            runs[-1][1:] = [position]
        else:
            runs.append([position])
    texts = ["-".join(map(str, run)) for run in runs]
    more = len(texts) - TERMS
    return ", ".join([*texts[:TERMS], *([f"and {more} more"] if more > 0 else [])]) or "none"


# -- the change -------------------------------------------------------------------------------------------------------


def _what_if(change: Change, console: Console) -> None:
    _title(console, f"what if {change.said}?")
    shown = change.grades[: max(MOST, *change.positions)]
    more = ", ..." if len(shown) < len(change.grades) else "."
    _say(console, f"The grades are then {', '.join(map(_grade, shown))}{more}")
    moved = [delta for delta in change.deltas if delta.moved]
    if moved:
        table = _table("metric that moves", "before", "after", "change", left=1)
        for delta in moved:
            by = number(delta.by, sign=True)
            table.add_row(delta.metric.name, number(delta.before), number(delta.after), by)
        console.print(table)
        _reasons(moved, console)
    still = [delta for delta in change.deltas if not delta.moved]
    if not moved:
        _say(console, "No metric sees it:")
    elif still:
        _say(console, "The others do not see it:")
    _reasons(still, console)


def _reasons(deltas: Sequence[Delta], console: Console) -> None:
    for why in dict.fromkeys(delta.why for delta in deltas if delta.why):
        names = ", ".join(delta.metric.name for delta in deltas if delta.why == why)
        _say(console, f"{names}: {why}.")


# -- numbers ----------------------------------------------------------------------------------------------------------


def _table(*heads: str, left: int) -> Table:
    table = Table(box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place < left else "right", overflow="fold")
    return table


def _grade(grade: float | None) -> str:
    return "-" if grade is None else gains.number(grade)


def _whole(gain: float) -> str:
    return f"{gain:.0f}" if gain == round(gain) and gain < 1e6 else _decimals(gain)


def _decimals(value: float) -> str:
    return f"{value:.3f}" if value < 1e6 else f"{value:.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _documents(many: int) -> str:
    return "document" if many == 1 else "documents"

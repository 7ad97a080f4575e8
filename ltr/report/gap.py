"""What ``ltr gap`` prints: what was found in words, then the numbers that it rests on, then what each of them is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ltr.gap.diagnose import Diagnosis
from ltr.gap.figures import Figure
from ltr.gap.findings import Finding
from ltr.gap.numbers import counted, known, number, span
from ltr.gap.temperature import Setting
from ltr.report.layout import Block, Page

BAR = 24  # characters of the longest bar
STRIP = 40  # characters of the line on which belief and truth stand
ROWS = 12  # validations that are shown
ALONE = ("belief", "aim_value", "gap_target", "floor", "ceiling")  # of a row of belief: without an interval
SIGNED = (  # figures that may lie on either side of 0
    *("alignment", "yield", "above_floor", "gap_aim", "least_gap", "temperature_gain", "drop"),
)
VALIDATIONS = {
    "best scaled": "the least that the loss of some lists comes to when all their scores are multiplied by one number",
    "tau": "does the metric rise when the loss falls, over the validations so far? 1 always, 0 half the time, -1 never",
    "tau, scaled": "the same with that least loss: what is left of the answer when the scale of the scores is not "
    "counted",
}
FIGURES = {
    "spread": "standard deviation of the scores of a list",
    "target": "the reported metric",
    "above_floor": "what it is above a random order of the same documents",
    "regret": "what it lacks to the ideal order",
    "gap_aim": "what the loss believes of its aim, against the exact value: 0 is no gap",
    "least_gap": "the least such gap of a list: that of a bound is never below 0",
    "temperature_gain": "what the alignment would gain at the best of some other temperatures",
    "temperature_best": "that temperature",
    "train_target": "the reported metric on the lists that were trained on",
    "train_above_floor": "what that is above a random order of the same documents",
    "loss_above_equal": "what the loss is above that of scores that are all equal: below 0 it is better",
    "drop": "what is lost of it from there to these lists",
    "train_top_label": "the highest label of the training lists",
    "train_labels_beyond": "share of their labels that are higher than any of these lists",
    "validation_top_label": "the highest label of these lists",
    "validation_labels_beyond": "share of their labels that are higher than any of the training lists",
    "coherence": "of the swaps of neighbours that would raise the metric, by how much they would: the share that a "
    "step down the loss works for; 1 is all, below 0.5 the loss works against the metric",
    "alignment": "cosine of a step down the loss with the direction in which the metric rises: 1 is the same, 0 has "
    "nothing to do with it, below 0 it falls",
    "yield": "what a small step of the scores down the loss does to the metric",
    "reach": "share of the gradient on documents that can change the metric at all",
    "budget_distance": "how far the gradient of each list is from what the list has to gain: 0 is in proportion, 1 is "
    "all of it elsewhere",
    "blind_top": "share of the swaps that would change the metric, by how much they would, of a document on top that "
    "has no gradient",
    "blind_elsewhere": "the same of documents that stand elsewhere",
    "flat": "share of the lists without any gradient: nothing is learned from them",
    "loss": "the mean loss of the lists that are looked at",
    "best_loss": "the least that it comes to when all scores are multiplied by one number; the order stays as it is",
    "scale": "that number: below 1 the scores are over-confident, above 1 too timid",
    "constant_loss": "the loss of equal scores",
    "scale_loss_share": "what the scale of the scores costs, as a share of what the order could win over equal scores",
    "r2": "share of the loss of equal scores that the order takes away, at the best scale",
}
LEDGER = {
    "generalisation": "the training lists are better known than these: overfitting",
    "smoothing": "the loss sees ranks softened by its temperature",
    "specification": "the aim of the loss is not the reported metric: another cutoff, gain or list",
    "intrinsic": "what a bound leaves unsaid even at the best scale of the scores",
    "scale": "what more, because the scores have another scale",
    "residual": "what the value of the loss does not tell about the metric",
}
TOTAL = {
    "approximation": "what the loss believes on the training lists, less the metric on these",
    "bound": "the metric on these lists, less what the loss guarantees on the training lists",
    "neither": "the metric on these lists, less what the loss on the training lists leads one to expect",
}


def print_diagnosis(
    found: Diagnosis,
    about: Mapping[str, str],
    notes: Sequence[str] = (),
    swept: Sequence[Setting] = (),
) -> None:
    """Print a diagnosis.

    Args:
        found: what ``ltr.gap.diagnose`` gives.
        about: where the scores came from, term by term.
        notes: what one must know of the lists.
        swept: what ``ltr.gap.sweep`` gives, for a table of temperatures.
    """
    page, row = Page(), found.belief
    page.lines([f"{term:<12}{text}" for term, text in about.items()], whole=True)
    page.lines([f"{'loss':<12}{_loss(found)}", f"{'metric':<12}{found.target.name}"])
    page.lines([*_left_out(row), *notes], apart=True)
    for each in found.alarms:
        page.title("alarm")
        page.lines(_said(each))
    remarks = [line for each in found.findings if each.level == "remark" for line in _said(each)]
    if not found.alarms:
        page.title("no alarm")
    if remarks:
        page.title("remarks")
        page.lines(remarks)
    page.table([Block("belief against truth", list(_belief(found)))])
    page.table([Block("epoch", list(_history(found.history)))] if found.history else [])
    page.table(_strips(found.history))
    ledger = found.ledger if found.ledger and found.ledger["total"].value is not None else {}
    if ledger:
        page.table([Block(f"ledger, {ledger['total'].unit}", list(_ledger(ledger)))], text=("",))
    shown = {name: each for name, each in found.figures.items() if _is_shown(name, each, found)}
    page.table(
        [Block("figure", [(name, _cells(each, name in SIGNED)) for name, each in shown.items()])], text=("unit",)
    )
    if swept:
        title = found.surrogate.softness_in or "temperature"
        page.table([Block(title, list(_settings(swept, found.surrogate.softness)))])
        page.lines(_best_setting(found, swept))
    page.terms({name: text for name, text in VALIDATIONS.items() if name in page.heads})
    page.terms({line: LEDGER[line] if line in LEDGER else _total(found) for line in ledger})
    page.terms({name: _meaning(name) for name in shown})
    measured = [each.convention for each in (found.surrogate.aim, found.target) if each]
    page.lines(list(dict.fromkeys(measured)), apart=True, whole=True)


def _meaning(figure: str) -> str:
    if figure.startswith("aim_"):
        return f"what the reported metric would be with the {figure.removeprefix('aim_')} of the loss, less what it is"
    return FIGURES[figure]


def _total(found: Diagnosis) -> str:
    trained = found.ledger["generalisation"].value is not None
    return TOTAL[found.surrogate.kind] if trained else "the lines above, added up"


def _said(each: Finding) -> list[str]:
    return [each.sentence, *([f"  {each.advice}"] if each.advice else [])]


def _left_out(row: Mapping[str, Any]) -> list[str]:
    if not row["left_out"]:
        return []
    many = counted(row["left_out"], "list")
    return [f"{many} left out: without an answer by the metric, or with labels that are all equal"]


def _is_shown(name: str, each: Figure, found: Diagnosis) -> bool:
    """Is there something to say? A certificate that guarantees nothing stands beside no truth."""
    if name.endswith("_top_label"):
        return any(other.endswith("_labels_beyond") for other in found.figures)
    return each.value is not None and not (name in ("gap_aim", "least_gap") and found.belief["vacuous"])


def _loss(found: Diagnosis) -> str:
    """What the loss is to a metric."""
    name, aim = type(found.surrogate).__name__, found.surrogate.aim
    if aim is None:
        return f"{name}, in {found.surrogate.unit}: it has no unit in common with {found.target.name}"
    what = {"approximation": "1 - loss estimates", "bound": "guarantees a value of"}[found.surrogate.kind]
    return f"{name}, in {found.surrogate.unit}: {what} {aim.name}"


# -- tables -----------------------------------------------------------------------------------------------------------


def _cells(each: Figure, sign: bool = False) -> dict[str, str]:
    low, high = (np.nan if end is None else end for end in (each.low, each.high))
    return {
        "value": known(each.value, sign=sign),
        "95 % interval": span(low, high, sign=sign),
        "lists": str(each.lists or "-"),
        "unit": each.unit,
    }


def _belief(found: Diagnosis) -> Iterator[tuple[str, dict[str, str]]]:
    """What the loss makes of the lists, what is true of them, and what lies between."""
    row, target = found.belief, found.target.name
    alone = {name: _cells(Figure(row[name], "-", lists=row["lists"]), name == "gap_target") for name in ALONE}
    exact, gap = (_cells(found.figures[name], name == "gap_aim") | {"unit": "-"} for name in ("target", "gap_aim"))
    if row["aim"] is not None:
        word = "guaranteed" if row["kind"] == "bound" else "believed"
        yield f"{word} {row['aim']}", alone["belief"] | ({"value": "vacuous"} if row["vacuous"] else {})
        if row["aim"] != target:
            yield f"exact {row['aim']}", alone["aim_value"]
    yield f"exact {target}", exact
    if row["aim"] is not None and not row["vacuous"]:
        yield f"gap to {row['aim']}", gap
        if row["aim"] != target and row["gap_target"] is not None:
            yield f"gap to {target}", alone["gap_target"]
    yield f"{target} of a random order", alone["floor"]
    yield f"{target} of the ideal order", alone["ceiling"]


def _ledger(lines: Mapping[str, Figure]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each line with its part, and a bar of plus or minus signs."""
    known_lines = {line: each for line, each in lines.items() if each.value is not None}
    most = max((abs(each.value or 0) for each in known_lines.values()), default=0)
    for line, each in lines.items():
        size = 0 if not most or each.value is None else round(BAR * abs(each.value) / most)
        bar = ("-" if (each.value or 0) < 0 else "+") * size
        cells = _cells(each, sign=True)
        yield line, {"part": cells["value"], "95 % interval": cells["95 % interval"], "": bar}


def _history(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, str]]]:
    """Some of the validations, the first and the last one among them."""
    for row in _some(rows):
        believed, seen = {}, row.get("diagnostics") or {}
        if row["aim"] is not None:
            word = "guaranteed" if row["kind"] == "bound" else "believed"
            believed = {f"{word} {row['aim']}": "vacuous" if row["vacuous"] else known(row["belief"])}
            believed |= {f"exact {row['aim']}": known(row["aim_value"])} if row["aim"] != row["target"] else {}
        yield (
            str(row["epoch"]),
            {
                "loss": known(row["loss"]),
                "best scaled": known(seen.get("best_loss")),
                **believed,
                f"exact {row['target']}": known(row["target_value"]),
                "tau": number(row["tau"], 2),
                "tau, scaled": number(row.get("tau_best"), 2),
                "alignment": known(seen.get("alignment"), sign=True),
            },
        )


def _settings(swept: Sequence[Setting], own: float | None) -> Iterator[tuple[str, dict[str, str]]]:
    """The figures under each softening of the loss, with a mark at its own."""
    for each in swept:
        mark = " *" if each.softness == own else ""
        cells: dict[str, str] = {}
        for name, shown in (("gap", each.gap), ("alignment", each.alignment), ("yield", each.step_yield)):
            found = _cells(shown, sign=True)
            cells |= {name: found["value"], f"{name}, 95 %": found["95 % interval"]}
        yield f"{each.softness:g}{mark}", cells


def _best_setting(found: Diagnosis, swept: Sequence[Setting]) -> list[str]:
    """At which of them the gradient serves the metric most."""
    best = max(swept, key=lambda each: each.alignment.value or 0.0)
    return [
        f"* as it is; the gradient points best towards {found.target.name} at {best.softness:g}, with a cosine of "
        f"{known(best.alignment.value)}. gap: what the loss believes of its aim, less the exact value."
    ]


def _some(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [rows[place] for place in sorted({round(at) for at in np.linspace(0, len(rows) - 1, min(ROWS, len(rows)))})]


def _strips(rows: Sequence[Mapping[str, Any]]) -> list[Block]:
    """For each validation a line on which belief and truth stand."""
    values = [value for row in rows for value in _drawn(row).values()]
    if not values or not min(values) < max(values):
        return []
    low, high = min(values), max(values)
    letters = {"b": "belief", "a": f"exact {rows[-1]['aim']}", "m": f"exact {rows[-1]['target']}"}
    told = ", ".join(f"{each} {what}" for each, what in letters.items() if any(each in _drawn(row) for row in rows))
    head = f"{number(low)}{number(high):>{STRIP - len(number(low))}}"
    return [Block(told, [(str(row["epoch"]), {head: _strip(_drawn(row), low, high)}) for row in _some(rows)])]


def _drawn(row: Mapping[str, Any]) -> dict[str, float]:
    """What stands on the line of a validation, by its letter: all in one unit."""
    shown = {"b": None if row["vacuous"] else row["belief"], "m": row["target_value"]}
    if row["aim"] != row["target"]:
        shown["a"] = row["aim_value"]
    if row["belief"] is not None and row["gap_target"] is None:
        shown.pop("m")
    return {letter: value for letter, value in shown.items() if value is not None}


def _strip(values: Mapping[str, float], low: float, high: float) -> str:
    """A line of dots with a letter for each value; "*" where letters meet.

    Example:
        >>> _strip({"b": 0.0, "m": 1.0, "a": 1.0}, 0, 1)
        'b......................................*'
    """
    line = ["."] * STRIP
    for letter, value in values.items():
        place = round((STRIP - 1) * (value - low) / (high - low))
        line[place] = letter if line[place] == "." else "*"
    return "".join(line)

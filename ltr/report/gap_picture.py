"""A diagnosis as a picture: belief against truth, the ledger, alignment, and loss against metric."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ltr.gap.diagnose import Diagnosis
from ltr.gap.figures import Figure

BELIEF = "belief against truth"
LEDGER = "ledger: what lies between belief and truth"
STEP = "does a step down the loss go where the metric rises?"
AGREEMENT = "does the metric rise when the loss falls? (later is darker)"
DIRECTIONS = ("alignment", "coherence")
Draw = Callable[[Any], None]


def plot_diagnosis(found: Diagnosis, path: str | os.PathLike[str]) -> None:
    """Draw a diagnosis, a panel for each thing that there is: over the validations of a run, or as it stands.

    Args:
        found: what ``ltr.gap.diagnose`` gives.
        path: a .png, .svg or .pdf file.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure as Canvas

    panels = _as_it_stands(found) | _over_time(found)
    rows = (len(panels) + 1) // 2
    canvas = Canvas(figsize=(11, 3.75 * rows), layout="constrained")
    for place, (title, draw) in enumerate(panels.items(), start=1):
        axes = canvas.add_subplot(rows, 2, place)
        draw(axes)
        axes.set_title(title, loc="left", fontsize="medium")
        axes.grid(alpha=0.3)
        axes.set_axisbelow(True)
        if axes.get_legend_handles_labels()[1]:
            axes.legend(fontsize="small")
    canvas.savefig(path, dpi=150, format=Path(path).suffix[1:].lower())


def _is_vacuous(found: Diagnosis) -> bool:
    return any(each["vacuous"] for each in (found.belief, *found.history))


def _believes(found: Diagnosis) -> str | None:
    """The name of what the loss says, None where it says nothing that can be drawn."""
    row = found.belief
    word = "guaranteed" if row["kind"] == "bound" else "believed"
    return None if row["aim"] is None or _is_vacuous(found) else word


# -- over the validations ---------------------------------------------------------------------------------------------


def _over_time(found: Diagnosis) -> dict[str, Draw]:
    """What the validations tell: of a run without diagnostics, neither its ledger nor where its steps led."""
    rows = found.history
    if not rows:
        return {}
    panels: dict[str, Draw] = {BELIEF: partial(_draw_belief, found=found)}
    if any(row.get("ledger") for row in rows) and not _is_vacuous(found):
        panels[LEDGER] = partial(_draw_ledger, rows=rows)
    seen = [{"epoch": row["epoch"], **(row.get("diagnostics") or {})} for row in rows]
    if any(each.get(name) is not None for each in seen for name in DIRECTIONS):
        panels[STEP] = partial(_draw_directions, rows=seen)
    return panels | {AGREEMENT: partial(_draw_agreement, found=found)}


def _draw_belief(axes: Any, found: Diagnosis) -> None:
    row, said = found.belief, _believes(found)
    lines = {f"{said} {row['aim']}": "belief"} if said else {}
    if row["aim"] is not None and row["aim"] != row["target"]:
        lines[f"exact {row['aim']}"] = "aim_value"
    if row["belief"] is None or row["gap_target"] is not None:  # else it has another unit
        lines |= {f"exact {row['target']}": "target_value", "random order": "floor", "ideal order": "ceiling"}
    for label, name in lines.items():
        edge = {"floor": ":", "ceiling": "--"}.get(name)
        _draw_line(
            axes, found.history, name, label, **({"color": "0.6", "linestyle": edge} if edge else {"marker": "o"})
        )
    _count_epochs(axes)


def _draw_directions(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    for name in DIRECTIONS:
        _draw_line(axes, rows, name, name, marker="o")
    axes.axhline(0, color="0.4", linewidth=0.8)
    _count_epochs(axes)


def _draw_line(axes: Any, rows: Sequence[Mapping[str, Any]], name: str, label: str, **style: Any) -> None:
    values = [np.nan if row.get(name) is None else row[name] for row in rows]
    axes.plot([row["epoch"] for row in rows], values, label=label, markersize=4, **style)


def _count_epochs(axes: Any) -> None:
    axes.set_xlabel("epoch")
    axes.xaxis.get_major_locator().set_params(integer=True)


def _draw_ledger(axes: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """Stacked parts: those above 0 upwards, those below it downwards."""
    above, below = np.zeros(len(rows)), np.zeros(len(rows))
    lines = dict.fromkeys(line for row in rows for line in row.get("ledger") or {} if line != "total")
    for line in lines:
        part = np.array([(row.get("ledger") or {}).get(line) or 0.0 for row in rows])
        axes.bar([row["epoch"] for row in rows], part, bottom=np.where(part < 0, below, above), label=line)
        above, below = above + np.maximum(part, 0), below + np.minimum(part, 0)
    axes.axhline(0, color="0.4", linewidth=0.8)
    _count_epochs(axes)


def _draw_agreement(axes: Any, found: Diagnosis) -> None:
    losses, metrics = ([row[name] for row in found.history] for name in ("loss", "target_value"))
    axes.plot(losses, metrics, color="0.8", zorder=1)
    axes.scatter(losses, metrics, c=range(len(losses)), cmap="Blues", edgecolors="0.4", zorder=2)
    axes.set(xlabel=f"loss, {found.belief['loss_unit']}", ylabel=found.target.name)


# -- as it stands -----------------------------------------------------------------------------------------------------


def _as_it_stands(found: Diagnosis) -> dict[str, Draw]:
    row, said = found.belief, _believes(found)
    values = {f"{said} {row['aim']}": Figure(row["belief"], "")} if said else {}
    if row["aim"] is not None and row["aim"] != row["target"]:
        values[f"exact {row['aim']}"] = Figure(row["aim_value"], "")
    if row["belief"] is None or row["gap_target"] is not None:
        values[f"exact {row['target']}"] = found.figures["target"]
        values |= {"random order": Figure(row["floor"], ""), "ideal order": Figure(row["ceiling"], "")}
    parts = {line: each for line, each in found.ledger.items() if each.value is not None}
    directions = {name: found.figures[name] for name in DIRECTIONS if name in found.figures}
    given = {BELIEF: values, LEDGER: {} if _is_vacuous(found) else parts, STEP: directions}
    return {title: partial(_draw_points, figures=some) for title, some in given.items() if some}


def _draw_points(axes: Any, figures: Mapping[str, Figure]) -> None:
    """A dot and its interval on a line each, from the top down."""
    for place, each in enumerate(figures.values()):
        if each.value is not None:
            axes.plot(each.value, place, "o", color="C0")
        if each.low is not None and each.high is not None:
            axes.plot([each.low, each.high], [place, place], color="C0")
    axes.set_yticks(range(len(figures)), list(figures))
    axes.invert_yaxis()
    axes.margins(y=0.3)

"""How TensorBoard shows the gap: tags that name their unit, and the charts that put them together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from ltr.gap.diagnose import Measured
from ltr.training.module import RankingModule

SHOWN = {  # the figures of ``ltr.gap.measure``, by what they are about
    "gradient": ("alignment", "coherence", "yield", "reach", "budget_distance", "blind_top", "blind_elsewhere", "flat"),
    "scale": ("loss", "best_loss", "scale", "scale_loss_share", "r2"),
}
SUMS = {  # where the sum of the ledger begins, and the lines that are added one by one
    "approximation": ("exact", "specification", "smoothing", "generalisation"),
    "bound": ("guaranteed", "generalisation", "scale", "intrinsic", "specification"),
    "neither": ("expected", "generalisation", "residual"),
}


def scalars(module: RankingModule, row: Mapping[str, Any], seen: Measured) -> dict[str, float]:
    """What is logged of a validation beside ``gap_scalars``, by tag.

    Args:
        module: the one that is trained.
        row: of gap.jsonl.
        seen: the figures of the lists that were looked at closely.
    """
    target = module.metric.name
    units = {"tau": "rank correlation", "tau_best": "rank correlation", "regret": target, "residual": target}
    tags = {f"gap/{name}[{unit}]": row[name] for name, unit in units.items()}
    for about, names in SHOWN.items():
        for figure, name in ((seen.figures[name], name) for name in names if name in seen.figures):
            tags[f"gap/{about}/{name}[{figure.unit}]"] = figure.value
    if seen.ledger and not row["vacuous"]:
        tags |= _ledger(module, row, seen)
    return {tag: float(value) for tag, value in tags.items() if value is not None and math.isfinite(value)}


def layout(module: RankingModule) -> dict[str, dict[str, list[str]]]:
    """Rows of charts, by title, the first one first: the tags whose lines each chart shows.

    The charts of several runs stand side by side in a row, and those of the same tags are one.
    """
    name, target, unit = type(module.loss).__name__, module.metric.name, module.loss.unit
    first, *_ = SUMS[module.loss.kind]
    last = "to its belief" if first == "exact" else "to exact"
    empty = " (nothing while vacuous)" if module.loss.kind == "bound" else ""
    parts = dict.fromkeys(line for _, *lines in SUMS.values() for line in (*lines, "total"))
    steps = ["alignment[cosine]", "coherence[share]"]
    return {
        "gap: belief against truth": _belief(module),
        "gap: ledger, what lies between them": {
            f"{name}: {first}, and part upon part up {last}{empty}": _sums(module),
            f"the parts, {_unit(module)}": [f"gap/ledger/{line}[{_unit(module)}]" for line in parts],
        },
        "gap: does a step down the loss serve the metric?": {
            "direction, 1: as good as can be": [f"gap/gradient/{each}" for each in steps],
            f"gain of a small step, {target}": [f"gap/gradient/yield[{target}]"],
        },
        "gap: does the metric rise when the loss falls?": {
            "tau of loss, of its best scale": [f"gap/{each}[rank correlation]" for each in ("tau", "tau_best")],
        },
        "gap: how much of the loss is the scale of the scores?": {
            f"{name}, loss and at its best scale": [f"gap/scale/{each}[{unit}]" for each in ("loss", "best_loss")],
        },
    }


def _belief(module: RankingModule) -> dict[str, list[str]]:
    """The surrogate's belief and the exact metric in one chart, where they have a unit in common."""
    target, aim = module.metric.name, module.loss.aim
    exact = [f"gap/exact_target[{target}]", f"gap/floor[{target}]", f"gap/ceiling[{target}]"]
    if aim is None:
        return {f"exact {target} (the loss has no unit in common with it)": exact}
    name = "certificate" if module.loss.kind == "bound" else "belief"
    believed = [f"gap/{name}[{aim.name}]", f"gap/exact_aim[{aim.name}]"]
    if aim.base != module.metric.base:
        return {f"{name} and exact {aim.name}": believed, f"exact {target} (it has another unit)": exact}
    return {f"{name} and exact {aim.name}": [*believed, *exact]}


def _ledger(module: RankingModule, row: Mapping[str, Any], seen: Measured) -> dict[str, float | None]:
    """The parts; and their sums, from the exact value to the belief on training lists, or the other way round."""
    parts = {line: each.value for line, each in seen.ledger.items()}
    tags = {f"gap/ledger/{line}[{_unit(module)}]": value for line, value in parts.items()}
    exact, total, aim = row[_truth(module)], parts["total"], module.loss.aim
    if exact is None or total is None:
        return tags
    start, sign = exact, 1
    if module.loss.kind != "approximation":
        sign = 1 if aim is None or aim.larger_is_better else -1
        start = exact - sign * total
    added = [sign * (parts[line] or 0.0) for line in SUMS[module.loss.kind][1:]]
    return tags | dict(zip(_sums(module), accumulate(added, initial=start), strict=True))


def _sums(module: RankingModule) -> list[str]:
    lines = SUMS[module.loss.kind]
    return [f"gap/ledger/{'+'.join(lines[:many])}[{_unit(module)}]" for many in range(1, len(lines) + 1)]


def _truth(module: RankingModule) -> str:
    """Of a row, what the ledger ends at: the aim's value where it has no unit in common with the target."""
    aim = module.loss.aim
    return "target_value" if aim is None or aim.base == module.metric.base else "aim_value"


def _unit(module: RankingModule) -> str:
    aim = module.loss.aim
    return aim.name if aim and _truth(module) == "aim_value" else module.metric.name

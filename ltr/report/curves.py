"""How a mean moves with a setting that somebody chose, as tables and as a picture."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ltr.evaluation import Evaluation, Setting, curve
from ltr.evaluation.curves import Over, has_option
from ltr.gap.numbers import number
from ltr.report.layout import LABEL, Block, all_of, span

BAR = 24  # characters of the longest bar
PICTURES = (".png", ".svg", ".pdf")
MARKED = 30  # settings up to which each has a dot
SHADED = 3  # systems up to which intervals can be told apart
NUMBERED = ("k", "threshold")  # options whose settings are numbers


class Curves(NamedTuple):
    """Metric -> system -> the settings of an option."""

    over: Over
    found: Mapping[str, Mapping[str, Sequence[Setting]]]


def curves(systems: Mapping[str, Evaluation], over: Over) -> Curves:
    """The curves of all metrics that have the option.

    Args:
        systems: name -> what was found; the same metrics for all.
        over: the option.
    """
    found: dict[str, dict[str, Sequence[Setting]]] = {}
    for name, table in systems.items():
        for each in table.values:
            if has_option(type(each.metric), over):
                found.setdefault(each.metric.name, {})[name] = curve(table.lists, each.metric, over)
    return Curves(over, found)


def curve_blocks(curves: Curves, width: int | None = None) -> Iterator[tuple[list[Block], list[str]]]:
    """For each metric a table of the settings, and what it comes to in a sentence.

    Args:
        curves: of one system, whose mean stands with its interval and a bar; or of several, side by side.
        width: columns of the screen; systems have numbers where their names have no room.
    """
    for metric, systems in curves.found.items():
        title = f"{metric}, over {curves.over}"
        if len(systems) == 1:
            ((_, settings),) = systems.items()
            yield [Block(title, _bars(settings))], [_moved(metric, curves.over, settings)]
            continue
        wide = LABEL + sum(2 + max(6, len(name)) for name in systems)
        numbered = width is not None and wide > width
        heads = {name: str(place) if numbered else name for place, name in enumerate(systems, start=1)}
        order = max(systems.values(), key=len)
        rows: dict[str, dict[str, str]] = {each.setting: dict.fromkeys(heads.values(), "-") for each in order}
        for name, settings in systems.items():
            for each in settings:
                rows.setdefault(each.setting, dict.fromkeys(heads.values(), "-"))[heads[name]] = number(each.mean)
        names = [", ".join(f"{head}: {name}" for name, head in heads.items())] if numbered else []
        yield [Block(title, list(rows.items()))], [*names, _leaders(curves.over, systems)]


def _bars(settings: Sequence[Setting]) -> list[tuple[str, dict[str, str]]]:
    most = max((each.mean for each in settings if each.mean == each.mean), default=0.0)
    return [
        (
            each.setting,
            {
                "mean": number(each.mean),
                "95 % interval": span(*each.interval[:2]),
                "n": str(each.lists),
                "undefined": str(each.undefined) if each.undefined else "-",
                "": "#" * round(BAR * each.mean / most) if most > 0 and each.mean == each.mean else "",
            },
        )
        for each in settings
    ]


def _moved(metric: str, over: str, settings: Sequence[Setting]) -> str:
    known = [each for each in settings if each.mean == each.mean]
    if not known:
        return f"{metric} has no mean under any {over}."
    least, most = (end(known, key=lambda each: each.mean) for end in (min, max))
    if least.mean == most.mean:
        return f"{metric} is the same under every {over}."
    low, high = (f"{number(each.mean)} ({over} {each.setting})" for each in (least, most))
    return f"{metric} lies between {low} and {high}."


def _leaders(over: str, systems: Mapping[str, Sequence[Setting]]) -> str:
    """Which system has the best mean where."""
    means: dict[str, dict[str, float]] = {}
    for name, settings in systems.items():
        for each in settings:
            if each.mean == each.mean:
                means.setdefault(each.setting, {})[name] = each.mean
    stretches: dict[str, list[list[str]]] = {}
    before = None
    for setting, found in means.items():
        best = max(found, key=lambda name: found[name])
        if best == before:
            stretches[best][-1].append(setting)
        else:
            stretches.setdefault(best, []).append([setting])
        before = best
    if not stretches:
        return f"No system has a mean under any {over}."
    if len(stretches) == 1:
        return f"{next(iter(stretches))} has the best mean under every {over}."
    told = [
        f"{name} at {over} {all_of([word for part in parts for word in _words(over, part)])}"
        for name, parts in stretches.items()
    ]
    return f"The order hangs on {over}. The best mean: {'; '.join(told)}."


def _words(over: str, part: Sequence[str]) -> Sequence[str]:
    return part if over not in NUMBERED or len(part) < 3 else [f"{part[0]} to {part[-1]}"]


def can_draw() -> bool:
    """Is matplotlib installed?"""
    return find_spec("matplotlib") is not None


def plot_curves(curves: Curves, path: str | os.PathLike[str]) -> None:
    """Draw the curves, a panel a metric and a line a system, with 95 % intervals.

    Args:
        curves: of any systems.
        path: a .png, .svg or .pdf file.

    Raises:
        OSError: the file cannot be written.
    """
    from matplotlib.figure import Figure

    count, systems = len(curves.found), len(next(iter(curves.found.values())))
    numbered = curves.over in NUMBERED
    figure = Figure(figsize=(8, 0.7 + 3.4 * count + 0.3 * (systems > 1) * ((systems + 2) // 3)), layout="constrained")
    panels = figure.subplots(count, 1, squeeze=False)[:, 0]
    for axes, (metric, found) in zip(panels, curves.found.items(), strict=True):
        for name, settings in found.items():
            x = [float(each.setting) if numbered else place for place, each in enumerate(settings)]
            style = {"marker": "o" if len(settings) <= MARKED else "", "markersize": 4}
            means = [each.mean for each in settings]
            (line,) = axes.plot(x, means, linestyle="-" if numbered else ":", label=name, **style)
            if systems <= SHADED:
                low, high = ([each.interval[end] for each in settings] for end in (0, 1))
                axes.fill_between(x, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
            if not numbered:
                axes.set_xticks(x, [each.setting for each in settings])
        axes.set_title(metric, loc="left", fontsize="medium")
        axes.set_ylabel("mean, 95 % interval" if systems <= SHADED else "mean")
        axes.grid(alpha=0.3)
    panels[-1].set_xlabel(curves.over)
    if systems > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize="small")
    figure.savefig(path, dpi=150, format=Path(path).suffix[1:].lower())

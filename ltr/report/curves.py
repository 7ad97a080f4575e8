"""How a mean moves with a setting that somebody chose, as tables and as a picture."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import NamedTuple

from ltr.evaluation import Evaluation, Setting, curve
from ltr.evaluation.curves import WHOLE, Over, has_option
from ltr.evaluation.notes import all_of
from ltr.gap.numbers import known, span
from ltr.report.layout import Block

BAR = 24  # characters of the longest bar
ROWS = 20  # settings up to which each has a row and a dot
PICTURES = (".png", ".svg", ".pdf")
TICKS = 80  # characters that fit below a panel
SHADED = 3  # systems up to which intervals can be told apart
NUMBERED = ("k", "threshold")  # options whose settings are numbers
LEVEL = 1e-12  # means nearer than this are equal


class Curves(NamedTuple):
    """Metric -> system -> the settings of an option; and the metrics that have no such option."""

    over: Over
    found: Mapping[str, Mapping[str, Sequence[Setting]]]
    without: Sequence[str] = ()


def curves(systems: Mapping[str, Evaluation], over: Over) -> Curves:
    """The curves of all metrics that have the option.

    Args:
        systems: name -> what was found; the same metrics for all.
        over: the option.
    """
    found: dict[str, dict[str, Sequence[Setting]]] = {}
    without: dict[str, None] = {}
    for name, table in systems.items():
        for each in table.values:
            if has_option(type(each.metric), over):
                found.setdefault(each.metric.name, {})[name] = curve(table.lists, each.metric, over)
            else:
                without[each.metric.name] = None
    return Curves(over, found, list(without))


def curve_blocks(curves: Curves) -> Iterator[tuple[list[Block], list[str]]]:
    """For each metric a table of the settings, or of some where they are many, and what it comes to in a sentence.

    Args:
        curves: of one system, whose mean stands with its interval and a bar; or of several, side by side.
    """
    for metric, systems in curves.found.items():
        order, some = _settings(curves.over, systems)
        title = f"{metric}, over {curves.over}"
        left = [f"{len(some)} of {len(order)} settings; plot=FILE draws all."] if len(some) < len(order) else []
        if len(systems) == 1:
            ((_, settings),) = systems.items()
            said = _moved(metric, curves.over, settings)
            yield [Block(title, _bars([each for each in settings if each.setting in some]))], [said, *left]
            continue
        means = {name: {each.setting: known(each.mean) for each in settings} for name, settings in systems.items()}
        rows = [(word, {name: column.get(word, "-") for name, column in means.items()}) for word in some]
        yield [Block(title, rows)], [_leaders(curves.over, order, systems), *left]
    if curves.without:
        have = "has" if len(curves.without) == 1 else "have"
        yield [], [f"{all_of(curves.without)} {have} no {curves.over} to vary."]


def _settings(over: str, systems: Mapping[str, Sequence[Setting]]) -> tuple[list[str], list[str]]:
    """All settings of some system, in order; and those worth a row: round cutoffs, the metric's own and the last one.

    All are, where they are few.
    """
    order = list(dict.fromkeys(each.setting for settings in systems.values() for each in settings))
    order.sort(key=lambda word: _place(over, word))  # stable
    if over != "k" or len(order) <= ROWS:
        return order, order
    kept = {"3", order[-1], *(each.setting for settings in systems.values() for each in settings if each.own)}
    return order, [word for word in order if word in kept or word.rstrip("0") in ("1", "2", "5")]


def _place(over: str, setting: str) -> float:
    """Where a setting stands among the others; those that are words stay where they are."""
    if over not in NUMBERED:
        return 0.0
    return inf if setting == WHOLE else float(setting)


def _bars(settings: Sequence[Setting]) -> list[tuple[str, dict[str, str]]]:
    most = max((each.mean for each in settings if each.mean == each.mean), default=0.0)
    return [
        (
            each.setting,
            {
                "mean": known(each.mean),
                "95 % interval": span(*each.interval[:2]),
                "n": str(each.lists),
                "undefined": str(each.undefined) if each.undefined else "-",
                "": "#" * round(BAR * each.mean / most) if most > 0 and each.mean == each.mean else "",
            },
        )
        for each in settings
    ]


def _moved(metric: str, over: str, settings: Sequence[Setting]) -> str:
    real = [each for each in settings if each.mean == each.mean]
    if not real:
        return f"{metric} has no mean under any {over}."
    least, most = (end(real, key=lambda each: each.mean) for end in (min, max))
    if least.mean == most.mean:
        return f"{metric} is the same under every {over}."
    low, high = (f"{known(each.mean)} ({over} {each.setting})" for each in (least, most))
    return f"{metric} lies between {low} and {high}."


def _leaders(over: str, order: Sequence[str], systems: Mapping[str, Sequence[Setting]]) -> str:
    """Which systems have the best mean where."""
    means: dict[str, dict[str, float]] = {word: {} for word in order}
    for name, settings in systems.items():
        for each in settings:
            if each.mean == each.mean:
                means[each.setting][name] = each.mean
    best = {
        word: [name for name, mean in found.items() if mean >= max(found.values()) - LEVEL]
        for word, found in means.items()
        if found
    }
    if not best:
        return f"No system has a mean under any {over}."
    always = [name for name in systems if all(name in names for names in best.values())]
    if always:
        return f"{all_of(always)} {'has' if len(always) == 1 else 'have'} the best mean under every {over}."
    stretches: dict[str, list[list[str]]] = {}
    before = ""
    for word, names in best.items():
        name = all_of(names)
        if name == before:
            stretches[name][-1].append(word)
        else:
            stretches.setdefault(name, []).append([word])
        before = name
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

    over, count, systems = curves.over, len(curves.found), len(next(iter(curves.found.values())))
    numbered = over in NUMBERED
    figure = Figure(figsize=(8, 0.7 + 3.4 * count + 0.3 * (systems > 1) * ((systems + 2) // 3)), layout="constrained")
    panels = figure.subplots(count, 1, squeeze=False)[:, 0]
    for axes, (metric, found) in zip(panels, curves.found.items(), strict=True):
        order, marked = _settings(over, found)
        last = max((_place(over, word) for word in order if word != WHOLE), default=1.0)
        x = {word: min(_place(over, word), 1.25 * last) if numbered else at for at, word in enumerate(order)}
        for name, settings in found.items():
            style = {"marker": "o" if len(settings) <= ROWS else "", "markersize": 4}
            points, means = [x[each.setting] for each in settings], [each.mean for each in settings]
            (line,) = axes.plot(points, means, linestyle="-" if numbered else ":", label=name, **style)
            if systems <= SHADED:
                some = [each for each in settings if each.setting in marked]
                low, high = ([each.interval[end] for each in some] for end in (0, 1))
                points = [x[each.setting] for each in some]
                axes.fill_between(points, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
        if len(marked) < len(order):
            axes.set_xscale("log")
            axes.minorticks_off()
        upright = sum(map(len, marked)) > TICKS
        axes.set_xticks([x[word] for word in marked], marked, rotation=90 if upright else 0)
        axes.set_title(metric, loc="left", fontsize="medium")
        axes.set_ylabel("mean, 95 % interval" if systems <= SHADED else "mean")
        axes.grid(alpha=0.3)
    panels[-1].set_xlabel(over)
    if systems > 1:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize="small")
    figure.savefig(path, dpi=150, format=Path(path).suffix[1:].lower())

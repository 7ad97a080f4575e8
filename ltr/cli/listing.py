"""``ltr list WHAT``: what can be named, with a line about each."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ltr.cli import presets
from ltr.cli.errors import ConfigError

if TYPE_CHECKING:
    from ltr.metrics import RankingMetric

WIDTH = 80
PLURALS = {"losses": "loss", "data": "data", "callbacks": "callbacks"}


def listing(what: str | None) -> str:
    """The options of a group, or the metrics, or the presets, or one of these, or what can be listed at all.

    Raises:
        ConfigError: nothing of that name can be listed.
    """
    groups = presets.groups([presets.folder()])
    known = ["metrics", "presets", *groups]
    if what is None:
        return "ltr list WHAT, with one of\n" + "\n".join(f"  {name}" for name in known)
    if what in ("metric", "metrics"):
        return _metrics()
    if what in ("preset", "presets"):
        return _presets()
    group = PLURALS.get(what, what if what in groups else what.removesuffix("s"))
    if group in groups:
        return _table({option: _about(path) for option, path in groups[group].items()})
    from ltr.metrics import METRICS  # late: it brings torch

    if what in METRICS:
        return _metric(METRICS[what])
    from ltr.metrics.presets import PRESETS

    if what in PRESETS:
        return _presets(what)
    raise ConfigError(f"{what}: nothing of this name can be listed{presets.near(what, [*known, *METRICS, *PRESETS])}")


def _metrics() -> str:
    """Each metric as one could type it, what it is, and what it assumes about the person who searches."""
    from ltr.metrics import METRICS
    from ltr.report.layout import beside

    about = {_example(metric): [_assumption(metric)] for metric in METRICS.values()}
    lines = [
        *beside(about, WIDTH),
        "",
        "@10: any cutoff, or none for the full list; max4: the top grade of your labels",
        "other options stand in the name too: ndcg-linear@10, ap-rel2@100",
        "ltr list ndcg says how ndcg is computed and what its options are, and so of each",
    ]
    return "\n".join(lines)


def _metric(metric: type[RankingMetric]) -> str:
    """One metric as its docstring has it, but for what is about Python alone."""
    from ltr.report.layout import beside

    text, _, rest = (inspect.getdoc(metric) or "").partition("\nArgs:\n")
    paragraphs = re.split(r"\n\n|\n(?=Assumes )", text.partition("\nExample:")[0].strip())
    lines = [line for each in paragraphs for line in ("", *wrap(" ".join(each.split()), WIDTH))]
    options = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", rest.partition("\n\n")[0], re.MULTILINE)
    told = beside({name: [" ".join(about.split())] for name, about in options}, WIDTH)
    return "\n".join([_example(metric), *lines, *([""] if told else []), *told])


def _presets(only: str | None = None) -> str:
    """Each preset, or one, the program that it stands for, and the metrics that it has."""
    from ltr.metrics.presets import PRESETS
    from ltr.report.layout import beside

    about = {
        each.name: [each.about, f"has {', '.join(each.metrics)}"]
        for each in PRESETS.values()
        if only in (None, each.name)
    }
    how = "ltr evaluate QRELS RUN preset=NAME measures by one of them, preset=all by each"
    return "\n".join([*beside(about, WIDTH), "", how])


def _example(metric: type[RankingMetric]) -> str:
    """A whole name: with a cutoff where it takes one, and with each option that has no default."""
    required = [each for each in metric.options() if each.default is MISSING]
    words = [each.metadata["word"].format(4) for each in required]
    return "-".join([metric.base, *words]) + ("@10" if metric.cuts else "")


def _assumption(metric: type[RankingMetric]) -> str:
    """What it is called, and what its docstring says that it assumes."""
    from ltr.report.changes import stated

    return f"{_summary(metric).partition(':')[0]}: {stated(metric, 'Assumes')}"


def _about(path: Path) -> str:
    """What the file says in its first line, else what its constructor's docstring does."""
    if remark := presets.remark(path):
        return remark
    from omegaconf import OmegaConf

    from ltr.cli.check import locate

    target = OmegaConf.select(OmegaConf.load(path), "_target_", default=None)
    return "" if target is None else _summary(locate(target))


def _summary(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _table(lines: dict[str, str]) -> str:
    width = max(map(len, lines), default=0) + 2
    return "\n".join(f"{name:<{width}}{about}".rstrip() for name, about in lines.items())

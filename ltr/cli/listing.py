"""``ltr list WHAT``: what can be named, with a line about each."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ltr import options
from ltr.cli.errors import ConfigError

if TYPE_CHECKING:
    from ltr.losses import Surrogate
    from ltr.metrics import RankingMetric

WIDTH = 80
PLURALS = {"losses": "loss", "data": "data", "callbacks": "callbacks"}
KINDS = {  # of a loss: what stands above those of it
    "approximation": "approximations: 1 - loss is an estimate of the metric",
    "bound": "bounds: the metric is no worse than what the loss says",
    "neither": "neither: the loss has no unit in common with a metric",
}


def listing(what: str | None) -> str:
    """The options of a group, or the metrics, or the presets, or one of these, or what can be listed at all.

    Raises:
        ConfigError: nothing of that name can be listed.
    """
    groups = options.groups([options.folder()])
    known = ["metrics", "presets", *groups]
    if what is None:
        return "ltr list WHAT, with one of\n" + "\n".join(f"  {name}" for name in known)
    if what in ("metric", "metrics"):
        return _metrics()
    if what in ("preset", "presets"):
        return _presets()
    group = PLURALS.get(what, what if what in groups else what.removesuffix("s"))
    if group == "loss":
        return _losses(groups[group])
    if group in groups:
        return _table({option: _about(path) for option, path in groups[group].items()})
    from ltr.metrics import METRICS  # late: it brings torch

    if what in METRICS:
        return _metric(METRICS[what])
    from ltr.losses.named import plain
    from ltr.metrics.presets import PRESETS

    losses = {plain(option): option for option in groups["loss"]}
    if plain(what) in losses:
        return _loss(losses[plain(what)], groups["loss"][losses[plain(what)]])
    if what in PRESETS:
        return _presets(what)
    names = [*known, *METRICS, *losses, *PRESETS]
    raise ConfigError(f"{what}: nothing of this name can be listed{options.near(what, names)}")


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
    return "\n".join([_example(metric), *_documented(inspect.getdoc(metric) or "")])


def _documented(text: str, defaults: Mapping[str, str] | None = None) -> list[str]:
    """The paragraphs of a docstring up to its arguments, and beside each argument what it is.

    Args:
        text: the docstring.
        defaults: what stands behind the names of arguments.
    """
    from ltr.report.layout import beside

    text, _, rest = text.partition("\nArgs:\n")
    paragraphs = re.split(r"\n\n|\n(?=Assumes |- )", text.partition("\nExample:")[0].strip())
    lines = [line for each in paragraphs for line in ("", *wrap(" ".join(each.split()), WIDTH, break_on_hyphens=False))]
    arguments = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", rest.partition("\n\n")[0], re.MULTILINE)
    behind = defaults or {}
    told = beside({f"{name}{behind.get(name, '')}": [" ".join(about.split())] for name, about in arguments}, WIDTH)
    return [*lines, *([""] if told else []), *told]


def _losses(files: Mapping[str, Path]) -> str:
    """Each loss as one could type it, by its kind: what it is, its aim, its cost, and the labels that it suits."""
    from ltr.losses.named import OWN, named
    from ltr.report.layout import beside

    made = {option: named(option) for option in files if option != OWN}
    width = max(map(len, files)) + 2
    lines = []
    for kind, title in KINDS.items():
        kept = {option: [_about(files[option]), _facts(made[option])] for option in made if made[option].kind == kind}
        if kept:
            lines += [title, *beside({f"{option:<{width - 2}}": told for option, told in kept.items()}, WIDTH), ""]
    lines += beside({f"{OWN:<{width - 2}}": [_about(files[OWN])]}, WIDTH)
    return "\n".join(
        [
            *lines,
            "",
            "The metric is that of metric=ndcg@10; another one is another aim.",
            "O(...): time for a list of L documents, R of them with a gain or above the least",
            "label, K levels or places, k the cutoff.",
            "sparse: few relevant documents in a list; real: labels on a scale, no grades;",
            "teacher: the scores of another ranker (teacher=RUN).",
            "ltr list lambdarank says all of one loss, and so of each.",
        ]
    )


def _loss(option: str, path: Path) -> str:
    """One loss as its docstring has it, with the defaults of its option."""
    from omegaconf import OmegaConf

    from ltr.cli.check import MISSING, locate
    from ltr.losses.named import named

    node = OmegaConf.to_container(OmegaConf.load(path), resolve=False)
    assert isinstance(node, dict)
    head = f"loss={option}: {_about(path)}"
    if node["_target_"] == MISSING:
        return "\n".join(wrap(head, WIDTH))
    defaults = {
        str(key): f"={value}"
        for key, value in node.items()
        if not isinstance(value, dict | list) and value != "${metric}"
    }
    text = (inspect.getdoc(locate(node["_target_"])) or "").replace("``", "")
    surrogate = named(option)
    facts = f"{_facts(surrogate)}; its loss is in {surrogate.unit}"
    return "\n".join([*wrap(head, WIDTH), *wrap(facts, WIDTH), *_documented(text, defaults)])


def _facts(surrogate: Surrogate) -> str:
    """What it is to its aim, its cost, and the labels that it suits."""
    verb = {"approximation": "approximates", "bound": "bounds"}.get(surrogate.kind, "")
    aim = "" if surrogate.aim is None else f"{verb} {surrogate.aim.name}; "
    return f"{aim}{surrogate.cost}; for {', '.join(surrogate.suits)}"


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
    if remark := options.remark(path):
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

"""``ltr list WHAT``: what can be named, with a line about each."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from ltr.cli import presets
from ltr.cli.errors import ConfigError

PLURALS = {"losses": "loss", "data": "data", "callbacks": "callbacks"}


def listing(what: str | None) -> str:
    """The options of a group, or the metrics, or what can be listed at all.

    Raises:
        ConfigError: nothing of that name can be listed.
    """
    groups = presets.groups([presets.folder()])
    known = ["metrics", *groups]
    if what is None:
        return "ltr list WHAT, with one of\n" + "\n".join(f"  {name}" for name in known)
    if what in ("metric", "metrics"):
        return _metrics()
    group = PLURALS.get(what, what if what in groups else what.removesuffix("s"))
    if group not in groups:
        raise ConfigError(f"{what}: nothing of this name can be listed{presets.near(what, known)}")
    return _table({option: _about(path) for option, path in groups[group].items()})


def _metrics() -> str:
    from ltr.metrics import METRICS

    lines = {f"{name}@10": _summary(metric) for name, metric in METRICS.items()}
    return _table(lines) + "\n\nany cutoff or none; other options stand in the name: ndcg-linear@10, ap-rel2@100"


def _about(path: Path) -> str:
    """What the file says in its first line, else what its constructor's docstring does."""
    if remark := presets.remark(path):
        return remark
    from omegaconf import OmegaConf

    from ltr.cli.check import MISSING, locate

    target = OmegaConf.select(OmegaConf.load(path), "_target_", default=MISSING)
    return "" if target == MISSING else _summary(locate(target))


def _summary(thing: Any) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _table(lines: dict[str, str]) -> str:
    width = max(map(len, lines), default=0) + 2
    return "\n".join(f"{name:<{width}}{about}".rstrip() for name, about in lines.items())

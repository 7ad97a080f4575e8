"""The losses of conf/loss by name, each with its defaults, for programs without Hydra (docs/decisions/0008)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import yaml

from ltr.losses.base import Surrogate
from ltr.metrics import RankingMetric
from ltr.options import folder, groups, near

OWN = "custom"  # the option that names no class


def named(name: str, metric: RankingMetric | str = "ndcg@10") -> Surrogate:
    """The surrogate of an option of conf/loss, as ``ltr list losses`` has it, with its defaults.

    Args:
        name: of the option; capitals, hyphens and underscores do not count.
        metric: what the surrogates that have one inside are made for.

    Raises:
        ValueError: there is no such loss, or the metric is none that it can be made for.

    Example:
        >>> type(named("list_mle")).__name__, named("LambdaRank", "mrr").metric.name
        ('ListMLE', 'mrr')
    """
    known = {plain(option): path for option, path in groups([folder()])["loss"].items() if option != OWN}
    if plain(name) not in known:
        raise ValueError(f"no loss {name!r}{near(plain(name), list(known))} (ltr list losses has them all)")
    try:
        found = _built(yaml.safe_load(known[plain(name)].read_text()), metric)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    assert isinstance(found, Surrogate)
    return found


def plain(name: str) -> str:
    """The name without what does not count in it."""
    return name.lower().replace("_", "").replace("-", "")


def _built(node: Any, metric: RankingMetric | str) -> Any:
    """A node of our own called with its values, and so for the nodes in it; ltr.cli.build has those of users."""
    if isinstance(node, list):
        return [_built(each, metric) for each in node]
    if not isinstance(node, dict):
        return metric if node == "${metric}" else node
    values = {key: _built(value, metric) for key, value in node.items()}
    module, _, name = values.pop("_target_").rpartition(".")
    return getattr(import_module(module), name)(**values)

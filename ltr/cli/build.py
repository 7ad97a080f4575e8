"""From a node of the configuration, whoever wrote it, to the object: the one place that asks Hydra to instantiate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.errors import InstantiationException
from hydra.utils import instantiate

from ltr.cli.check import locate
from ltr.cli.errors import ConfigError
from ltr.data import DataError
from ltr.metrics import RankingMetric, parse


def build(node: Mapping[str, Any] | None, where: str, **given: Any) -> Any:
    """Call the constructor that the node names, with the node's arguments and those given by the program.

    Args:
        node: ``{_target_: ..., ...}`` with plain values; None builds None.
        where: its place in the configuration, for messages.
        **given: further arguments.

    Raises:
        ConfigError: the constructor refuses an argument.
        DataError: it refuses the data.
    """
    if node is None:
        return None
    try:
        locate(str(node["_target_"]))  # a module of the user's own lies in the working directory
    except ConfigError as error:
        raise ConfigError([f"{where}: {line}" for line in error.lines]) from error
    try:
        return instantiate(dict(node), _convert_="all", **given)
    except InstantiationException as error:
        cause = error.__cause__
        if isinstance(cause, DataError):
            raise cause from None
        if isinstance(cause, ValueError | TypeError):
            raise ConfigError(f"{where}: {' '.join(str(cause).split())}") from cause
        raise cause or error from None


def metric_of(value: str | Mapping[str, Any], where: str = "metric") -> RankingMetric:
    """The metric of a name or a node.

    Raises:
        ConfigError: no metric has this name, or it is no RankingMetric.
    """
    if isinstance(value, Mapping):
        metric = build(value, where)
        if not isinstance(metric, RankingMetric):
            raise ConfigError(f"{where}: wanted a RankingMetric, {value['_target_']} gives {type(metric).__name__}")
        return metric
    try:
        return parse(value)
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error


def metrics_of(values: Sequence[str | Mapping[str, Any]] | None, where: str = "metrics") -> list[RankingMetric]:
    """The metrics of a list; all that is wrong with any of them is said at once.

    Raises:
        ConfigError: as metric_of.
    """
    found: list[RankingMetric] = []
    wrong: list[str] = []
    for value in values or []:
        try:
            found.append(metric_of(value, where))
        except ConfigError as error:
            wrong += error.lines
    if wrong:
        raise ConfigError(wrong)
    return list(dict.fromkeys(found))

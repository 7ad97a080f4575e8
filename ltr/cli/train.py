"""``ltr train``: from a resolved configuration to a trained run."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ltr import runs
from ltr.cli.annotations import Node
from ltr.cli.build import build, metric_of, metrics_of
from ltr.cli.errors import ConfigError, is_plain
from ltr.cli.load import Trained, load
from ltr.cli.run import as_yaml
from ltr.data import DataError, RankingData, Splits, check_trainable, describe_labels
from ltr.losses import Surrogate
from ltr.losses.sigmoid import ROUNDING
from ltr.metrics import RankingMetric

log = logging.getLogger(__name__)

RANGES = (
    ("documents", 1, math.inf, "at least 1"),
    ("lists", 1, math.inf, "at least 1 or null"),
    ("workers", 0, math.inf, "at least 0"),
    ("diagnostics", 0, math.inf, "at least 0"),
    ("seed", 0, 2**64 - 1, "0 to 18446744073709551615"),
)
SETTLED = (  # what the numbers of a run depend on: a run that goes on has the same
    *("data", "transform", "model", "loss", "optimizer", "metric", "metrics"),
    *("documents", "lists", "seed", "monitor", "teacher"),
)
SOME = 100  # labels that a metric is tried out on
MAY_MOVE = ("data.cache",)
SCHEDULES = ("ltr.training.cosine", "ltr.training.constant")

Claim = Callable[[str], runs.Run]  # a hint of what the run is about -> its folder


def base(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The configuration of the run that ``resume`` names."""
    if config["resume"] is None:
        return None
    return runs.find(config["resume"], config["root"]).read_config() | {"root": config["root"]}


def train(
    *,
    data: Node,
    transform: Node | None,
    model: Node,
    loss: Node,
    metric: str | Node,
    metrics: Sequence[str | Node],
    optimizer: Node,
    scheduler: Node | None,
    trainer: Node,
    callbacks: Mapping[str, Node | None] | None,
    documents: int,
    lists: int | None,
    workers: int,
    teacher: str | None,
    seed: int,
    monitor: str | None,
    diagnostics: int,
    name: str | None,
    root: str | Path,
    resume: str | None,
) -> None:
    """Train one run and print its table. The keys are those of conf/train.yaml, which says what each is."""
    config = dict(locals())
    from ltr.report import print_run

    settle(config)
    if resume is not None:
        old = runs.find(resume, root)
        old.last_checkpoint()  # refuses, before anything is loaded
        saved = old.read_config()
        _check_same(saved, config)
        config["root"] = saved["root"]  # where it was looked for is nothing to keep
        print_run(fit_run(config, lambda hint: old))
        return
    if name is not None and Path(root, name).exists():
        runs.claim(root, name, "")  # likewise
    claimed: list[runs.Run] = []

    def claim(hint: str) -> runs.Run:
        claimed.append(runs.claim(root, name, hint))
        return claimed[0]

    try:
        print_run(fit_run(config, claim))
    except Exception as error:
        if claimed and (isinstance(error, ConfigError) or is_plain(error)):
            claimed[0].discard_unused()
        raise


def fit_run(config: Mapping[str, Any], claim: Claim) -> runs.Run:
    """Load and check the data, build the parts, then claim a folder (or take that of ``resume``) and train in it.

    Raises:
        ConfigError: a constructor refuses its arguments.
        DataError: the data cannot be read or cannot be trained on.
        RunError: the folder cannot be had, or the training cannot be run as asked.
    """
    metric = metric_of(config["metric"])
    metrics = metrics_of(config["metrics"])
    teacher = _teacher(config)
    data: Splits = build(config["data"], "data")
    _check(data, metric, metrics, config["monitor"])
    _describe(data, metric)
    width = data.train.features.shape[1]
    if teacher is not None and teacher.features != width:
        raise ConfigError(
            f"teacher: {config['teacher']} was trained on {teacher.features} features, and these data have {width}"
        )
    from ltr.training import fit, seed_everything
    from ltr.training.teacher import Teacher

    seed_everything(config["seed"])
    loss = _loss(config["loss"])
    _check_labels(loss, data)
    model = build(config["model"], "model", features=width)
    transform = build(config["transform"], "transform")
    callbacks = [build(node, f"callbacks.{key}") for key, node in (config["callbacks"] or {}).items() if node]
    parts = {key: build(config[key], key) for key in ("optimizer", "scheduler", "trainer")}
    _try_out(parts["optimizer"])
    run = claim(_hint(config, metric.name))
    log.info("run folder %s", run.path)
    fit(
        run,
        data,
        model=model,
        transform=transform,
        teacher=None if teacher is None else Teacher(teacher.model, teacher.transform),
        loss=loss,
        metric=metric,
        metrics=metrics,
        callbacks=callbacks,
        **parts,
        **{key: config[key] for key in ("documents", "lists", "workers", "seed", "monitor", "diagnostics")},
        resume=config["resume"] is not None,
        config=as_yaml({**config, "resume": None}),
    )
    return run


def settle(config: dict[str, Any]) -> None:
    """Refuse numbers out of range, which no constructor sees before the data are read; say where the teacher lies.

    ``last`` is the last run of now, not of a later job, or of the day when this one goes on.

    Raises:
        ConfigError: one line for each; or there is no such teacher.
    """
    wrong = [
        f"{key}: wanted {wanted}, got {config[key]}"
        for key, lowest, highest, wanted in RANGES
        if config[key] is not None and not lowest <= config[key] <= highest
    ]
    if wrong:
        raise ConfigError(wrong)
    if config["teacher"] is not None:
        try:
            config["teacher"] = str(runs.find(config["teacher"], config["root"]).path)
        except runs.RunError as error:
            raise ConfigError(f"teacher: {error}") from error


def _loss(node: Mapping[str, Any]) -> Surrogate:
    """The surrogate of a node.

    Raises:
        ConfigError: it is none, or refuses an argument.
    """
    loss = build(node, "loss")
    if not isinstance(loss, Surrogate):
        raise ConfigError(f"loss: wanted a ltr.losses.Surrogate, {node['_target_']} gives a {type(loss).__name__}")
    return loss


def _check_labels(loss: Surrogate, data: Splits) -> None:
    """Refuse a loss that would refuse the labels in the midst of the training.

    Raises:
        ConfigError: a label is beyond what the loss takes; where one of its arguments says how far, it is named.
    """
    for name, lists in data._asdict().items():
        most = 0.0 if lists is None or not len(lists.relevance) else float(lists.relevance.max())
        if most > loss.largest_label * (1 + ROUNDING):
            limits = {each: getattr(loss, each, None) for each in signature(type(loss)).parameters}
            which = [
                each for each, limit in limits.items() if isinstance(limit, int | float) and limit == loss.largest_label
            ]
            cure = f"; loss.{which[0]}={most:g} would take them" if which else ""
            raise ConfigError(
                f"loss: {type(loss).__name__} takes labels up to {loss.largest_label:g}, and the {name} data have "
                f"{most:g}{cure}"
            )


def _teacher(config: Mapping[str, Any]) -> Trained | None:
    """The trained run that the loss learns from, if it does.

    Raises:
        ConfigError: the loss wants one and none is named, or the other way round.
        RunError: the run has no model.
    """
    from ltr.training.teacher import check_teacher

    try:
        check_teacher(_loss(config["loss"]), config["teacher"] is not None)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return None if config["teacher"] is None else load(config["teacher"])


def _check_same(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuse to go on with other settings than the run's numbers so far came from.

    Raises:
        ConfigError: one line for each, with what it was and what came.
    """
    keys = SETTLED if _reads_on(old) and _reads_on(new) else (*SETTLED, "scheduler")
    was, came = (_flat({key: each[key] for key in keys if key in each}) for each in (old, new))
    wrong = [
        f"{key}: the run has {_said(was, key)}, and goes on with that or not at all; got {_said(came, key)}"
        for key in dict.fromkeys([*was, *came])
        if key not in MAY_MOVE and (key in was, was.get(key)) != (key in came, came.get(key))
    ]
    if wrong:
        raise ConfigError(wrong)


def _reads_on(config: Mapping[str, Any]) -> bool:
    """Is this a schedule whose arguments are not part of its state, so that new ones have an effect?"""
    return (config.get("scheduler") or {}).get("_target_") in SCHEDULES


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Settings by dotted name."""
    if not isinstance(value, Mapping) or not value:
        return {path: value}
    return {
        name: found
        for key, each in value.items()
        for name, found in _flat(each, f"{path}.{key}" if path else str(key)).items()
    }


def _said(settings: Mapping[str, Any], key: str) -> str:
    if key not in settings:
        return "no such key"
    return "null" if settings[key] is None else str(settings[key])


def _try_out(optimizer: Callable[..., Any]) -> None:
    """Make the optimiser of a parameter that nobody needs.

    Raises:
        ConfigError: it refuses its arguments.
    """
    import torch

    try:
        optimizer([torch.nn.Parameter(torch.zeros(1))])
    except (TypeError, ValueError) as error:
        raise ConfigError(f"optimizer: {error}") from error


def _hint(config: Mapping[str, Any], metric: str) -> str:
    return f"{config['loss']['_target_'].rpartition('.')[2].lower()}-{metric}"


def _check(data: Any, metric: RankingMetric, metrics: Sequence[RankingMetric], monitor: str | None) -> None:
    """Refuse what training would only notice late, or never.

    Raises:
        ConfigError: the data set yields something else than Splits.
        DataError: a split without queries or labels, with a label that a gain knows no value for, or nothing in it to
            learn from or to measure.
    """
    if not isinstance(data, Splits):
        raise ConfigError(f"data: wanted ltr.data.Splits (train, validation, test), got {type(data).__name__}")
    check_trainable(data.train, "training data")
    for lists in [each for each in data if each is not None]:
        labels = torch.from_numpy(np.unique(lists.relevance))
        for each in (metric, *metrics):
            try:
                each.document_gain(labels)
                each(labels[-SOME:], labels[-SOME:])  # a list of the highest ones
            except ValueError as error:
                told = str(error).removeprefix(f"{each.name}: ")
                raise DataError(f"{lists.source}: {each.name}: {told}") from error
    if data.validation is None and monitor is not None:
        raise DataError("validation data: wanted some to choose the best state on (or monitor=null), came none")
    for name, split in (("validation data", data.validation), ("test data", data.test)):
        if split is None:
            continue
        if not split.query_ids:
            raise DataError(f"{name}: no query left ({split.source})")
        if not split.labelled:
            raise DataError(f"{name}: wanted labels, came data without labels ({split.source})")
        for each in (metric, *metrics):
            silent = _without_answer(split, each) if each.empty == "error" else []
            if silent:
                raise DataError(
                    f"{name}: {each.name} refuses lists without an answer, and query {silent[0]} is one of "
                    f"{len(silent)} ({split.source})"
                )
        if metric.empty == "skip" and len(_without_answer(split, metric)) == len(split.query_ids):
            raise DataError(
                f"{name}: {metric.name} has no answer on any of its {len(split.query_ids)} lists ({split.source})"
            )


def _without_answer(split: RankingData, metric: RankingMetric) -> list[str]:
    """The queries on whose lists the metric is undefined."""
    pieces = torch.tensor_split(torch.from_numpy(split.relevance), torch.from_numpy(split.offsets[1:-1]))
    pairs = zip(split.query_ids, pieces, strict=True)
    return [query for query, piece in pairs if not bool(metric.defined(piece[None]))]


def _describe(data: Splits, metric: RankingMetric) -> None:
    """Log what the labels are worth."""
    report = describe_labels(data.train, metric.document_gain)
    for line in report.lines:
        log.info("%s", line)
    if report.warning:
        log.warning("%s", report.warning)

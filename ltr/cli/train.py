"""``ltr train``: from a resolved configuration to a trained run."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ltr import runs
from ltr.cli.annotations import Node
from ltr.cli.build import build, metric_of, metrics_of
from ltr.cli.errors import ConfigError, is_plain
from ltr.cli.run import as_yaml
from ltr.data import DataError, RankingData, Splits, check_trainable, describe_labels
from ltr.metrics import RankingMetric

log = logging.getLogger(__name__)

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
    seed: int,
    monitor: str | None,
    name: str | None,
    root: str | Path,
    resume: str | None,
) -> None:
    """Train one run and print its table. The keys are those of conf/train.yaml, which says what each is."""
    config = dict(locals())
    from ltr.report import print_run

    if resume is not None:
        old = runs.find(resume, root)
        old.last_checkpoint()  # refuses, before anything is loaded
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
    data: Splits = build(config["data"], "data")
    _check(data, metric, config["monitor"])
    _describe(data, metric)
    from ltr.training import fit, seed_everything

    seed_everything(config["seed"])
    loss = build(config["loss"], "loss")
    model = build(config["model"], "model", features=data.train.features.shape[1])
    transform = build(config["transform"], "transform")
    callbacks = [build(node, f"callbacks.{key}") for key, node in (config["callbacks"] or {}).items() if node]
    parts = {key: build(config[key], key) for key in ("optimizer", "scheduler", "trainer")}
    _try_out(parts["optimizer"])
    run = claim(_hint(config, metric.name))
    log.info("run folder %s", run.path)
    before = run.config_path.read_text() if config["resume"] is not None else None
    run.write_config(as_yaml({**config, "resume": None}))
    try:
        fit(
            run,
            data,
            model=model,
            transform=transform,
            loss=loss,
            metric=metric,
            metrics=metrics,
            callbacks=callbacks,
            **parts,
            **{key: config[key] for key in ("documents", "lists", "workers", "seed", "monitor")},
            resume=before is not None,
        )
    except runs.RunError:
        if before is not None:  # it did not go on, so its configuration is the old one
            run.write_config(before)
        raise
    return run


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


def _check(data: Any, metric: RankingMetric, monitor: str | None) -> None:
    """Refuse what training would only notice late, or never.

    Raises:
        ConfigError: the data set yields something else than Splits.
        DataError: a split without queries or labels, or nothing in it to learn from or to measure.
    """
    if not isinstance(data, Splits):
        raise ConfigError(f"data: wanted ltr.data.Splits (train, validation, test), got {type(data).__name__}")
    check_trainable(data.train, "training data")
    if data.validation is None and monitor is not None:
        raise DataError("validation data: wanted some to choose the best state on (or monitor=null), came none")
    for name, split in (("validation data", data.validation), ("test data", data.test)):
        if split is None:
            continue
        if not split.query_ids:
            raise DataError(f"{name}: no query left ({split.source})")
        if not split.labelled:
            raise DataError(f"{name}: wanted labels, came data without labels ({split.source})")
    if data.validation and not _defined_somewhere(data.validation, metric):
        raise DataError(
            f"validation data: {metric.name} has no answer on any of its {len(data.validation.query_ids)} lists "
            f"({data.validation.source})"
        )


def _defined_somewhere(split: RankingData, metric: RankingMetric) -> bool:
    import torch

    relevance = torch.from_numpy(split.relevance)
    pieces = torch.tensor_split(relevance, torch.from_numpy(split.offsets[1:-1]))
    return metric.empty != "skip" or any(bool(metric.defined(piece[None])) for piece in pieces)


def _describe(data: Splits, metric: RankingMetric) -> None:
    """Log what the labels are worth.

    Raises:
        DataError: the metric's gain knows no value for a label.
    """
    try:
        report = describe_labels(data.train, metric.document_gain)
    except ValueError as error:
        raise DataError(f"{data.train.source}: {error}") from error
    for line in report.lines:
        log.info("%s", line)
    if report.warning:
        log.warning("%s", report.warning)

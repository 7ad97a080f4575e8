"""What may be monitored, in which direction, and which of two values is the better one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytorch_lightning as pl

from ltr.runs import RunError


def check_monitors(trainer: pl.Trainer, module: pl.LightningModule, monitors: Sequence[str]) -> dict[str, bool]:
    """Each monitored tag, and whether larger is better: known from the module, never from the name.

    Raises:
        RunError: the module logs no such tag, nothing is validated, or the tag is the value of a surrogate that says
            nothing about progress.
    """
    tags = getattr(module, "tags", None)
    if tags is None:
        raise RunError(f"{type(module).__name__} has no `tags`: wanted a mapping from tag to 'is larger better?'")
    for tag in monitors:
        if tag not in tags:
            raise RunError(f"nothing logs the monitor {tag}; there are: {', '.join(tags)}")
        if tag.startswith("val/") and not _validates(trainer):
            raise RunError(
                f"the monitor {tag} needs validation data, came none: wanted some, or monitor=null callbacks=none"
            )
        loss = getattr(module, "loss", None)
        if tag.endswith("/loss") and not getattr(loss, "informative", True):
            raise RunError(
                f"the monitor {tag} would select by the value of {type(loss).__name__}, which says nothing about "
                "progress (its weights move as the ranks do): monitor a metric, such as val/target"
            )
    return {tag: bool(tags[tag]) for tag in monitors}


def rank(value: float, larger_is_better: bool) -> tuple[bool, float]:
    """A key by which the best value comes first, and NaN after every number."""
    return (True, 0.0) if math.isnan(value) else (False, -value if larger_is_better else value)


def logged_step(trainer: pl.Trainer) -> int:
    """The step under which Lightning's loggers file what is logged now: the last optimiser step, from 0."""
    return max(trainer.global_step - 1, 0)


def counts(trainer: pl.Trainer) -> bool:
    """Is this a validation of a training that has begun? Checks before the first step never count."""
    return trainer.state.fn == "fit" and not trainer.sanity_checking and trainer.global_step > 0


def logged(trainer: pl.Trainer, tag: str) -> float:
    """The value that was logged last under a monitored tag.

    Raises:
        RunError: nothing was.
    """
    values = trainer.callback_metrics
    if tag not in values:
        raise RunError(
            f"nothing logged the monitor {tag} at epoch {trainer.current_epoch}; there are: {', '.join(values)}"
        )
    return float(values[tag])


def _validates(trainer: pl.Trainer) -> bool:
    data: Any = getattr(getattr(trainer, "datamodule", None), "data", None)
    return trainer.limit_val_batches != 0 and not (hasattr(data, "validation") and data.validation is None)

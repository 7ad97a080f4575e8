"""What a training says while it runs: a bar on a terminal, else one plain line a validation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import RichProgressBar

from ltr.gap.numbers import number
from ltr.training.evaluated import Evaluation
from ltr.training.module import RankingModule
from ltr.training.monitors import counts


def progress(terminal: bool | None = None) -> pl.Callback:
    """The bar where standard output is a terminal, else the lines."""
    shown = sys.stdout.isatty() if terminal is None else terminal
    return Bar() if shown else Lines()


class Lines(pl.Callback):
    """One line a validation: epoch, loss with its unit, the target, and the gap with its unit."""

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        found = _found(trainer, pl_module)
        if found and trainer.is_global_zero:
            print(validation_line(trainer.current_epoch, found), flush=True)


class Bar(RichProgressBar):
    """Lightning's rich bar, with the target and the gap of the last validation in it."""

    def __init__(self) -> None:
        super().__init__(leave=False)

    def get_metrics(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> dict[str, Any]:
        found = _found(trainer, pl_module)
        if not found:
            return {}
        return {found.metrics[0].name: f"{number(found.target)}", "gap": gap_text(found.gap)}


def validation_line(epoch: int, found: Evaluation) -> str:
    """What a validation found, in one line, every number with its unit."""
    target = found.metrics[0].name
    loss = f"validation loss {number(found.means['loss'])} [{found.gap['loss_unit']}]"
    return f"epoch {epoch:02d}   {loss}   {target} {number(found.target)}   {gap_text(found.gap)}"


def gap_text(row: Mapping[str, Any]) -> str:
    """A row of the gap in a few words."""
    if row["kind"] == "neither":
        return f"no belief: {row['loss_unit']} have no unit in common with {row['target']}"
    if row["belief"] is None:
        return "no list counts for the gap"
    aim, belief, exact = row["aim"], number(row["belief"]), number(row["aim_value"])
    if row["kind"] == "approximation":
        return f"believes {belief}, exact {exact}, gap {number(row['gap_aim'], sign=True)} [{aim}]"
    if row["vacuous"]:
        return f"certificate vacuous: {belief}, a random order has {number(row['aim_floor'])} [{aim}]"
    return f"certifies {belief}, exact {exact}, gap {number(row['gap_aim'])} [{aim}]"


def _found(trainer: pl.Trainer, module: pl.LightningModule) -> Evaluation | None:
    assert isinstance(module, RankingModule)
    return module.evaluated.get("validation") if counts(trainer) else None

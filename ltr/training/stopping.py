"""Early stopping that knows the metric's direction and does not mistake NaN for an answer."""

from __future__ import annotations

import logging
from typing import Any

import pytorch_lightning as pl

from ltr.runs import RunError
from ltr.training.monitors import check_monitors, counts, logged, rank

log = logging.getLogger(__name__)


class EarlyStopping(pl.Callback):
    """Ends a training after so many validations without a better value.

    The direction comes from the metric. A NaN is never better and never counts as a validation without progress.

    Args:
        monitor: a tag that is logged at validation; None: the training is never ended.
        patience: validations without a better value after which the training ends, at least 1.
        least: by how much a value must be better to count, in units of what is monitored.

    Raises:
        ValueError: a patience below 1 or a negative least.
        RunError: when the training starts, for a monitor that nothing logs or that says nothing about progress.

    Example:
        >>> EarlyStopping(patience=3).patience
        3
    """

    def __init__(self, monitor: str | None = "val/target", patience: int = 10, least: float = 0.0) -> None:
        super().__init__()
        if patience < 1 or least < 0:
            raise ValueError(f"early stopping: wanted patience >= 1 and least >= 0, got {patience} and {least:g}")
        self.monitors = () if monitor is None else (monitor,)
        self.patience, self.least = patience, least
        self.larger = True
        self.best: float | None = None
        self.waited = 0

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        if stage == "fit" and self.monitors:
            if not self.monitors[0].startswith("val/"):
                raise RunError(
                    f"early stopping counts validations: wanted a monitor val/..., got {self.monitors[0]} "
                    "(callbacks.early_stopping.monitor, or callbacks=none)"
                )
            self.larger = check_monitors(trainer, pl_module, self.monitors)[self.monitors[0]]

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._stop_if_over(trainer)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if not self.monitors or not counts(trainer):
            return
        missing, key = rank(logged(trainer, self.monitors[0]), self.larger)
        if missing:
            return
        if self.best is None or key < self.best - self.least:
            self.best, self.waited = key, 0
        else:
            self.waited += 1
        self._stop_if_over(trainer)

    def _stop_if_over(self, trainer: pl.Trainer) -> None:
        if self.waited >= self.patience:
            trainer.should_stop = True
            if trainer.is_global_zero and self.best is not None:
                best = -self.best if self.larger else self.best
                log.info(
                    "training stops: %s was not better than %.4f for %d validations", *self.monitors, best, self.waited
                )

    def state_dict(self) -> dict[str, Any]:
        return {"best": self.best, "waited": self.waited}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best, self.waited = state_dict["best"], state_dict["waited"]

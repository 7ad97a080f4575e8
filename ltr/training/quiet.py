"""What Lightning says that a user of this toolkit cannot act on, silenced by name; the rest is heard."""

from __future__ import annotations

import logging
import multiprocessing
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytorch_lightning as pl

WARNINGS = (
    r".*does not have many workers which may be a bottleneck.*",  # the batches are slices of arrays in memory
    r".*is smaller than the logging interval.*",  # the steps are counted over all epochs
    r".*You requested to overfit but enabled .* shuffling.*",
    r".*The `srun` command is available on your system but is not used.*",
    r".*isinstance\(treespec, LeafSpec\).*is deprecated.*",  # of torch 2.13, raised inside Lightning
    r".*callbacks used to create the checkpoint need to be provided.*",  # a run may go on without early stopping
    r".*Checkpoint directory .* exists and is not empty.*",
)
LINES = (
    "Tip:",
    "GPU available",
    "TPU available",
    "HPU available",
    "You are using a CUDA device",
    "Restoring states from the checkpoint",
    "Restored all states from the checkpoint",
    "Loaded model weights from the checkpoint",
    "`Trainer.fit` stopped: `max_epochs=",
    "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES",
    "`weights_only` was not set",
    "Loading `train_dataloader` to estimate number of stepping batches",
)


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the named warnings and lines while the block runs."""
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning_fabric")]
    targets = [
        logging.getLogger(name)
        for name in [*logging.root.manager.loggerDict]
        if name.startswith(("pytorch_lightning", "lightning_fabric"))
    ]
    with warnings.catch_warnings():
        for pattern in WARNINGS:
            warnings.filterwarnings("ignore", message=pattern)
        for logger in [*loggers, *targets]:
            logger.addFilter(_worth_saying)
        try:
            yield
        finally:
            for logger in [*loggers, *targets]:
                logger.removeFilter(_worth_saying)


class Quiet(pl.Callback):
    """The same in the processes that a strategy starts, for as long as they live."""

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        if multiprocessing.parent_process() is not None:
            self.held = quiet()  # let go of, it would end
            self.held.__enter__()


def _worth_saying(record: logging.LogRecord) -> bool:
    message = record.getMessage()
    return not any(line in message for line in LINES)

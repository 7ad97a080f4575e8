"""Where a training's numbers go: metrics.csv, and TensorBoard's event files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from pytorch_lightning.loggers.logger import Logger
from pytorch_lightning.utilities import rank_zero_only

from ltr.runs import Run


class MetricsFile(Logger):
    """Lightning's numbers as rows of a run's metrics.csv.

    Args:
        run: the run folder.
    """

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    @property
    def name(self) -> str:
        return "metrics"

    @property
    def version(self) -> str:
        return ""

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        self.run.append_metrics({"step": step, **metrics})

    def log_hyperparams(self, *args: Any, **kwargs: Any) -> None:
        """Settings lie in config.yaml."""


class EventFiles(Logger):
    """TensorBoard event files in the folder itself; a tag is the name that was logged, to the letter.

    Args:
        folder: where the files go.
        resume_step: what older files of the folder say from this step on is void.
    """

    def __init__(self, folder: Path, resume_step: int | None = None) -> None:
        super().__init__()
        self.folder, self.resume_step = folder, resume_step
        self._writer: Any = None

    @property
    def name(self) -> str:
        return "events"

    @property
    def version(self) -> str:
        return ""

    @property
    def writer(self) -> Any:
        """The open SummaryWriter, made at its first use, in the process that uses it."""
        if self._writer is None:
            self._writer = _open(self.folder, self.resume_step)
        return self._writer

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, float], step: int | None = None) -> None:
        for tag, value in metrics.items():
            if tag != "epoch":
                self.writer.add_scalar(tag, value, step)

    def log_hyperparams(self, *args: Any, **kwargs: Any) -> None:
        """The record of settings is written once, at the end, with the results (``write_record``)."""

    @rank_zero_only
    def log_text(self, tag: str, text: str, step: int = 0) -> None:
        """Keep a text, shown as it stands."""
        self.writer.add_text(tag, "\n".join(f"    {line}" for line in text.splitlines()), step)

    @rank_zero_only
    def log_histogram(self, tag: str, values: ArrayLike, step: int) -> None:
        """Keep the distribution of the finite values."""
        array = np.asarray(values, dtype=np.float64)
        array = array[np.isfinite(array)]
        if array.size:
            self.writer.add_histogram(tag, array, step)

    @rank_zero_only
    def log_layout(self, rows: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
        """Say which tags share a chart of the custom scalars: rows of charts, each by its title."""
        lines = {
            row: {title: ["Multiline", [_exactly(tag) for tag in tags]] for title, tags in charts.items()}
            for row, charts in rows.items()
        }
        self.writer.add_custom_scalars(lines)

    @rank_zero_only
    def save(self) -> None:
        if self._writer is not None:
            self._writer.flush()

    @rank_zero_only
    def finalize(self, status: str) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_writer": None}


def write_record(folder: Path, settings: Mapping[str, Any], results: Mapping[str, float], step: int) -> None:
    """Write a run's one row of TensorBoard's hyperparameter table: its settings and its real, final results.

    In a folder of its own, since the results are written as scalars too and would bend the run's curves.

    Args:
        folder: where the event file goes.
        settings: nested configuration, flattened by ``flatten``.
        results: by tag.
        step: of the state that the results belong to.
    """
    from torch.utils.tensorboard.summary import hparams

    make: Any = hparams
    for earlier in folder.glob("events.out.tfevents.*"):  # a resumed run has one record too
        earlier.unlink()
    writer = _open(folder, None)
    for tag, value in results.items():
        writer.add_scalar(tag, value, step)
    for part in make(flatten(settings), dict(results)):
        writer.file_writer.add_summary(part)
    writer.close()


def flatten(settings: Mapping[str, Any]) -> dict[str, bool | int | float | str]:
    """Settings as TensorBoard takes them: dotted names, numbers as numbers, None left out, a node by its class.

    Example:
        >>> flatten({"loss": {"_target_": "ltr.losses.MSE", "k": None}, "lr": 0.1, "ks": [1, 5], "optimizer": {}})
        {'loss': 'MSE', 'lr': 0.1, 'ks': '[1, 5]'}
    """
    flat: dict[str, bool | int | float | str] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            target = value.get("_target_")
            if target is not None:
                flat[str(name)] = str(target).rpartition(".")[2]
            inner = {key: each for key, each in value.items() if key not in ("_target_", "_partial_")}
            flat |= {f"{name}.{key}": each for key, each in flatten(inner).items()}
        elif value is not None:
            flat[str(name)] = value if isinstance(value, bool | int | float | str) else str(value)
    return flat


def _open(folder: Path, purge_step: int | None) -> Any:
    from torch.utils.tensorboard import SummaryWriter

    make: Any = SummaryWriter
    return make(log_dir=str(folder), purge_step=purge_step)


def _exactly(tag: str) -> str:
    """The tag as a regular expression, which is what a chart's lines are chosen by."""
    return "^" + "".join(letter if letter.isalnum() or letter in "/_-@" else f"\\{letter}" for letter in tag) + "$"

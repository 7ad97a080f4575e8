"""Checkpoints: the best states by one monitor or several, and the last one to go on from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytorch_lightning as pl

from ltr.gap.numbers import number
from ltr.runs import Run
from ltr.training.monitors import check_monitors, counts, logged, logged_step, rank


class Checkpoint(pl.callbacks.Checkpoint):
    """Keeps the best states of a training by each monitor, and ``last.ckpt`` at the end of every epoch.

    The files lie in ``<default_root_dir>/checkpoints`` and are named like ``epoch03-ndcg@10-0.4512.ckpt``, safe in a
    shell; ``index.json`` says which is best for which metric. The best files hold weights alone; a training goes on
    from last.ckpt. The direction comes from the metric, the earliest of equal values wins, NaN is worse than any
    number, and values before the first training step never count.

    Args:
        monitor: a tag, or several; None keeps last.ckpt alone.
        keep: how many states for each monitor.

    Raises:
        ValueError: keep below 1, or a monitor named twice.
        RunError: when the training starts, for a monitor that nothing logs.

    Example:
        >>> Checkpoint(["val/target", "val/mrr"]).monitors
        ('val/target', 'val/mrr')
    """

    def __init__(self, monitor: str | Sequence[str] | None = "val/target", keep: int = 1) -> None:
        super().__init__()
        self.monitors = () if monitor is None else (monitor,) if isinstance(monitor, str) else tuple(monitor)
        if keep < 1 or len(set(self.monitors)) < len(self.monitors):
            raise ValueError(f"checkpoint: wanted keep of at least 1 and different monitors, got {keep}, {monitor!r}")
        self.keep = keep
        self.larger: dict[str, bool] = {}
        self.labels: dict[str, str] = {}
        self.kept: dict[str, list[dict[str, Any]]] = {tag: [] for tag in self.monitors}  # the best first
        self.last: dict[str, Any] = {}
        self.dropped: list[str] = []
        self.best_model_path = ""  # what Lightning's ckpt_path="best" reads

    @property
    def state_key(self) -> str:
        """Of its state in a checkpoint: two of these go by different monitors."""
        return f"Checkpoint{list(self.monitors)}"

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        if stage == "fit":
            self.larger = check_monitors(trainer, pl_module, self.monitors)
            self.labels = _labels(self.monitors, pl_module)
            self.run = Run(trainer.default_root_dir)

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self.last and trainer.is_global_zero:  # a resumed run: the index may tell of states that came after
            for tag, entries in self.kept.items():
                self.kept[tag] = [entry for entry in entries if (self.run.checkpoints / entry["file"]).is_file()]
            known = {entry["file"] for entries in self.run.read_index().get("kept", {}).values() for entry in entries}
            self._remove(sorted(known))
            self._write_index()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if counts(trainer):
            self._judge(trainer, [tag for tag in self.monitors if tag.startswith("val/")])

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._judge(trainer, [tag for tag in self.monitors if not tag.startswith("val/")])
        self.last = {"file": "last.ckpt", "epoch": trainer.current_epoch, "step": logged_step(trainer)}
        draft = self.run.checkpoints / "last.ckpt.new"
        trainer.save_checkpoint(draft)
        if trainer.is_global_zero:
            draft.replace(self.run.checkpoints / "last.ckpt")
            self._remove(self.dropped)
            self._write_index()
        self.dropped = []

    def _judge(self, trainer: pl.Trainer, tags: Sequence[str]) -> None:
        for tag in tags:
            entry = self._entry(trainer, tag)
            best = sorted([*self.kept[tag], entry], key=lambda each: rank(float(each["value"]), self.larger[tag]))
            self.kept[tag], gone = best[: self.keep], best[self.keep :]
            if entry in self.kept[tag]:
                trainer.save_checkpoint(self.run.checkpoints / entry["file"], weights_only=True)
                self.dropped += [each["file"] for each in gone]
        if tags and trainer.is_global_zero:
            self._write_index()
        if self.monitors and self.kept[self.monitors[0]]:
            self.best_model_path = str(self.run.checkpoints / self.kept[self.monitors[0]][0]["file"])

    def _entry(self, trainer: pl.Trainer, tag: str) -> dict[str, Any]:
        value, epoch, step = logged(trainer, tag), trainer.current_epoch, logged_step(trainer)
        each_epoch = isinstance(trainer.val_check_interval, float) and trainer.val_check_interval == 1.0
        within = not each_epoch or trainer.check_val_every_n_epoch is None
        when = f"epoch{epoch:02d}" + (f"-step{step}" if within else "")
        seen = {name: float(each) for name, each in trainer.callback_metrics.items() if name.startswith("val/")}
        file = f"{when}-{self.labels[tag]}-{number(value)}.ckpt"
        return {"file": file, "epoch": epoch, "step": step, "value": value, "values": seen}

    def _remove(self, files: Sequence[str]) -> None:
        needed = {entry["file"] for entries in self.kept.values() for entry in entries}
        for file in {*files} - needed:
            (self.run.checkpoints / file).unlink(missing_ok=True)

    def _write_index(self) -> None:
        kept = {tag: [{"metric": self.labels[tag], **entry} for entry in entries] for tag, entries in self.kept.items()}
        best = {tag: entries[0] for tag, entries in kept.items() if entries}
        self.run.write_index({"monitors": list(self.monitors), "best": best, "kept": kept, "last": self.last})

    def state_dict(self) -> dict[str, Any]:
        return {"kept": self.kept, "last": self.last}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.kept = {tag: list(state_dict["kept"].get(tag, [])) for tag in self.monitors}
        self.last = state_dict["last"]


def _labels(monitors: Sequence[str], module: pl.LightningModule) -> dict[str, str]:
    """What stands in a file name for each monitor: short, different for each, and safe in a shell."""
    target = getattr(getattr(module, "metric", None), "name", "target")
    short = {tag: target if tag == "val/target" else tag.partition("/")[2] or tag for tag in monitors}
    labels: dict[str, str] = {}
    for tag, name in short.items():
        alone = list(short.values()).count(name) == 1
        label = re.sub(r"[^A-Za-z0-9@._+=-]", "_", name if alone else tag)
        labels[tag] = label if label not in labels.values() else f"{label}-{len(labels)}"
    return labels

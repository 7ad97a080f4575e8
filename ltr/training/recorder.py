"""Writes what every validation found, list by list, into the run folder."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray

from ltr import gap
from ltr.data import Splits
from ltr.gap.alarm import WINDOW, alarm, change
from ltr.gap.diagnose import Measured
from ltr.gap.scale import scale_share
from ltr.runs import Run
from ltr.training.charts import layout, scalars
from ltr.training.diagnostics import Diagnostics
from ltr.training.evaluated import Evaluation
from ltr.training.loggers import EventFiles
from ltr.training.module import RankingModule
from ltr.training.monitors import counts, logged_step

log = logging.getLogger(__name__)


class Recorder(pl.Callback):
    """At each validation of a training: a row of gap.jsonl, per_query.validation.csv, and histograms for TensorBoard.

    A row of gap.jsonl holds epoch, step, ``temperature``, the softness of the loss; ``ltr.gap.summarise`` of the lists,
    ``ltr.gap.concordance`` of the loss with the target over the validations so far; of a closer look at some lists
    ``ledger`` and ``diagnostics``, values by name, and ``tau_best``, the tau of the loss at its best scale; ``change``,
    by how much loss and target moved over the last five validations, and ``alarm``: the loss improved while the target
    got worse, beyond chance. An alarm that begins is logged, shown in TensorBoard and kept in run.json. Losses of two
    temperatures are never compared: what is said over several validations is over those since the last change. The
    state of all this lies in the checkpoint, so that a resumed run goes on.

    Args:
        run: the run folder.
        query_ids: of the validation lists.
        events: where histograms and charts go.
        config: the configuration as text, shown in TensorBoard.
        seed: of the split of queries that the selection regret is measured on, and of the lists that are looked at.
        diagnostics: validation lists, and as many training lists, that are looked at closely; 0: none.
    """

    def __init__(
        self,
        run: Run,
        query_ids: Sequence[str],
        events: EventFiles | None = None,
        config: str = "",
        seed: int = 0,
        diagnostics: int = 64,
    ) -> None:
        super().__init__()
        self.run, self.query_ids, self.events, self.config, self.seed = run, query_ids, events, config, seed
        self.most = diagnostics
        self.diagnostics: Diagnostics | None = None
        self.temperature: float | None = None  # of the last validation
        self.losses: list[NDArray[np.float64]] = []  # of [Q], one a validation at it, over the lists that count
        self.targets: list[NDArray[np.float64]] = []
        self.rows: list[dict[str, Any]] = []  # those of gap.jsonl
        self.alarms: list[dict[str, Any]] = []  # those of run.json
        self.said_vacuous = False
        self.resumed = False

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, RankingModule)
        if not trainer.is_global_zero:
            return
        self.run.write_info(alarms=self.alarms)
        data = getattr(getattr(trainer, "datamodule", None), "data", None)
        if self.most and isinstance(data, Splits):
            self.diagnostics = Diagnostics(pl_module, data, self.most, self.seed)
        if self.events and not self.resumed:
            if self.config:
                self.events.log_text("config", self.config)
            self.events.log_layout(layout(pl_module))

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, RankingModule)
        found = pl_module.evaluated.get("validation")
        if found is None or not counts(trainer):
            return
        if pl_module.loss.softness != self.temperature:
            self.temperature, self.losses, self.targets = pl_module.loss.softness, [], []
        counted = found.columns["counted"] > 0
        self.losses.append(found.columns["loss"][counted])
        self.targets.append(found.columns["target"][counted])
        if trainer.is_global_zero:
            self._write(trainer, pl_module, found)

    def _write(self, trainer: pl.Trainer, module: RankingModule, found: Evaluation) -> None:
        step = logged_step(trainer)
        over_time = gap.concordance(
            np.stack(self.losses),
            np.stack(self.targets),
            larger_is_better=module.metric.larger_is_better,
            seed=self.seed,
            weight=found.columns["weight"][found.columns["counted"] > 0],
        )
        now = {"epoch": trainer.current_epoch, "step": step, "temperature": self.temperature}
        row = {**now, "val_loss": found.means["loss"], "val_target": found.target, **found.gap, **over_time}
        self.rows.append(row)
        comparable = self.rows[-len(self.losses) :]
        seen = Measured({}, {}, None)
        if self.diagnostics is not None:
            seen = self.diagnostics.measure(trainer, module, comparable)
        row["ledger"] = {line: each.value for line, each in seen.ledger.items()}
        row["diagnostics"] = {name: each.value for name, each in seen.figures.items()}
        row["tau_best"] = _tau_best(comparable, module.metric.larger_is_better)
        self._compare(module, found)
        self.run.append_gap(row)
        self.run.write_per_query("validation", found.rows(self.query_ids))
        if self.events:
            for metric in found.metrics:
                self.events.log_histogram(f"val/lists/{metric.name}", found.values(metric), step)
            self.events.log_metrics(scalars(module, row, seen), step)
            self.events.save()
        if found.gap["vacuous"] and not self.said_vacuous:
            self.said_vacuous = True
            log.info(
                "the certificate of %s is vacuous: it guarantees %s %s %.4g, worse than the %.4g of a random order, "
                "and stays off the chart",
                *(found.gap["surrogate"], found.gap["aim"], _sides(found.gap)),
                *(found.gap["belief"], found.gap["aim_floor"]),
            )

    def _compare(self, module: RankingModule, found: Evaluation) -> None:
        """What moved over the last validations; an alarm is said once, when it begins."""
        row, weight = self.rows[-1], found.columns["weight"]
        kept, target = found.columns["counted"] > 0, module.metric
        weights = weight[kept], (weight * found.columns["share"])[kept]
        row |= {"change": None, "alarm": None}
        moved = change(module.loss, target, self.losses, self.targets, *weights, self.seed)
        if moved is None:
            return
        loss, metric = moved
        states = [self.rows[at]["diagnostics"] for at in (-1 - WINDOW, -1)]
        before, after = ([each.get(name) for name in ("loss", "best_loss")] for each in states)
        row["change"] = {
            "validations": WINDOW,
            "loss": loss.value,
            "target": metric.value,
            "interval": None if metric.low is None else [metric.low, metric.high],
            "best_loss": None if None in (before[1], after[1]) else after[1] - before[1],
            "scale_share": scale_share(before, after),
        }
        held = alarm(module.loss, target, loss, metric)
        if held is None:
            return
        row["alarm"] = held.code
        if self.rows[-2]["alarm"] is None:
            about = {name: held.row()[name] for name in ("code", "sentence", "value", "unit", "interval")}
            self.alarms.append({"epoch": row["epoch"], "step": row["step"], **about})
            self.run.write_info(alarms=self.alarms)
            log.warning("epoch %d: %s", row["epoch"], held.sentence)
            if self.events:
                self.events.log_text("gap/alarm", held.sentence, row["step"])

    def state_dict(self) -> dict[str, Any]:
        arrays = {name: [torch.from_numpy(each) for each in getattr(self, name)] for name in ("losses", "targets")}
        return {**arrays, "temperature": self.temperature, "rows": self.rows, "alarms": self.alarms}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.losses = [each.numpy() for each in state_dict["losses"]]
        self.targets = [each.numpy() for each in state_dict["targets"]]
        self.temperature = state_dict["temperature"]
        self.rows, self.alarms = list(state_dict["rows"]), list(state_dict["alarms"])
        self.resumed = True


def _sides(row: Mapping[str, Any]) -> str:
    return ">=" if row["gap_says"] == "exact - certificate" else "<="


def _tau_best(rows: Sequence[Mapping[str, Any]], larger_is_better: bool) -> float | None:
    """``tau`` with the loss at its best scale, of the lists that are looked at, in place of the loss."""
    pairs = [(row["diagnostics"].get("best_loss"), row["target_value"]) for row in rows]
    known = np.array([pair for pair in pairs if None not in pair], dtype=np.float64).reshape(-1, 2)
    tau: float | None = gap.concordance(known[:, :1], known[:, 1:], larger_is_better=larger_is_better)["tau"]
    return tau

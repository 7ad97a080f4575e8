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
from ltr.runs import Run
from ltr.training.evaluated import Evaluation
from ltr.training.loggers import EventFiles
from ltr.training.module import RankingModule
from ltr.training.monitors import counts, logged_step

log = logging.getLogger(__name__)


class Recorder(pl.Callback):
    """At each validation of a training: a row of gap.jsonl, per_query.validation.csv, and histograms for TensorBoard.

    A row of gap.jsonl holds epoch, step, ``ltr.gap.summarise`` of the lists, and ``ltr.gap.concordance`` of the loss
    with the target over the validations so far. Its state lies in the checkpoint, so that a resumed run goes on.

    Args:
        run: the run folder.
        query_ids: of the validation lists.
        events: where histograms and charts go.
        config: the configuration as text, shown in TensorBoard.
        seed: of the split of queries that the selection regret is measured on.
    """

    def __init__(
        self, run: Run, query_ids: Sequence[str], events: EventFiles | None = None, config: str = "", seed: int = 0
    ) -> None:
        super().__init__()
        self.run, self.query_ids, self.events, self.config, self.seed = run, query_ids, events, config, seed
        self.losses: list[NDArray[np.float64]] = []  # of [Q], one a validation, over the lists that count
        self.targets: list[NDArray[np.float64]] = []
        self.said_vacuous = False
        self.resumed = False

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, RankingModule)
        if self.events and trainer.is_global_zero and not self.resumed:
            if self.config:
                self.events.log_text("config", self.config)
            self.events.log_layout(_charts(pl_module))

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, RankingModule)
        found = pl_module.evaluated.get("validation")
        if found is None or not counts(trainer):
            return
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
        all_lists = {"val_loss": found.means["loss"], "val_target": found.target}
        self.run.append_gap({"epoch": trainer.current_epoch, "step": step, **all_lists, **found.gap, **over_time})
        self.run.write_per_query("validation", found.rows(self.query_ids))
        if self.events:
            for metric in found.metrics:
                self.events.log_histogram(f"val/lists/{metric.name}", found.values(metric), step)
            tags = {"gap/tau[rank correlation]": over_time["tau"]}
            tags |= {f"gap/{name}[{module.metric.name}]": over_time[name] for name in ("regret", "residual")}
            self.events.log_metrics({tag: value for tag, value in tags.items() if value is not None}, step)
            self.events.save()
        if found.gap["vacuous"] and not self.said_vacuous:
            self.said_vacuous = True
            log.info(
                "the certificate of %s is vacuous: it guarantees %s %s %.4g, worse than the %.4g of a random order, "
                "and stays off the chart",
                *(found.gap["surrogate"], found.gap["aim"], _sides(found.gap)),
                *(found.gap["belief"], found.gap["aim_floor"]),
            )

    def state_dict(self) -> dict[str, Any]:
        return {name: [torch.from_numpy(each) for each in getattr(self, name)] for name in ("losses", "targets")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.losses = [each.numpy() for each in state_dict["losses"]]
        self.targets = [each.numpy() for each in state_dict["targets"]]
        self.resumed = True


def _sides(row: Mapping[str, Any]) -> str:
    return ">=" if row["gap_says"] == "exact - certificate" else "<="


def _charts(module: RankingModule) -> dict[str, list[str]]:
    """The surrogate's belief and the exact metric in one chart, where they have a unit in common."""
    target, aim = module.metric.name, module.loss.aim
    exact = [f"gap/exact_target[{target}]", f"gap/floor[{target}]", f"gap/ceiling[{target}]"]
    if aim is None:
        return {f"exact {target} (the loss has no unit in common with it)": exact}
    name = "certificate" if module.loss.kind == "bound" else "belief"
    believed = [f"gap/{name}[{aim.name}]", f"gap/exact_aim[{aim.name}]"]
    if aim.base != module.metric.base:
        return {f"{name} and exact {aim.name}": believed, f"exact {target} (it has another unit)": exact}
    return {f"{name} and exact {aim.name}": [*believed, *exact]}

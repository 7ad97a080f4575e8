"""RankingModule: trains on a surrogate, validates on the exact metric, and knows the gap between them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import pytorch_lightning as pl
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from ltr import gap
from ltr.lists import ListBatch, exact_dtype
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric, parse
from ltr.runs import RunError
from ltr.training.evaluated import Evaluation, column_names, evaluate, metric_columns
from ltr.training.tables import QueryTable
from ltr.training.teacher import check_teacher

log = logging.getLogger(__name__)

MakeOptimizer = Callable[[Iterable[nn.Parameter]], Optimizer]
MakeScheduler = Callable[..., LRScheduler]


class RankingModule(pl.LightningModule):
    """A scorer, the surrogate that it is trained on, and the metrics that it is judged by.

    One step descends ``sum_q w_q loss_q / sum_q w_q`` over the lists of all processes, w_q being the list's weight
    times what the loss gives it (``Surrogate.share``). Logged: train/loss (the mean over the lists of an epoch),
    train/batch_loss, train/learning_rate, val/<metric>, val/target (the target again, under a name that never
    changes), val/loss, gap/..., test/<metric> and test/loss; every mean is the sum of per-list values over counts.
    Several processes have as many batches each: the few that fill up come twice in an epoch and count twice in
    train/loss, while validation and test count each list once. ``evaluated`` keeps the values behind the last
    validation and test. A checkpoint holds model, transform and surrogate under ``model.``, ``transform.`` and
    ``loss.``, tensors and plain Python alone.

    Args:
        model: [B, L, F], mask [B, L] -> scores [B, L].
        loss: the surrogate.
        metric: the target, a metric or its name.
        metrics: further metrics to report.
        transform: of the features, fitted; [B, L, F], mask -> [B, L, F].
        teacher: a ranker of raw features for a loss that learns from its scores, frozen here; [B, L, F], mask ->
            scores [B, L]. It moves with the module, and is in no checkpoint.
        optimizer: parameters -> optimiser.
        scheduler: (optimiser, total_steps=int) -> schedule, stepped after every optimiser step.

    Raises:
        ValueError: an unknown metric; a teacher for a loss that learns from none, or none for one that does.

    Example:
        >>> from functools import partial
        >>> from ltr.losses import MSE
        >>> from ltr.models import Linear
        >>> module = RankingModule(Linear(3), MSE(), "ndcg@10", optimizer=partial(torch.optim.Adam, lr=0.01))
        >>> module.tags["val/ndcg@10"], module.tags["val/loss"]
        (True, False)
    """

    def __init__(
        self,
        model: nn.Module,
        loss: Surrogate,
        metric: RankingMetric | str,
        metrics: Sequence[RankingMetric | str] = (),
        *,
        transform: nn.Module | None = None,
        teacher: nn.Module | None = None,
        optimizer: MakeOptimizer,
        scheduler: MakeScheduler | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.transform = transform
        self.loss = loss
        check_teacher(loss, teacher is not None)
        self._teacher = () if teacher is None else (teacher.requires_grad_(False).eval(),)  # no part of the module
        self.metric = parse(metric)
        self.metrics = tuple({each.name: each for each in (self.metric, *map(parse, metrics))}.values())
        self.make_optimizer, self.make_scheduler = optimizer, scheduler
        self.table = QueryTable(column_names(self.metrics))
        self.evaluated: dict[str, Evaluation] = {}
        self.train_sums: Tensor | None = None  # [2] weighted loss and weight of this epoch's lists

    @property
    def tags(self) -> dict[str, bool]:
        """What a callback may monitor: the tag, and whether larger is better."""
        larger = {f"val/{metric.name}": metric.larger_is_better for metric in self.metrics}
        return {"val/target": self.metric.larger_is_better, **larger, "val/loss": False, "train/loss": False}

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """Scores [B, L] of features [B, L, F], in float32 or better whatever the model computes in."""
        if self.transform is not None:
            features = self.transform(features, mask)
        return self._scores(self.model, features, mask)

    @staticmethod
    def _scores(model: nn.Module, features: Tensor, mask: Tensor) -> Tensor:
        scores: Tensor = model(features, mask)
        if scores.shape != mask.shape:
            raise RunError(
                f"{type(model).__name__}: wanted a score for each document, [lists, documents] = "
                f"{list(mask.shape)}, came {list(scores.shape)}"
            )
        return scores if scores.dtype in (torch.float32, torch.float64) else scores.float()

    def taught(self, batch: ListBatch) -> dict[str, Tensor]:
        """What the loss wants besides scores, labels and mask: the teacher's scores, where there is one."""
        if not self._teacher:
            return {}
        with torch.no_grad():
            return {"teacher": self._scores(self._teacher[0], batch.features, batch.mask)}

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        for each in self._teacher:
            each._apply(fn)  # type: ignore[no-untyped-call]
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        return self

    # -- training -------------------------------------------------------------------------------------------------

    def configure_optimizers(self) -> Any:
        optimizer = self.make_optimizer([each for each in self.parameters() if each.requires_grad])
        if self.make_scheduler is None:
            return optimizer
        steps = self.trainer.estimated_stepping_batches
        if steps == float("inf"):
            raise RunError("a schedule needs an end: wanted trainer.max_epochs or trainer.max_steps above 0, got -1")
        schedule = self.make_scheduler(optimizer, total_steps=int(steps))
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def on_train_epoch_start(self) -> None:
        self.train_sums = torch.zeros(2, dtype=exact_dtype(self.device), device=self.device)

    def training_step(self, batch: ListBatch, batch_idx: int) -> Tensor:
        scores, taught = self(batch.features, batch.mask), self.taught(batch)
        with torch.autocast(scores.device.type, enabled=False):
            losses = self.loss(scores, batch.relevance, batch.mask, **taught)
        share = self.loss.share(batch.relevance, batch.mask)
        weight = (batch.weight if share is None else batch.weight * share).to(losses.dtype)
        mine = (weight * losses).sum()
        both = torch.stack([mine.detach(), weight.sum()])
        every = self.trainer.strategy.reduce(both, reduce_op="sum")
        assert isinstance(every, Tensor)
        if self.train_sums is not None:
            self.train_sums = self.train_sums + every
        total = torch.where(every[1] > 0, every[1], 1)
        rate = self.trainer.optimizers[0].param_groups[0]["lr"]
        self.log("train/batch_loss", every[0] / total, batch_size=1)
        self.log("train/learning_rate", float(rate), batch_size=1)
        descended: Tensor = mine / total * self.trainer.world_size
        return descended  # the processes' gradients are averaged

    def on_train_epoch_end(self) -> None:
        if self.train_sums is not None:
            self._log("train/loss", float(self.train_sums[0] / self.train_sums[1]))

    # -- validation and test --------------------------------------------------------------------------------------

    def on_validation_epoch_start(self) -> None:
        self.table.reset()

    def validation_step(self, batch: ListBatch, batch_idx: int) -> None:
        self._observe(batch)

    def on_validation_epoch_end(self) -> None:
        found = self._finish("validation")
        if found is None:
            return
        for name, mean in found.means.items():
            self._log(f"val/{name}", mean)
        self._log("val/target", found.target)
        for tag, value in gap_scalars(found.gap).items():
            self._log(tag, value)

    def on_test_epoch_start(self) -> None:
        self.table.reset()

    def test_step(self, batch: ListBatch, batch_idx: int) -> None:
        self._observe(batch)

    def on_test_epoch_end(self) -> None:
        found = self._finish("test")
        for name, mean in found.means.items() if found else ():
            self._log(f"test/{name}", mean)

    def _observe(self, batch: ListBatch) -> None:
        scores, taught = self(batch.features, batch.mask), self.taught(batch)
        with torch.autocast(scores.device.type, enabled=False):
            columns = gap.columns(self.loss, self.metric, scores, batch.relevance, batch.mask, **taught)
            columns |= {"weight": batch.weight, "documents": batch.mask.sum(1)}
            for metric in self.metrics:
                value = columns["target"] if metric == self.metric else metric.exact(scores, *batch[1:3])
                columns |= metric_columns(metric, value, metric.defined(*batch[1:3]))
        self.table.update(batch.query, columns)

    def _finish(self, split: str) -> Evaluation | None:
        if not self.table.update_called:
            return None
        found_columns = self.table.compute().items()  # torchmetrics makes a scalar of a column of one list
        columns = {name: column.reshape(-1).cpu().double().numpy() for name, column in found_columns}
        self.table.reset()
        self._check_coverage(split, len(columns["query"]))
        found = evaluate(columns, self.metrics, self.loss)
        self.evaluated[split] = found
        self._say_nan(split, found)
        return found

    def _log(self, tag: str, value: float) -> None:
        exact = torch.tensor(value, dtype=exact_dtype(self.device), device=self.device)
        self.log(tag, exact, batch_size=1, sync_dist=self.trainer.world_size > 1)

    def _check_coverage(self, split: str, seen: int) -> None:
        """Lightning's own sampler, put around ours, would drop and repeat lists in silence."""
        known = self._query_ids(split)
        limit = self.trainer.limit_test_batches if split == "test" else self.trainer.limit_val_batches
        whole = limit == 1.0 and not self.trainer.sanity_checking
        if self.trainer.world_size > 1 and known and whole and seen != len(known):
            raise RunError(
                f"{split}: {seen} of {len(known)} lists came from {self.trainer.world_size} processes: "
                "the Trainer needs use_distributed_sampler=False"
            )

    def _say_nan(self, split: str, found: Evaluation) -> None:
        bad = found.columns["query"][torch.isnan(torch.from_numpy(found.columns["target"])).numpy()].astype(int)
        if len(bad) and self.trainer.is_global_zero:
            known = self._query_ids(split)
            names = ", ".join(known[query] if known else f"number {query}" for query in bad[:10].tolist())
            more = f" and {len(bad) - 10} more" if len(bad) > 10 else ""
            log.warning(
                "%s at epoch %d: %s is NaN, since the scores of %d of %d lists are NaN: query %s%s",
                *(split, self.current_epoch, self.metric.name, len(bad), len(found.columns["query"]), names, more),
            )

    def _query_ids(self, split: str) -> tuple[str, ...]:
        data = getattr(getattr(getattr(self.trainer, "datamodule", None), "data", None), split, None)
        return getattr(data, "query_ids", ())


def gap_scalars(row: Any) -> dict[str, float]:
    """The numbers of a gap row as tags that name their unit; a certificate that guarantees nothing has no tag."""
    target, aim = row["target"], row["aim"]
    tags = {f"gap/exact_target[{target}]": row["target_value"], f"gap/floor[{target}]": row["floor"]}
    tags[f"gap/ceiling[{target}]"] = row["ceiling"]
    if aim is not None:
        belief = "certificate" if row["kind"] == "bound" else "belief"
        tags[f"gap/exact_aim[{aim}]"] = row["aim_value"]
        if not row["vacuous"]:
            tags |= {f"gap/{belief}[{aim}]": row["belief"], f"gap/gap_aim[{aim}]": row["gap_aim"]}
            tags |= {f"gap/gap_abs[{aim}]": row["gap_abs"], f"gap/gap_sd[{aim}]": row["gap_sd"]}
            tags[f"gap/gap_target[{target}]"] = row["gap_target"]
    return {tag: float(value) for tag, value in tags.items() if value is not None}

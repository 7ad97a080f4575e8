"""Annealing: a loss that blurs ranks or pairs is sharpened for as long as that serves the metric."""

from __future__ import annotations

import logging
import math
from typing import Any

import pytorch_lightning as pl
import torch

from ltr import losses
from ltr.data import Splits
from ltr.gap.smoothed import affordable
from ltr.gap.temperature import sweep
from ltr.lists import ListBatch, exact_dtype
from ltr.losses import Surrogate
from ltr.runs import RunError
from ltr.training.diagnostics import drawn, scored_lists
from ltr.training.module import RankingModule
from ltr.training.monitors import counts

log = logging.getLogger(__name__)


class Anneal(pl.Callback):
    """Sharpens the loss while its alignment with the metric rises, and leaves it alone for good once that would fall.

    Each validation compares, on the same lists, the alignment (``ltr.gap.alignment``) of the loss as it is with that at
    ``factor`` times its temperature. With d the difference of the two cosines, list by list, the loss is sharpened
    from the next step on if ``mean(d) > -SE(d)``, the standard error: not lower beyond chance. Otherwise it stays as it
    is for the rest of the training. Each decision is a line of the log; the temperature that a validation was measured
    with is logged as ``gap/temperature[units of the scores]``. A resumed training goes on from where it was.

    At the end the loss is put back as it was configured: test/loss and the gap on the test lists are then those of
    ``ltr gap``, which makes the loss from the configuration of a run. The scores are what the annealing has made them.

    Source: Chapelle, Wu (2010), Gradient descent optimization of smoothed information retrieval metrics, for starting
    blunt and sharpening by and by; when to sharpen, and when to stop, is decided here as above.

    Args:
        factor: above 0 and below 1, times the temperature at each sharpening.
        lists: at least 1, the most validation lists that are compared: the same ones each time.

    Raises:
        ValueError: factor or lists is no such number.
        RunError: when the training starts, for a loss that has no temperature (or the like), without validation data,
            or where a callback monitors the loss, whose values at two temperatures are no rivals.

    Example:
        >>> anneal = Anneal(factor=0.5)
        >>> anneal.factor, anneal.stopped
        (1.0, False)
    """

    def __init__(self, factor: float = 0.5, lists: int = 64) -> None:
        super().__init__()
        if not 0 < factor < 1 or lists < 1:
            raise ValueError(f"anneal: wanted 0 < factor < 1 and lists >= 1, got {factor:g} and {lists}")
        self.by, self.most = factor, lists
        self.factor = 1.0  # times the configured temperature, as decided
        self.stopped = False
        self.applied = 1.0  # the factor that the loss has now
        self.configured: Surrogate | None = None
        self.batches: list[ListBatch] = []

    def setup(self, trainer: pl.Trainer, pl_module: pl.LightningModule, stage: str) -> None:
        if stage != "fit":
            return
        assert isinstance(pl_module, RankingModule)
        if pl_module.loss.softness is None:
            soft = [name for name in losses.__all__ if getattr(getattr(losses, name), "softness_in", None)]
            raise RunError(
                f"anneal: {type(pl_module.loss).__name__} has no temperature (or the like) to sharpen; wanted one of "
                + ", ".join(soft)
            )
        if _validation(trainer) is None:
            raise RunError("anneal: decides by validation lists, came none: wanted validation data, or callbacks=none")
        for each in trainer.callbacks:  # type: ignore[attr-defined]
            for tag in (*getattr(each, "monitors", ()), getattr(each, "monitor", None)):
                if tag in ("train/loss", "val/loss"):
                    raise RunError(
                        f"anneal: {tag} at one temperature says nothing against {tag} at another, and "
                        f"{type(each).__name__} monitors it: wanted a metric, such as val/target"
                    )

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, RankingModule)
        self.configured, self.applied = pl_module.loss.softened(1.0), 1.0
        self._apply(pl_module, self.factor)
        if trainer.is_global_zero and not self.stopped:
            data, seed = _validation(trainer), getattr(getattr(trainer, "datamodule", None), "seed", 0)
            self.batches = drawn(pl_module, data, self.most, seed)

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, RankingModule)
        self._apply(pl_module, self.factor)

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if counts(trainer):
            assert isinstance(pl_module, RankingModule)
            now = torch.tensor(pl_module.loss.softness, dtype=exact_dtype(pl_module.device), device=pl_module.device)
            shared = trainer.world_size > 1
            pl_module.log("gap/temperature[units of the scores]", now, batch_size=1, sync_dist=shared)

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Decides; what is decided holds from the next step on, so that all of this validation is of one loss."""
        assert isinstance(pl_module, RankingModule)
        if self.stopped or not counts(trainer):
            return
        sharper = self._rises(trainer, pl_module) if trainer.is_global_zero else None
        sharper = trainer.strategy.broadcast(sharper)
        if sharper is not None:
            self.factor, self.stopped = self.factor * (self.by if sharper else 1.0), not sharper

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, RankingModule)
        last = pl_module.loss.softness
        self._apply(pl_module, 1.0)
        if trainer.is_global_zero:
            log.info(
                "annealing ends at a temperature of %.4g (units of the scores), and the loss is put back to %.4g",
                *(last, pl_module.loss.softness),
            )

    def on_exception(self, trainer: pl.Trainer, pl_module: pl.LightningModule, exception: BaseException) -> None:
        if isinstance(pl_module, RankingModule):
            self._apply(pl_module, 1.0)

    def _apply(self, module: RankingModule, factor: float) -> None:
        """Give the loss a multiple of its configured temperature; it stays the same object, with its draws and all."""
        if self.configured is None or factor == self.applied:
            return
        softened, name = self.configured.softened(factor), str(self.configured.softness_in).removeprefix("1/")
        setattr(module.loss, name, getattr(softened, name))
        self.applied = factor

    def _rises(self, trainer: pl.Trainer, module: RankingModule) -> bool | None:
        """Would the alignment not be lower at a sharper temperature? None: there is no telling."""
        lists = scored_lists(trainer, module, self.batches)
        if lists is None or not torch.isfinite(lists.scores).all():
            log.info("epoch %d: no temperature is decided: no list counts, or a score is NaN", trainer.current_epoch)
            return None
        lists = affordable(module.metric, lists)
        sharper, now = sweep(module.loss, module.metric, lists, (self.by, 1.0), sure=False)
        share, moved = lists.weight / lists.weight.sum(), sharper.cosines - now.cosines
        mean = float((share * moved).sum())
        spread = float((share**2 * (moved - mean) ** 2).sum())
        error = math.sqrt(spread * len(lists) / max(1, len(lists) - 1))
        rises = mean > -error
        log.info(
            "epoch %d: the temperature of the loss, %.4g (units of the scores), %s %.4g: alignment there %.4f, here "
            "%.4f, difference %+.4f with a standard error of %.4f, %d lists",
            *(trainer.current_epoch, now.softness, "falls to" if rises else "stays, not", sharper.softness),
            *(sharper.alignment.value, now.alignment.value, mean, error, len(lists)),
        )
        return rises

    def state_dict(self) -> dict[str, Any]:
        return {"factor": self.factor, "stopped": self.stopped}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.factor, self.stopped = state_dict["factor"], state_dict["stopped"]


def _validation(trainer: pl.Trainer) -> Any:
    """The validation lists, None where the training has none."""
    data = getattr(getattr(trainer, "datamodule", None), "data", None)
    return data.validation if isinstance(data, Splits) else None

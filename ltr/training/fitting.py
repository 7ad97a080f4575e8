"""fit: one training from its parts to a finished run folder."""

from __future__ import annotations

import logging
import math
import platform
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from lightning_fabric.utilities.exceptions import MisconfigurationException
from torch import nn

import ltr
from ltr.data import RankingData, Splits
from ltr.evaluation import lists_of, per_query
from ltr.gap.numbers import number
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric
from ltr.runs import Run, RunError
from ltr.training.checkpoint import Checkpoint
from ltr.training.loaders import RankingDataModule
from ltr.training.loggers import EventFiles, MetricsFile, write_record
from ltr.training.module import MakeOptimizer, MakeScheduler, RankingModule
from ltr.training.monitors import check_monitors
from ltr.training.progress import progress
from ltr.training.quiet import Quiet, quiet
from ltr.training.randomness import Randomness, seed_everything
from ltr.training.recorder import Recorder

log = logging.getLogger(__name__)

HOUSEKEEPING = (  # settings that no result depends on
    *("callbacks", "diagnostics", "monitor", "name", "resume", "root", "workers"),
)
LIBRARIES = ("torch", "pytorch-lightning", "torchmetrics", "numpy", "scipy")


def fit(
    run: Run,
    data: Splits,
    *,
    model: nn.Module,
    transform: nn.Module | None,
    teacher: nn.Module | None = None,
    loss: Surrogate,
    metric: RankingMetric | str,
    metrics: Sequence[RankingMetric | str],
    optimizer: MakeOptimizer,
    scheduler: MakeScheduler | None,
    trainer: Callable[..., pl.Trainer],
    callbacks: Sequence[pl.Callback],
    documents: int,
    lists: int | None,
    workers: int,
    seed: int,
    monitor: str | Sequence[str] | None = "val/target",
    diagnostics: int = 64,
    resume: bool = False,
    config: str | None = None,
) -> dict[str, Any]:
    """Train, keep the best states, test the best one, and leave all of it in the run folder.

    Args:
        run: a claimed folder.
        data: the splits. Without validation data, monitor must be None; without test data nothing is tested.
        model: the scorer; seed before it is made (``seed_everything``) for equal first weights.
        transform: of the features; fitted here, on the training rows alone.
        teacher: a trained ranker of raw features, where the loss learns from one.
        loss: the surrogate.
        metric: the target.
        metrics: further metrics to report.
        optimizer: parameters -> optimiser.
        scheduler: (optimiser, total_steps=int) -> schedule, or None.
        trainer: keyword arguments -> Trainer; loggers, callbacks and root folder are passed to it here.
        callbacks: further callbacks; one may be a Checkpoint, which then says what is kept, and whose first monitor
            must be that of ``monitor``. Without one, a Checkpoint of ``monitor`` is made.
        documents, lists, workers: of the batches (``RankingDataModule``).
        seed: of the order of training and of all random draws.
        monitor: the tag that chooses the best state, or several; the first one's is tested.
        diagnostics: validation lists, and as many training lists, whose gradients each validation looks at; 0: none.
        resume: go on from the run's last.ckpt as if it had never stopped. Whatever goes wrong before the first step
            leaves the folder as it was.
        config: the configuration as YAML text, kept in the folder (of a resumed run once it goes on) and shown by
            TensorBoard; None: what the folder holds.

    Returns:
        What run.json holds: status, seed, versions, data, conventions, best (file, epoch, step, value), validation and
        test values by metric name, the test's gap, floor and ceiling, the checkpoint's path in the folder, wall time in
        seconds.

    Raises:
        RunError: nothing to resume from, other data or another model than the run began with, nothing to train for, a
            monitor that cannot be, or one that is not the Checkpoint's first.
        DataError: training data that teaches nothing.
    """
    clock = time.perf_counter()
    seed_everything(seed)
    fitted: Any = transform
    if fitted is not None:
        fitted.fit(data.train.features)
    parts_of = {"transform": transform, "teacher": teacher}
    module = RankingModule(model, loss, metric, metrics, **parts_of, optimizer=optimizer, scheduler=scheduler)
    loaders = RankingDataModule(
        _as_listed(data, module.metrics), documents=documents, lists=lists, workers=workers, seed=seed
    )
    kept = _with_checkpoint(callbacks, monitor)
    start = _resume(run, data, module) if resume else None
    events = EventFiles(run.events, resume_step=start["step"] + 1 if start else None)
    opening = _Opening(run, _facts(module, data, seed), config, start["epoch"] if start else None)
    if start is None:
        opening.write()
    parts = [opening, *kept, Quiet(), Randomness(seed), progress()]
    if data.validation is not None:
        known = run.config_path.read_text() if run.config_path.exists() else ""
        parts.append(Recorder(run, data.validation.query_ids, events, known, seed, diagnostics))
    before = run.read_info()
    earlier = before.get("wall_seconds", 0.0) if start else 0.0
    try:
        with quiet():
            bar = any(isinstance(each, pl.callbacks.ProgressBar) for each in parts)
            made = _made(
                trainer,
                logger=[MetricsFile(run), events],
                callbacks=parts,
                default_root_dir=run.path,
                enable_progress_bar=bar,
                use_distributed_sampler=False,
            )
            _check_trainer(made)
            check_monitors(made, module, [tag for each in parts for tag in _monitored(each)])
            made.fit(module, datamodule=loaders, ckpt_path=str(run.last_checkpoint()) if start else None)
            if start and run.read_info() == before:  # all epochs were done, and only the test is left
                opening.write()
            results = _results(run, module, loaders, trainer)
    except (KeyboardInterrupt, SystemExit):  # Lightning turns the one into the other, and goes deaf to it
        if start is None or run.read_info() != before:
            run.write_info(status="interrupted", error=None, **_times(earlier, clock))
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        raise KeyboardInterrupt from None
    except BaseException as error:
        if start is None or run.read_info() != before:
            run.write_info(status="failed", error=f"{type(error).__name__}: {error}", **_times(earlier, clock))
        raise
    finally:
        events.finalize("")
    run.write_info(**results, status="finished", **_times(earlier, clock))
    return run.read_info()


class _Opening(pl.Callback):
    """What a training writes into its folder when it starts; a resumed one not before it has loaded its state."""

    def __init__(self, run: Run, facts: dict[str, Any], config: str | None, epoch: int | None) -> None:
        super().__init__()
        self.run, self.facts, self.config, self.epoch = run, facts, config, epoch

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self.epoch is not None and trainer.is_global_zero:
            self.write()

    def write(self) -> None:
        """Facts and configuration; what the folder says of epochs after the one that a run goes on from is void."""
        if self.config is not None:
            self.run.write_config(self.config)
        resumed = {}
        if self.epoch is not None:
            self.run.rewind(self.epoch)
            resumed["resumed"] = datetime.now().astimezone().isoformat()
        self.run.write_info(**self.facts, **resumed, status="running", error=None, finished=None)


def _resume(run: Run, data: Splits, module: RankingModule) -> dict[str, int]:
    """The epoch and step of the last checkpoint, when it is one of this model on these data."""
    known = run.read_info().get("data", {})
    for name, part in data._asdict().items():
        was, found = known.get(name, {}).get("hash"), part.content_hash() if part else None
        if known and was != found:
            split = "training" if name == "train" else name
            raise RunError(
                f"{run.path} was trained on other data: its {split} data had hash {was or '(none)'}, came "
                f"{found or 'none'}"
            )
    state = torch.load(run.last_checkpoint(), weights_only=True)
    ours, kept = _shapes(module.state_dict()), _shapes(state["state_dict"])
    if ours != kept:
        name = next(each for each in {**kept, **ours} if kept.get(each) != ours.get(each))
        raise RunError(
            f"{run.path} was trained with another model: {name} was {kept.get(name, 'not there')}, came "
            f"{ours.get(name, 'nothing')}"
        )
    return {"epoch": state["epoch"], "step": max(state["global_step"] - 1, 0)}


def _shapes(state: Mapping[str, Any]) -> dict[str, list[int]]:
    return {name: list(getattr(each, "shape", ())) for name, each in state.items()}


def _with_checkpoint(callbacks: Sequence[pl.Callback], monitor: str | Sequence[str] | None) -> list[pl.Callback]:
    """The callbacks with a Checkpoint among them that has the best state by ``monitor`` first: it is what is tested."""
    wanted = Checkpoint(monitor)
    given = [each for each in callbacks if isinstance(each, pl.callbacks.Checkpoint)]
    for each in given:
        if isinstance(each, Checkpoint) and each.monitors[:1] != wanted.monitors[:1]:
            first, ours = (each.monitors or ("null",))[0], (wanted.monitors or ("null",))[0]
            raise RunError(
                f"the state to test is the best by monitor={ours}, but the Checkpoint in callbacks has {first} first: "
                f"wanted monitor={first}, or {ours} as the Checkpoint's first"
            )
    return [*callbacks] if given else [*callbacks, wanted]


def _results(
    run: Run, module: RankingModule, loaders: RankingDataModule, trainer: Callable[..., pl.Trainer]
) -> dict[str, Any]:
    """Test the best state on one device, where each list counts once, and write what it found."""
    checkpoint = run.best_checkpoint()
    name = checkpoint.relative_to(run.path).as_posix()
    index = run.read_index()
    best = next(iter(index["best"].values()), None) or {**index["last"], "values": {}}
    validation = {tag.removeprefix("val/"): value for tag, value in best.pop("values").items() if tag != "val/target"}
    results: dict[str, Any] = {"checkpoint": name, "best": best, "validation": validation, "test": {}}
    if "value" in best and best["value"] is None:
        tag = next(iter(index["best"]))
        log.warning("no state was better than NaN by %s: the first, %s, stands for the best", tag, name)
    test = loaders.data.test
    if test is None:
        log.warning("no test data: the best state, %s, is not tested", name)
    else:
        made = trainer(
            logger=False,
            callbacks=[],
            devices=1,
            num_nodes=1,
            strategy="auto",
            enable_progress_bar=False,
            enable_checkpointing=False,
            default_root_dir=run.path,
        )
        module.load_state_dict(torch.load(checkpoint, map_location="cpu", weights_only=True)["state_dict"])
        made.test(module, datamodule=loaders, verbose=False)
        found = module.evaluated["test"]
        run.write_per_query("test", found.rows(test.query_ids))
        results |= {
            "test": dict(found.means),
            "test_gap": dict(found.gap),
            "test_bounds": _bounds(test, module.metrics),
        }
        scalars = {f"test/{each}": value for each, value in found.means.items()}
        run.append_metrics({"step": best["step"], "epoch": best["epoch"], **scalars})
        values = ", ".join(f"{each.name} {number(found.means[each.name])}" for each in found.metrics)
        print(f"test on {name}: {values}, {len(test.query_ids)} queries", flush=True)
    record = {f"val/{key}": value for key, value in validation.items()}
    record |= {f"test/{key}": value for key, value in results["test"].items()}
    record = {tag: value for tag, value in record.items() if value is not None and math.isfinite(value)}
    first = {tag: record[tag] for tag in (f"val/{module.metric.name}", f"test/{module.metric.name}") if tag in record}
    known = run.read_config() if run.config_path.exists() else {}
    settings = {key: value for key, value in known.items() if key not in HOUSEKEEPING}
    write_record(run.events / "best", settings, first | record, best["step"])
    return results


def _as_listed(data: Splits, metrics: Sequence[RankingMetric]) -> Splits:
    """The splits with documents in the order by which the metrics break ties.

    Raises:
        RunError: two metrics break ties by two orders.
    """
    rules = {each.ties for each in metrics}
    if "docid" not in rules:
        return data
    if "stable" in rules:
        raise RunError("ties=docid and ties=stable list documents in two orders: measure one of them by ltr evaluate")
    train, validation, test = (part and part.reordered(part.id_order()) for part in data)
    assert train is not None
    return Splits(train, validation, test)


def _bounds(data: RankingData, metrics: Sequence[RankingMetric]) -> dict[str, dict[str, float | None]]:
    """By metric name: what a random order and the ideal one are worth, over the lists that the mean is over."""
    found: dict[str, dict[str, float | None]] = {}
    for each in per_query(lists_of(np.zeros(len(data.relevance)), data), metrics):
        ends = zip(("floor", "ceiling"), each.bounds(), strict=True)
        found[each.metric.name] = {name: None if math.isnan(end) else end for name, end in ends}
    return found


def _made(trainer: Callable[..., pl.Trainer], **given: Any) -> pl.Trainer:
    """The Trainer.

    Raises:
        RunError: it refuses its arguments, or the machine has not what they ask for.
    """
    try:
        return trainer(**given)
    except (TypeError, ValueError, MisconfigurationException) as error:
        raise RunError(f"trainer: {' '.join(str(error).split())}") from error


def _check_trainer(trainer: pl.Trainer) -> None:
    """Training for no step leaves no state; a strategy that starts this very program again starts a run a process."""
    for name in ("max_epochs", "max_steps", "val_check_interval", "check_val_every_n_epoch"):
        if getattr(trainer, name) == 0:
            raise RunError(f"trainer.{name}: wanted more than 0, got 0: nothing would be trained or validated")
    every, epochs = trainer.check_val_every_n_epoch, trainer.max_epochs
    if every is not None and epochs is not None and 0 < epochs < every:
        raise RunError(
            f"trainer.check_val_every_n_epoch: wanted at most the {epochs} of trainer.max_epochs, got {every}: "
            "nothing would be validated"
        )
    launcher = trainer.strategy.launcher
    environment = getattr(trainer.strategy, "cluster_environment", None)
    if launcher is None or type(launcher).__name__ != "_SubprocessScriptLauncher":
        return
    if environment is not None and not environment.creates_processes_externally:
        raise RunError(
            f"{trainer.num_devices} devices with this trainer.strategy would start the whole command once for each "
            "device: wanted strategy=ddp_spawn, as trainer=ddp has it (with trainer.accelerator and trainer.devices)"
        )


def _monitored(callback: pl.Callback) -> Sequence[str]:
    """The tags that a callback goes by: ours says `monitors`, Lightning's `monitor`."""
    one = getattr(callback, "monitor", None)
    return getattr(callback, "monitors", (one,) if isinstance(one, str) else ())


def _facts(module: RankingModule, data: Splits, seed: int) -> dict[str, Any]:
    aim = module.loss.aim
    said = {each.name: each for each in (*module.metrics, *([aim] if aim else []))}
    splits = {name: part for name, part in data._asdict().items() if part is not None}
    return {
        "seed": seed,
        "versions": {"python": platform.python_version(), "ltr": ltr.__version__}
        | {name: version(name) for name in LIBRARIES},
        "data": {name: _about(part) for name, part in splits.items()},
        "metric": module.metric.name,
        "larger_is_better": {name: each.larger_is_better for name, each in said.items()},
        "conventions": {name: each.convention for name, each in said.items()},
        "loss": {
            "name": type(module.loss).__name__,
            "kind": module.loss.kind,
            "aim": aim.name if aim else None,
            "unit": module.loss.unit,
        },
        "parameters": sum(each.numel() for each in module.parameters() if each.requires_grad),
    }


def _about(data: RankingData) -> dict[str, Any]:
    return {
        "source": data.source,
        "hash": data.content_hash(),
        "queries": len(data.query_ids),
        "documents": len(data.features),
        "features": data.features.shape[1],
    }


def _times(earlier: float, clock: float) -> dict[str, Any]:
    now = datetime.now().astimezone().isoformat()
    return {"finished": now, "wall_seconds": round(earlier + time.perf_counter() - clock, 3)}

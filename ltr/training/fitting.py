"""fit: one training from its parts to a finished run folder."""

from __future__ import annotations

import logging
import platform
import signal
import threading
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.metadata import version
from typing import Any

import pytorch_lightning as pl
import torch
from torch import nn

import ltr
from ltr.data import RankingData, Splits
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

HOUSEKEEPING = ("callbacks", "monitor", "name", "resume", "root", "workers")  # settings that no result depends on
LIBRARIES = ("torch", "pytorch-lightning", "torchmetrics", "numpy", "scipy")


def fit(
    run: Run,
    data: Splits,
    *,
    model: nn.Module,
    transform: nn.Module | None,
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
    resume: bool = False,
) -> dict[str, Any]:
    """Train, keep the best states, test the best one, and leave all of it in the run folder.

    Args:
        run: a claimed folder; with its configuration in it, TensorBoard shows that.
        data: the splits. Without validation data, monitor must be None; without test data nothing is tested.
        model: the scorer; seed before it is made (``seed_everything``) for equal first weights.
        transform: of the features; fitted here, on the training rows alone.
        loss: the surrogate.
        metric: the target.
        metrics: further metrics to report.
        optimizer: parameters -> optimiser.
        scheduler: (optimiser, total_steps=int) -> schedule, or None.
        trainer: keyword arguments -> Trainer; loggers, callbacks and root folder are passed to it here.
        callbacks: further callbacks; one may be a Checkpoint, else one is made for monitor.
        documents, lists, workers: of the batches (``RankingDataModule``).
        seed: of the order of training and of all random draws.
        monitor: the tag that chooses the best state, or several; the first one's is tested.
        resume: go on from the run's last.ckpt as if it had never stopped.

    Returns:
        What run.json holds: status, seed, versions, data, conventions, best (file, epoch, step, value), validation and
        test values by metric name, the test's gap, floor and ceiling, the checkpoint's path in the folder, wall time in
        seconds.

    Raises:
        RunError: nothing to resume from, other data than the run began with, or a monitor that cannot be.
        DataError: training data that teaches nothing.
    """
    clock = time.perf_counter()
    seed_everything(seed)
    fitted: Any = transform
    if fitted is not None:
        fitted.fit(data.train.features)
    module = RankingModule(model, loss, metric, metrics, transform=transform, optimizer=optimizer, scheduler=scheduler)
    loaders = RankingDataModule(data, documents=documents, lists=lists, workers=workers, seed=seed)
    start = _resume(run, data) if resume else None
    events = EventFiles(run.events, resume_step=start["step"] + 1 if start else None)
    parts = [*callbacks, Quiet(), Randomness(seed), progress()]
    if data.validation is not None:
        config = run.config_path.read_text() if run.config_path.exists() else ""
        parts.append(Recorder(run, data.validation.query_ids, events, config, seed))
    if not any(isinstance(each, pl.callbacks.Checkpoint) for each in parts):
        parts.append(Checkpoint(monitor))
    earlier = run.read_info().get("wall_seconds", 0.0) if resume else 0.0
    run.write_info(**_facts(module, data, seed), status="running", error=None, finished=None)
    try:
        with quiet():
            bar = any(isinstance(each, pl.callbacks.ProgressBar) for each in parts)
            made = trainer(
                logger=[MetricsFile(run), events],
                callbacks=parts,
                default_root_dir=run.path,
                enable_progress_bar=bar,
                use_distributed_sampler=False,
            )
            _check_launcher(made)
            check_monitors(made, module, [tag for each in parts for tag in getattr(each, "monitors", ())])
            made.fit(module, datamodule=loaders, ckpt_path=str(run.last_checkpoint()) if start else None)
            results = _results(run, module, loaders, trainer)
    except (KeyboardInterrupt, SystemExit):  # Lightning turns the one into the other, and goes deaf to it
        run.write_info(status="interrupted", error=None, **_times(earlier, clock))
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.default_int_handler)
        raise KeyboardInterrupt from None
    except BaseException as error:
        run.write_info(status="failed", error=f"{type(error).__name__}: {error}", **_times(earlier, clock))
        raise
    finally:
        events.finalize("")
    run.write_info(**results, status="finished", **_times(earlier, clock))
    return run.read_info()


def _resume(run: Run, data: Splits) -> dict[str, int]:
    """The epoch and step of the last checkpoint; what the folder says of later ones is forgotten."""
    known = run.read_info().get("data", {}).get("train", {}).get("hash")
    found = data.train.content_hash()
    if known is not None and known != found:
        raise RunError(f"{run.path} was trained on other data: its training data had hash {known}, came {found}")
    state = torch.load(run.last_checkpoint(), weights_only=True)
    run.rewind(state["epoch"])
    return {"epoch": state["epoch"], "step": max(state["global_step"] - 1, 0)}


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
        results |= {"test": dict(found.means), "test_gap": dict(found.gap), "test_bounds": found.bounds}
        scalars = {f"test/{each}": value for each, value in found.means.items()}
        run.append_metrics({"step": best["step"], "epoch": best["epoch"], **scalars})
        values = ", ".join(f"{each.name} {found.means[each.name]:.4f}" for each in found.metrics)
        print(f"test on {name}: {values}, {len(test.query_ids)} queries", flush=True)
    record = {f"val/{key}": value for key, value in validation.items()}
    record |= {f"test/{key}": value for key, value in results["test"].items()}
    first = {tag: record[tag] for tag in (f"val/{module.metric.name}", f"test/{module.metric.name}") if tag in record}
    known = run.read_config() if run.config_path.exists() else {}
    settings = {key: value for key, value in known.items() if key not in HOUSEKEEPING}
    write_record(run.events / "best", settings, first | record, best["step"])
    return results


def _check_launcher(trainer: pl.Trainer) -> None:
    """A strategy that starts this very program once more for each process would start as many runs."""
    launcher = trainer.strategy.launcher
    environment = getattr(trainer.strategy, "cluster_environment", None)
    if launcher is None or type(launcher).__name__ != "_SubprocessScriptLauncher":
        return
    if environment is not None and not environment.creates_processes_externally:
        raise RunError(
            f"{trainer.num_devices} devices with this trainer.strategy would start the whole command once for each "
            "device: wanted strategy=ddp_spawn, as trainer=ddp has it (with trainer.accelerator and trainer.devices)"
        )


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

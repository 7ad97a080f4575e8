"""Checkpoints: the right state is kept, under a name that a shell takes, with an index that says what is what."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from ltr.metrics import parse
from ltr.runs import Run, RunError
from ltr.training import Checkpoint


def files(run: Run) -> list[str]:
    return sorted(path.name for path in run.checkpoints.iterdir())


def weight(run: Run, file: str) -> float:
    state = torch.load(run.checkpoints / file, weights_only=True)["state_dict"]
    return float(state["weight"])


def test_the_largest_value_is_the_best(run_scripted: Callable[..., Run], scripted: Any) -> None:
    # field report train-03: ModelCheckpoint's default direction keeps the worst epoch.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/4668
    run = run_scripted(scripted({"val/ndcg@10": [0.3, 0.45, 0.4]}), [Checkpoint("val/ndcg@10")])
    best = run.best()
    assert (best["epoch"], best["metric"]) == (1, "ndcg@10")
    assert best["value"] == pytest.approx(0.45, abs=1e-6)
    assert weight(run, best["file"]) == 2.0


def test_a_loss_is_best_at_its_smallest(run_scripted: Callable[..., Run], scripted: Any) -> None:
    run = run_scripted(scripted({"val/loss": [0.3, 0.45, 0.2]}), [Checkpoint("val/loss")])
    assert run.best()["epoch"] == 2


@pytest.mark.parametrize("checks", [0, 1])
def test_a_missing_monitor_is_an_error_before_the_first_batch(
    run_scripted: Callable[..., Run], scripted: Any, checks: int
) -> None:
    # field report train-05. https://github.com/Lightning-AI/pytorch-lightning/issues/12923
    module = scripted({"val/ndcg@1": [0.1], "val/ndcg@5": [0.2]})
    with pytest.raises(RunError, match=r"^nothing logs the monitor val/ndcg@7; there are: val/ndcg@1, val/ndcg@5$"):
        run_scripted(module, [Checkpoint("val/ndcg@7")], num_sanity_val_steps=checks)
    assert module.batches_seen == 0


def test_a_file_name_is_readable_and_safe(run_scripted: Callable[..., Run], scripted: Any) -> None:
    # field report train-07: a metric's "/" makes folders.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/4012
    run = run_scripted(scripted({"val/ndcg@10": [0.3, 0.45123, 0.4]}), [Checkpoint("val/ndcg@10")])
    assert files(run) == ["epoch01-ndcg@10-0.4512.ckpt", "index.json", "last.ckpt"]
    assert all(shlex.quote(name) == name for name in files(run))


def test_files_of_two_monitors_are_distinct(run_scripted: Callable[..., Run], scripted: Any) -> None:
    # field report train-08: names that round or clean alike overwrite each other.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/10506
    series = {"val/ndcg@5": [0.50001, 0.50002], "val/ndcg_5": [0.3, 0.2]}
    run = run_scripted(scripted(series), [Checkpoint(["val/ndcg@5", "val/ndcg_5"], keep=2)])
    assert [name for name in files(run) if name.startswith("epoch")] == [
        "epoch00-ndcg@5-0.5000.ckpt",
        "epoch00-ndcg_5-0.3000.ckpt",
        "epoch01-ndcg@5-0.5000.ckpt",
        "epoch01-ndcg_5-0.2000.ckpt",
    ]
    kept = json.loads((run.checkpoints / "index.json").read_text())["kept"]
    assert [(entry["epoch"], entry["metric"]) for entry in kept["val/ndcg@5"]] == [(1, "ndcg@5"), (0, "ndcg@5")]
    assert [weight(run, entry["file"]) for entry in kept["val/ndcg_5"]] == [1.0, 2.0]


def test_names_that_clean_alike_stay_apart(run_scripted: Callable[..., Run], scripted: Any) -> None:
    series = {"val/a b": [0.5], "val/a(b": [0.5], "val/loss": [1.0], "train/loss": [1.0]}
    module = scripted(series)
    run = run_scripted(module, [Checkpoint(list(series))])
    names = [entry["file"] for entry in run.read_index()["best"].values()]
    assert len(set(names)) == 4
    assert all(shlex.quote(name) == name for name in names)
    assert set(names) <= set(files(run))


def test_values_before_the_first_step_never_count(run_scripted: Callable[..., Run], scripted: Any) -> None:
    # field report train-09. https://github.com/Lightning-AI/pytorch-lightning/issues/3549
    module = scripted({"val/ndcg@10": [0.3, 0.45, 0.4]}, sanity=0.99)
    best = run_scripted(module, [Checkpoint("val/ndcg@10")], num_sanity_val_steps=1).best()
    assert (best["epoch"], best["value"]) == (1, 0.45)


@pytest.mark.parametrize(
    ("series", "epoch"),
    [
        ([float("nan"), 0.2, 0.3], 2),  # field report train-11: https://github.com/Lightning-AI/lightning/issues/1008
        ([0.2, float("nan"), 0.1], 0),
        ([float("nan"), float("nan"), 0.1], 2),
        ([float("nan"), float("nan")], 0),
        ([0.3, 0.3, 0.2], 0),
        ([-1.0, float("-inf"), -2.0], 0),
    ],
)
def test_nan_is_worse_than_any_number_and_the_earliest_wins(
    run_scripted: Callable[..., Run], scripted: Any, series: list[float], epoch: int
) -> None:
    run = run_scripted(scripted({"val/dcg": series}), [Checkpoint("val/dcg")])
    assert run.best()["epoch"] == epoch
    assert weight(run, run.best()["file"]) == epoch + 1


def test_keep_holds_the_best_few(run_scripted: Callable[..., Run], scripted: Any) -> None:
    run = run_scripted(scripted({"val/mrr": [0.1, 0.4, 0.2, 0.3]}), [Checkpoint("val/mrr", keep=2)])
    assert [name for name in files(run) if name.startswith("epoch")] == [
        "epoch01-mrr-0.4000.ckpt",
        "epoch03-mrr-0.3000.ckpt",
    ]


def test_the_target_is_named_by_its_metric(run_scripted: Callable[..., Run], scripted: Any) -> None:
    module = scripted({"val/target": [0.3], "val/ap": [0.2]})
    module.metric = parse("ap")
    run = run_scripted(module, [Checkpoint(["val/target"])])
    assert run.best()["file"] == "epoch00-ap-0.3000.ckpt"
    both = run_scripted(module, [Checkpoint(["val/target", "val/ap"])]).read_index()["best"]
    names = [entry["file"] for entry in both.values()]
    assert names == ["epoch00-val_target-0.3000.ckpt", "epoch00-val_ap-0.2000.ckpt"]


def test_validations_within_an_epoch_name_their_step(run_scripted: Callable[..., Run], scripted: Any) -> None:
    module = scripted({"val/mrr": [0.5]})
    run = run_scripted(module, [Checkpoint("val/mrr", keep=2)], val_check_interval=1)
    assert [name for name in files(run) if name.startswith("epoch")] == [
        "epoch00-step0-mrr-0.5000.ckpt",
        "epoch00-step1-mrr-0.5000.ckpt",
    ]


def test_without_a_monitor_the_last_state_is_kept(run_scripted: Callable[..., Run], scripted: Any) -> None:
    run = run_scripted(scripted({"val/mrr": [0.5, 0.1]}), [Checkpoint(None)])
    assert files(run) == ["index.json", "last.ckpt"]
    assert weight(run, run.best_checkpoint().name) == 2.0


def test_lightning_finds_the_best_file(scripted: Any, plain_trainer: Callable[..., pl.Trainer]) -> None:
    keeper = Checkpoint("val/mrr")
    trainer = plain_trainer(callbacks=[keeper], enable_checkpointing=True, max_epochs=3)
    trainer.fit(scripted({"val/mrr": [0.1, 0.5, 0.2]}))
    assert Path(keeper.best_model_path).name == "epoch01-mrr-0.5000.ckpt"
    assert trainer.checkpoint_callbacks == [keeper], "Lightning must not add one of its own"


def test_a_state_that_the_resumed_run_never_saw_is_forgotten(run_scripted: Callable[..., Run], scripted: Any) -> None:
    series = {"val/mrr": [0.1, 0.2, 0.9, 0.3]}
    run = run_scripted(scripted(series), [Checkpoint("val/mrr")], max_epochs=2)
    index = run.read_index()
    stray = {**index["best"]["val/mrr"], "file": "epoch02-mrr-0.9000.ckpt"}
    (run.checkpoints / stray["file"]).write_bytes(b"written just before a crash")
    run.write_index(index | {"kept": {"val/mrr": [stray]}, "best": {"val/mrr": stray}})
    module, trainer = scripted(series), pl.Trainer(
        callbacks=[Checkpoint("val/mrr")], default_root_dir=run.path, max_epochs=2, logger=False,
        enable_progress_bar=False, enable_model_summary=False, accelerator="cpu", num_sanity_val_steps=0,
    )  # fmt: skip
    trainer.fit_loop.max_epochs = 4
    trainer.fit(module, ckpt_path=str(run.last_checkpoint()))
    assert [name for name in files(run) if name.startswith("epoch")] == ["epoch02-mrr-0.9000.ckpt"]
    assert weight(run, "epoch02-mrr-0.9000.ckpt") == 3.0


@pytest.mark.parametrize(("monitor", "keep"), [("val/mrr", 0), (["val/mrr", "val/mrr"], 1)])
def test_wrong_arguments_are_named(monitor: Any, keep: int) -> None:
    message = f"^checkpoint: wanted keep of at least 1 and different monitors, got {keep}, {re.escape(repr(monitor))}$"
    with pytest.raises(ValueError, match=message):
        Checkpoint(monitor, keep)

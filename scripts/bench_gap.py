"""What the closer look of a validation costs, as a ratio in one run: prints the table of docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import tempfile
import time
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytorch_lightning as pl
import torch

from ltr.data import RankingData, Splits, Standardise, mslr_sample
from ltr.losses.named import named
from ltr.models import MLP
from ltr.runs import claim
from ltr.training import RankingDataModule, RankingModule, Recorder, seed_everything
from ltr.training.quiet import quiet

LOSSES = ("approx", "softmax", "lambdarank", "ranknet")
SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # of the labels 0 to 4
FEATURES, LENGTH = 136, 120  # of MSLR-WEB30K, and the mean of its lists
EPOCHS = 12  # validations, every other one with the closer look


def made(lists: int) -> RankingData:
    """Lists of half to one and a half times the mean length."""
    random = np.random.default_rng(0)
    lengths = random.integers(LENGTH // 2, 3 * LENGTH // 2, lists, endpoint=True)
    documents = int(lengths.sum())
    labels = random.choice(len(SHARES), documents, p=SHARES).astype(float)
    features = random.normal(size=(documents, FEATURES)) + 0.1 * labels[:, None]
    return RankingData.from_arrays(features, labels, lengths=lengths.tolist())


class Alternate(pl.Callback):
    """Validates with and without the closer look in turn, and takes the time of each; the last of the callbacks."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder, self.looks = recorder, recorder.diagnostics
        self.seconds: dict[bool, list[float]] = {True: [], False: []}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.looks = self.recorder.diagnostics

    def on_validation_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.recorder.diagnostics = self.looks if trainer.current_epoch % 2 else None
        self.start = time.perf_counter()

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.seconds[self.recorder.diagnostics is not None].append(time.perf_counter() - self.start)


def seconds(data: Splits, loss: str) -> tuple[float, float]:
    """Of the fastest validation without and with the closer look, each after one that warms up."""
    assert data.validation is not None
    seed_everything(0)
    model = MLP(FEATURES, [256, 128, 64], dropout=0.1)
    transform = Standardise(symlog=True)
    transform.fit(data.train.features)
    adam = partial(torch.optim.Adam, lr=1e-3)
    surrogate, others = named(loss, "ndcg@10"), ("ndcg@5", "mrr@10", "ap")
    module = RankingModule(model, surrogate, "ndcg@10", others, transform=transform, optimizer=adam)
    with tempfile.TemporaryDirectory() as folder, quiet():
        recorder = Recorder(claim(folder, "run", ""), data.validation.query_ids)
        clock = Alternate(recorder)
        trainer = pl.Trainer(
            accelerator="cpu", max_epochs=EPOCHS, limit_train_batches=20, callbacks=[recorder, clock], logger=False,
            num_sanity_val_steps=0, enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
            default_root_dir=Path(folder),
        )  # fmt: skip
        trainer.fit(module, datamodule=RankingDataModule(data))
    return min(clock.seconds[False][1:]), min(clock.seconds[True][1:])


def main() -> None:
    torch.set_num_threads(1)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, one thread"
    versions = ", ".join(f"{name} {version(name)}" for name in ("torch", "pytorch-lightning", "ltr-toolkit"))
    print(f"`python scripts/bench_gap.py`, {date.today()}: Python {platform.python_version()}, {versions}, {machine}.")
    print(f"MLP 256-128-64, {FEATURES} features; the fastest of {EPOCHS // 2 - 1} validations of each kind, in turn.")
    large = made(2_000)
    small = mslr_sample()
    for title, data in (
        (f"2,000 lists of {LENGTH} documents, 64 of them and 64 training lists looked at", Splits(large, large, None)),
        (f"MSLR sample, {len(small.validation.query_ids)} validation lists", small),  # type: ignore[union-attr]
    ):
        print(f"\n{title}:\n")
        print("| loss | validation, s | with the closer look, s | more, s | ratio |")
        print("|---|---|---|---|---|")
        for loss in LOSSES:
            without, with_it = seconds(data, loss)
            more = with_it - without
            print(f"| {loss} | {without:.3f} | {with_it:.3f} | {more:.3f} | {with_it / without:.2f} |", flush=True)


if __name__ == "__main__":
    main()

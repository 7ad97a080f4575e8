"""Small trainings: a module that logs given values, and the real thing on a few made lists."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytorch_lightning as pl
import torch
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from torch import nn
from torch.utils.data import DataLoader

from ltr.data import Splits, Standardise, synthetic
from ltr.losses import ApproxMetric
from ltr.models import MLP
from ltr.runs import Run, claim
from ltr.training import fit, seed_everything

Summaries = dict[str, list[tuple[int, Any]]]

# Lightning's own, which nobody can act on; ltr.training.fit silences them itself (ltr/training/quiet.py).
THIRD_PARTY = (
    r"ignore:.*does not have many workers which may be a bottleneck",
    r"ignore:.*isinstance\(treespec, LeafSpec\).*is deprecated:FutureWarning",
    r"ignore:.*is smaller than the logging interval",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents and item.path.stem not in ("test_fitting", "test_quiet"):
            for pattern in THIRD_PARTY:
                item.add_marker(pytest.mark.filterwarnings(pattern))


class Scripted(pl.LightningModule):
    """Logs given values, one a validation of a training; its one weight is the number of epochs begun."""

    def __init__(self, series: Mapping[str, Sequence[float]], sanity: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.series, self.sanity = series, sanity
        self.tags = {tag: not tag.endswith("loss") for tag in series}
        self.batches_seen = 0

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        self.batches_seen += 1
        self.weight.data.fill_(self.current_epoch + 1)
        return (self.weight * 0).sum()

    def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
        pass

    def on_validation_epoch_end(self) -> None:
        for tag, values in self.series.items():
            value = self.sanity if self.trainer.sanity_checking else values[self.current_epoch]
            self.log(tag, torch.tensor(float(value), dtype=torch.float64))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD([self.weight], lr=0.0)

    def train_dataloader(self) -> DataLoader[torch.Tensor]:
        return DataLoader([torch.zeros(1)] * 2)

    def val_dataloader(self) -> DataLoader[torch.Tensor]:
        return DataLoader([torch.zeros(1)])


QUIET = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted


@pytest.fixture
def run_scripted(tmp_path: Path) -> Callable[..., Run]:
    """Train a scripted module with these callbacks, one epoch a value; the folder it trained in."""

    def train(module: Scripted, callbacks: Sequence[pl.Callback], **options: Any) -> Run:
        epochs = len(next(iter(module.series.values())))
        settings = {**QUIET, "max_epochs": epochs, "num_sanity_val_steps": 0, **options}
        trainer = pl.Trainer(callbacks=list(callbacks), default_root_dir=tmp_path, **settings)
        ckpt = options.get("ckpt_path")
        trainer.fit(module, ckpt_path=ckpt)
        return Run(tmp_path)

    return train


@pytest.fixture
def plain_trainer(tmp_path: Path) -> Callable[..., pl.Trainer]:
    """A Trainer as a user would make one."""

    def make(**options: Any) -> pl.Trainer:
        settings = {**QUIET, "max_epochs": 2, "num_sanity_val_steps": 0, "enable_checkpointing": False, **options}
        return pl.Trainer(default_root_dir=tmp_path, **settings)

    return make


@pytest.fixture
def summaries() -> Callable[[Path], Summaries]:
    """Read a folder's event files, sub-folders left out: (step, value) of each tag in the order of writing."""

    def read(folder: Path) -> Summaries:
        found: Summaries = {}
        for file in sorted(folder.glob("events.out.tfevents.*")):
            for event in EventFileLoader(str(file)).Load():
                for value in event.summary.value:
                    found.setdefault(value.tag, []).append((event.step, value))
        return found

    return read


@pytest.fixture(scope="session")
def splits() -> Splits:
    return synthetic(queries=50, documents=6, features=6, seed=1)


@pytest.fixture
def fitted(tmp_path: Path, splits: Splits) -> Callable[..., tuple[Run, dict[str, Any]]]:
    """Train for real in a new run folder: ApproxNDCG, an MLP with dropout, four epochs, unless told otherwise."""

    def train(run: Run | str = "run", data: Splits = splits, **changes: Any) -> tuple[Run, dict[str, Any]]:
        if isinstance(run, str):
            run = claim(tmp_path / "runs", run, "")
        seed_everything(3)
        trainer = {"accelerator": "cpu", "max_epochs": 4, "num_sanity_val_steps": 0, "enable_model_summary": False}
        options = {
            "model": MLP(data.train.features.shape[1], [8], dropout=0.3),
            "transform": Standardise(),
            "loss": ApproxMetric("ndcg@10"),
            "metric": "ndcg@10",
            "metrics": ["mrr"],
            "optimizer": partial(torch.optim.Adam, lr=0.02),
            "scheduler": None,
            "callbacks": [],
            "documents": 64,
            "lists": None,
            "workers": 0,
            "seed": 3,
            **changes,
        }
        trainer |= options.pop("trainer", {})
        return run, fit(run, data, trainer=partial(pl.Trainer, **trainer), **options)

    return train

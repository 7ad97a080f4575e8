"""Seeds, and the generators' states in a checkpoint: a resumed training draws what it would have drawn."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch

KEY = "ltr_randomness"


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and torch on all devices. Before a model is made, for equal first weights.

    Example:
        >>> seed_everything(3)
        >>> first = torch.rand(1)
        >>> seed_everything(3)
        >>> bool(first == torch.rand(1))
        True
    """
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - models and losses of others draw from it
    torch.manual_seed(seed)


class Randomness(pl.Callback):
    """Gives each process draws of its own, and carries the generators' states over an interruption.

    Args:
        seed: of the training.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed
        self.loaded: list[dict[str, Any]] = []

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if len(self.loaded) == trainer.world_size:
            _restore(self.loaded[trainer.global_rank], pl_module.device)
        elif trainer.global_rank:
            seed_everything(self.seed + trainer.global_rank)
        self.loaded = []

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        mine = _state(pl_module.device)
        states: list[Any] = [mine]
        if trainer.world_size > 1:
            states = [None] * trainer.world_size
            torch.distributed.all_gather_object(states, mine)
        checkpoint[KEY] = states

    def on_load_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        self.loaded = checkpoint.get(KEY, [])


def _state(device: torch.device) -> dict[str, Any]:
    """The generators' states as tensors and plain Python."""
    numpy = np.random.get_state(legacy=False)  # noqa: NPY002
    words = numpy["state"]["key"].tolist()
    return {
        "python": random.getstate(),
        "numpy": numpy | {"state": {"key": words, "pos": numpy["state"]["pos"]}},
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state(device) if device.type == "cuda" else None,
    }


def _restore(state: dict[str, Any], device: torch.device) -> None:
    random.setstate(state["python"])
    inner = state["numpy"]["state"]
    words = np.array(inner["key"], dtype=np.uint32)
    np.random.set_state(state["numpy"] | {"state": inner | {"key": words}})  # noqa: NPY002
    torch.set_rng_state(state["torch"])
    if state["cuda"] is not None and device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda"], device)

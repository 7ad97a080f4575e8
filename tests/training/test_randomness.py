"""Seeds and generator states: equal draws from equal seeds, and the same draws after an interruption."""

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from ltr.training import Randomness, seed_everything


def draws() -> list[float]:
    return [random.random(), float(np.random.rand()), torch.rand(1).item()]  # noqa: NPY002 - the generator of others


def test_a_seed_fixes_every_generator() -> None:
    seed_everything(5)
    first = draws()
    assert draws() != first
    seed_everything(5)
    assert draws() == first
    seed_everything(2**40)
    assert draws() != first


def test_a_checkpoint_carries_the_generators_over(tmp_path: Any) -> None:
    trainer: Any = SimpleNamespace(world_size=1, global_rank=0)
    module: Any = SimpleNamespace(device=torch.device("cpu"))
    seed_everything(5)
    np.random.randn()  # noqa: NPY002 - leaves half of a pair of normal draws behind
    checkpoint: dict[str, Any] = {}
    Randomness(5).on_save_checkpoint(trainer, module, checkpoint)
    torch.save(checkpoint, tmp_path / "state.ckpt")
    expected = [*draws(), float(np.random.randn())]  # noqa: NPY002

    seed_everything(6)
    resumed = Randomness(6)
    resumed.on_load_checkpoint(trainer, module, torch.load(tmp_path / "state.ckpt", weights_only=True))
    resumed.on_train_start(trainer, module)
    assert [*draws(), float(np.random.randn())] == expected  # noqa: NPY002


def test_processes_draw_apart() -> None:
    module: Any = SimpleNamespace(device=torch.device("cpu"))
    found = []
    for rank in (0, 1):
        seed_everything(5)
        trainer: Any = SimpleNamespace(world_size=2, global_rank=rank)
        Randomness(5).on_train_start(trainer, module)
        found.append(draws())
    assert found[0] != found[1]

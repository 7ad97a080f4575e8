"""Schedules: their shape, and the arguments they refuse."""

import math

import pytest
import torch

from ltr.runs import RunError
from ltr.training import constant, cosine


def rates(schedule: torch.optim.lr_scheduler.LambdaLR, steps: int) -> list[float]:
    found = []
    for _ in range(steps):
        found.append(schedule.get_last_lr()[0])
        schedule.optimizer.step()
        schedule.step()
    return found


def optimizer(lr: float = 2.0) -> torch.optim.Optimizer:
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=lr)


def test_constant_keeps_the_rate() -> None:
    assert rates(constant(optimizer(), 5), 5) == [2.0] * 5


@pytest.mark.parametrize("warmup", [2, 0.25])
def test_cosine_warms_up_and_comes_down_to_the_minimum(warmup: float) -> None:
    found = rates(cosine(optimizer(), 8, warmup=warmup, minimum=0.1), 9)
    assert found[:3] == [1.0, 2.0, 2.0]
    assert found[5] == pytest.approx(2.0 * (0.1 + 0.9 * (1 + math.cos(math.pi / 2)) / 2))
    assert found[8] == pytest.approx(0.2)
    assert rates(cosine(optimizer(), 3, warmup=0, minimum=0.0), 1) == [2.0]


def test_a_schedule_beyond_its_end_stays_at_the_minimum() -> None:
    assert rates(cosine(optimizer(), 2, warmup=0, minimum=0.5), 5)[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"warmup": -1}, "scheduler: wanted a warmup from 0 to the 10 steps of the training, got -1"),
        ({"warmup": 11}, "scheduler: wanted a warmup from 0 to the 10 steps of the training, got 11"),
        ({"minimum": 1.5}, "scheduler: wanted a minimum from 0 to 1, a share of the learning rate, got 1.5"),
    ],
)
def test_wrong_arguments_are_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(RunError, match=f"^{message}$"):
        cosine(optimizer(), 10, **options)

"""Learning-rate schedules, stepped after every optimiser step."""

from __future__ import annotations

from math import cos, pi

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

from ltr.runs import RunError


def constant(optimizer: Optimizer, total_steps: int) -> LambdaLR:
    """The optimiser's own learning rate throughout.

    Example:
        >>> import torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
        >>> constant(optimizer, 10).get_last_lr()
        [0.5]
    """
    return LambdaLR(optimizer, lambda step: 1.0)


def cosine(optimizer: Optimizer, total_steps: int, *, warmup: float = 0.05, minimum: float = 0.01) -> LambdaLR:
    """Linear warm-up, then half a cosine down to the minimum.

    ``factor = (t + 1) / w`` for the first w steps, then
    ``minimum + (1 - minimum) (1 + cos(pi (t - w) / (total_steps - w))) / 2``. Source: Loshchilov, Hutter (2017), SGDR.

    Args:
        optimizer: whose learning rates are scaled.
        total_steps: optimiser steps of the whole training.
        warmup: steps of the warm-up; below 1, a share of all steps.
        minimum: what is left at the end, as a share of the learning rate.

    Raises:
        RunError: a negative warm-up, one that is longer than the training, or a minimum outside [0, 1].

    Example:
        >>> import torch
        >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        >>> schedule = cosine(optimizer, 6, warmup=2, minimum=0.0)
        >>> rates = [schedule.get_last_lr()[0] for _ in range(6) if optimizer.step() or not schedule.step()]
        >>> [round(rate, 2) for rate in rates]
        [1.0, 1.0, 0.85, 0.5, 0.15, 0.0]
    """
    steps = round(warmup * total_steps) if 0 <= warmup < 1 else int(warmup)
    if steps < 0 or steps > total_steps:
        raise RunError(f"scheduler: wanted a warmup from 0 to the {total_steps} steps of the training, got {warmup:g}")
    if not 0 <= minimum <= 1:
        raise RunError(f"scheduler: wanted a minimum from 0 to 1, a share of the learning rate, got {minimum:g}")
    rest = max(total_steps - steps, 1)

    def factor(step: int) -> float:
        if step < steps:
            return (step + 1) / steps
        return minimum + (1 - minimum) * (1 + cos(pi * min((step - steps) / rest, 1.0))) / 2

    return LambdaLR(optimizer, factor)

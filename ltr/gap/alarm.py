"""What moved over the last validations of a training, and whether that is an alarm."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ltr.gap.figures import Figure, figure
from ltr.gap.findings import Finding, signed, sure
from ltr.gap.numbers import number
from ltr.intervals import FEW
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric

WINDOW = 5  # validations between the two states that are compared

_States = Sequence[NDArray[np.float64]]  # of [Q], one a validation, over the lists that count


def change(
    surrogate: Surrogate,
    target: RankingMetric,
    losses: _States,
    targets: _States,
    weight: NDArray[np.float64],
    share: NDArray[np.float64],
    seed: int = 0,
) -> tuple[Figure, Figure] | None:
    """By how much the mean loss and the mean target moved over the last five validations, list by list.

    The interval of the loss is worked out where it improved and the target got worse: elsewhere it decides nothing.

    Args:
        surrogate, target: what the units are of.
        losses, targets: values by list.
        weight: [Q] >= 0, of each list.
        share: [Q] >= 0, of each list in the mean loss.
        seed: of the bootstrap.

    Returns:
        None with fewer than six validations, or where a value is not finite.
    """
    if len(losses) <= WINDOW:
        return None
    fell, moved = (each[-1] - each[-1 - WINDOW] for each in (losses, targets))
    if not (np.isfinite(fell).all() and np.isfinite(moved).all()):
        return None
    loss = figure(fell, surrogate.unit, share, sure=False)
    metric = figure(moved, target.name, weight, seed=seed)
    if loss.value is None or metric.value is None:
        return None
    if loss.value < 0 and _worse(target, metric.value):
        loss = figure(fell, surrogate.unit, share, seed=seed)
    return loss, metric


def alarm(surrogate: Surrogate, target: RankingMetric, loss: Figure, metric: Figure) -> Finding | None:
    """The alarm that holds where the loss improved and the target got worse, both by more than the lists leave open.

    None of a loss whose value says nothing about progress, nor of fewer than 50 lists: the intervals of few cover less
    than they say, and they are looked at again and again.
    """
    least = metric.high if target.larger_is_better else metric.low
    if not surrogate.informative or metric.lists < FEW or loss.high is None or least is None:
        return None
    if loss.high >= 0 or not _worse(target, least):
        return None
    return parting(target, loss, metric)


def parting(target: RankingMetric, loss: Figure, metric: Figure) -> Finding:
    """The alarm in words, of changes over the window."""
    fell = None if loss.value is None else -loss.value
    return Finding(
        "loss-without-metric",
        "alarm",
        f"Over the last {WINDOW} validations the loss fell by {number(fell)} {loss.unit}, and {target.name} got worse: "
        f"{sure(metric, signed)}.",
        metric,
        "Choose the state by the metric, and try another surrogate.",
    )


def _worse(target: RankingMetric, moved: float) -> bool:
    return moved < 0 if target.larger_is_better else moved > 0

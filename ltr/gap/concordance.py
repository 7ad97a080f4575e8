"""Does a falling loss mean a rising metric? Over the states that a training passes through."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Array = NDArray[np.float64]


def concordance(
    loss: ArrayLike,
    metric: ArrayLike,
    *,
    larger_is_better: bool = True,
    seed: int = 0,
    weight: ArrayLike | None = None,
) -> dict[str, Any]:
    """How well a surrogate's loss orders the states of a training by the metric: for surrogates of any kind.

    Args:
        loss: [T, Q] loss of query q at state t, over the queries that count at every state.
        metric: [T, Q] exact metric of the same.
        larger_is_better: the direction of the metric.
        seed: of the random split of the queries into two halves.
        weight: [Q] >= 0, of each query in all means; 1 when None.

    Returns:
        tau, Kendall's tau-b between -mean loss and mean metric; discordance, (1 - tau) / 2; regret, in units of the
        metric: the best state's metric minus that of the state with the lowest loss, the state chosen on one half of
        the queries and both values taken on the other, averaged over the two ways; residual, in units of the metric:
        mean |metric - best non-increasing function of the loss|; validations, the states that this is over;
        not_finite, the states that are left out since their mean loss or metric is not a finite number. None where
        fewer than two states, or no variation, leave nothing to say.

    Raises:
        ValueError: the two shapes differ or are not [T, Q], or there is not one weight for each query.

    Example:
        >>> found = concordance([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]], [[0.1, 0.1], [0.2, 0.2], [0.3, 0.3]])
        >>> found["tau"], found["regret"], found["validations"]
        (1.0, 0.0, 3)
    """
    from scipy.stats import kendalltau  # late: it takes most of a second to import

    losses, metrics = np.asarray(loss, dtype=np.float64), np.asarray(metric, dtype=np.float64)
    if losses.shape != metrics.shape or losses.ndim != 2:
        raise ValueError(
            f"loss and metric must have one shape, [states, queries]; got {losses.shape} and {metrics.shape}"
        )
    weights = np.ones(losses.shape[1]) if weight is None else np.asarray(weight, dtype=np.float64)
    if weights.shape != losses.shape[1:]:
        raise ValueError(f"weight must hold one number for each of {losses.shape[1]} queries, got {weights.shape}")
    heard = weights > 0
    losses, metrics, weights = losses[:, heard], metrics[:, heard], weights[heard]
    better = metrics if larger_is_better else -metrics
    finite = np.isfinite(losses).all(1) & np.isfinite(better).all(1)
    losses, better = losses[finite], better[finite]
    states, queries = losses.shape
    counts = {"validations": states, "not_finite": int((~finite).sum())}
    if states < 2 or not queries:
        return {"tau": None, "discordance": None, "regret": None, "residual": None, **counts}
    mean_loss, mean_metric = (np.average(each, axis=1, weights=weights) for each in (losses, better))
    tau = float(kendalltau(-mean_loss, mean_metric).statistic) if np.ptp(mean_loss) and np.ptp(mean_metric) else nan
    fitted = np.interp(mean_loss, *monotone(mean_loss, mean_metric, falling=True))
    return {
        "tau": None if np.isnan(tau) else tau,
        "discordance": None if np.isnan(tau) else (1 - tau) / 2,
        "regret": _regret(losses, better, weights, seed) if queries > 1 else None,
        "residual": float(np.abs(mean_metric - fitted).mean()),
        **counts,
    }


def monotone(loss: _Array, metric: _Array, *, falling: bool) -> tuple[_Array, _Array]:
    """The distinct losses, rising, and the best non-increasing (or non-decreasing) fit of the metric at each."""
    from scipy.optimize import isotonic_regression  # late, as all of scipy

    levels, level, count = np.unique(loss, return_inverse=True, return_counts=True)  # equal losses, one fitted value
    fitted = isotonic_regression(np.bincount(level, metric) / count, weights=count, increasing=not falling)
    return levels, fitted.x


def _regret(losses: _Array, better: _Array, weight: _Array, seed: int) -> float:
    shuffled = np.random.default_rng(seed).permutation(losses.shape[1])
    halves = shuffled[: len(shuffled) // 2], shuffled[len(shuffled) // 2 :]
    regrets = []
    for chosen_on, judged_on in (halves, halves[::-1]):
        value = np.average(better[:, judged_on], axis=1, weights=weight[judged_on])
        chosen = np.average(losses[:, chosen_on], axis=1, weights=weight[chosen_on]).argmin()
        regrets.append(value.max() - value[chosen])
    return float(np.mean(regrets))

"""What a surrogate believes of a metric, beside what is true on the same lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ltr.lists import check_lists, exact_dtype
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric


@torch.no_grad()
def columns(
    surrogate: Surrogate,
    target: RankingMetric,
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    *,
    teacher: Tensor | None = None,
) -> dict[str, Tensor]:
    """Per list [B], in float64: the loss, the belief, and the exact values to set it against.

    Args:
        surrogate: the loss that is trained on.
        target: the metric that is reported.
        scores: [B, L], any real unit.
        relevance: [B, L], labels >= 0.
        mask: [B, L], True for a real document.
        teacher: [B, L] scores of another ranker, for a loss that needs them.

    Returns:
        loss; share, what the list weighs in the mean loss by the surrogate's own rule; belief (an approximation's
        estimate, a bound's certificate, NaN for neither); aim and target, the exact values of the surrogate's own aim
        and of the reported metric (the aim is the target for neither); aim_floor and floor, the same for a random
        order; ceiling, the target of the ideal order; counted, 0 for a list that gap statistics leave out: undefined
        for either metric, or all of its labels equal.

    Example:
        >>> from ltr.losses import ApproxMetric
        >>> from ltr.metrics import NDCG
        >>> scores, labels = torch.tensor([[0.1, 0.0, 0.3]]), torch.tensor([[2.0, 0.0, 1.0]])
        >>> found = columns(ApproxMetric("ndcg@1"), NDCG(k=1), scores, labels)
        >>> {name: round(found[name].item(), 3) for name in ("belief", "aim", "target")}
        {'belief': 0.746, 'aim': 0.797, 'target': 0.333}
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    scores = scores.to(exact_dtype(scores.device))
    relevance = relevance.to(scores.dtype)
    aim = surrogate.aim or target
    taught = {"teacher": teacher.to(scores)} if teacher is not None and surrogate.needs_teacher else {}
    with surrogate.evaluating():
        loss = surrogate(scores, relevance, mask, **taught)
        belief = surrogate.estimate(scores, relevance, mask)
        if belief is None:
            belief = surrogate.certificate(scores, relevance, mask)
    kept = counted(surrogate, target, relevance, mask)
    exact = target.exact(scores, relevance, mask)
    floor = target.floor(relevance, mask)
    return {
        "loss": loss.to(scores.dtype),
        "share": surrogate.shares(scores, relevance, mask),
        "belief": torch.full_like(exact, torch.nan) if belief is None else belief.to(scores.dtype),
        "aim": exact if aim == target else aim.exact(scores, relevance, mask),
        "target": exact,
        "aim_floor": floor if aim == target else aim.floor(relevance, mask),
        "floor": floor,
        "ceiling": target.ceiling(relevance, mask),
        "counted": kept.to(scores.dtype),
    }


def counted(surrogate: Surrogate, target: RankingMetric, relevance: Tensor, mask: Tensor) -> Tensor:
    """[B] bool: does the list count in the gap? Not where the target or the surrogate's aim is undefined, or where all
    of its labels are equal."""
    highest = relevance.masked_fill(~mask, -torch.inf).amax(1)
    lowest = relevance.masked_fill(~mask, torch.inf).amin(1)
    defined = target.defined(relevance, mask) & (surrogate.aim or target).defined(relevance, mask)
    return defined & (highest > lowest)


def summarise(
    surrogate: Surrogate,
    target: RankingMetric,
    columns: Mapping[str, NDArray[np.float64]],
    weight: NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """One row of the gap over the lists that count: means, bias and spread, each in the unit that the row names.

    The gap is ``estimate - exact`` for an approximation (signed), ``exact - certificate`` for a bound (never below 0;
    the other way round for an aim of which less is better), and not formed for neither. ``gap_aim`` sets the belief
    against the surrogate's own aim, ``gap_target`` against the reported metric, where it is the aim but for its options
    and cutoff: others have no unit in common. ``gap_abs``, ``gap_sd`` and ``gap_p95`` are the mean, the standard
    deviation and the 95th percentile over lists of (the absolute value of) ``gap_aim``, each list with its weight: the
    variance is ``sum w (x - mean)^2 / (sum w - sum w^2 / sum w)``, the percentile the smallest size that 95 % of the
    weight does not exceed. ``vacuous``: a certificate whose mean is worse than that of a random order, which guarantees
    nothing. None stands for a mean over no list.

    Args:
        surrogate: the loss that is trained on.
        target: the metric that is reported.
        columns: [Q] arrays as ``columns`` gives them, over all lists.
        weight: [Q] >= 0, of each list in all means; 1 when None.

    Example:
        >>> from ltr.losses import MSE
        >>> from ltr.metrics import NDCG
        >>> found = columns(MSE(), NDCG(), torch.tensor([[0.3, 0.1]]), torch.tensor([[1.0, 0.0]]))
        >>> row = summarise(MSE(), NDCG(), {name: value.numpy() for name, value in found.items()})
        >>> row["kind"], row["target_value"], row["gap_aim"], row["lists"]
        ('neither', 1.0, None, 1)
    """
    kept = columns["counted"] > 0
    weights = np.ones(len(kept)) if weight is None else np.asarray(weight, dtype=np.float64)
    heard = kept & (weights > 0)
    weights = weights[heard]
    values = {name: np.asarray(column)[heard] for name, column in columns.items()}
    aim = surrogate.aim
    bound, rises = surrogate.kind == "bound", aim is None or aim.larger_is_better
    sign = -1.0 if bound and rises else 1.0
    gap = sign * (values["belief"] - values["aim"])
    alike = aim is not None and aim.base == target.base  # else they have no unit in common
    row: dict[str, Any] = {
        "surrogate": type(surrogate).__name__,
        "kind": surrogate.kind,
        "aim": aim.name if aim else None,
        "target": target.name,
        "lists": int(kept.sum()),
        "left_out": int((~kept).sum()),
        "loss": _mean(values["loss"], weights * values["share"]),
        "loss_unit": surrogate.unit,
        "target_value": _mean(values["target"], weights),
        "floor": _mean(values["floor"], weights),
        "ceiling": _mean(values["ceiling"], weights),
    }
    believed: dict[str, Any] = {
        "belief": _mean(values["belief"], weights),
        "aim_value": _mean(values["aim"], weights),
        "aim_floor": _mean(values["aim_floor"], weights),
        "gap_aim": _mean(gap, weights),
        "gap_target": _mean(sign * (values["belief"] - values["target"]), weights) if alike else None,
        "gap_abs": _mean(np.abs(gap), weights),
        "gap_sd": _spread(gap, weights),
        "gap_p95": _quantile(np.abs(gap), weights, 0.95),
    }
    if aim is None:
        return row | dict.fromkeys(believed) | {"gap_says": None, "vacuous": None}
    says = ("exact - certificate" if rises else "certificate - exact") if bound else "estimate - exact"
    empty = bound and bool(heard.any()) and sign * (believed["belief"] - believed["aim_floor"]) > 0
    return row | believed | {"gap_says": says, "vacuous": empty}


def _mean(values: NDArray[np.float64], weight: NDArray[np.float64]) -> float | None:
    return float((values * weight).sum() / weight.sum()) if weight.any() else None


def _spread(values: NDArray[np.float64], weight: NDArray[np.float64]) -> float | None:
    """The standard deviation: that of the textbook (divided by n - 1) where all weights are equal."""
    if len(values) < 2:
        return None
    total = weight.sum()
    squares = (weight * (values - (values * weight).sum() / total) ** 2).sum()
    return float(np.sqrt(squares / (total - (weight**2).sum() / total)))


def _quantile(values: NDArray[np.float64], weight: NDArray[np.float64], share: float) -> float | None:
    """The smallest value that this share of the weight does not exceed; NaN where a value is."""
    if not len(values) or np.isnan(values).any():
        return float("nan") if len(values) else None
    order = values.argsort(kind="stable")
    reached = weight[order].cumsum()
    place = np.searchsorted(reached, share * reached[-1] * (1 - 1e-12))  # 19 of 20 equal weights are 95 %
    return float(values[order[min(place, len(values) - 1)]])

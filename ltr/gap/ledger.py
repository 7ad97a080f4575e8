"""What lies between a loss on the lists it was trained on and the metric on others, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ltr.gap.belief import columns
from ltr.gap.concordance import monotone
from ltr.gap.figures import Figure, difference, figure
from ltr.gap.scored import CELLS, ScoredLists
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric
from ltr.softening import centred

STATES = 3  # of a training, from which on its losses tell something of the metric
SHARPER = 1e3  # from here on the factor on the scores is raised by this
TIMES = 4  # so often, at most, to see that an estimate stays as it is

_Array = NDArray[np.float64]


def ledger(
    surrogate: Surrogate,
    target: RankingMetric,
    validation: ScoredLists,
    train: ScoredLists | None,
    *,
    factor: float | None,
    history: Sequence[Mapping[str, Any]] = (),
    sure: bool = True,
    seed: int = 0,
) -> dict[str, Figure]:
    """What separates the belief on the training lists from the metric on the validation lists: lines with their total.

    E is an approximation's estimate, H the same at zero temperature, C a bound's certificate, C* the same at c* times
    the scores, A and M the exact aim and target, each a mean over lists:

    - approximation: ``E_train - M = (E_train - E) generalisation + (E - H) smoothing + (H - M) specification``;
    - bound: ``M - C_train = (A - C*) intrinsic + (C* - C) scale + (M - A) specification + (C - C_train)
      generalisation``, all with the other sign for an aim of which less is better;
    - neither: ``M - h(l_train) = (M - h(l)) residual + (h(l) - h(l_train)) generalisation``, h the metric that a loss
      stands for: the best monotone fit over the states of the training, straight between them. Intervals hold h fixed.

    Where aim and target are no options of one metric, they have no unit in common, and M is the aim: so says the unit.

    Args:
        surrogate: the loss that is trained on.
        target: the metric that is reported.
        validation: the lists that the ranker was not trained on.
        train: those that it was. Without them the generalisation is not known, and the total is that of the others.
        factor: c*, as ``scale_split`` finds it; without it the scale is not known, and counts as intrinsic.
        history: rows with "loss" and "target_value", one a state of the training: for neither alone, from three on.
        sure: work out intervals too.
        seed: of the bootstrap.

    Returns:
        The parts in the order above, then "total", their sum; in units of the metric. Over the lists that count, whose
        values are all finite.

    Example:
        >>> from ltr.gap.scored import scored
        >>> from ltr.losses import ApproxMetric
        >>> from ltr.metrics import NDCG
        >>> lists = scored(torch.tensor([[0.1, 0.0, 0.3]]), torch.tensor([[2.0, 0.0, 1.0]]))
        >>> lines = ledger(ApproxMetric("ndcg@1"), NDCG(k=1), lists, lists, factor=None)
        >>> {name: round(line.value, 3) for name, line in lines.items()}
        {'generalisation': 0.0, 'smoothing': -0.051, 'specification': 0.463, 'total': 0.413}
    """
    unit = (target if _alike(surrogate, target) else surrogate.aim or target).name
    here = _read(surrogate, target, validation, factor)
    there = None if train is None else _read(surrogate, target, train, None)
    if there is not None and not len(there.weight):
        there = None
    if surrogate.kind == "neither":
        lines = _relation(target, here, there, history, unit, sure, seed)
    else:
        lines = _lines(surrogate, here, there, unit, factor, sure, seed)
    known = [line.value for name, line in lines.items() if name != "total" and line.value is not None]
    return lines | {"total": lines["total"]._replace(value=sum(known) if known else None)}


class _Read(NamedTuple):
    """[Q] of the lists that count."""

    belief: _Array
    limit: _Array  # the estimate at zero temperature, or the certificate at the best scale
    aim: _Array
    truth: _Array  # the target, or the aim where these have no unit in common
    loss: _Array
    share: _Array  # of the list in the mean loss, times its weight
    weight: _Array


def _read(surrogate: Surrogate, target: RankingMetric, lists: ScoredLists, factor: float | None) -> _Read:
    step = max(1, CELLS // max(1, lists.scores.shape[1]))
    parts = torch.split(torch.arange(len(lists), device=lists.scores.device), step)
    with surrogate.evaluating():
        found = [_part(surrogate, target, lists.pick(part), factor) for part in parts]
    table = torch.cat(found, 1).cpu().numpy()
    kept = (table[-1] > 0) & (table[-2] > 0) & np.isfinite(table).all(0)
    return _Read(*table[:-1, kept])


@torch.no_grad()
def _part(surrogate: Surrogate, target: RankingMetric, lists: ScoredLists, factor: float | None) -> Tensor:
    """[8, B] the fields of ``_Read`` and whether the list counts."""
    given = lists.relevance, lists.mask
    values = columns(surrogate, target, lists.scores, *given, teacher=lists.teacher)
    belief = limit = values["belief"]
    if surrogate.kind == "neither":
        belief = limit = values["target"]
    elif surrogate.kind == "approximation":
        limit = _zero_temperature(surrogate, lists)
    elif factor is not None:
        certificate = surrogate.certificate(lists.scores * factor, *given)
        limit = belief if certificate is None else certificate.to(belief.dtype)
    truth = values["target"] if _alike(surrogate, target) else values["aim"]
    share = values["share"].to(belief.dtype) * lists.weight
    rows = belief, limit, values["aim"], truth, values["loss"], share, lists.weight, values["counted"]
    return torch.stack(rows)


def _zero_temperature(surrogate: Surrogate, lists: ScoredLists) -> Tensor:
    """[B] the estimate of scores so far apart that it changes no more; NaN for a list in which it never ends."""
    scores = centred(lists.scores, lists.mask) if surrogate.shift_invariant else lists.scores
    ordered = scores.masked_fill(~lists.mask, torch.inf).sort(1).values
    gaps = ordered.diff(dim=1)
    gaps = torch.where(torch.isfinite(gaps) & (gaps > 0), gaps, torch.inf)
    least = gaps.amin(1, keepdim=True) if gaps.shape[1] else gaps.new_full((len(gaps), 1), torch.inf)
    apart = scores / torch.where(torch.isfinite(least), least, 1)  # by 1 at least, or tied

    def estimate(factor: float) -> Tensor:
        found = surrogate.estimate(apart * factor, lists.relevance, lists.mask)
        assert found is not None, "an approximation gives an estimate"
        return found.to(apart.dtype)

    limit, settled = estimate(SHARPER), torch.zeros_like(lists.weight, dtype=torch.bool)
    for times in range(2, TIMES + 1):
        sharper = estimate(SHARPER**times)
        settled, limit = (sharper - limit).abs() <= 1e-9, sharper
        if settled.all():
            break
    return torch.where(settled, limit, torch.nan)


def _lines(
    surrogate: Surrogate, here: _Read, there: _Read | None, unit: str, factor: float | None, sure: bool, seed: int
) -> dict[str, Figure]:
    """An approximation's or a bound's."""

    def mean(values: _Array) -> Figure:
        return figure(values, unit, here.weight, sure=sure, seed=seed)

    unknown = Figure(None, unit)
    if surrogate.kind == "approximation":
        rest = {"smoothing": mean(here.belief - here.limit), "specification": mean(here.limit - here.truth)}
        if there is None:
            return {"generalisation": unknown, **rest, "total": mean(here.belief - here.truth)}
        weights = there.weight, here.weight
        learned = difference(there.belief, here.belief, unit, weights)
        return {"generalisation": learned, **rest, "total": difference(there.belief, here.truth, unit, weights)}
    sign = 1 if surrogate.aim is None or surrogate.aim.larger_is_better else -1
    rest = {
        "intrinsic": mean(sign * (here.aim - here.limit)),
        "scale": unknown if factor is None else mean(sign * (here.limit - here.belief)),
        "specification": mean(sign * (here.truth - here.aim)),
    }
    if there is None:
        return {**rest, "generalisation": unknown, "total": mean(sign * (here.truth - here.belief))}
    weights = here.weight, there.weight
    learned = difference(sign * here.belief, sign * there.belief, unit, weights)
    total = difference(sign * here.truth, sign * there.belief, unit, weights)
    return {**rest, "generalisation": learned, "total": total}


def _relation(
    target: RankingMetric,
    here: _Read,
    there: _Read | None,
    history: Sequence[Mapping[str, Any]],
    unit: str,
    sure: bool,
    seed: int,
) -> dict[str, Figure]:
    """A loss' that is neither, by what it stood for in the states of its training."""
    unknown = Figure(None, unit)
    states = np.array([(row.get("loss"), row.get("target_value")) for row in history], dtype=np.float64).reshape(-1, 2)
    states = states[np.isfinite(states).all(1)]
    if len(states) < STATES or not here.share.any():
        return dict.fromkeys(("residual", "generalisation", "total"), unknown)
    levels, fitted = monotone(*states.T, falling=target.larger_is_better)

    def stands_for(read: _Read) -> float:
        return float(np.interp(np.average(read.loss, weights=read.share), levels, fitted))

    def above(value: float) -> Figure:
        return figure(here.truth - value, unit, here.weight, sure=sure, seed=seed)

    expected = stands_for(here)
    if there is None or not there.share.any():
        return {"residual": above(expected), "generalisation": unknown, "total": above(expected)}
    trained = stands_for(there)
    learned = Figure(expected - trained, unit, lists=len(here.loss) + len(there.loss))
    return {"residual": above(expected), "generalisation": learned, "total": above(trained)}


def _alike(surrogate: Surrogate, target: RankingMetric) -> bool:
    """Have the surrogate's aim and the target a unit in common?"""
    return surrogate.aim is None or surrogate.aim.base == target.base

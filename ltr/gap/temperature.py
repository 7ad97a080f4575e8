"""What another temperature would be worth, at scores that stay as they are: no training is needed to see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ltr.gap.alignment import alignment, step_yield
from ltr.gap.belief import columns
from ltr.gap.figures import Figure, figure
from ltr.gap.scored import ScoredLists, descent
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric

FACTORS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


class Setting(NamedTuple):
    """A surrogate at one softness."""

    softness: float  # in units of the scores: its temperature, or what it has in place of one
    gap: Figure  # estimate - exact aim, in units of the aim; without a value where there is no estimate
    alignment: Figure  # cosine of a descent step with the gradient of the smoothed metric
    step_yield: Figure  # what such a step of a fixed length changes in the metric
    cosines: Tensor  # [B] list by list; a list without a gradient has 0


def sweep(
    surrogate: Surrogate,
    target: RankingMetric,
    lists: ScoredLists,
    factors: Sequence[float] = FACTORS,
    *,
    sure: bool = True,
    seed: int = 0,
) -> list[Setting]:
    """The value gap, the alignment and the yield of a surrogate at several temperatures, from the sharpest on.

    A sharper estimate is nearer to the metric and has a gradient for fewer documents; a blunter one is farther, and
    looks at more. A list in which no gradient is left counts with a cosine of 0.

    Args:
        surrogate: one with a ``softness``.
        target: the metric that is reported.
        lists: those to look at, all of which count.
        factors: times the softness that it has.
        sure: work out intervals too.
        seed: of the bootstrap.

    Raises:
        ValueError: the surrogate has no softness, or a factor is not above 0.

    Example:
        >>> from ltr.gap.scored import scored
        >>> from ltr.losses import ApproxMetric
        >>> from ltr.metrics import NDCG
        >>> lists = scored(torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[0.0, 1.0, 2.0]]))
        >>> settings = sweep(ApproxMetric("ndcg"), NDCG(), lists, (0.01, 1.0))
        >>> [(each.softness, round(each.gap.value, 3)) for each in settings]
        [(0.001, 0.0), (0.1, 0.033)]
    """
    return [_at(surrogate.softened(factor), target, lists, sure, seed) for factor in sorted(factors)]


def _at(surrogate: Surrogate, target: RankingMetric, lists: ScoredLists, sure: bool, seed: int) -> Setting:
    gradient = descent(surrogate, lists)
    given = (target, lists.scores, lists.relevance, gradient, lists.mask)
    weight, aim = lists.weight.cpu().numpy(), surrogate.aim or target

    def mean(values: Tensor, unit: str) -> Figure:
        return figure(values.cpu(), unit, weight, sure=sure, seed=seed)

    gap = Figure(None, aim.name)
    if surrogate.kind == "approximation":
        seen = columns(surrogate, target, lists.scores, lists.relevance, lists.mask, teacher=lists.teacher)
        gap = mean(seen["belief"] - seen["aim"], aim.name)
    cosines = torch.nan_to_num(alignment(*given), nan=0.0)
    softness = surrogate.softness
    assert softness is not None, "a softened surrogate has a softness"
    return Setting(softness, gap, mean(cosines, "cosine"), mean(step_yield(*given), target.name), cosines)

"""SmoothI: a metric on smooth indicators of what stands at each place, one place after the other."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ltr.losses.base import flag, positive
from ltr.losses.permutations import Permuting, read_places
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric

PLACES = 64  # whose graph is kept at once


def smooth_i(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    alpha: float = 1.0,
    delta: float = 0.1,
    stop_gradient: bool = False,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the metric where I_r = softmax(alpha s prod_{q < r} (1 - I_q - delta)) says what stands at place r.

    O(K L) time for the first K places; memory for the graph of 64 of them. See ``SmoothI``.
    """
    scores, mask, worth, place = read_places(scores, relevance, mask, metric, weight)
    lowest = scores.masked_fill(~mask, torch.inf).amin(1, keepdim=True)
    height, outside = alpha * torch.where(mask, scores - lowest, 0), ~mask & mask.any(1, keepdim=True)

    def some(left: Tensor, height: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        value = torch.zeros_like(height[:, 0])
        for each in places.unbind(1):
            here = (height * left).masked_fill(outside, -torch.inf).softmax(1)
            value = value + each * (here * worth).sum(1)
            left = left * (1 - (here.detach() if stop_gradient else here) - delta)
        return left, value

    left, parts = torch.ones_like(height), torch.split(place, PLACES, 1)
    if len(parts) == 1:
        return some(left, height, place)[1]
    value = torch.zeros_like(height[:, 0])
    for places in parts:
        left, more = checkpoint(some, left, height, places, use_reentrant=False)
        value = value + more
    return value


class SmoothI(Permuting):
    """1 - metric on smooth rank indicators: each place takes the best of what the places above have left.

    ``loss = 1 - sum_r place(r) sum_i I_r[i] worth_i``, ``I_r = softmax(alpha h prod_{q < r} (1 - I_q - delta))`` with
    h the height of a score above the lowest of its list: exact as alpha -> infinity where no scores are equal. The
    heights shrink by the factor 1 - delta from place to place, so that places far beyond 1 / delta are blunt. Source:
    Thonet, Cinar, Gaussier, Li, Renders (2022), SmoothI: smooth rank indicators for differentiable IR metrics.

    NOTE[DIFF] A place is worth the expected gain there; the authors' code takes the gain 2^y of the expected label,
    which is no expectation of DCG.

    Args:
        metric: one that sums worth times place (ndcg, dcg, rbp, precision, recall, f1), or the name of one; its k
            says how many places are worked out.
        alpha: > 0, in 1 / units of the scores; the larger, the closer to the exact metric.
        delta: > 0, by how much each place pushes the documents above it down.
        stop_gradient: hold what the places above have left constant, as the authors do for long lists.

    Raises:
        ValueError: an unknown metric or another one, or alpha or delta not above 0.

    Example:
        >>> loss = SmoothI("ndcg@10", alpha=10)
        >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> round(loss.estimate(scores, labels).item(), 4), round(loss.aim(scores, labels).item(), 4)
        (0.7158, 0.659)
    """

    cost = "O(K L)"

    def __init__(
        self, metric: RankingMetric | str, alpha: float = 1.0, delta: float = 0.1, stop_gradient: bool = False
    ) -> None:
        super().__init__(metric)
        self.alpha, self.delta = positive("alpha", alpha), positive("delta", delta)
        self.stop_gradient = self.constant_parts = flag("stop_gradient", stop_gradient)

    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return smooth_i(scores, relevance, mask, self.metric, self.alpha, self.delta, self.stop_gradient, weight=weight)

"""Yeti: LambdaRank between neighbours of noised orders."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ltr.losses.base import positive, read_lists
from ltr.losses.draws import Drawing, over_samples, perturbed, read_noise, repeated
from ltr.losses.sums import summing
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric
from ltr.ranking import Pool, RankOrder, exact_ranking


def yeti(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    noise: Tensor,
    sigma: float = 1.0,
    scale: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean over draws of the sum over neighbours i, j of s + scale logit(noise), y_i > y_j, of |metric after
    swapping them - before| * ln(1 + exp(-sigma (s_i - s_j))). See ``Yeti``.

    The weights are constants to the gradient. O(samples L log L) time; ``noise`` [B, L, samples] lies in (0, 1).
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    noise = read_noise(noise, mask).to(scores.dtype)
    samples = noise.shape[2]
    with torch.no_grad():
        ranking = exact_ranking(scores, mask, pool=Pool(relevance, mask), dtype=scores.dtype)
        worth = metric.worth(ranking, relevance)
        centred = scores - scores.masked_fill(~mask, -torch.inf).amax(1, keepdim=True)  # so that no digits are lost
        noised = perturbed(centred, scale * torch.logit(noise)).masked_fill(~repeated(mask, samples), -torch.inf)
        order = noised.argsort(dim=1, descending=True, stable=True)
        place = RankOrder(mask.new_ones(mask.shape)).mean(metric.place, metric.k).to(scores.dtype)
        step = place[:1, :-1] - place[:1, 1:]

    def neighbours(values: Tensor) -> tuple[Tensor, Tensor]:
        listed = repeated(values, samples).gather(1, order)
        return listed[:, :-1], listed[:, 1:]

    (y, z), (w, v), (own, other), (s, t) = (neighbours(each) for each in (relevance, worth, weight, scores))
    real = neighbours(mask)[1] & (y != z)
    delta = (w - v).abs() * step * torch.where(y > z, own, other) * real
    return over_samples(-(delta * logsigmoid(sigma * (s - t) * (y - z).sign())).sum(1), samples)


class Yeti(Drawing):
    """LambdaRank between the neighbours of randomly noised orders, on any metric that sums worth times place.

    ``loss = mean over draws of the sum over neighbours, y_i > y_j, of |delta_ij| ln(1 + exp(-sigma (s_i - s_j)))``; the
    order, and delta, what swapping the two does to the metric, are those of s + scale z with z standard logistic. Noise
    lets documents of like scores meet, whoever stands first now, so that neighbours alone are enough. Its value says
    nothing of progress, since the weights move as the orders do, and it bounds nothing.
    Source: Lyzhin et al. (2022), Which tricks are important for learning to rank? (YetiLoss); the noise and the
    neighbours: Gulin, Kuralenok, Pavlov (2011), Winning the transfer learning track of Yahoo!'s learning to rank
    challenge with YetiRank.

    NOTE[DIFF] YetiRank itself, CatBoost's classic mode, takes (y_i - y_j) 0.15 * 0.85^place, whatever the metric;
    TensorFlow Ranking takes Gumbel noise and the same d(1) - d(2) at every place.

    Args:
        metric: one that sums worth times place (ndcg, dcg, precision, recall, f1, rbp, arp), or its name.
        sigma: > 0, steepness in 1 / units of the scores.
        scale: > 0, of the noise, in units of the scores.
        samples: draws of each list.
        seed: of the draws.

    Raises:
        ValueError: another metric, or a number out of range.

    Example:
        >>> loss = Yeti("ndcg@10", samples=1000).eval()
        >>> scores, labels = torch.tensor([[1.0, 0.5, -0.5]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> round(loss(scores, labels).item(), 2)
        0.27
    """

    cost = "O(samples L log L)"
    softness_in = "1/sigma"
    suits = ("binary", "graded", "sparse")
    unit = "weighted nats"
    informative = False

    def __init__(
        self, metric: RankingMetric | str, sigma: float = 1.0, scale: float = 1.0, samples: int = 10, seed: int = 0
    ) -> None:
        super().__init__(seed, samples)
        self.metric: SumMetric = summing(type(self).__name__, metric, falling=True)
        self.sigma, self.scale = positive("sigma", sigma), positive("scale", scale)

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        weight: Tensor | None = None,
        noise: Tensor | None = None,
    ) -> Tensor:
        noise = self.noise(scores) if noise is None else noise
        return yeti(scores, relevance, mask, self.metric, noise, self.sigma, self.scale, weight=weight)

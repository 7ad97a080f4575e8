"""Expected metrics: what a metric is worth on average when rankings are drawn by the scores."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ltr.losses.approx import read_gains, shortfall
from ltr.losses.base import Kind
from ltr.losses.draws import Drawing, gumbel, read_noise
from ltr.losses.sums import summing
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric
from ltr.ranking import Pool, Ranking
from ltr.softening import centred, once


def expected_metric(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: RankingMetric,
    noise: Tensor,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] mean of the metric over drawn rankings, with an unbiased gradient of its expected value.

    Each draw ranks the documents by their scores plus Gumbel noise, which is a Plackett-Luce ranking: one document
    after the other, each with a chance in proportion to exp(score) among those left. See ``ExpectedMetric``.

    Args:
        scores, relevance, mask: [B, L].
        metric: a sum of what documents are worth times what places are worth.
        noise: [B, L, samples] uniform draws from (0, 1).
        weight: [B, L] >= 0, of each document's gain.

    Raises:
        ValueError: noise of another shape, or weights for a metric without gains.
    """
    scores, labels, mask, metric = read_gains(scores, relevance, mask, metric, weight)
    assert isinstance(metric, SumMetric)
    anywhere = torch.ones_like(scores)
    worth = metric.worth(Ranking(anywhere, anywhere, mask, pool=Pool(labels, mask)), labels)
    scores = centred(scores, mask)  # differences alone count, and keep their digits
    drawn = scores[:, None] + gumbel(read_noise(noise, mask)).to(scores.dtype).transpose(1, 2)  # [B, S, L]
    length = min(metric.k or scores.shape[1], scores.shape[1])
    order = drawn.masked_fill(~mask[:, None], -torch.inf).topk(length).indices
    place = metric.place(torch.arange(1, length + 1, device=scores.device, dtype=scores.dtype))
    value = (place * worth[:, None].expand_as(drawn).gather(2, order)).sum(2).mean(1)
    slope = pl_rank(scores.detach(), mask, worth, place, order).mean(1)
    told: Tensor = _with_gradient(value, scores, slope)
    return told


@torch.compiler.disable  # type: ignore[untyped-decorator]  # which would look for a graph in the gradient
def _with_gradient(value: Tensor, scores: Tensor, gradient: Tensor) -> Tensor:
    """The value [B], differentiable once in the scores [B, L], of which it has this gradient [B, L]."""
    told: Tensor = _Told.apply(scores, value, gradient)  # type: ignore[no-untyped-call]
    return told


class _Told(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, value: Tensor, gradient: Tensor) -> Tensor:
        ctx.save_for_backward(gradient)
        return value.clone()

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[:, None], None, None


def pl_rank(scores: Tensor, mask: Tensor, worth: Tensor, place: Tensor, order: Tensor) -> Tensor:
    """[B, S, L] by each drawn ranking, an unbiased gradient of the expected sum of worth times place: PL-Rank-3.

    O(L + k) for a ranking, by running sums over its places in place of ``pl_rank_by_definition``'s sum for each
    document. Source: Oosterhuis (2022), Learning-to-rank at the speed of sampling.

    Args:
        scores, mask: [B, L].
        worth: [B, L] of each document, 0 where padded.
        place: [k] what the first k places are worth.
        order: [B, S, k] the documents on them; padding stands last.
    """
    wide = scores.masked_fill(~mask, -torch.inf)[:, None].expand(-1, order.shape[1], -1)
    gained = place * worth[:, None].expand_as(wide).gather(2, order)
    to_go = gained.flip(2).cumsum(2).flip(2)  # [B, S, k] what this place and those below it gained
    top, rest = wide.gather(2, order), wide.scatter(2, order, -torch.inf).logsumexp(2, keepdim=True)
    left = torch.cat([top, rest], 2).flip(2).logcumsumexp(2).flip(2)[:, :, :-1]  # log of the mass that is left
    left = left.masked_fill(left == -torch.inf, torch.inf)  # places without a document
    place_at, lost_at = ((each.log() - left).logcumsumexp(2) for each in (place, to_go))
    counter = torch.arange(order.shape[2], device=order.device).expand_as(order)
    last = torch.full_like(wide, order.shape[2] - 1, dtype=torch.long).scatter(2, order, counter)
    below = torch.zeros_like(wide).scatter(2, order, to_go - gained)
    hoped = worth[:, None] * torch.exp(wide + place_at.gather(2, last))
    return below + hoped - torch.exp(wide + lost_at.gather(2, last))


def pl_rank_by_definition(scores: Tensor, mask: Tensor, worth: Tensor, place: Tensor, order: Tensor) -> Tensor:
    """The same, place by place: whoever could have come next, times what that would have gained, minus what came."""
    gradient = torch.zeros(*order.shape[:2], scores.shape[1], dtype=scores.dtype, device=scores.device)
    left, wide = mask[:, None].expand_as(gradient).clone(), worth[:, None].expand_as(gradient)
    gained = place * wide.gather(2, order)
    for x, value in enumerate(place):
        chance = scores[:, None].masked_fill(~left, -torch.inf).softmax(2).nan_to_num()  # of all left
        gradient += chance * (value * wide - gained[:, :, x:].sum(2, keepdim=True))
        gradient.scatter_add_(2, order[:, :, x : x + 1], gained[:, :, x + 1 :].sum(2, keepdim=True))
        left.scatter_(2, order[:, :, x : x + 1], False)
    return gradient


class ExpectedMetric(Drawing):
    """1 - the expected metric of rankings that are drawn by the scores (Plackett-Luce), by PL-Rank-3 gradients.

    ``loss = 1 - E M(ranking)``, the mean over ``samples`` drawn rankings. Its value is the metric of a system that
    draws its rankings, and not that of the ranking by falling score: as long as the scores leave room for chance it is
    drawn towards what a random order is worth, and both are the same once the scores are far apart. The gradient is
    right on average over draws; for each of them it is an estimate.
    Source: Oosterhuis (2021), Computationally efficient optimization of Plackett-Luce ranking models; (2022),
    Learning-to-rank at the speed of sampling.

    Args:
        metric: one that sums worth times place (ndcg, dcg, precision, recall, f1, rbp), or its name. Its cutoff saves
            time.
        samples: rankings drawn for each list.
        seed: of the draws.

    Raises:
        ValueError: another metric, or a number out of range.

    Example:
        >>> import torch
        >>> labels = torch.tensor([[0.0, 1.0]])
        >>> loss = ExpectedMetric("ndcg", samples=10_000).eval()  # second place: 1 / log2(3) = 0.631
        >>> [round(loss(torch.tensor([[s, 0.0]]), labels).item(), 1) for s in (0.0, 20.0)]  # 0.369 / 2, 0.369
        [0.2, 0.4]
    """

    cost = "O(samples (L + k log k))"
    suits = ("binary", "graded")
    sampled_gradient = True

    def __init__(self, metric: RankingMetric | str, samples: int = 32, seed: int = 0) -> None:
        super().__init__(seed, samples)
        self.metric: SumMetric = summing(type(self).__name__, metric)
        self.unit = f"expected {self.metric.name}"

    @property
    def kind(self) -> Kind:
        return "approximation"

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        weight: Tensor | None = None,
        noise: Tensor | None = None,
    ) -> Tensor:
        value = self.estimate(scores, relevance, mask, weight=weight, noise=noise)
        return shortfall(value, scores, relevance, mask, self.metric, weight)

    def estimate(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        weight: Tensor | None = None,
        noise: Tensor | None = None,
    ) -> Tensor:
        noise = self.noise(scores) if noise is None else noise
        return expected_metric(scores, relevance, mask, self.metric, noise, weight=weight)

"""BoundMetric: a metric on hinge ranks, which it can only exceed."""

from __future__ import annotations

from torch import Tensor

from ltr.losses.approx import read_gains, shortfall
from ltr.losses.base import Kind, Surrogate, learnable
from ltr.metrics import RR, RankingMetric
from ltr.metrics.base import CountMetric, SumMetric
from ltr.ranking import HingeRanking


def bound_metric(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: RankingMetric,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the metric's own definition on hinge ranks: rank_i = 1 + sum over j != i of max(0, 1 + s_j - s_i).

    O(L log L) time. See ``BoundMetric`` for the metrics and for what this bounds.
    """
    scores, relevance, mask, metric = read_gains(scores, relevance, mask, metric, weight)
    return metric.of(HingeRanking(scores, mask), relevance)


class BoundMetric(Surrogate):
    """1 - metric on hinge ranks: a value that the metric over the full list is never below, under any rule for ties.

    ``loss = 1 - M(h), h_i = 1 + sum over j != i of max(0, 1 + s_j - s_i) >= rank_i``. It holds for a metric that only
    asks where the relevant documents stand, and falls with each rank. Source: Jagerman et al. (2022), Rax: composable
    learning-to-rank using JAX (``bound_t12n``); ranks by hinges: Joachims, Swaminathan, Schnabel (2017). Scores are in
    units of the margin, 1: a document ahead, or behind by less, costs 1 and its lead, so that the bound is tight at the
    ideal order alone.

    Args:
        metric: ndcg, dcg, mrr or rbp, or the name of one; without its cutoff, beyond which a bound has no gradient.

    Raises:
        ValueError: an unknown metric, or another one.

    Example:
        >>> import torch
        >>> loss = BoundMetric("ndcg@10")
        >>> scores, labels = torch.tensor([[9.0, 4.0, 0.0]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> round(loss.certificate(scores, labels).item(), 4), round(loss.aim(scores, labels).item(), 4)
        (0.3428, 0.659)
    """

    cost = "O(L log L)"
    suits = ("binary", "graded", "sparse")

    def __init__(self, metric: RankingMetric | str) -> None:
        super().__init__()
        metric = learnable(metric)
        falls = isinstance(metric, RR | SumMetric) and metric.larger_is_better
        if not falls or isinstance(metric, CountMetric):
            raise ValueError(
                f"{type(self).__name__}: wants a metric of the relevant documents' ranks alone, without a cutoff "
                f"(ndcg, dcg, mrr, rbp); got {metric.name}"
            )
        self.metric: RankingMetric = metric.uncut()
        self.unit = self.metric.name

    @property
    def kind(self) -> Kind:
        return "bound"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        value = bound_metric(scores, relevance, mask, self.metric, weight=weight)
        return shortfall(value, scores, relevance, mask, self.metric, weight)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return bound_metric(scores, relevance, mask, self.metric)

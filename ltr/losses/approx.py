"""ApproxNDCG, ApproxMRR, ApproxAP, ...: any metric on soft ranks."""

from __future__ import annotations

from torch import Tensor

from ltr.lists import check_lists
from ltr.losses.base import Kind, Surrogate, learnable, positive
from ltr.losses.pairs import rows_of
from ltr.metrics import RankingMetric
from ltr.ranking import Pool, soft_ranking


def approx_metric(
    scores: Tensor, relevance: Tensor, mask: Tensor | None, metric: RankingMetric, temperature: float = 0.1
) -> Tensor:
    """[B] the metric's own definition on soft ranks: rank_i = 1 + sum over j != i of sigmoid((s_j - s_i) / T).

    Source: Qin, Liu, Li (2010), A general approximation framework for direct optimization of information retrieval
    measures. See ``ApproxMetric`` for the arguments. Where documents without a gain are nothing to the metric, they
    are ranked by nobody: O(R L) for R documents with one.
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    relevance = relevance.to(scores.dtype)
    if not metric.gainful:
        return metric.of(soft_ranking(scores, mask, temperature), relevance)
    rows = rows_of(mask & (metric.document_gain(relevance) > 0))
    ranking = soft_ranking(scores, mask, temperature, rows, Pool(relevance, mask))
    return metric.of(ranking, relevance.gather(1, rows))


class ApproxMetric(Surrogate):
    """1 - metric on soft ranks: ApproxNDCG, ApproxMRR or ApproxAP by the metric that it is given.

    ``loss = 1 - M(soft ranks at temperature T)``, exact as T -> 0 where no scores are equal. Source: Qin, Liu, Li
    (2010); Bruch et al. (2019), Revisiting approximate metric optimization in the age of deep neural networks.

    Args:
        metric: a metric or its name.
        temperature: > 0, in units of the scores. Small against their spread, only near neighbours have a gradient;
            large, the estimate is blunt.
        truncate: aim at the metric with its cutoff. By default the aim is the full list, since a soft cutoff has no
            gradient for documents far below it; precision and recall keep their cutoff, which is all they are.

    Raises:
        ValueError: an unknown metric, one of which less is better (arp) or that no ranking changes (judged), or a
            temperature that is not above 0.

    Example:
        >>> import torch
        >>> loss = ApproxMetric("ndcg@10", temperature=0.01)
        >>> loss.aim.name, round(loss(torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0.0, 2.0, 1.0]])).item(), 4)
        ('ndcg', 0.341)
    """

    def __init__(self, metric: RankingMetric | str, temperature: float = 0.1, truncate: bool = False) -> None:
        super().__init__()
        metric = learnable(metric)
        if not metric.larger_is_better:
            raise ValueError(f"{type(self).__name__}: {metric.name} is no aim to raise: less of it is better")
        self.metric: RankingMetric = metric if truncate else metric.uncut()
        self.temperature = positive("temperature", temperature)
        self.unit = self.metric.name

    @property
    def kind(self) -> Kind:
        return "approximation"

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        scores, relevance, mask = check_lists(scores, relevance, mask)
        return (1 - self.estimate(scores, relevance, mask)) * self.metric.defined(relevance, mask)

    def estimate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return approx_metric(scores, relevance, mask, self.metric, self.temperature)

"""ApproxNDCG, ApproxMRR, ApproxAP, ...: any metric on soft ranks."""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from ltr.losses.base import Kind, Surrogate, check_word, flag, learnable, positive, read_lists, weighted_gains
from ltr.losses.pairs import rows_of
from ltr.metrics import AUC, Bpref, KendallTau, PairAccuracy, RankingMetric, RPrecision
from ltr.ranking import Pool, SoftRanking, SoftRanks

Soft = Literal["all", "ranks"]
RANKLESS = (AUC, Bpref, KendallTau, PairAccuracy)  # which ask who stands above whom alone


def approx_metric(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: RankingMetric,
    temperature: float = 0.1,
    soft: Soft = "all",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the metric's own definition on soft ranks: rank_i = 1 + sum over j != i of sigmoid((s_j - s_i) / T).

    Source: Qin, Liu, Li (2010), A general approximation framework for direct optimization of information retrieval
    measures. See ``ApproxMetric`` for the arguments. Where documents without a gain are nothing to the metric, they
    are ranked by nobody: O(R L) time for R documents with one, and O(L^2) for other metrics; O(L) memory.
    """
    scores, relevance, mask, metric = read_gains(scores, relevance, mask, metric, weight)
    return metric.of(*soft_ranks(scores, relevance, mask, metric, temperature, soft))


def soft_ranks(
    scores: Tensor, relevance: Tensor, mask: Tensor, metric: RankingMetric, temperature: float, soft: Soft = "all"
) -> tuple[SoftRanking, Tensor]:
    """The soft ranks [B, R] of the documents that the metric looks at, and their labels."""
    pool, ranking = Pool(relevance, mask), SoftRanks if soft == "ranks" else SoftRanking
    if not metric.gainful:
        return ranking(scores, mask, temperature, pool=pool), relevance
    rows = rows_of(mask & (metric.document_gain(relevance) > 0))
    return ranking(scores, mask, temperature, rows, pool), relevance.gather(1, rows)


def read_gains(
    scores: Tensor, relevance: Tensor, mask: Tensor | None, metric: RankingMetric, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, RankingMetric]:
    """Scores, labels and mask as of ``read_lists``, and the metric; gains are multiplied by weights, if any."""
    scores, relevance, mask, factor = read_lists(scores, relevance, mask, weight)
    metric, relevance = weighted_gains(metric, relevance, mask, None if weight is None else factor)
    return scores, relevance, mask, metric


def shortfall(
    value: Tensor,
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: RankingMetric,
    weight: Tensor | None,
) -> Tensor:
    """[B] 1 - a value that stands for the metric's, 0 where the metric has no answer."""
    _, relevance, mask, metric = read_gains(scores, relevance, mask, metric, weight)
    return (1 - value) * metric.defined(relevance, mask)


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
        soft: "all", or the "ranks" alone, as in Rax's ``approx_t12n``: a cutoff is then a sigmoid of the distance in
            places (over the temperature too) from the soft rank to the middle between the k-th and the next, which is
            held constant, and AP's and ERR's documents above another are counted exactly.

    NOTE[DIFF] With soft="ranks", half of the documents of one score are above another of them, precision is over k, and
    padding has no rank. Rax counts them all, so that the AP of equal scores comes near to 2, divides precision by the
    sum of its cutoffs, and cuts a padded list as if each padded place had rank 1.

    Raises:
        ValueError: an unknown metric, one of which less is better (arp) or that no ranking changes (judged), another
            word, soft="ranks" of a metric that asks for no rank (auc, bpref, pairs, tau), or a temperature that is not
            above 0.

    Example:
        >>> import torch
        >>> loss = ApproxMetric("ndcg@10", temperature=0.01)
        >>> loss.aim.name, round(loss(torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0.0, 2.0, 1.0]])).item(), 4)
        ('ndcg', 0.341)
    """

    cost = "O(R L)"
    softness_in = "temperature"
    suits = ("binary", "graded", "sparse", "clicks")

    def __init__(
        self, metric: RankingMetric | str, temperature: float = 0.1, truncate: bool = False, soft: Soft = "all"
    ) -> None:
        super().__init__()
        metric = learnable(metric)
        if not metric.larger_is_better:
            raise ValueError(f"{type(self).__name__}: {metric.name} is no aim to raise: less of it is better")
        check_word("soft", soft, Soft)
        if soft == "ranks" and isinstance(metric, RANKLESS):
            raise ValueError(f'{type(self).__name__}: soft="ranks" wants a metric of ranks, got {metric.name}')
        self.metric: RankingMetric = metric if flag("truncate", truncate) else metric.uncut()
        self.temperature = positive("temperature", temperature)
        self.soft, self.unit = soft, self.metric.name
        cutoff = self.metric.k is not None or isinstance(self.metric, RPrecision)
        self.constant_parts = soft == "ranks" and cutoff
        self.cost = "O(R L)" if self.metric.gainful else "O(L^2)"

    @property
    def kind(self) -> Kind:
        return "approximation"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        scores, relevance, mask, metric = read_gains(scores, relevance, mask, self.metric, weight)
        ranking, labels = soft_ranks(scores, relevance, mask, metric, self.temperature, self.soft)
        return (1 - metric.of(ranking, labels)) * metric.answered(ranking, labels)

    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return approx_metric(scores, relevance, mask, self.metric, self.temperature, self.soft, weight=weight)

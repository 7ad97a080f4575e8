"""LambdaRank: pairs weighted by what swapping them does to a metric."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from ltr.losses.base import Kind, Surrogate, check_word, learnable, positive, read_lists
from ltr.losses.pairs import (
    Log,
    Pairs,
    Weigh,
    above_the_lowest,
    closeness,
    fewest_rows,
    greater,
    logistic,
    over_pairs,
    pair_share,
    pair_sum,
)
from ltr.metrics import DCG, NDCG, RankingMetric
from ltr.metrics.base import CountMetric, Deltas, SumMetric, linear_deltas
from ltr.ranking import Pool, Ranking, exact_ranking

Cutoff = Literal["discount", "any", "both"]
Norm = Literal["none", "list", "score", "both"]


def lambda_rank(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: RankingMetric,
    sigma: float = 1.0,
    log: Log = "binary",
    cutoff: Cutoff = "discount",
    norm: Norm = "none",
    pairs: Pairs = "sum",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] sum over pairs y_i > y_j of |metric after swapping i and j - before| * log2(1 + exp(-sigma (s_i - s_j))).

    The weights are constants to the gradient. O(R L) time for R documents above the lowest label, or among the first
    k. Source: Burges, Ragno, Le (2006), Learning to rank with nonsmooth cost functions. See ``LambdaRank`` for the
    arguments.
    """
    weighted = weight is not None
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    with torch.no_grad():
        own = weight if weighted else None
        rows, weigh, signed = _weights(scores, relevance, mask, own, metric, cutoff, norm in ("score", "both"))
    damped = norm in ("list", "both")
    summed = pair_sum(scores, rows, weigh, logistic(sigma, log), signed=signed, damped=damped)
    return over_pairs(summed, pairs, relevance, mask)


class LambdaRank(Surrogate):
    """LambdaRank on any metric's swap deltas, in bits, pairs summed, the discount cut at k.

    ``loss = sum over y_i > y_j of |delta_ij| log2(1 + exp(-sigma (s_i - s_j)))``. Source: Burges, Ragno, Le (2006).
    For NDCG and DCG with any discount that never rises it bounds the regret: metric >= ideal - loss (layer by layer
    of the gains, the regret is a matching of inverted pairs, each with exactly this weight and a cost of at least 1).
    For other metrics, and under the options below, it is a direction without a bound. Either way its value says
    nothing about progress, since the weights move as the ranks do.

    Args:
        metric: a metric or its name. Equal scores count by its rule for ties where it sums worth times place: the mean
            over their orders, unless it says otherwise (ndcg-stable: in the order of the input, as in Rax). Deltas of
            other metrics (mrr, ap, err, ...) are of one order, in which equals stand as they are listed; success may
            then have none at all, where enough of its relevant documents come first among equals.
        sigma: > 0, steepness in 1 / units of the scores.
        log: "binary", in bits, or "natural", as in LightGBM, XGBoost, CatBoost, Rax and TensorFlow Ranking.
        cutoff: what k means. "discount": places beyond k are worth nothing (Rax, TensorFlow Ranking). "any": pairs with
            a document among the first k count, by the discount of the full list (LightGBM, XGBoost, CatBoost). "both":
            both must be there (allRank, sentence-transformers), so that a document below k learns nothing.
        norm: "list" scales a list by log2(1 + S) / S, S being twice the sum of its gradients' pairs; "score" divides a
            pair by 0.01 + |s_i - s_j|; "both", as LightGBM and XGBoost do unless told otherwise; or "none".
        pairs: "sum", or "mean" over the list's pairs y_i > y_j; "batch" is the mean of which the mean over lists is one
            over all pairs of the batch (allRank, Rax, sentence-transformers).

    Raises:
        ValueError: an unknown metric or option, a sigma that is not above 0, or a rule for k without one.

    Example:
        >>> import torch
        >>> loss = LambdaRank("ndcg", log="natural")
        >>> round(loss(torch.tensor([[1.0, 0.5, -0.5]]), torch.tensor([[0.0, 2.0, 1.0]])).item(), 4)
        0.5539
    """

    cost = "O(R L)"
    softness_in = "1/sigma"
    suits = ("binary", "graded", "sparse")
    informative = False

    def __init__(
        self,
        metric: RankingMetric | str,
        sigma: float = 1.0,
        log: Log = "binary",
        cutoff: Cutoff = "discount",
        norm: Norm = "none",
        pairs: Pairs = "sum",
    ) -> None:
        super().__init__()
        self.metric: RankingMetric = learnable(metric)
        self.sigma = positive("sigma", sigma)
        self.log, self.cutoff, self.norm, self.pairs = log, cutoff, norm, pairs
        for name, words in {"log": Log, "cutoff": Cutoff, "norm": Norm, "pairs": Pairs}.items():
            check_word(name, getattr(self, name), words)
        if cutoff != "discount" and (self.metric.k is None or isinstance(self.metric, CountMetric)):
            raise ValueError(f"cutoff={cutoff}: wants a metric whose places differ below its k, got {self.metric.name}")
        self.constant_parts = norm != "none"
        self.by_index = not isinstance(self.metric, SumMetric) or self.metric.ties in ("docid", "stable")
        self.unit = self.metric.name if self.kind == "bound" else f"weighted {'bits' if log == 'binary' else 'nats'}"

    @property
    def kind(self) -> Kind:
        usual = (self.log, self.cutoff, self.norm, self.pairs) == ("binary", "discount", "none", "sum")
        return "bound" if usual and sums_gains(self.metric) else "neither"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        options = (self.sigma, self.log, self.cutoff, self.norm, self.pairs)
        return lambda_rank(scores, relevance, mask, self.metric, *options, weight=weight)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        if self.kind != "bound":
            return None
        return self.metric.ceiling(relevance, mask) - self.forward(scores, relevance, mask)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        return pair_share(self.pairs, relevance, mask)


def sums_gains(metric: RankingMetric) -> bool:
    """Is it a sum of gains times discounts, whatever the list? Where short lists are 0, their order does not matter."""
    return isinstance(metric, DCG) or (isinstance(metric, NDCG) and metric.short == "keep")


def _weights(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor,
    own: Tensor | None,
    metric: RankingMetric,
    cutoff: Cutoff,
    by_score: bool,
) -> tuple[Tensor, Weigh, bool]:
    """Rows with a document of each pair that counts, what the pairs weigh, each of them once, and whether the row's
    document may be the worse one. ``own``: [B, L] the weights of the documents, 1 when None."""
    ranking = exact_ranking(
        scores, mask, metric.ties, relevance=relevance, pool=Pool(relevance, mask), dtype=scores.dtype
    )
    deltas = _deltas(ranking, relevance, metric, cutoff)
    top = ranking.within(metric.k) > 0
    partners = top if cutoff == "both" else mask
    better = above_the_lowest(relevance, mask) & partners
    near = cutoff == "discount" and isinstance(metric, SumMetric) and metric.k is not None
    choice = [top] if cutoff == "any" else [better, top] if near else [better]
    chosen, rows = fewest_rows(*choice)
    by_place = choice[chosen] is top
    mine = relevance.masked_fill(~choice[chosen], torch.nan)  # in no pair where the row is none
    lower = relevance.masked_fill(~partners, torch.inf)[:, None]
    higher = relevance.masked_fill(~mask | top, -torch.inf)[:, None]
    apart = closeness(scores, mask) if by_score else None

    def weigh(some: Tensor) -> Tensor:
        label, weight = mine.gather(1, some)[:, :, None], deltas(some).abs_()
        counts = greater(label, lower)  # the better document of each pair
        if own is not None:
            counts *= own.gather(1, some)[:, :, None]
        if by_place:  # the first k, each with all of lower labels, and with those of higher ones beyond k
            counts -= greater(higher, label) * (1 if own is None else own[:, None])
        weight *= counts
        return weight if apart is None else weight.div_(apart(some))

    return rows, weigh, by_place


def _deltas(ranking: Ranking, relevance: Tensor, metric: RankingMetric, cutoff: Cutoff) -> Deltas:
    if cutoff == "discount":
        return metric.deltas(ranking, relevance)
    if isinstance(metric, SumMetric):  # the ideal is cut, the discount is not
        return linear_deltas(ranking, metric.worth(ranking, relevance), metric.place, None)
    return metric.uncut().deltas(ranking, relevance)

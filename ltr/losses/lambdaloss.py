"""LambdaLoss: pairs weighted by what their distance in ranks is worth."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from ltr.lists import exact_dtype, may_look
from ltr.losses.base import Kind, Surrogate, check_word, learnable, positive, read_lists
from ltr.losses.lambdarank import sums_gains
from ltr.losses.pairs import Log, Pairs, Weigh, above_the_lowest, logistic, pair_count, pair_sum, rows_of
from ltr.metrics import DCG, NDCG, RankingMetric
from ltr.metrics.base import SumMetric, linear_deltas, sides
from ltr.ranking import Curve, Pool, Ranking, exact_ranking

Scheme = Literal["loss1", "loss2", "loss2++", "topk", "light"]
Cutoff = Literal["discount", "both"]
MANY = 4  # where fewer than one column in so many has ties, the others are looked up
FAR = 1000  # ranks up to which a discount is looked at


def lambda_loss(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    scheme: Scheme,
    mu: float = 10.0,
    sigma: float = 1.0,
    log: Log = "binary",
    cutoff: Cutoff = "discount",
    pairs: Pairs = "sum",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] sum over pairs y_i > y_j of w_ij log2(1 + exp(-sigma (s_i - s_j))), w by the scheme. See ``LambdaLoss``.

    The weights are constants to the gradient. O(R L) time for R documents above the lowest label.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    with torch.no_grad():
        ranking = exact_ranking(
            scores, mask, metric.ties, relevance=relevance, pool=Pool(relevance, mask), dtype=scores.dtype
        )
        worth = metric.worth(ranking, relevance)
        counted = ranking.within(metric.k) > 0 if cutoff == "both" else mask
        if scheme == "loss1":
            rows, weigh = by_worth(worth * ranking.mean(metric.place), counted)
        else:
            rows, apart = by_difference(worth, counted)
            weigh = _by_distance(apart, ranking, worth, metric, scheme, mu)
    summed = pair_sum(scores, rows, weigh, logistic(sigma, log), weight=weight)
    return summed if pairs == "sum" else summed / _pairs(scheme, relevance, mask).clamp(min=1)


class LambdaLoss(Surrogate):
    """The losses of the LambdaLoss framework: pairs in bits, weighted by gains and by the distance of their ranks.

    ``loss = sum of w_ij log2(1 + exp(-sigma (s_i - s_j)))`` with G the gains over their ideal DCG, d the discount,
    r the ranks and m = |r_i - r_j|; over pairs y_i > y_j, for loss1 over all ordered pairs i != j:

    - loss1: G_i d(r_i)
    - loss2: (G_i - G_j) (d(m) - d(m + 1))
    - loss2++: mu times that of loss2, plus that of LambdaRank, (G_i - G_j) |d(r_i) - d(r_j)| with d cut at k
    - topk: that of loss2, over 1 - d(r) where the lower rank r of the two is beyond k (LambdaLoss@k)
    - light: (G_i - G_j) d(m), Rax's light discount

    Bounds: loss1, where d(r) >= 1/r: ndcg >= sum G - loss, since 1 / d(r) - 1 <= r - 1. The others: ndcg >= 1 - loss,
    gain by gain: the t-th relevant document, at rank r, costs ndcg d(t) - d(r) and has r - t others above it. Where d
    falls ever less, loss2 is least if they are t to r - 1 ranks away, and adds up to d(t) - d(r) then. light is least
    there under any d, and then d(t) for one of them alone. loss2++ costs more than LambdaRank, which bounds ndcg at k
    too; the others leave k out. topk bounds nothing, and no bound is claimed for natural logarithms and means. No value
    tells of progress, since the weights move as the ranks do.

    Source: Wang et al. (2018), The LambdaLoss framework for ranking metric optimization; topk: Jagerman et al. (2022),
    On optimizing top-K metrics for neural ranking models.

    NOTE[DIFF] loss1 leaves out i = j, which allRank, pytorchltr and sentence-transformers add: ndcg, a constant. Equal
    scores weigh as the mean over their orders (topk: the mean of each factor), unless the metric has another rule for
    ties (ndcg-stable: in the order of the input, as in Rax).

    Args:
        metric: ndcg or dcg, with any gain, discount and cutoff, or the name of one.
        scheme: "loss1", "loss2", "loss2++", "topk" or "light".
        mu: > 0, what loss2++, and it alone, makes of loss2; 10 when None.
        sigma: > 0, steepness in 1 / units of the scores.
        log: "binary", in bits, or "natural", as in Rax and TensorFlow Ranking.
        cutoff: what k means. "discount": as said above. "both": both documents must be among the first k (allRank,
            sentence-transformers), so that one below learns nothing, and nothing is bounded.
        pairs: "sum", or "mean" over the list's pairs; "batch" is the mean of which the mean over lists is one over all
            pairs of the batch (allRank, Rax, sentence-transformers).

    Raises:
        ValueError: another metric, an unknown option, a mu or sigma that is not above 0, a mu without loss2++, a rule
            for k without one, or topk with a discount of 1 beyond k.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[1.0, 0.5, -0.5]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> loss = LambdaLoss("ndcg@2", "loss2")
        >>> loss.aim.name, round(loss(scores, labels).item(), 4), round(loss.certificate(scores, labels).item(), 4)
        ('ndcg', 0.6089, 0.3911)
    """

    cost = "O(R L)"
    softness_in = "1/sigma"
    suits = ("binary", "graded", "sparse")
    informative = False

    def __init__(
        self,
        metric: RankingMetric | str,
        scheme: Scheme = "loss2++",
        mu: float | None = None,
        sigma: float = 1.0,
        log: Log = "binary",
        cutoff: Cutoff = "discount",
        pairs: Pairs = "sum",
    ) -> None:
        super().__init__()
        metric = learnable(metric)
        if not isinstance(metric, NDCG | DCG):
            raise ValueError(f"{type(self).__name__}: wants a metric of gains, ndcg or dcg, got {metric.name}")
        self.scheme, self.log, self.cutoff, self.pairs = scheme, log, cutoff, pairs
        for name, words in {"scheme": Scheme, "log": Log, "cutoff": Cutoff, "pairs": Pairs}.items():
            check_word(name, getattr(self, name), words)
        if cutoff == "both" and metric.k is None:
            raise ValueError(f"cutoff=both: wants a metric with a cutoff, got {metric.name}")
        if mu is not None and scheme != "loss2++":
            raise ValueError(f"mu: scheme=loss2++ alone has one, got scheme={scheme}")
        if scheme == "topk" and metric.k and metric.discount(torch.tensor(metric.k + 1.0)) >= 1:
            raise ValueError(f"scheme=topk: wants a discount below 1 beyond k, got {metric.name}")
        cut = cutoff == "both" or scheme in ("loss2++", "topk")
        self.metric: NDCG | DCG = metric if cut else metric.uncut()
        self.by_index = self.metric.ties in ("docid", "stable")
        self.mu, self.sigma = positive("mu", 10.0 if mu is None else mu), positive("sigma", sigma)
        self.unit = self.metric.name if self.kind == "bound" else f"weighted {'bits' if log == 'binary' else 'nats'}"

    @property
    def kind(self) -> Kind:
        usual = (self.log, self.cutoff, self.pairs) == ("binary", "discount", "sum") and sums_gains(self.metric)
        discount = self.metric.discount
        holds = {"loss1": discount.above_reciprocal, "loss2": _falls_ever_less(discount), "topk": False}
        return "bound" if usual and holds.get(self.scheme, True) else "neither"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        options = (self.scheme, self.mu, self.sigma, self.log, self.cutoff, self.pairs)
        return lambda_loss(scores, relevance, mask, self.metric, *options, weight=weight)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        if self.kind != "bound":
            return None
        loss: Tensor = self(scores, relevance, mask)
        if self.scheme != "loss1":
            return self.metric.ceiling(relevance, mask) - loss
        scores, relevance, mask, _ = read_lists(scores, relevance, mask, None)
        return self.metric.worth(exact_ranking(scores, mask), relevance).sum(-1) - loss

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        return _pairs(self.scheme, relevance, mask) if self.pairs == "batch" else None


def by_worth(worth: Tensor, counted: Tensor) -> tuple[Tensor, Weigh]:
    """Rows of the documents that are worth something, and the weights w_i of all pairs i != j of counted documents."""
    worth, others = worth * counted, counted.to(worth.dtype)[:, None]

    def weigh(some: Tensor) -> Tensor:
        return (worth.gather(1, some)[:, :, None] * others).scatter_(2, some[:, :, None], 0)

    return rows_of(worth > 0), weigh


def by_difference(worth: Tensor, counted: Tensor) -> tuple[Tensor, Weigh]:
    """Rows of the documents that are worth more than the least, and the weights max(0, w_i - w_j) of counted ones."""
    mine, theirs = worth.masked_fill(~counted, -torch.inf), worth.masked_fill(~counted, torch.inf)[:, None]

    def weigh(some: Tensor) -> Tensor:
        return (mine.gather(1, some)[:, :, None] - theirs).clamp_(min=0)

    return rows_of(above_the_lowest(worth, counted)), weigh


def _by_distance(apart: Weigh, ranking: Ranking, worth: Tensor, metric: SumMetric, scheme: Scheme, mu: float) -> Weigh:
    """Weights by how much documents are ``apart`` in worth, times what the distance of their ranks is worth."""
    place = metric.place
    steps = _of_distance(ranking, place if scheme == "light" else lambda m: place(m) - place(m + 1))

    def by_steps(some: Tensor) -> Tensor:
        return apart(some).mul_(steps(some))

    if scheme == "loss2++":
        swapped = linear_deltas(ranking, worth, place, metric.k)
        return lambda some: by_steps(some).mul_(mu).add_(swapped(some).abs_().mul_(apart(some).sign_()))
    if scheme == "topk" and metric.k is not None:
        k = metric.k
        raised = ranking.mean(lambda r: torch.where(r <= k, 1, 1 / (1 - place(r))))

        def of_the_lower(some: Tensor) -> Tensor:
            (here, there), (mine, theirs) = sides(ranking.position, some), sides(raised, some)
            return torch.where(here > there, mine, theirs)

        return lambda some: by_steps(some).mul_(of_the_lower(some))
    return by_steps


def _of_distance(ranking: Ranking, value: Curve) -> Weigh:
    """Rows -> [B, r, L] value(|r_i - r_j|), its mean over the orders of tied documents; 0 for a document and itself."""
    place, block, dtype = ranking.position.int(), ranking.block.int(), ranking.position.dtype
    length, exact = place.shape[1], exact_dtype(place.device)
    table = value(torch.arange(1, length + 1, device=place.device, dtype=exact))
    table = torch.cat([table.new_zeros(1), table])
    twice = table.cumsum(0).cumsum(0)  # two sums from it give the sum over all places of two blocks
    table = table.to(dtype)

    def single(some: Tensor) -> Tensor:
        return _looked_up(table, (place.gather(1, some)[:, :, None] - place[:, None]).abs_())

    def averaged(some: Tensor, others: Tensor | slice) -> Tensor:
        here, mine = (each.gather(1, some)[:, :, None] for each in (place, block))
        there, theirs = (each[:, None, others] for each in (place, block))
        gap, tied = (here - there).abs(), here == there
        upper, lower = torch.where(here < there, mine, theirs), torch.where(here < there, theirs, mine)
        ends = (gap + lower - 1, gap + lower - 1 - upper, gap - 1, gap - 1 - upper)
        a, b, c, d = (_looked_up(twice, each.clamp_(min=0)) for each in ends)
        pairs = torch.where(tied, mine * (mine - 1.0) / 2, mine * (1.0 * theirs)).clamp_(min=1)
        return ((a - b - c + d) / pairs).to(dtype)

    def mixed(some: Tensor) -> Tensor:
        values = single(some)
        values[:, :, tied_at] = averaged(some, tied_at)
        rows = (block.gather(1, some) > 1).any(0).nonzero()[:, 0]
        values[:, rows] = averaged(some[:, rows], slice(None))
        return values

    if ranking.untied:
        return single
    tied_at = (block > 1).any(0).nonzero()[:, 0] if may_look(block) else place[0]
    return mixed if len(tied_at) * MANY < length else lambda some: averaged(some, slice(None))


def _looked_up(table: Tensor, index: Tensor) -> Tensor:
    return table.index_select(0, index.flatten()).view(index.shape)  # on a CPU three times as quick as table[index]


def _falls_ever_less(discount: Curve) -> bool:
    """Is d(m) - d(m + 1) never more than the one before, as far as one looks?"""
    steps = -discount(torch.arange(1, FAR, dtype=torch.float64)).diff()
    return bool((steps.diff() <= 1e-12).all())


def _pairs(scheme: Scheme, relevance: Tensor, mask: Tensor) -> Tensor:
    size = mask.sum(1)
    return size * (size - 1) if scheme == "loss1" else pair_count(relevance, mask)

"""PiRank: a metric on NeuralSort's permutation as it is."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from ltr.lists import exact_dtype
from ltr.losses.base import check_word, positive
from ltr.losses.permutations import Permuting, distances, neural_rows, neural_sort, placed, read_places
from ltr.metrics import NDCG, RankingMetric
from ltr.metrics.base import SumMetric
from ltr.ranking import Ranking
from ltr.softening import centred, once, some_rows, uncast

Ratio = Literal["list", "batch"]


def pi_rank(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    temperature: float = 1.0,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the metric where NeuralSort's permutation says what stands at each place.

    O(K L) time for the first K places, O(L) memory. See ``PiRank``.
    """
    scores, mask, worth, place = read_places(scores, relevance, mask, metric, weight)
    if torch.compiler.is_compiling():
        return placed(neural_sort(scores, mask, temperature, place.shape[1]), worth, place)
    exact = centred(scores, mask, exact_dtype(scores.device)) / temperature
    with uncast(scores):
        value: Tensor = _NeuralSorted.apply(exact, distances(exact, mask), worth, place, mask)  # type: ignore[no-untyped-call]
    return value.to(scores.dtype)


class PiRank(Permuting):
    """1 - metric on NeuralSort's permutation, without NeuralNDCG's scaling and far cheaper where the metric is cut.

    ``loss = 1 - sum_r place(r) sum_i P[r, i] worth_i``,
    ``P[r, i] = softmax_i(((n + 1 - 2 r) s_i - sum_j |s_i - s_j|) / T)``, n documents in the list: exact as T -> 0 where
    no scores are equal. A row is a distribution, a column is not, so that a gain may count more or less than once.
    Source: Swezey, Grover, Charron, Ermon (2021), PiRank: scalable learning to rank via differentiable sorting.

    NOTE[DIFF] The authors' code divides the batch's sum of DCG by its sum of ideal DCG, so that lists with more gains
    weigh more; here each list has its own NDCG, and ``ratio`` brings back theirs.

    Args:
        metric: one that sums worth times place (ndcg, dcg, rbp, precision, recall, f1), or the name of one.
        temperature: > 0, in units of the scores.
        ratio: "list", or "batch" where a list weighs its ideal DCG in a mean over lists, which then is
            1 - sum DCG / sum ideal DCG (weights of documents do not change what a list weighs).

    Raises:
        ValueError: an unknown metric or option, another metric, a temperature that is not above 0, or ratio="batch"
            with a metric other than ndcg.

    Example:
        >>> loss = PiRank("ndcg", ratio="batch")
        >>> scores, labels = torch.tensor([[3.0, 2.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [3.0, 0.0]])
        >>> round(loss(scores, labels).mean().item(), 4), round(loss.mean(scores, labels).item(), 4)  # weighed 1 : 7
        (0.1845, 0.1206)
    """

    cost = "O(K L)"
    softness_in = "temperature"

    def __init__(self, metric: RankingMetric | str, temperature: float = 1.0, ratio: Ratio = "list") -> None:
        super().__init__(metric)
        self.temperature, self.ratio = positive("temperature", temperature), ratio
        check_word("ratio", ratio, Ratio)
        if ratio == "batch" and not isinstance(self.metric, NDCG):
            raise ValueError(
                f"{type(self).__name__}: ratio=batch wants ndcg, which has an ideal; got {self.metric.name}"
            )

    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return pi_rank(scores, relevance, mask, self.metric, self.temperature, weight=weight)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        if self.ratio == "list" or not isinstance(self.metric, NDCG):
            return None
        ones = torch.ones_like(relevance)
        return self.metric.fraction(Ranking(ones, ones, mask), relevance)[1]


class _NeuralSorted(torch.autograd.Function):
    """sum_r c_r q_r with q_r = sum_i P[r, i] w_i, whose gradient in row r's logits is c_r P[r, i] (w_i - q_r)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, apart: Tensor, worth: Tensor, place: Tensor, mask: Tensor) -> Tensor:
        worth, place = worth.to(scores.dtype), place.to(scores.dtype)
        value = scores.new_zeros(len(scores))
        of_scores, of_apart = torch.zeros_like(scores), torch.zeros_like(scores)
        slope = mask.sum(1, keepdim=True) + 1 - 2 * torch.arange(1, place.shape[1] + 1, device=mask.device)
        for part in some_rows(place.shape[1], scores.numel()):
            here = place[:, part]
            matrix = neural_rows(scores, apart, mask, slice(part.start, part.start + here.shape[1]))
            share = torch.bmm(matrix, worth[:, :, None])
            value += (here * share[:, :, 0]).sum(1)
            if any(ctx.needs_input_grad):
                change = matrix.mul_(worth[:, None] - share)
                of_scores += torch.bmm((slope[:, part] * here)[:, None], change)[:, 0]
                of_apart -= torch.bmm(here[:, None], change)[:, 0]
        ctx.save_for_backward(of_scores, of_apart)
        return value

    @staticmethod
    @once
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        of_scores, of_apart = ctx.saved_tensors
        return of_scores * upstream[:, None], of_apart * upstream[:, None], None, None, None

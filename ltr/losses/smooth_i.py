"""SmoothI: a metric on smooth indicators of what stands at each place, one place after the other."""

from __future__ import annotations

from functools import partial
from typing import Literal

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from ltr.gains import Binary, Table
from ltr.losses.base import check_word, flag, positive, read_lists
from ltr.losses.permutations import Permuting, read_places
from ltr.metrics import RankingMetric
from ltr.metrics.base import SumMetric
from ltr.order import sizes
from ltr.ranking import Pool, Ranking

PLACES = 64  # whose graph is kept at once
Expect = Literal["gain", "label"]


def smooth_i(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    metric: SumMetric,
    alpha: float = 1.0,
    delta: float = 0.1,
    stop_gradient: bool = False,
    expect: Expect = "gain",
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] the metric where I_r = softmax(alpha s prod_{q < r} (1 - I_q - delta)) says what stands at place r.

    O(K L) time for the first K places; memory for the graph of 64 of them. See ``SmoothI``.
    """
    if expect == "label":
        if weight is not None:
            raise ValueError('weight: the gain of an expected label is that of no document; take expect="gain"')
        scores, relevance, mask, _ = read_lists(scores, relevance, mask, None)
    scores, mask, worth, place = read_places(scores, relevance, mask, metric, weight)
    of_documents = worth if expect == "gain" else relevance
    lowest = scores.masked_fill(~mask, torch.inf).amin(1, keepdim=True)
    height, outside = alpha * torch.where(mask, scores - lowest, 0), ~mask & mask.any(1, keepdim=True)

    def some(left: Tensor, height: Tensor, places: int) -> tuple[Tensor, Tensor]:
        """What some places leave, and the value [B, places] that is expected at each."""
        found = [height.new_zeros(len(height), 0)]
        for _ in range(places):
            here = (height * left).masked_fill(outside, -torch.inf).softmax(1)
            found.append((here * of_documents).sum(1, keepdim=True))
            left = left * (1 - (here.detach() if stop_gradient else here) - delta)
        return left, torch.cat(found, 1)

    parts, left, there = torch.split(place, PLACES, 1), torch.ones_like(height), []
    each = some if len(parts) == 1 else partial(checkpoint, some, use_reentrant=False)
    for part in parts:
        left, more = each(left, height, part.shape[1])
        there.append(more)
    value = torch.cat(there, 1)
    if expect == "label":
        ones = torch.ones_like(place)
        value = metric.worth(Ranking(ones, ones, place > 0, pool=Pool(relevance, mask), size=sizes(mask)), value)
    return (place * value).sum(1)


class SmoothI(Permuting):
    """1 - metric on smooth rank indicators: each place takes the best of what the places above have left.

    ``loss = 1 - sum_r place(r) sum_i I_r[i] worth_i``, ``I_r = softmax(alpha h prod_{q < r} (1 - I_q - delta))`` with
    h the height of a score above the lowest of its list: exact as alpha -> infinity where no scores are equal. The
    heights shrink by the factor 1 - delta from place to place, so that places far beyond 1 / delta are blunt. Source:
    Thonet, Cinar, Gaussier, Li, Renders (2022), SmoothI: smooth rank indicators for differentiable IR metrics.

    NOTE[DIFF] By default a place is worth the expected gain there. The authors' code takes the gain of the expected
    label (which is never more, where the gain is convex as 2^y - 1 is), and 2^y for the gain.

    Args:
        metric: one that sums worth times place (ndcg, dcg, rbp, precision, recall, f1), or the name of one; its k
            says how many places are worked out.
        alpha: > 0, in 1 / units of the scores; the larger, the closer to the exact metric.
        delta: > 0, by how much each place pushes the documents above it down.
        stop_gradient: hold what the places above have left constant, as the authors do for long lists.
        expect: at each place the expected "gain", or the "label", of which the gain is taken (ndcg, dcg), as the
            authors do: ``gain(sum_i I_r[i] y_i)``. It takes no weights of documents.

    Raises:
        ValueError: an unknown metric or another one, alpha or delta not above 0, another word, or expect="label" of a
            metric whose gain goes by steps (a threshold or a table).

    Example:
        >>> loss = SmoothI("ndcg@10", alpha=10)
        >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> round(loss.estimate(scores, labels).item(), 4), round(loss.aim(scores, labels).item(), 4)
        (0.7158, 0.659)
    """

    cost = "O(K L)"
    softness_in = "1/alpha"

    def __init__(
        self,
        metric: RankingMetric | str,
        alpha: float = 1.0,
        delta: float = 0.1,
        stop_gradient: bool = False,
        expect: Expect = "gain",
    ) -> None:
        super().__init__(metric)
        check_word("expect", expect, Expect)
        if expect == "label" and isinstance(self.metric.document_gain, Binary | Table):
            wanted = "wants a gain of labels between the grades (ndcg, dcg)"
            raise ValueError(f'{type(self).__name__}: expect="label" {wanted}, got {self.metric.name}')
        self.expect = expect
        self.alpha, self.delta = positive("alpha", alpha), positive("delta", delta)
        self.stop_gradient = self.constant_parts = flag("stop_gradient", stop_gradient)

    def estimate(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        options = self.alpha, self.delta, self.stop_gradient, self.expect
        return smooth_i(scores, relevance, mask, self.metric, *options, weight=weight)

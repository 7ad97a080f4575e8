"""ARPLoss: the losses of the LambdaLoss framework for the mean rank of relevant documents."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from ltr.losses.base import Kind, Surrogate, check_word, positive, read_lists, whole
from ltr.losses.lambdaloss import by_difference, by_worth
from ltr.losses.pairs import logistic, pair_sum
from ltr.metrics import ARP
from ltr.ranking import exact_ranking

Scheme = Literal["loss1", "loss2"]


def arp_loss(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    scheme: Scheme = "loss2",
    sigma: float = 1.0,
    k: int | None = None,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] sum over pairs y_i > y_j of (y_i - y_j) log2(1 + exp(-sigma (s_i - s_j))) / sum y. See ``ARPLoss``.

    O(R L) time for R documents above the lowest label.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    with torch.no_grad():
        ranking = exact_ranking(scores, mask, dtype=scores.dtype)
        share = -ARP().worth(ranking, relevance)
        rows, weigh = (by_worth if scheme == "loss1" else by_difference)(share, ranking.within(k) > 0)
    return pair_sum(scores, rows, weigh, logistic(sigma, "binary"), weight=weight)


class ARPLoss(Surrogate):
    """ARP-Loss1 and 2: an upper limit of the mean rank of the relevant documents, in ranks.

    ``loss1 = sum over i != j of y_i c_ij / sum y`` and ``loss2 = sum over y_i > y_j of (y_i - y_j) c_ij / sum y``, with
    ``c_ij = log2(1 + exp(-sigma (s_i - s_j)))``. As a document that is not above another costs at least 1, arp <= 1 +
    loss1, and arp <= its best + loss2: from the best order on, each inverted pair costs y_i - y_j ranks.
    Source: Wang et al. (2018), The LambdaLoss framework for ranking metric optimization.

    NOTE[DIFF] Divided by the sum of labels, so that it is in the unit of arp. loss1 leaves out i = j, which pytorchltr
    adds: 1, a constant.

    Args:
        scheme: "loss1" or "loss2", whose weights are Rax's label differences.
        sigma: > 0, steepness in 1 / units of the scores.
        k: pairs of the first k documents alone count (allRank), and nothing is bounded; all when None.

    Raises:
        ValueError: an unknown scheme, a sigma that is not above 0, or a k that is no whole number from 1 on.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[1.0, 0.5, -0.5]]), torch.tensor([[0.0, 2.0, 1.0]])
        >>> loss = ARPLoss()
        >>> round(loss.certificate(scores, labels).item(), 4), round(loss.aim(scores, labels).item(), 4)
        (3.2391, 2.3333)
    """

    cost = "O(R L)"
    softness_in = "1/sigma"
    suits = ("binary", "graded", "real")

    def __init__(self, scheme: Scheme = "loss2", sigma: float = 1.0, k: int | None = None) -> None:
        super().__init__()
        check_word("scheme", scheme, Scheme)
        self.scheme, self.sigma, self.k = scheme, positive("sigma", sigma), None if k is None else whole("k", k, 1)
        self.metric = ARP() if k is None else None
        self.unit = "ranks"

    @property
    def kind(self) -> Kind:
        return "neither" if self.metric is None else "bound"

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return arp_loss(scores, relevance, mask, self.scheme, self.sigma, self.k, weight=weight)

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        if self.metric is None:
            return None
        loss: Tensor = self(scores, relevance, mask)
        return loss + (1 if self.scheme == "loss1" else self.metric.ceiling(relevance, mask))

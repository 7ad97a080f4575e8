"""Where a loss spends its gradient, and whether anything is to be gained there."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from ltr.gap.alignment import exchanges
from ltr.lists import check_lists, exact_dtype
from ltr.metrics import RankingMetric
from ltr.ranking import exact_ranking


def reach(
    metric: RankingMetric, scores: Tensor, relevance: Tensor, gradient: Tensor, mask: Tensor | None = None
) -> Tensor:
    """[B] the share of the gradient that lies on documents which stand among the first k, or should.

    ``sum |g_i| over these documents / sum |g_i|``. A document should stand there if it is worth something to the
    metric and no k documents are worth more. Without a cutoff every document counts, and the share is 1.

    Args:
        metric: any; k is its cutoff.
        scores: [B, L], any real unit.
        relevance: [B, L], labels >= 0.
        gradient: [B, L], d loss / d score of each list's own loss.
        mask: [B, L], True for a real document; all when None.

    Returns:
        Shares from 0 to 1; NaN for a list whose gradient is 0 or not finite.

    Raises:
        ValueError: shapes differ, a label is negative or no number.

    Example:
        >>> from ltr.metrics import NDCG
        >>> scores, labels = torch.tensor([[4.0, 3.0, 2.0, 1.0]]), torch.tensor([[0.0, 0.0, 1.0, 0.0]])
        >>> reach(NDCG(k=1), scores, labels, torch.tensor([[0.2, 0.3, -0.6, 0.1]]))  # (0.2 + 0.6) / 1.2
        tensor([0.6667], dtype=torch.float64)
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    spent = _spent(gradient, mask)
    inside = mask
    if metric.k is not None:
        gains = metric.gains(relevance, mask)
        last = gains.topk(min(metric.k, gains.shape[1]), 1).values[:, -1:]
        ranking = exact_ranking(scores, mask, metric.ties, relevance=relevance)
        inside = (ranking.within(metric.k) > 0) | ((gains >= last) & (gains > 0))
    return torch.where(inside, spent, 0).sum(1) / spent.sum(1)


def budget_distance(gradient: Tensor, regret: Tensor, mask: Tensor, weight: Tensor) -> float:
    """How far the lists' shares of the gradient lie from their shares of what is left to gain.

    Total variation: ``1/2 sum over lists |w_q |g_q| / sum w |g| - w_q r_q / sum w r|``, |g_q| the sum of a list's
    absolute gradients: 0 where each list has its due, towards 1 where all is spent on lists with nothing to gain.

    Args:
        gradient: [B, L], d loss / d score of each list's own loss, times what the list weighs in the mean loss where
            that is not the same for all (``Surrogate.shares``).
        regret: [B] what is attainable, the metric's ceiling less its value (its value less that, where less is
            better); below 0 counts as 0. Lists where it is NaN, or whose gradient is not finite, are left out.
        mask: [B, L], True for a real document.
        weight: [B] >= 0, of each list.

    Returns:
        From 0 to 1; NaN where no list has a gradient, or none has anything to gain.

    Example:
        >>> gradient, mask = torch.tensor([[0.3, -0.3], [0.1, -0.1]]), torch.ones(2, 2).bool()
        >>> round(budget_distance(gradient, torch.tensor([0.5, 0.5]), mask, torch.ones(2)), 4)  # (1/4 + 1/4) / 2
        0.25
    """
    spent, left = _spent(gradient, mask).sum(1), regret.to(exact_dtype(regret.device)).clamp(min=0)
    heard = ~torch.isnan(spent + left) & (weight > 0)
    spent, left = (torch.where(heard, each * weight, 0) for each in (spent, left))
    return float((spent / spent.sum() - left / left.sum()).abs().sum() / 2)


class Blind(NamedTuple):
    """[B] each: of the pairs whose exchange changes the metric, what share the loss is blind to."""

    share: Tensor  # of all such pairs
    top: Tensor  # 1 where the top document has no gradient, else 0; NaN where no exchange of it matters
    elsewhere: Tensor  # of the pairs that the top document has no part in


def blind(
    metric: RankingMetric, scores: Tensor, relevance: Tensor, gradient: Tensor, mask: Tensor | None = None
) -> Blind:
    """Documents that the loss does not see: their gradient is exactly 0, though the metric depends on where they stand.

    ``sum |delta M| over pairs with such a document / sum |delta M|``, over all pairs of unequal label; delta M is what
    their exchange changes. A mask that drops the top document has ``top`` 1 and ``elsewhere`` 0 in all lists; a
    saturated loss has ``elsewhere`` above 0 too.

    Args:
        metric, scores, relevance, gradient, mask: as ``reach`` takes them.

    Returns:
        Shares from 0 to 1; NaN for a list without such a pair, or whose gradient is not finite.

    Raises:
        ValueError: shapes differ, a label is negative or no number.

    Example:
        >>> from ltr.metrics import NDCG
        >>> scores, labels = torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[0.0, 1.0, 0.0]])
        >>> found = blind(NDCG(k=1), scores, labels, torch.tensor([[0.0, -0.4, 0.4]]))
        >>> found.share.item(), found.top.item(), found.elsewhere.item()
        (1.0, 1.0, nan)
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    order, swaps = exchanges(metric, scores, relevance, mask)
    labels, slope = (each.gather(1, order) for each in (relevance, gradient))
    unseen = slope == 0
    column = torch.arange(slope.shape[1], device=slope.device)
    weights, missed = [], []
    for place, delta in swaps:
        pair = (labels[:, place, None] != labels[:, None]) & (column > place[:, None])
        weight = torch.where(pair, delta.abs(), 0)
        weights.append(weight.sum(2))
        missed.append((weight * (unseen[:, place, None] | unseen[:, None])).sum(2))
    whole, lost = torch.cat(weights, 1), torch.cat(missed, 1)  # [B, places]
    known = torch.isfinite(_spent(gradient, mask).sum(1))
    share, elsewhere = (torch.where(known, lost[:, n:].sum(1) / whole[:, n:].sum(1), torch.nan) for n in (0, 1))
    top = torch.where(known & (whole[:, 0] > 0), unseen[:, 0].to(whole.dtype), torch.nan)
    return Blind(share, top, elsewhere)


def _spent(gradient: Tensor, mask: Tensor) -> Tensor:
    """[B, L] the size of the gradient; NaN where it is not finite, 0 where padded."""
    size = gradient.to(exact_dtype(gradient.device)).abs()
    return torch.where(mask, torch.where(torch.isfinite(size), size, torch.nan), 0)

"""Does a descent step of the loss serve the metric? By pairs, by direction, and by what the step is worth."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ltr.gap.smoothed import default_sigma, smoothed_gradient
from ltr.lists import check_lists, exact_dtype
from ltr.metrics import RankingMetric
from ltr.order import rank_order
from ltr.ranking import RankOrder

CELLS = 1 << 20  # swaps that are worked out at once


def swap_coherence(
    metric: RankingMetric, scores: Tensor, relevance: Tensor, gradient: Tensor, mask: Tensor | None = None
) -> Tensor:
    """[B] how far the loss agrees with the metric on neighbours: does descent lift the better of the two?

    ``sum |delta M| a / sum |delta M|`` over neighbours of unequal label in the current ranking: delta M is what their
    exchange changes, a is 1 where the descent direction favours the document that the metric would rather have above,
    0 where it favours the other, 1/2 where the two gradients are equal. A random direction has 1/2, a loss whose sign
    is wrong close to 0.

    Source: Marcuzzi, Lucchese, Orlando (2023), LambdaRank gradients are incoherent, for the question.

    Args:
        metric: any; documents that are tied stand in the order of its rule for ties, or as they are listed.
        scores: [B, L], any real unit.
        relevance: [B, L], labels >= 0.
        gradient: [B, L], d loss / d score of each list's own loss; a descent step moves scores by minus this.
        mask: [B, L], True for a real document; all when None.

    Returns:
        Shares from 0 to 1; NaN for a list without a pair that matters, or whose gradient or scores are not finite.

    Raises:
        ValueError: shapes differ, a label is negative or no number.

    Example:
        >>> from ltr.metrics import NDCG
        >>> scores, labels = torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[0.0, 1.0, 1.0]])
        >>> swap_coherence(NDCG(), scores, labels, torch.tensor([[0.5, -0.4, -0.1]]))
        tensor([1.], dtype=torch.float64)
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    order, swaps = exchanges(metric, scores, relevance, mask)
    labels, slope = relevance.gather(1, order), gradient.to(exact_dtype(scores.device)).gather(1, order)
    agreed = total = slope.new_zeros(len(slope))
    for place, delta in swaps:
        upper = place[place + 1 < slope.shape[1]]
        moved = delta[:, torch.arange(len(upper), device=upper.device), upper + 1]
        weight = torch.where(labels[:, upper] != labels[:, upper + 1], moved.abs(), 0)
        favours = torch.sign(slope[:, upper] - slope[:, upper + 1]) * torch.sign(moved)
        agreed, total = agreed + (weight * (1 + favours) / 2).sum(1), total + weight.sum(1)
    return torch.where(_finite(mask, scores, gradient), agreed / total, torch.nan)


def alignment(
    metric: RankingMetric,
    scores: Tensor,
    relevance: Tensor,
    gradient: Tensor,
    mask: Tensor | None = None,
    sigma: Tensor | None = None,
) -> Tensor:
    """[B] cosine of the descent direction with the exact gradient of the smoothed metric, both centred over the list.

    Args:
        metric, scores, relevance, gradient, mask: as ``swap_coherence`` takes them.
        sigma: [B], noise of the smoothing, in units of the scores; ``default_sigma`` when None.

    Returns:
        From -1 to 1; NaN for a list in which either vanishes, whose scores are all equal, or whose gradient or scores
        are not finite. Where less of the metric is better, its gradient counts the other way round.

    Raises:
        ValueError: shapes differ, a label is negative or no number.

    Example:
        >>> from ltr.metrics import NDCG
        >>> scores, labels = torch.tensor([[0.3, 0.2, 0.1]]), torch.tensor([[0.0, 1.0, 2.0]])
        >>> best = smoothed_gradient(NDCG(), scores, labels, None, torch.tensor([0.05]))
        >>> alignment(NDCG(), scores, labels, -best, sigma=torch.tensor([0.05]))
        tensor([1.0000], dtype=torch.float64)
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    noise = default_sigma(scores, mask) if sigma is None else sigma
    wanted = _direction(_sign(metric) * smoothed_gradient(metric, scores, relevance, mask, noise), mask)
    cosine = (_direction(-gradient, mask) * wanted).sum(1)
    still = (wanted == 0).all(1) | vanished(gradient, mask)
    return torch.where(still | ~_finite(mask, scores, gradient), torch.nan, cosine)


def vanished(gradient: Tensor, mask: Tensor) -> Tensor:
    """[B] bool: does a descent step leave the order of the list as it is, whatever its length? Where the gradient
    [B, L] is 0, or the same for all documents.

    Example:
        >>> vanished(torch.tensor([[0.0, 0.0], [0.2, 0.2], [0.1, -0.1]]), torch.ones(3, 2).bool())
        tensor([ True,  True, False])
    """
    return (_direction(gradient, mask) == 0).all(1)


def step_yield(
    metric: RankingMetric,
    scores: Tensor,
    relevance: Tensor,
    gradient: Tensor,
    mask: Tensor | None = None,
    step: float = 0.1,
) -> Tensor:
    """[B] what one descent step of a fixed relative length changes in the exact metric.

    ``M(s - step * |s - mean s| * g / |g|) - M(s)``, g the centred gradient.

    Args:
        metric, scores, relevance, gradient, mask: as ``swap_coherence`` takes them.
        step: > 0, length of the step as a share of that of the centred scores.

    Returns:
        In units of the metric, above 0 where it gets better; NaN for a list for which the metric is undefined, in
        which the gradient vanishes or all scores are equal, or whose gradient or scores are not finite.

    Raises:
        ValueError: shapes differ, a label is negative or no number.

    Example:
        >>> from ltr.metrics import NDCG
        >>> scores, labels = torch.tensor([[0.2, 0.1, -0.3]]), torch.tensor([[0.0, 1.0, 0.0]])
        >>> step_yield(NDCG(k=1), scores, labels, torch.tensor([[0.5, -1.0, 0.5]]), step=0.5)
        tensor([1.], dtype=torch.float64)
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    scores = scores.to(exact_dtype(scores.device))
    length = default_sigma(scores, mask) * 4 * mask.sum(1).sqrt()
    apart = length > 0
    moved = scores - step * torch.where(apart, length, 0)[:, None] * _direction(gradient, mask)
    finite = _finite(mask, scores, gradient)
    change = metric.exact(moved, relevance, mask) - metric.exact(scores, relevance, mask)
    known = finite & apart & ~vanished(gradient, mask) & metric.defined(relevance, mask)
    return torch.where(known, _sign(metric) * change, torch.nan)


def exchanges(
    metric: RankingMetric, scores: Tensor, relevance: Tensor, mask: Tensor
) -> tuple[Tensor, Iterator[tuple[Tensor, Tensor]]]:
    """[B, L] the documents in rank order; and, in parts, places [R] from 0 with [B, R, L] what the metric gains when
    the document of that place and another one, in rank order too, change places. Above 0: the lower one is better.

    Tied documents stand in the order of the metric's rule, or as they are listed. Places whose document can change the
    metric only together with one above them may be left out.

    Args:
        metric, scores, relevance, mask: as ``swap_coherence`` takes them.
    """
    ties = "stable" if metric.ties == "average" else metric.ties
    order, _ = rank_order(scores, mask, ties, relevance)
    labels = relevance.gather(1, order).to(exact_dtype(scores.device))
    lists, length = labels.shape
    places = min(length, metric.k) if metric.windowed and metric.k is not None else length
    deltas = metric.deltas(RankOrder(mask.gather(1, order)), labels)

    def parts() -> Iterator[tuple[Tensor, Tensor]]:
        for place in torch.split(torch.arange(places, device=order.device), max(1, CELLS // max(1, lists * length))):
            yield place, _sign(metric) * deltas(place.expand(lists, -1))

    return order, parts()


def _direction(values: Tensor, mask: Tensor) -> Tensor:
    """[B, L] centred over the list's documents and of length 1; 0 where nothing is left but rounding."""
    values = torch.where(mask, values, 0).to(exact_dtype(values.device))
    most = values.abs().amax(1, keepdim=True)
    values = values / torch.where(most > 0, most, 1)  # squares of small numbers would vanish
    size = torch.linalg.vector_norm(values, dim=1, keepdim=True)
    mean = values.sum(1, keepdim=True) / mask.sum(1, keepdim=True).clamp(min=1)
    centred = torch.where(mask, values - mean, 0)
    length = torch.linalg.vector_norm(centred, dim=1, keepdim=True)
    return torch.where(length <= 1e-12 * size, 0, centred / length)


def _finite(mask: Tensor, *documents: Tensor) -> Tensor:
    """[B] bool: are all values [B, L] of the real documents finite?"""
    return torch.stack([(torch.isfinite(each) | ~mask).all(1) for each in documents]).all(0)


def _sign(metric: RankingMetric) -> int:
    return 1 if metric.larger_is_better else -1

"""Documents by rising label, and sums of exponentials that run up the levels: O(L log L) for losses over sets."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import all_real, may_look
from ltr.order import masked, rank_order
from ltr.ranking import in_order

WIDEST = 600.0  # of float64's exponents, which end at 708
WHOLE = 1 << 20  # whole labels below leave among 32 bits


class Levels(NamedTuple):
    """Documents by rising label, padded ones last."""

    order: Tensor  # [B, L] the documents
    mask: Tensor  # [B, L] bool, which places hold one
    below: Tensor  # [B, L] documents on lower levels than the one at this place
    through: Tensor  # [B, L] documents on levels no higher


def levels_of(relevance: Tensor, mask: Tensor, among: Tensor | None = None) -> Levels:
    """The documents by rising label.

    Args:
        relevance, mask: [B, L].
        among: [B, L] float64, 0 <= among < 1, by which equal labels rise, so that each document is a level; None: those
            of one label are, in any order.

    Example:
        >>> labels = torch.tensor([[2.0, 0.0, 2.0]])
        >>> each = levels_of(labels, labels >= 0)
        >>> each.order[0, 0].item(), each.below.tolist(), each.through.tolist()
        (1, [[0, 1, 1]], [[1, 3, 3]])
    """
    if among is not None:
        order = _rising(relevance, mask, among)
        place = torch.arange(mask.shape[1], device=mask.device).expand(mask.shape)
        return Levels(order, mask if all_real(mask) else mask.gather(1, order), place, place + 1)
    order, equal = rank_order(-relevance, mask)
    mask = mask.gather(1, order)
    places = in_order(equal, mask)
    below = places.position.long() - 1
    return Levels(order, mask, below, below + places.block.long())


def _rising(relevance: Tensor, mask: Tensor, among: Tensor) -> Tensor:
    if may_look(relevance) and torch.equal(relevance, relevance.trunc()) and (relevance < WHOLE).all():
        return rank_order(-among - relevance, mask)[0]  # of whole labels one sort is enough
    order, equal = rank_order(-relevance, mask)
    level = pad((~equal).cumsum(1), (1, 0))
    return order.gather(1, rank_order(-among.gather(1, order) - level, mask.gather(1, order))[0])


def running_logsumexp(values: Tensor, mask: Tensor) -> Tensor:
    """[B, L] log of the sum of exp over all places up to and with each; something finite where padded.

    Exact for any spread. Where exponentials of a list fit into float64, they are added as they are, which is ten times
    as quick as adding their logarithms.

    Args:
        values: [B, L] float64.
        mask: [B, L] bool, places in use, which come first.
    """
    top = masked(values.detach(), mask, -torch.inf).amax(1, keepdim=True)
    if not all_real(mask):
        top = torch.where(mask[:, :1], top, 0)
        values = torch.where(mask, values, top)
    if may_look(values) and (top - values.detach().amin(1, keepdim=True) <= WIDEST).all():
        return (values - top).exp().cumsum(1).log() + top
    return torch.logcumsumexp(values, 1)


def dense_costs(scores: Tensor, pools: Tensor) -> Tensor:
    """[B, L] log of the sum of exp(s_j) over the pool of i, less s_i: the definition that judges running sums.

    Args:
        scores: [B, L].
        pools: [B, L, L] bool, is j in the pool of i? Each i is in its own.
    """
    return scores[:, None].masked_fill(~pools, -torch.inf).logsumexp(2) - scores

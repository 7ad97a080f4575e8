"""Where each document stands, exactly or softly. The only place that sorts, breaks ties or softens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from ltr.lists import check_lists, exact_dtype

Ties = Literal["average", "docid", "stable", "worst", "best"]
TIES: tuple[str, ...] = get_args(Ties)


@dataclass(frozen=True)
class Soft:
    """What a softened ranking keeps of its scores."""

    scores: Tensor  # [B, L]
    pairs: Tensor  # [B, L, L] sigmoid((s_j - s_i) / temperature): how much j stands above i; 0 on the diagonal
    temperature: float


@dataclass(frozen=True)
class Ranking:
    """Where each document stands: all that a metric ever sees of the scores."""

    position: Tensor  # [B, L] 1-based: the first place of the document's tie block; a soft rank when softened
    block: Tensor  # [B, L] documents in that tie block, 1 without ties
    mask: Tensor  # [B, L] bool, a real document
    soft: Soft | None = None

    def mean(self, f: Callable[[Tensor], Tensor], k: int | None = None) -> Tensor:
        """[B, L] mean of f(rank) over the places that the document may take, 0 beyond k and where padded."""
        if self.soft:
            return f(self.position) * self.within(k)
        total = _running(self._table(f, k))
        first = self.position.long() - 1
        return self.mask * (total[first + self.block.long()] - total[first]) / self.block

    def within(self, k: int | None) -> Tensor:
        """[B, L] how surely the document is among the first k: its block's share, or a sigmoid when softened."""
        if self.soft:
            return _soft_within(self.soft, self.mask, k)
        if k is None:
            return self.mask.to(self.position.dtype)
        return self.mask * ((k + 1 - self.position) / self.block).clamp(0, 1)

    def counts(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """[B, L] twice: the summed weight [B, L] of the documents above, and of the others in the same tie block."""
        if self.soft:
            return (self.soft.pairs * weight[:, None, :]).sum(-1), torch.zeros_like(weight)
        first = self.position.long() - 1
        weight = torch.where(self.mask, weight, 0)
        blocks = torch.zeros_like(weight).scatter_add(1, first, weight)
        above = blocks.cumsum(1) - blocks
        return above.gather(1, first), blocks.gather(1, first) - weight

    def first(self, marked: Tensor, f: Callable[[Tensor], Tensor], k: int | None = None) -> Tensor:
        """[B] expected f(rank) of the highest of the marked [B, L] documents, 0 beyond k or where none is marked.

        In a block of m documents of which r are marked, the first one stands at its place t (from 0) with
        probability r / (m - t) * product over u < t of (m - u - r) / (m - u).
        """
        marked = marked & self.mask
        if self.soft:
            return torch.where(marked, self.mean(f, k), 0).amax(1)
        top, which = torch.where(marked, self.position, torch.inf).min(1, keepdim=True)
        found = torch.isfinite(top)
        top = torch.where(found, top, 1)
        block = self.block.gather(1, which)
        relevant = (marked & (self.position == top)).sum(1, keepdim=True)
        place = torch.arange(self.position.shape[1], device=top.device, dtype=top.dtype)[None]
        left = (block - place).clamp(min=1)
        missed = ((left - relevant).clamp(min=0) / left).cumprod(1)
        reached = torch.cat([torch.ones_like(top), missed[:, :-1]], 1)
        table = torch.cat([self._table(f, k), torch.zeros_like(place[0])])
        value = table[(top - 1 + place).long()] * reached * relevant / left * (place < block)
        return torch.where(found[:, 0], value.sum(1), 0)

    def spread(self, f: Callable[[Tensor], Tensor], k: int | None = None) -> Tensor:
        """[B, L] mean of |f(a) - f(b)| over two distinct places a, b of the document's tie block, 0 without ties."""
        table = self._table(f, k)
        rank = torch.arange(1, len(table) + 1, device=table.device, dtype=table.dtype)
        total, moment = _running(table), _running(table * rank)
        first, size = self.position.long() - 1, self.block.long()
        values = total[first + size] - total[first]
        moments = moment[first + size] - moment[first] - self.position * values  # sum of t f(p + t), t from 0
        pairs = (self.block * (self.block - 1)).clamp(min=1)
        return self.mask * (2 * ((self.block - 1) * values - 2 * moments) / pairs).clamp(min=0)

    def by_index(self) -> Ranking:
        """The same ranking with ties broken by document index, the first one on top."""
        order = torch.where(self.mask, self.position, torch.inf).argsort(dim=1, stable=True)
        place = torch.arange(1, order.shape[1] + 1, device=order.device).expand_as(order)
        position = torch.empty_like(order).scatter_(1, order, place).to(self.position.dtype)
        return Ranking(torch.where(self.mask, position, 1), torch.ones_like(self.block), self.mask)

    def _table(self, f: Callable[[Tensor], Tensor], k: int | None) -> Tensor:
        """[L] f at ranks 1 to L, 0 beyond k."""
        length = self.position.shape[1]
        rank = torch.arange(1, length + 1, device=self.position.device, dtype=self.position.dtype)
        return f(rank) if k is None else f(rank) * (rank <= k)


def exact_ranking(
    scores: Tensor, mask: Tensor | None = None, ties: Ties = "average", *, relevance: Tensor | None = None
) -> Ranking:
    """Rank documents by descending score.

    Args:
        scores: [B, L], any real unit; compared as given.
        mask: [B, L], True for a real document; all real when None.
        ties: "average" keeps tied documents in one block; "stable" and "docid" order them by index (on tensors,
            documents are listed in descending id order); "worst" and "best" put the relevant ones last or first.
        relevance: [B, L] labels, needed by "worst" and "best" alone.

    Raises:
        ValueError: an unknown rule, or one that needs relevance without it.

    Example:
        >>> exact_ranking(torch.tensor([[0.2, 0.9, 0.2]])).position.tolist()
        [[2.0, 1.0, 2.0]]
    """
    if ties not in TIES:
        raise ValueError(f"ties must be one of {', '.join(TIES)}; got {ties!r}")
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    key = scores.detach().masked_fill(~mask, -torch.inf)
    if ties in ("worst", "best"):
        if relevance is None:
            raise ValueError(f"ties={ties!r} orders tied documents by relevance, and none was given")
        by_label = relevance.argsort(dim=1, descending=ties == "best", stable=True)
        order = by_label.gather(1, key.gather(1, by_label).argsort(dim=1, descending=True, stable=True))
    else:
        order = key.argsort(dim=1, descending=True, stable=True)
    dtype = exact_dtype(scores.device)
    real = mask.gather(1, order).long()
    seen = real.cumsum(1)  # real documents up to and including this place; pads sort among scores of -inf
    if ties != "average":
        first, size = seen.clamp(min=1), torch.ones_like(seen)
    else:
        value = key.gather(1, order)
        change = value[:, 1:] != value[:, :-1]
        edge = torch.ones_like(mask[:, :1])
        before = torch.where(torch.cat([edge, change], 1), seen - real, 0).cummax(1).values
        after = torch.where(torch.cat([change, edge], 1), seen, seen.shape[1]).flip(1).cummin(1).values.flip(1)
        first, size = before + 1, (after - before).clamp(min=1)
    first = torch.where(real.bool(), first, 1)
    size = torch.where(real.bool(), size, 1)
    empty = torch.empty_like(order)
    return Ranking(empty.scatter(1, order, first).to(dtype), empty.scatter(1, order, size).to(dtype), mask)


def soft_ranking(scores: Tensor, mask: Tensor | None, temperature: float) -> Ranking:
    """Soft ranks: rank_i = 1 + sum over j != i of sigmoid((s_j - s_i) / temperature). O(L^2) memory a list.

    Source: Qin, Liu, Li (2010), A general approximation framework for direct optimization of information
    retrieval measures.

    Args:
        scores: [B, L], any real unit, differentiable.
        mask: [B, L], True for a real document.
        temperature: > 0, in units of the scores; the smaller, the closer to exact ranks.

    Example:
        >>> soft_ranking(torch.tensor([[0.2, 0.9]]), None, 0.01).position.tolist()
        [[2.0, 1.0]]
    """
    scores, _, mask = check_lists(scores, torch.zeros_like(scores), mask)
    both = mask[:, :, None] & mask[:, None, :]
    both = both & ~torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
    pairs = torch.sigmoid((scores[:, None, :] - scores[:, :, None]) / temperature) * both  # [B, L, L]
    return Ranking(1 + pairs.sum(-1), torch.ones_like(scores), mask, Soft(scores, pairs, temperature))


def _soft_within(soft: Soft, mask: Tensor, k: int | None) -> Tensor:
    """Sigmoid of the score's distance to the middle between the k-th score and the next.

    NOTE[DIFF] Rax holds that middle constant; here it has its gradient (docs/decisions/0004).
    """
    if k is None or k >= soft.scores.shape[1]:
        return mask + 0 * soft.scores  # all are in, whatever the scores, and the graph lives
    beyond = mask.sum(1, keepdim=True) > k
    ordered = soft.scores.masked_fill(~mask, -torch.inf).sort(dim=1, descending=True, stable=True).values
    middle = torch.where(beyond, ordered[:, k - 1 : k + 1], 0).mean(1, keepdim=True)
    inside = torch.sigmoid((soft.scores - middle) / soft.temperature)
    return mask * torch.where(beyond, inside, 1)


def _running(table: Tensor) -> Tensor:
    return torch.cat([table.new_zeros(1), table.cumsum(0)])

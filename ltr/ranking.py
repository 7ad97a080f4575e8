"""Where each document stands, exactly or softly: the only home of ranks, tie blocks and their softening."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ltr.inversions import concordance
from ltr.lists import all_real, check_lists, exact_dtype, may_look
from ltr.order import Ties, masked, rank_order, rising, sizes
from ltr.softening import centred, hinge_counts, soft_counts, soft_wins

Curve = Callable[[Tensor], Tensor]  # of ranks


class Pool:
    """The labels that a list's R, top grade and ideal order are taken over: of all its judged documents.

    Args:
        relevance: [B, P] labels >= 0.
        mask: [B, P] bool, a real document of the pool.
    """

    def __init__(self, relevance: Tensor, mask: Tensor) -> None:
        self.relevance, self.mask = relevance, mask
        self.size = sizes(mask)  # [B, 1]
        self._falling: Tensor | None = None  # [B, P] the labels times -1 in rising order, then 1 where padded

    @property
    def falling(self) -> Tensor:
        if self._falling is None:
            self._falling = rising(masked(-self.relevance.detach(), self.mask, 1))
        return self._falling

    @property
    def top(self) -> Tensor:
        """[B, 1] the highest label, 0 where there is none."""
        if not self.relevance.shape[1]:
            return self.relevance.new_zeros(len(self.relevance), 1)
        return -self.falling[:, :1].clamp(max=0)

    def ideal(self, k: int | None) -> tuple[Tensor, Tensor]:
        """[B, k] labels of the first k places of the ideal order, 0 where padded, and which places there are."""
        labels = -self.falling[:, :k].clamp(max=0)
        return labels, torch.arange(labels.shape[1], device=labels.device) < self.size

    def count(self, least: float) -> Tensor:
        """[B, 1] how many labels are at least this, a number above 0."""
        wanted = self.falling.new_full((len(self.falling), 1), -least)
        return torch.searchsorted(self.falling, wanted, right=True)

    def rows(self, index: Tensor) -> Pool:
        """The pools of some lists (each as often as it is named), without another sort."""
        labels, places = self.ideal(None)
        some = Pool(labels[index], places[index])
        some._falling = self.falling[index]
        return some


class Ranking:
    """Where each document stands: all that a metric ever sees of the scores.

    The documents may be listed in any order; labels and marks are given to it in the same one.
    """

    untied = False  # is it known that every block has one document?

    def __init__(
        self,
        position: Tensor,
        block: Tensor,
        mask: Tensor,
        *,
        judged: Tensor | None = None,
        pool: Pool | None = None,
        size: Tensor | None = None,
    ) -> None:
        self.position = position  # [B, L] 1-based: the first place of the document's tie block; a soft rank if soft
        self.block = block  # [B, L] documents in that tie block, 1 without ties
        self.mask = mask  # [B, L] bool, a real document that was ranked
        self.judged = judged  # [B, L] bool, has it a label? None: all have
        self.size = sizes(mask) if size is None else size  # [B, 1] ranked documents
        self._pool = pool

    @property
    def labelled(self) -> Tensor:
        """[B, L] bool, a ranked document that somebody judged: no other has a gain, not even that of label 0."""
        return self.mask if self.judged is None else self.mask & self.judged

    def pool(self, relevance: Tensor) -> Pool:
        """What R and the ideal order are taken over: the judged documents, of these labels where none else is known."""
        return self._pool or Pool(relevance, self.mask)

    def mean(self, f: Curve, k: int | None = None) -> Tensor:
        """[B, L] mean of f(rank) over the places that the document may take, 0 beyond k and where padded."""
        if self.untied:
            return self.mask * self._table(f, k)[self.position.long() - 1]
        total, first = _running(self._table(f, k)), self.position.long() - 1
        return self.mask * (total[first + self.block.long()] - total[first]) / self.block

    def within(self, k: int | Tensor | None) -> Tensor:
        """[B, L] how surely the document is among the first k ([B, 1] for each list its own): its block's share."""
        if k is None:
            return self.mask.to(self.position.dtype)
        return self.mask * ((k + 1 - self.position) / self.block).clamp(0, 1)

    def counts(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """[B, L] twice: the summed weight [B, L] of the documents above, and of the others in the same tie block."""
        first = self.position.long() - 1
        weight = torch.where(self.mask, weight, 0)
        blocks = torch.zeros_like(weight).scatter_add(1, first, weight)
        above = blocks.cumsum(1) - blocks
        return above.gather(1, first), blocks.gather(1, first) - weight

    def first(self, marked: Tensor, f: Curve, k: int | None = None) -> Tensor:
        """[B] expected f(rank) of the highest of the marked [B, L] documents, 0 beyond k or where none is marked.

        In a block of m documents of which r are marked, the first one stands at its place t (from 0) with
        probability r / (m - t) * product over u < t of (m - u - r) / (m - u).
        """
        marked = marked & self.mask
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

    def spread(self, f: Curve, k: int | None = None) -> Tensor:
        """[B, L] mean of |f(a) - f(b)| over two distinct places a, b of the document's tie block, 0 without ties."""
        table = self._table(f, k)
        rank = torch.arange(1, len(table) + 1, device=table.device, dtype=table.dtype)
        total, moment = _running(table), _running(table * rank)
        first, size = self.position.long() - 1, self.block.long()
        values = total[first + size] - total[first]
        moments = moment[first + size] - moment[first] - self.position * values  # sum of t f(p + t), t from 0
        pairs = (self.block * (self.block - 1)).clamp(min=1)
        return self.mask * (2 * ((self.block - 1) * values - 2 * moments) / pairs).clamp(min=0)

    def concordance(self, relevance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[B] three times: pairs of documents of different labels that stand right, wrong, and in one tie block."""
        return concordance(self.position, relevance, self.mask)

    def order(self) -> Tensor:
        """[B, L] the documents from the top down, tied ones by index, padded ones last."""
        place = torch.where(self.mask, self.position, torch.inf)
        if may_look(place) and (place[:, 1:] >= place[:, :-1]).all():
            return torch.arange(place.shape[1]).expand(place.shape)
        return place.argsort(dim=1, stable=True)

    def by_index(self) -> Ranking:
        """The same ranking with ties broken by document index, the first one on top."""
        order = self.order()
        place = torch.arange(1, order.shape[1] + 1, device=order.device).expand_as(order)
        position = torch.empty_like(order).scatter_(1, order, place).to(self.position.dtype)
        position = torch.where(self.mask, position, 1)
        return Ranking(position, torch.ones_like(self.block), self.mask, judged=self.judged, pool=self._pool)

    def _table(self, f: Curve, k: int | None) -> Tensor:
        """[L] f at ranks 1 to L, 0 beyond k."""
        length = self.position.shape[1]
        rank = torch.arange(1, length + 1, device=self.position.device, dtype=self.position.dtype)
        return f(rank) if k is None else f(rank) * (rank <= k)


class RankOrder(Ranking):
    """Documents listed in the order of their ranks, no two of which are tied: place r of a row is rank r.

    Args:
        mask: [B, K] bool; a row's documents come first, what is padded after them.
        size: [B, 1] ranked documents, where the rows are cut; counted when None.
    """

    untied = True

    def __init__(
        self, mask: Tensor, *, judged: Tensor | None = None, pool: Pool | None = None, size: Tensor | None = None
    ) -> None:
        rank = torch.arange(1, mask.shape[1] + 1, device=mask.device, dtype=exact_dtype(mask.device))
        place, block = rank.expand(mask.shape), rank.new_ones(1).expand(mask.shape)
        super().__init__(place, block, mask, judged=judged, pool=pool, size=size)
        self.full = all_real(mask)  # then nothing needs to be masked

    def cut(self, k: int | None) -> RankOrder:
        """The first k places alone."""
        if k is None or k >= self.mask.shape[1]:
            return self
        judged = None if self.judged is None else self.judged[:, :k]
        return RankOrder(self.mask[:, :k], judged=judged, pool=self._pool, size=self.size)

    def mean(self, f: Curve, k: int | None = None) -> Tensor:
        table = self._table(f, k)
        return table.expand(self.mask.shape) if self.full else self.mask * table

    def within(self, k: int | Tensor | None) -> Tensor:
        inside = self.mask if k is None else self.mask & (self.position <= k)
        return inside.to(self.position.dtype)

    def counts(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        weight = weight if self.full else self.mask * weight
        return weight.cumsum(1) - weight, weight.new_zeros(1).expand(weight.shape)

    def first(self, marked: Tensor, f: Curve, k: int | None = None) -> Tensor:
        marked = marked if self.full else marked & self.mask
        if may_look(marked):
            place = torch.from_numpy(marked.numpy().argmax(1))
        else:
            place = marked.to(torch.int8).argmax(1)
        return self._table(f, k)[place] * marked.gather(1, place[:, None])[:, 0]

    def concordance(self, relevance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return concordance(None, relevance, self.mask)


class SoftRanking(Ranking):
    """Soft ranks of scores that keep their graph; made by ``soft_ranking``."""

    untied = True

    def __init__(
        self, scores: Tensor, mask: Tensor, temperature: float, rows: Tensor | None = None, pool: Pool | None = None
    ) -> None:
        scores = centred(scores, mask)
        self.all_scores, self.all_mask, self.temperature = scores, mask, temperature
        self.scores, listed = (each if rows is None else each.gather(1, rows) for each in (scores, mask))
        place = self._places(self.scores, scores)
        super().__init__(
            torch.where(listed, place, 1), torch.ones_like(place), listed, pool=pool, size=mask.sum(1, keepdim=True)
        )

    def mean(self, f: Curve, k: int | None = None) -> Tensor:
        return f(self.position) * self.within(k)

    def within(self, k: int | Tensor | None) -> Tensor:
        """A sigmoid of the score's distance to the middle between the k-th score and the next.

        NOTE[DIFF] Rax takes soft ranks for scores, and holds the middle constant: ``SoftRanks`` (docs/decisions/0004).
        """
        length = self.all_scores.shape[1]
        if k is None or (isinstance(k, int) and k >= length):
            return self.mask + 0 * self.scores  # all are in, whatever the scores, and the graph lives
        last = (torch.full_like(self.size, k) if isinstance(k, int) else k).expand(len(self.scores), 1).long()
        beyond = self.size > last
        ordered = self.all_scores.masked_fill(~self.all_mask, -torch.inf)
        ordered = ordered.sort(dim=1, descending=True, stable=True).values
        around = torch.cat([last - 1, last], 1).clamp(0, length - 1)
        around = torch.where(beyond, ordered.gather(1, around), 0)
        return self.mask * torch.where(beyond, self._above(around), 1)

    def counts(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        weight = weight * self.mask
        above = soft_counts(self.scores, self.scores, weight, self.temperature) - weight / 2
        return self.mask * above, torch.zeros_like(weight)

    def first(self, marked: Tensor, f: Curve, k: int | None = None) -> Tensor:
        return torch.where(marked & self.mask, self.mean(f, k), 0).amax(1)

    def concordance(self, relevance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        right, pairs = soft_wins(self.scores, relevance, self.mask, self.temperature)
        return right, pairs - right, torch.zeros_like(right)

    def _above(self, around: Tensor) -> Tensor:
        """[B, R] how surely each document stands above the middle between two scores [B, 2] of the list."""
        return torch.sigmoid((self.scores - around.mean(1, keepdim=True)) / self.temperature)

    def _places(self, rows: Tensor, scores: Tensor) -> Tensor:
        """[B, R] the soft ranks of documents of these scores, among all of the list."""
        weight = None if all_real(self.all_mask) else self.all_mask.to(scores.dtype)
        return 0.5 + soft_counts(rows, scores, weight, self.temperature)  # counts itself half


class SoftRanks(SoftRanking):
    """The same ranks, which alone are soft: a cutoff looks at them, and who stands above whom is exact (Rax's rule).

    A document is among the first k by a sigmoid of the distance, in places, from its soft rank to the middle between
    the k-th and the next of them, which is held constant. Of those tied with it, half are above it.
    """

    def counts(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        exact = exact_ranking(self.scores.detach(), self.mask, dtype=self.scores.dtype)
        above, beside = exact.counts(weight * self.mask)
        return self.mask * (above + beside / 2) + 0 * self.scores, torch.zeros_like(weight)

    def _above(self, around: Tensor) -> Tensor:
        middle = self._places(around.detach(), self.all_scores.detach()).mean(1, keepdim=True)
        return torch.sigmoid((middle - self.position) / self.temperature)


class HingeRanking(Ranking):
    """Ranks that no tie rule can exceed: 1 + sum over j != i of max(0, 1 + s_j - s_i), of scores that keep their graph.

    A metric that only asks where the relevant documents stand is at most what it is under the exact ranks.
    """

    untied = True

    def __init__(self, scores: Tensor, mask: Tensor) -> None:
        place = torch.where(mask, hinge_counts(scores, mask), 1)
        super().__init__(place, torch.ones_like(place), mask)

    def mean(self, f: Curve, k: int | None = None) -> Tensor:
        return f(self.position) * self.within(k)

    def within(self, k: int | Tensor | None) -> Tensor:
        inside = self.mask if k is None else self.mask & (self.position <= k)
        return inside.to(self.position.dtype)

    def first(self, marked: Tensor, f: Curve, k: int | None = None) -> Tensor:
        return torch.where(marked & self.mask, self.mean(f, k), 0).amax(1)


def exact_ranking(
    scores: Tensor,
    mask: Tensor | None = None,
    ties: Ties = "average",
    *,
    relevance: Tensor | None = None,
    pool: Pool | None = None,
    dtype: torch.dtype | None = None,
) -> Ranking:
    """Rank documents by descending score; they stay listed as they are.

    Args:
        scores: [B, L], any real unit; compared as given.
        mask: [B, L], True for a real document; all real when None.
        ties: "average" keeps tied documents in one block; "stable" and "docid" order them by index (on tensors,
            documents are listed in descending id order); "worst" and "best" put the relevant ones last or first.
        relevance: [B, L] labels, needed by "worst" and "best" alone.
        pool: what R and the ideal order are taken over.
        dtype: of ranks and of what is worked out from them; float64 when None.

    Raises:
        ValueError: an unknown rule, or one that needs relevance without it.

    Example:
        >>> exact_ranking(torch.tensor([[0.2, 0.9, 0.2]])).position.tolist()
        [[2.0, 1.0, 2.0]]
    """
    mask = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    order, equal = rank_order(scores, mask, ties, relevance)
    untied = ties != "average" or (may_look(equal) and not equal.any())
    listed = RankOrder(mask.gather(1, order)) if untied else in_order(equal, mask.gather(1, order))
    places = (each.to(dtype) for each in (listed.position, listed.block))
    position, block = (masked(torch.ones_like(each).scatter(1, order, each), mask, 1) for each in places)
    ranking = Ranking(position, block, mask, pool=pool, size=listed.size)
    ranking.untied = untied
    return ranking


def in_order(equal: Tensor, mask: Tensor, *, judged: Tensor | None = None, pool: Pool | None = None) -> Ranking:
    """The ranking of documents that are listed in rank order, some of them tied.

    Args:
        equal: [B, L - 1] bool, has the next place the same score?
        mask: [B, L] bool, in rank order: real documents first.
        judged, pool: as ``Ranking`` takes them, judged in rank order.
    """
    length = mask.shape[1]
    edge = torch.ones_like(mask[:, :1])
    place = torch.arange(length, device=mask.device)
    first = torch.where(torch.cat([edge, ~equal], 1), place, 0).cummax(1).values
    last = torch.where(torch.cat([~equal, edge], 1), place, length).flip(1).cummin(1).values.flip(1)
    dtype = exact_dtype(mask.device)
    return Ranking((first + 1).to(dtype), (last - first + 1).to(dtype), mask, judged=judged, pool=pool)


def soft_ranking(
    scores: Tensor, mask: Tensor | None, temperature: float, rows: Tensor | None = None, pool: Pool | None = None
) -> SoftRanking:
    """Soft ranks: rank_i = 1 + sum over j != i of sigmoid((s_j - s_i) / temperature). O(rows x documents) time.

    Source: Qin, Liu, Li (2010), A general approximation framework for direct optimization of information
    retrieval measures.

    Args:
        scores: [B, L], any real unit, differentiable.
        mask: [B, L], True for a real document.
        temperature: > 0, in units of the scores; the smaller, the closer to exact ranks.
        rows: [B, R] the documents that are listed, by index, ranked among all; every one when None.
        pool: what R and the ideal order are taken over; the listed documents when None.

    Example:
        >>> soft_ranking(torch.tensor([[0.2, 0.9]]), None, 0.01).position.tolist()
        [[2.0, 1.0]]
    """
    scores, _, mask = check_lists(scores, torch.zeros_like(scores), mask)
    return SoftRanking(scores, mask, temperature, rows, pool)


def _running(table: Tensor) -> Tensor:
    return torch.cat([table.new_zeros(1), table.cumsum(0)])

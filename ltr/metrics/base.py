"""What every exact metric is: a value that knows its name, its convention, and what a swap of two documents does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache, partial
from typing import Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.gains import LEAST, Binary, Gain, at_least, lowest, number, real
from ltr.lists import all_real, check_weight, may_look
from ltr.metrics.measure import Answer, Measured, answer, measure
from ltr.order import Ties, sizes
from ltr.ranking import Curve, Ranking, RankOrder

Empty = Literal["skip", "zero", "one", "error"]
Unjudged = Literal["zero", "ignored"]
Ideal = Literal["judged", "retrieved"]
Deltas = Callable[[Tensor | None], Tensor]  # rows [B, R] -> [B, R, L]; all rows when None
MOST = 10**9  # the largest cutoff


@dataclass(frozen=True)
class RankingMetric(ABC):
    """A metric as a value: equal, hashable, printable, and read back by ``ltr.metrics.parse``.

    A metric sees only a ``Ranking``, exact or soft, so that a surrogate can be this same metric through a softer lens.

    Args:
        k: the cutoff, the full list when None.
        ties: what equal scores mean: "average" (the expected value over all orders), "docid", "stable", "worst",
            "best" (see ``exact_ranking``).
        empty: what a list without an answer counts in the mean: "skip", "zero", "one" or "error".
        unjudged: a document without a label counts as not relevant ("zero"), or leaves the ranking ("ignored": a
            condensed list; Sakai (2007), Alternatives to bpref).
        ideal: R, the ideal order and the top grade are taken over all "judged" documents, or the "retrieved" ones.
    """

    base: ClassVar[str]
    larger_is_better: ClassVar[bool] = True
    bounded: ClassVar[bool] = True  # are all its values in [0, 1]?
    cuts: ClassVar[bool] = True  # does it take a cutoff?
    pooled: ClassVar[bool] = True  # does it look at judged documents that were not retrieved?
    own_ties: ClassVar[bool] = False  # has it a rule of its own for equal scores?
    gainful: ClassVar[bool] = False  # is ``of`` the same when documents without a gain are not listed?
    windowed: ClassVar[bool] = False  # are the first k documents, their number and the pool all that ``of`` looks at?
    ends: ClassVar[Literal["all", "two", "grades", "order"] | None] = None  # see ``ltr.evaluation.extremes.known``

    ties: Ties = field(default="average", kw_only=True)
    empty: Empty = field(default="skip", kw_only=True)
    unjudged: Unjudged = field(
        default="zero", kw_only=True, metadata={"word": {"ignored": "condensed", "zero": "unjudged0"}}
    )
    ideal: Ideal = field(default="judged", kw_only=True)
    k: int | None = None

    def __post_init__(self) -> None:
        for option in self.options():
            words, value = choices(type(self), option.name), getattr(self, option.name)
            if words and value not in words:
                raise ValueError(f"{self.base}: {option.name} must be one of {', '.join(words)}; got {value!r}")
        if not self.pooled and self.ideal != "judged":
            raise ValueError(f"{self.base}: has no ideal order, so ideal has no meaning for it; got {self.ideal!r}")
        if self.k is not None:
            if not self.cuts:
                raise ValueError(f"{self.base}: is a metric of the full list and takes no cutoff; got k={self.k!r}")
            wanted = f"{self.base}: the cutoff k must be a whole number from 1 to {MOST}"
            object.__setattr__(self, "k", int(real(self.k, wanted, 1, MOST, whole=True)))

    # -- what a metric defines ------------------------------------------------------------------------------------

    @abstractmethod
    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B] the definition, on any ranking of the same documents; 0 where undefined."""

    @property
    @abstractmethod
    def document_gain(self) -> Gain:
        """What a document is worth to this metric: its gain, or 1 from the threshold on."""

    def gains(self, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        """[B, L] that worth, up to a positive constant per list, at most 1; 0 where padded."""
        mask = torch.ones_like(relevance, dtype=torch.bool) if mask is None else mask
        labels = relevance.masked_fill(~mask, 0)
        top = labels.amax(-1, keepdim=True) if labels.shape[-1] else labels
        return self.document_gain.relative(labels, top).masked_fill(~mask, 0)

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B] bool: has this list an answer at all? Unless said otherwise, that is: is any judged document worth
        something?"""
        pool = ranking.pool(relevance)
        return (self.document_gain(pool.top) > 0)[:, 0] & (pool.size > 0)[:, 0]

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        """[B, R, L] the metric after documents i and j change places, minus before; by definition, slow and right.

        Ties are broken by document index here. Metrics that are linear in the gains (DCG, NDCG, precision, recall)
        take the mean over all orders of the tied documents instead, and for two documents of one tie block the mean
        over the orders in which i stands above j.

        Args:
            ranking: of B lists of L documents.
            relevance: [B, L].
            rows: [B, R] indices of the documents i that are wanted; all when None.
        """
        ranking = ranking.by_index()
        lists, length = relevance.shape
        rows = torch.arange(length, device=relevance.device).expand(lists, length) if rows is None else rows
        real = both_real(ranking, rows)
        if not real.numel():
            return real.to(ranking.position.dtype)
        before = self.of(ranking, relevance)
        column = torch.arange(length, device=relevance.device)
        each = torch.arange(lists, device=relevance.device).repeat_interleave(length)
        wide, mask, pool = relevance[each], ranking.mask[each], ranking.pool(relevance).rows(each)
        judged = None if ranking.judged is None else ranking.judged[each]
        deltas = []
        for i in rows.unbind(1):
            position = ranking.position[:, None].repeat(1, length, 1)  # [B, j, L]
            here = ranking.position.gather(1, i[:, None])
            position[:, column, column] = here
            position.scatter_(2, i[:, None, None].expand(-1, length, 1), ranking.position[:, :, None])
            position = position.flatten(0, 1)
            swapped = Ranking(position, torch.ones_like(position), mask, judged=judged, pool=pool)
            deltas.append(self.of(swapped, wide).view(lists, length) - before[:, None])
        return torch.stack(deltas, 1) * real

    def deltas(self, ranking: Ranking, relevance: Tensor) -> Deltas:
        """``swap_deltas`` as a function of the rows, for those who ask for some at a time."""
        return partial(self.swap_deltas, ranking, relevance)

    def uncut(self) -> Self:
        """The same metric over the full list."""
        return replace(self, k=None)

    # -- what a user calls ----------------------------------------------------------------------------------------

    def __call__(
        self, scores: Any, relevance: Any, mask: Any = None, *, retrieved: Any = None, judged: Any = None
    ) -> Tensor:
        """[B] the exact metric of each list, in float64; 0 where undefined.

        Args:
            scores: [B, L] or [L], any real unit; larger is better; tensors, arrays or nested lists.
            relevance: the same shape, labels >= 0.
            mask: the same shape, True for a real document.
            retrieved: the same shape, False for a judged document that was not returned and so has no rank, though
                it counts in R and the ideal order; all when None.
            judged: the same shape, False for a document that nobody judged, whose label is not looked at; all judged
                when None.

        Raises:
            ValueError: shapes differ, a score or label is NaN, or a label is negative.
        """
        given = answer(scores, relevance, mask, retrieved=retrieved, judged=judged, finite_scores=True)
        return self.measured(given).value

    def exact(self, scores: Any, relevance: Any, mask: Any = None) -> Tensor:
        """[B] the same without an error on NaN scores: such a list's value is NaN (what a validation wants)."""
        return self.measured(answer(scores, relevance, mask)).value

    def defined(self, relevance: Any, mask: Any = None, *, retrieved: Any = None, judged: Any = None) -> Tensor:
        """[B] bool: has this list an answer at all? Arguments as above."""
        given = answer(relevance, relevance, mask, retrieved=retrieved, judged=judged)
        ranked = given.ranked(self.unjudged)
        place = torch.ones_like(given.relevance)
        ranking = Ranking(place, place, ranked, judged=given.judged, pool=given.pool(self.ideal))
        return self.answered(ranking, given.relevance)

    def measured(self, given: Answer) -> Measured:
        """Value and definedness of each list, of what ``ltr.metrics.answer`` read."""
        return measure([self], given)[0]

    def mean(
        self,
        scores: Any,
        relevance: Any,
        mask: Any = None,
        weight: Tensor | None = None,
        *,
        retrieved: Any = None,
        judged: Any = None,
    ) -> Tensor:
        """The mean over lists by the rule ``empty``, each list weighted by weight [B] (1 when None); NaN over none.

        The other arguments are those of a call.

        Raises:
            ValueError: as a call; a list has no answer where ``empty`` is "error"; weights of another shape, negative,
                not finite, or all 0.
        """
        given = answer(scores, relevance, mask, retrieved=retrieved, judged=judged, finite_scores=True)
        values, counted = self.settle(*self.measured(given))
        if weight is not None and weight.shape != values.shape:
            raise ValueError(f"weight must hold one number for each of {len(values)} lists, got {list(weight.shape)}")
        if weight is not None and may_look(check_weight(weight)) and len(weight) and not weight.any():
            raise ValueError(f"weight must be above 0 for some list, got 0 for all {len(weight)}")
        weight = counted.to(values.dtype) * (1 if weight is None else weight)
        return (values * weight).sum() / weight.sum()

    def settle(self, values: Tensor, defined: Tensor) -> tuple[Tensor, Tensor]:
        """([B] values, [B] bool counted) under the rule ``empty``: the mean is sum(values * counted) / sum(counted)."""
        if self.empty == "error" and not bool(defined.all()):
            index = int((~defined).nonzero()[0])
            raise ValueError(f"{self.name}: list {index} has nothing relevant, and empty=error refuses such lists")
        if self.empty == "skip":
            return torch.where(defined, values, 0), defined
        return torch.where(defined, values, 1.0 if self.empty == "one" else 0.0), torch.ones_like(defined)

    def floor(self, relevance: Any, mask: Any = None, *, retrieved: Any = None, judged: Any = None) -> Tensor:
        """[B] the expected value of a random order, in closed form: all retrieved documents in one tie block."""
        return self.floor_of(answer(relevance, relevance, mask, retrieved=retrieved, judged=judged))

    def ceiling(self, relevance: Any, mask: Any = None, *, retrieved: Any = None, judged: Any = None) -> Tensor:
        """[B] the value of the best list of as many documents, taken from all judged ones where ``pooled``.

        A cutoff can hold it below 1 (recall@10 of 40 relevant documents), and so can a list of few documents.
        """
        return self.ceiling_of(answer(relevance, relevance, mask, retrieved=retrieved, judged=judged))

    def floor_of(self, given: Answer) -> Tensor:
        """[B] the same, of what ``ltr.metrics.answer`` read."""
        ranked, pool = given.ranked(self.unjudged), given.pool(self.ideal)
        place = torch.ones_like(given.relevance)
        block = torch.where(ranked, ranked.sum(1, keepdim=True), 1).to(place.dtype)
        ranking = Ranking(place, block, ranked, judged=given.judged, pool=pool)
        return torch.where(self.answered(ranking, given.relevance), self.of(ranking, given.relevance), 0)

    def ceiling_of(self, given: Answer) -> Tensor:
        """[B] the same, of what ``ltr.metrics.answer`` read."""
        ranked, pool = given.ranked(self.unjudged), given.pool(self.ideal if self.pooled else "retrieved")
        place, size = torch.arange(ranked.shape[1], device=ranked.device), sizes(ranked)
        labels, _ = pool.ideal(len(place))
        labels = pad(labels, (0, len(place) - labels.shape[1]))  # unjudged documents, where the pool is too small
        ranking = RankOrder(place < size, judged=place < pool.size, pool=pool, size=size)
        return torch.where(self.answered(ranking, labels), self.of(ranking, labels), 0)

    # -- names ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What one types and what is printed: the base, then all that is not the default, then the cutoff."""
        words = [spell(each, value, "word") for each, value in self._options() if value != each.default]
        return "-".join([self.base, *words]) + self._cut()

    @property
    def convention(self) -> str:
        """Everything that changes the number; two numbers whose conventions differ are never compared."""
        parts = [
            f"{each.metadata.get('says', each.name)}={spell(each, value, 'formula')}"
            for each, value in self._options()
            if value != each.default or "quiet" not in each.metadata
        ]
        return " ".join([self.base + self._cut(), *parts])

    def __str__(self) -> str:
        return self.name

    def _cut(self) -> str:
        return "" if self.k is None else f"@{self.k}"

    @classmethod
    def options(cls) -> list[Field[Any]]:
        """Own options in the order of the class, then those of all metrics: the order of a name's words."""
        last = ("ideal", "unjudged", "ties", "empty")
        named = [each for each in fields(cls) if each.name != "k" and (each.name != "ideal" or cls.pooled)]
        return sorted(named, key=lambda each: last.index(each.name) if each.name in last else -1)

    def _options(self) -> list[tuple[Field[Any], Any]]:
        return [(each, getattr(self, each.name)) for each in self.options()]


@cache
def choices(metric: type[RankingMetric], option: str) -> tuple[str, ...]:
    """The words that an option can be, none where it is no choice of words."""
    annotation = get_type_hints(metric)[option]
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def spell(option: Field[Any], value: Any, how: Literal["word", "formula"]) -> str:
    """An option's value as a word of a name ("linear", "rel2") or the right-hand side of a convention ("y>=2")."""
    if isinstance(value, int | float):
        return str(option.metadata[how]).format(number(value))
    if isinstance(value, str):
        return str(option.metadata.get(how, {}).get(value, value))
    return str(getattr(value, how))


@dataclass(frozen=True)
class BinaryMetric(RankingMetric):
    """A metric that only asks which documents are relevant: those whose label reaches the threshold.

    Args:
        threshold: the lowest label that is relevant; 1 unless said otherwise, and then the name says so.
    """

    threshold: float = field(default=1.0, metadata={"says": "relevant", "word": "rel{}", "formula": "y>={}"})

    def __post_init__(self) -> None:
        super().__post_init__()
        wanted = f"{self.base}: the relevance threshold must be a number above 0"  # 0 is what "nothing relevant" means
        object.__setattr__(self, "threshold", real(self.threshold, wanted, LEAST))

    @property
    def document_gain(self) -> Gain:
        return Binary(self.threshold)

    def relevant(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, L] bool: which documents are relevant."""
        return at_least(relevance, self.threshold) & ranking.mask

    def total(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, 1] R, the relevant documents of the pool, at least 1."""
        count = ranking.pool(relevance).count(lowest(self.threshold))
        return count.clamp(min=1).to(ranking.position.dtype)

    def capped(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, 1] min(R, k), the most that k places can hold; without a cutoff k is the number of ranked documents."""
        total = self.total(ranking, relevance)
        places = ranking.size.clamp(min=1).to(total.dtype)
        return torch.minimum(total, places) if self.k is None else total.clamp(max=self.k)


@dataclass(frozen=True)
class SumMetric(RankingMetric):
    """A metric that adds up what each document is worth, times what its place is worth."""

    @property
    @abstractmethod
    def place(self) -> Curve:
        """What a rank is worth, never more than the one above it."""

    @abstractmethod
    def worth(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, L] what each document adds where its place is worth 1, divisors included; 0 where padded."""

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return (self.worth(ranking, relevance) * ranking.mean(self.place, self.k)).sum(-1)

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return self.deltas(ranking, relevance)(rows)

    def deltas(self, ranking: Ranking, relevance: Tensor) -> Deltas:
        return linear_deltas(ranking, self.worth(ranking, relevance), self.place, self.k)


@dataclass(frozen=True)
class CountMetric(SumMetric, BinaryMetric):
    """A binary metric that counts the relevant documents among the first k, each for the same worth."""

    windowed: ClassVar[bool] = True
    gainful: ClassVar[bool] = True

    @property
    def place(self) -> Curve:
        return torch.ones_like

    def uncut(self) -> Self:
        """Itself: without its cutoff it would not depend on the ranking."""
        return self


def linear_deltas(ranking: Ranking, worth: Tensor, place: Curve, k: int | None) -> Deltas:
    """(w_j - w_i)(p(r_i) - p(r_j)) for a metric sum_i w_i p(r_i) with places up to k, ties averaged over orders."""
    each = ranking.mean(place, k)
    apart = None if ranking.untied else ranking.spread(place, k)
    full = all_real(ranking.mask)

    def of_rows(rows: Tensor | None = None) -> Tensor:
        (mine, theirs), (here, there) = sides(worth, rows), sides(each, rows)
        moved = here - there
        if apart is not None:
            position, other = sides(ranking.position, rows)
            moved = moved + torch.where(position == other, apart[:, None], 0)
        moved = moved * (theirs - mine)
        return moved if full else moved * both_real(ranking, rows)

    return of_rows


def sides(values: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor]:
    """The values [B, L] of documents i, as [B, R, 1] for the rows [B, R] (all when None), and of j, as [B, 1, L]."""
    return (values if rows is None else values.gather(1, rows))[:, :, None], values[:, None]


def both_real(ranking: Ranking, rows: Tensor | None) -> Tensor:
    """[B, R, L] bool: are documents i and j both real?"""
    mine, theirs = sides(ranking.mask, rows)
    return mine & theirs

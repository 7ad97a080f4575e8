"""What every exact metric is: a value that knows its name, its convention, and what a swap of two documents does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields, replace
from math import inf
from numbers import Integral
from typing import Any, ClassVar, Literal, Self, get_args

import torch
from torch import Tensor

from ltr.gains import Binary, Gain, at_least, number
from ltr.lists import check_lists, exact_dtype
from ltr.ranking import TIES, Ranking, Ties, exact_ranking

Empty = Literal["skip", "zero", "one", "error"]
MOST = 10**9  # the largest cutoff
EMPTY: tuple[str, ...] = get_args(Empty)


@dataclass(frozen=True)
class RankingMetric(ABC):
    """A metric as a value: equal, hashable, printable, and read back by ``ltr.metrics.parse``.

    A metric sees only a ``Ranking``, exact or soft, so that a surrogate can be this same metric through a softer lens.

    Args:
        ties: what equal scores mean: "average" (the expected value over all orders), "docid", "stable", "worst",
            "best" (see ``exact_ranking``).
        empty: what a list without an answer counts in the mean: "skip", "zero", "one" or "error".
    """

    base: ClassVar[str]
    larger_is_better: ClassVar[bool] = True
    bounded: ClassVar[bool] = True  # are all its values in [0, 1]?

    ties: Ties = field(default="average", kw_only=True)
    empty: Empty = field(default="skip", kw_only=True)
    k: int | None = None

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise ValueError(f"{self.base}: ties must be one of {', '.join(TIES)}; got {self.ties!r}")
        if self.empty not in EMPTY:
            raise ValueError(f"{self.base}: empty must be one of {', '.join(EMPTY)}; got {self.empty!r}")
        k: Any = self.k  # a whole number of any kind, NumPy's too
        if k is not None:
            if isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= int(k) <= MOST:
                raise ValueError(f"{self.base}: the cutoff k must be a whole number from 1 to {MOST}, got {k!r}")
            object.__setattr__(self, "k", int(k))

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
        gain = self.document_gain.relative(relevance if mask is None else relevance.masked_fill(~mask, 0))
        return gain if mask is None else gain.masked_fill(~mask, 0)

    def defined(self, relevance: Any, mask: Any = None) -> Tensor:
        """[B] bool: has this list an answer at all, that is, any document worth something?"""
        _, relevance, mask = check_lists(relevance, relevance, mask)
        return (self.gains(relevance, mask) > 0).any(-1)

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
        before = self.of(ranking, relevance)
        column = torch.arange(length, device=relevance.device)
        wide = relevance[:, None].expand(-1, length, -1).reshape(lists * length, length)
        mask = ranking.mask[:, None].expand(-1, length, -1).reshape(lists * length, length)
        deltas = []
        for i in rows.unbind(1):
            position = ranking.position[:, None].repeat(1, length, 1)  # [B, j, L]
            here = ranking.position.gather(1, i[:, None])
            position[:, column, column] = here
            position.scatter_(2, i[:, None, None].expand(-1, length, 1), ranking.position[:, :, None])
            swapped = Ranking(position.flatten(0, 1), torch.ones_like(position).flatten(0, 1), mask)
            deltas.append(self.of(swapped, wide).view(lists, length) - before[:, None])
        return torch.stack(deltas, 1) * both_real(ranking, rows)

    def uncut(self) -> Self:
        """The same metric over the full list."""
        return replace(self, k=None)

    # -- what a user calls ----------------------------------------------------------------------------------------

    def __call__(self, scores: Any, relevance: Any, mask: Any = None) -> Tensor:
        """[B] the exact metric of each list, in float64; 0 where undefined.

        Args:
            scores: [B, L] or [L], any real unit; larger is better; tensors, arrays or nested lists.
            relevance: the same shape, labels >= 0.
            mask: the same shape, True for a real document.

        Raises:
            ValueError: shapes differ, a score or label is NaN, or a label is negative.
        """
        return self._exact(*check_lists(scores, relevance, mask, finite_scores=True))

    def exact(self, scores: Any, relevance: Any, mask: Any = None) -> Tensor:
        """[B] the same without an error on NaN scores: such a list's value is NaN (what a validation wants)."""
        return self._exact(*check_lists(scores, relevance, mask))

    def mean(self, scores: Any, relevance: Any, mask: Any = None, weight: Tensor | None = None) -> Tensor:
        """The mean over lists by the rule ``empty``, each list weighted by weight [B] (1 when None); NaN over none."""
        scores, relevance, mask = check_lists(scores, relevance, mask, finite_scores=True)
        values, counted = self.settle(self._exact(scores, relevance, mask), self.defined(relevance, mask))
        if weight is not None and weight.shape != values.shape:
            raise ValueError(f"weight must hold one number for each of {len(values)} lists, got {list(weight.shape)}")
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

    def floor(self, relevance: Any, mask: Any = None) -> Tensor:
        """[B] the expected value of a random order, in closed form: all documents in one tie block."""
        _, relevance, mask = check_lists(relevance, relevance, mask)
        scores = torch.zeros(relevance.shape, dtype=exact_dtype(relevance.device), device=relevance.device)
        return self.of(exact_ranking(scores, mask), relevance.to(scores.dtype))

    def ceiling(self, relevance: Any, mask: Any = None) -> Tensor:
        """[B] the value of the ideal order, which a cutoff can hold below 1 (recall@10 of 40 relevant documents)."""
        _, relevance, mask = check_lists(relevance, relevance, mask)
        relevance = relevance.to(exact_dtype(relevance.device))
        return self.of(exact_ranking(relevance, mask, "stable"), relevance)

    def _exact(self, scores: Tensor, relevance: Tensor, mask: Tensor) -> Tensor:
        ranking = exact_ranking(scores, mask, self.ties, relevance=relevance)
        value = self.of(ranking, relevance.to(ranking.position.dtype))
        return torch.where(torch.isnan(scores).any(1), torch.nan, value)  # on an accelerator nobody refused them

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
        """Own options in the order of the class, then ties and empty: the order of a name's words."""
        last = ("ties", "empty")
        named = [each for each in fields(cls) if each.name != "k"]
        return sorted(named, key=lambda each: last.index(each.name) if each.name in last else -1)

    def _options(self) -> list[tuple[Field[Any], Any]]:
        return [(each, getattr(self, each.name)) for each in self.options()]


def spell(option: Field[Any], value: Any, how: Literal["word", "formula"]) -> str:
    """An option's value as a word of a name ("linear", "rel2") or the right-hand side of a convention ("y>=2")."""
    if isinstance(value, float):
        return f"rel{number(value)}" if how == "word" else f"y>={number(value)}"
    if isinstance(value, str):
        return str(option.metadata.get(how, {}).get(value, value))
    return str(getattr(value, how))


@dataclass(frozen=True)
class BinaryMetric(RankingMetric):
    """A metric that only asks which documents are relevant: those whose label reaches the threshold.

    Args:
        threshold: the lowest label that is relevant; 1 unless said otherwise, and then the name says so.
    """

    threshold: float = field(default=1.0, metadata={"says": "relevant"})

    def __post_init__(self) -> None:
        super().__post_init__()
        number_given = isinstance(self.threshold, int | float) and not isinstance(self.threshold, bool)
        if not number_given or not 0 < self.threshold < inf:  # a label of 0 is what "nothing relevant" means
            raise ValueError(f"{self.base}: the relevance threshold must be a number above 0, got {self.threshold!r}")
        object.__setattr__(self, "threshold", float(self.threshold))

    @property
    def document_gain(self) -> Gain:
        return Binary(self.threshold)

    def relevant(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        """[B, L] bool: which documents are relevant."""
        return at_least(relevance, self.threshold) & ranking.mask


def linear_swap_deltas(
    ranking: Ranking, gain: Tensor, f: Callable[[Tensor], Tensor], k: int | None, rows: Tensor | None
) -> Tensor:
    """[B, R, L] (g_j - g_i)(f(r_i) - f(r_j)) for a metric sum_i g_i f(r_i), ties averaged over orders."""
    (mine, theirs), (here, there) = sides(gain, rows), sides(ranking.mean(f, k), rows)
    position, other = sides(ranking.position, rows)
    inside = torch.where(position == other, ranking.spread(f, k)[:, None], 0)
    return (theirs - mine) * (here - there + inside) * both_real(ranking, rows)


def sides(values: Tensor, rows: Tensor | None) -> tuple[Tensor, Tensor]:
    """The values [B, L] of documents i, as [B, R, 1] for the rows [B, R] (all when None), and of j, as [B, 1, L]."""
    return (values if rows is None else values.gather(1, rows))[:, :, None], values[:, None]


def both_real(ranking: Ranking, rows: Tensor | None) -> Tensor:
    """[B, R, L] bool: are documents i and j both real?"""
    mine, theirs = sides(ranking.mask, rows)
    return mine & theirs

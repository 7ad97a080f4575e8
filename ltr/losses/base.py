"""What every surrogate is: a differentiable stand-in for a metric, one loss per list, honest about its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from math import inf
from typing import Any, Literal, Self, get_args

import torch
from torch import Tensor, nn

from ltr.gains import LEAST, Gain, Linear, Table, real
from ltr.lists import as_tensor, check_lists, check_weight, may_look, ragged
from ltr.metrics import DCG, NDCG, Judged, RankingMetric, parse
from ltr.softening import uncast

LARGE = 2**24  # from there on float32 leaves out whole numbers
Kind = Literal["approximation", "bound", "neither"]
Suits = Literal["binary", "graded", "sparse", "clicks", "real", "teacher"]


class Surrogate(nn.Module, ABC):
    """A differentiable stand-in for a ranking metric.

    ``forward`` gives one loss per list; ``mean`` reduces over lists, once, and ``flat`` takes lists one after the other
    instead of padded ones. A subclass sets ``unit`` and, where it can, ``kind`` with ``estimate`` or ``certificate``:

    - approximation: loss = 1 - estimate, and the estimate is a number that wants to be the metric;
    - bound: ``certificate`` is a value that the metric cannot be worse than, whatever the scores;
    - neither: the loss has no common unit with any metric, and no difference between them is ever formed.
    """

    metric: RankingMetric | None = None  # the metric inside the formula, when it has one
    unit: str = "loss units"  # what one unit of the loss is, printed beside every loss
    cost: str = "unknown"  # time for a list of L documents, R of them with a gain or above the lowest label
    suits: tuple[Suits, ...] = ("binary", "graded")  # labels that it is made for
    shift_invariant: bool = True  # is the loss unchanged when all scores of a list grow by one constant?
    informative: bool = True  # does a falling value mean progress? False: never stop or select on it
    needs_teacher: bool = False  # does ``forward`` want ``teacher``, the scores [B, L] of another ranker?
    sampled_gradient: bool = False  # is the gradient right on average over draws, not for each of them?
    constant_parts: bool = False  # does the gradient hold constant what moves with the scores, and not by steps alone?
    softness_in: str | None = (
        None  # the parameter that blurs ranks or pairs: "temperature", or "1/sigma" where it sharpens
    )
    by_index: bool = False  # are equal scores told apart by the order in which documents are listed?

    @cached_property  # which a class or an instance may replace by a value of its own
    def fractional(self) -> bool:
        """Does it take labels between the grades? Unless it says otherwise: does the gain of its metric?"""
        return not isinstance(_gain(self.metric), Table)

    @cached_property
    def largest_label(self) -> float:
        """Larger labels are refused. Unless it says otherwise: by the gain of its metric."""
        gain = _gain(self.metric)
        return len(gain.gains) - 1 if isinstance(gain, Table) else inf

    @property
    def kind(self) -> Kind:
        return "neither"

    @property
    def aim(self) -> RankingMetric | None:
        """The metric that the belief is about: what an estimate estimates, what a certificate bounds."""
        return None if self.kind == "neither" else self.metric

    @property
    def softness(self) -> float | None:
        """How far ranks or pairs are blurred, in units of the scores: the temperature; None where nothing is."""
        if self.softness_in is None:
            return None
        value: float = getattr(self, self.softness_in.removeprefix("1/"))
        return 1 / value if self.softness_in.startswith("1/") else value

    def softened(self, factor: float) -> Self:
        """A copy whose softness is so many times its own.

        Args:
            factor: > 0.

        Raises:
            ValueError: the surrogate blurs nothing, or the factor is not above 0.

        Example:
            >>> from ltr.losses import ApproxMetric, RankNet
            >>> ApproxMetric("ndcg", temperature=0.5).softened(2).temperature, RankNet(sigma=1.0).softened(2).sigma
            (1.0, 0.5)
        """
        factor = positive("factor", factor)
        if self.softness_in is None:
            raise ValueError(f"{type(self).__name__}: it has no temperature (or the like) to change")
        copied, name = deepcopy(self), self.softness_in.removeprefix("1/")
        power = -1 if self.softness_in.startswith("1/") else 1
        setattr(copied, name, getattr(self, name) * factor**power)
        return copied

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Where this holds the surrogate is as in an evaluation: one that draws makes the same draws each time."""
        training = self.training
        self.eval()
        try:
            yield
        finally:
            self.train(training)

    def __call__(self, scores: Any, *rest: Any, **documents: Any) -> Tensor:
        """``forward``, in the type of the scores: autocast around it changes nothing."""
        with uncast(scores):
            losses: Tensor = super().__call__(scores, *rest, **documents)
        return losses

    @abstractmethod
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        """[B] the loss of each list, from scores [B, L], relevance [B, L] >= 0 and mask [B, L].

        Zero with a live graph for a list in which the formula has no term. The surrogates of this package take
        ``weight`` [B, L] >= 0 too, one of each document: it multiplies the document's term (of a pair, that of the
        better document; where gains are measured against their ideal or divided by their sum, the gain).
        """

    def estimate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """[B] what an approximation believes its aim to be; None for the other kinds."""
        return None

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """[B] the value that a bound guarantees its aim to be no worse than; None for the other kinds."""
        return None

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        """[B] what each list weighs in a mean over lists, beside weights of its own; None: all the same."""
        return None

    def mean(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        list_weight: Tensor | None = None,
        **documents: Tensor,
    ) -> Tensor:
        """The mean loss of the lists, a scalar to descend; a list in which the formula has no term counts as 0.

        Args:
            scores, relevance, mask: [B, L] as ``forward`` takes them.
            list_weight: [B] >= 0, of each list; 0 leaves it out.
            documents: what ``forward`` takes besides, such as weight [B, L].

        Raises:
            ValueError: as ``forward``; list_weight has another shape, or holds what is no number >= 0.
        """
        losses: Tensor = self(scores, relevance, mask, **documents)
        return mean_over_lists(losses, self.shares(scores, relevance, mask, list_weight))

    def shares(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None, list_weight: Tensor | None = None
    ) -> Tensor:
        """[B] what each list weighs in a mean: ``list_weight`` times ``share``."""
        scores, relevance, mask = check_lists(scores, relevance, mask)
        weight = scores.new_ones(len(scores)) if list_weight is None else as_tensor(list_weight, "list_weight")
        if weight.shape != scores.shape[:1]:
            came = list(weight.shape)
            raise ValueError(f"list_weight must hold one number for each of {len(scores)} lists, got {came}")
        weight, share = check_weight(weight).to(scores), self.share(relevance, mask)
        return weight if share is None else weight * share

    def flat(self, scores: Tensor, relevance: Any, *, lengths: Any = None, qid: Any = None, **documents: Any) -> Tensor:
        """[B] the loss of each list, from flat scores [N] and labels [N].

        Args:
            scores: [N], of the documents of all lists.
            relevance: [N].
            lengths: [B] documents of each list, which lie one after the other; or
            qid: [N] query ids, in any order; lists stand in order of first appearance.
            documents: what ``forward`` takes besides, [N] each.

        Raises:
            ValueError: neither or both of lengths and qid are given, or they do not fit the documents.

        Example:
            >>> from ltr.losses import ListNet
            >>> scores, labels = torch.tensor([0.3, 0.7, -0.2]), torch.tensor([1.0, 0.0, 2.0])
            >>> ListNet().flat(scores, labels, qid=["a", "b", "a"]).shape
            torch.Size([2])
        """
        scores = as_tensor(scores, "scores")
        named = {"relevance": relevance} | {name: each for name, each in documents.items() if each is not None}
        values = {name: as_tensor(each, name).to(scores.device) for name, each in named.items()}
        for name, each in values.items():
            if scores.dim() != 1 or each.shape[:1] != scores.shape:
                raise ValueError(
                    f"scores and {name} must be flat and of one length, [documents]; "
                    f"got {list(scores.shape)} and {list(each.shape)}"
                )
        index, mask = (each.to(scores.device) for each in ragged(len(scores), lengths=lengths, qid=qid))
        if not len(scores):
            index = index.new_zeros(len(index), 0)
        padded = {name: each[index] for name, each in values.items()}
        losses: Tensor = self(scores[index], padded.pop("relevance"), mask, **padded)
        return losses


def _gain(metric: RankingMetric | None) -> Gain | None:
    return None if metric is None else metric.document_gain


def mean_over_lists(losses: Tensor, weight: Tensor) -> Tensor:
    """sum w_b loss_b / sum w_b, 0 where no list has a weight."""
    total = weight.sum()
    return (weight * losses).sum() / torch.where(total > 0, total, 1)


def read_lists(
    scores: Tensor, relevance: Tensor, mask: Tensor | None, weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Scores, relevance and weight [B, L] in the type of the scores, and mask [B, L]; all of them 0 where padded.

    Labels and weights are constants: no gradient flows into them.

    Raises:
        ValueError: shapes differ, a label is negative or no number, or so is a weight; see ``ltr.lists.check_lists``.
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    relevance = _told_apart(relevance.detach(), scores.dtype)
    if weight is None:
        return scores, relevance, mask, mask.to(scores.dtype)
    weight = like_documents("weight", weight, mask).detach().to(scores.dtype)
    check_weight(weight)
    return scores, relevance, mask, weight


def _told_apart(relevance: Tensor, dtype: torch.dtype) -> Tensor:
    """Labels in the type of the scores, where that does not make equals of different large ones."""
    if relevance.dtype == dtype:
        return relevance
    rough = relevance.to(dtype)
    if may_look(relevance) and relevance.numel() and relevance.max() > LARGE and (rough != relevance).any():
        row, column = (rough != relevance).nonzero()[0].tolist()
        name, label = str(dtype).removeprefix("torch."), relevance[row, column].item()
        raise ValueError(
            f"labels must be numbers that {name} tells apart, as the scores are (whole ones to 2^24): list {row}, "
            f"document {column} has {label:.0f}; divide them, or give scores in float64"
        )
    return rough


def like_documents(name: str, values: Tensor, mask: Tensor) -> Tensor:
    """[B, L] the values, one a document, as [L] or [B, L] like the scores; 0 where padded.

    Raises:
        ValueError: they are of another shape.
    """
    values = as_tensor(values, name).to(mask.device)
    if not values.shape[-1:].numel() and not values.numel():
        values = values.new_zeros(mask.shape)  # lists without documents
    values = values[None] if values.dim() == 1 else values
    if values.shape != mask.shape:
        raise ValueError(
            f"{name} must be one a document, [lists, documents] = {list(mask.shape)} as the scores; "
            f"got {list(values.shape)}"
        )
    return values.masked_fill(~mask, 0)


def check_labels(relevance: Tensor, most: float, rule: str) -> None:
    """Refuse labels [B, L] above ``most``; looked at on the CPU alone.

    Raises:
        ValueError: one is; the error starts with the rule.
    """
    if may_look(relevance) and relevance.numel() and relevance.max() > most:
        row, column = (relevance > most).nonzero()[0].tolist()
        raise ValueError(f"{rule}: list {row}, document {column} has the label {relevance[row, column].item():g}")


def learnable(metric: RankingMetric | str) -> RankingMetric:
    """The metric of a name, if a ranking model can learn it.

    Raises:
        ValueError: an unknown metric, or one that measures the judgements alone.
    """
    metric = parse(metric)
    if isinstance(metric, Judged):
        raise ValueError(f"{metric.name}: it measures the judgements, so there is nothing to train on")
    return metric


def weighted_gains(
    metric: RankingMetric, relevance: Tensor, mask: Tensor, weight: Tensor | None
) -> tuple[RankingMetric, Tensor]:
    """A metric and labels [B, L] for it, in which each document's gain is multiplied by its weight.

    Args:
        metric: the one to weight.
        relevance, mask: [B, L].
        weight: [B, L], or None: metric and labels stay as they are.

    Raises:
        ValueError: the metric has no gains, only relevant documents.
    """
    if weight is None:
        return metric, relevance
    if not isinstance(metric, NDCG | DCG):
        raise ValueError(f"weight: a document's weight multiplies its gain, and {metric.name} has none; leave it out")
    gain = metric.gains(relevance, mask) if isinstance(metric, NDCG) else metric.document_gain(relevance)
    return replace(metric, gain=Linear()), gain.to(relevance.dtype) * weight


def check_word(name: str, value: str, words: Any) -> None:
    """Raises ValueError where the value is no word of a Literal."""
    if value not in get_args(words):
        raise ValueError(f"{name} must be one of {', '.join(get_args(words))}; got {value!r}")


def positive(name: str, value: float) -> float:
    """The value as a float.

    Raises:
        ValueError: it is not a finite number above 0.
    """
    return real(value, f"{name} must be a number above 0", LEAST)


def whole(name: str, value: int, least: int = 0) -> int:
    """The value as an int.

    Raises:
        ValueError: it is not a whole number of at least ``least``.
    """
    return int(real(value, f"{name} must be a whole number of at least {least}", least, whole=True))


def flag(name: str, value: bool) -> bool:
    """The value as it is.

    Raises:
        ValueError: it is neither True nor False.
    """
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")
    return value


def one_of_them(name: str, given: Any) -> Surrogate:
    """What was given, if it is a surrogate.

    Raises:
        ValueError: it is something else.
    """
    if not isinstance(given, Surrogate):
        came = f"the class {given.__name__}: call it first" if isinstance(given, type) else type(given).__name__
        raise ValueError(f"{name}: wanted a ltr.losses.Surrogate, got {came}")
    return given

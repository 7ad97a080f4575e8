"""What every surrogate is: a differentiable stand-in for a metric, one loss per list, honest about its kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, get_args

from torch import Tensor, nn

from ltr.gains import LEAST, real
from ltr.metrics import Judged, RankingMetric, parse

Kind = Literal["approximation", "bound", "neither"]


class Surrogate(nn.Module, ABC):
    """A differentiable stand-in for a ranking metric.

    ``forward`` gives one loss per list; reducing over lists is the trainer's job, done once. A subclass sets ``unit``
    and, where it can, ``kind`` with ``estimate`` or ``certificate``:

    - approximation: loss = 1 - estimate, and the estimate is a number that wants to be the metric;
    - bound: ``certificate`` is a value that the metric cannot be below, whatever the scores;
    - neither: the loss has no common unit with any metric, and no difference between them is ever formed.
    """

    metric: RankingMetric | None = None  # the metric inside the formula, when it has one
    unit: str = "loss units"  # what one unit of the loss is, printed beside every loss
    shift_invariant: ClassVar[bool] = True  # is the loss unchanged when all scores of a list grow by one constant?
    informative: bool = True  # does a falling value mean progress? False: never stop or select on it

    @property
    def kind(self) -> Kind:
        return "neither"

    @property
    def aim(self) -> RankingMetric | None:
        """The metric that the belief is about: what an estimate estimates, what a certificate bounds."""
        return None if self.kind == "neither" else self.metric

    @abstractmethod
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        """[B] the loss of each list, from scores [B, L], relevance [B, L] >= 0 and mask [B, L].

        Zero with a live graph for a list in which the formula has no term.
        """

    def estimate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """[B] what an approximation believes its aim to be; None for the other kinds."""
        return None

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """[B] the value of its aim that a bound guarantees; None for the other kinds."""
        return None


def learnable(metric: RankingMetric | str) -> RankingMetric:
    """The metric of a name, if a ranking model can learn it.

    Raises:
        ValueError: an unknown metric, or one that measures the judgements alone.
    """
    metric = parse(metric)
    if isinstance(metric, Judged):
        raise ValueError(f"{metric.name}: it measures the judgements, so there is nothing to train on")
    return metric


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

"""What a diagnosis finds, in plain words: each sentence with the number that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from ltr.gap.figures import Figure
from ltr.gap.numbers import number
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric

Level = Literal["alarm", "remark"]


class Finding(NamedTuple):
    """A sentence for a person, and a stable code and a figure for a program."""

    code: str  # stable: documented in docs/the-gap.md
    level: Level  # an alarm says that something is wrong
    sentence: str
    figure: Figure
    advice: str = ""  # what to try next, where the evidence supports it

    def row(self) -> dict[str, Any]:
        """As it stands in a file: code, level, sentence, value, unit, interval, lists, advice."""
        value, unit, low, high, lists = self.figure
        interval = None if low is None or high is None else [low, high]
        about = {"code": self.code, "level": self.level, "sentence": self.sentence}
        return about | {
            "value": value,
            "unit": unit,
            "interval": interval,
            "lists": lists,
            "advice": self.advice or None,
        }


class Case(NamedTuple):
    """What the rules look at."""

    surrogate: Surrogate
    target: RankingMetric
    belief: Mapping[str, Any]  # a row of ``summarise``
    figures: Mapping[str, Figure]
    ledger: Mapping[str, Figure]
    history: Sequence[Mapping[str, Any]]

    @property
    def name(self) -> str:
        return type(self.surrogate).__name__

    def value(self, figure: str) -> float | None:
        found = self.figures.get(figure)
        return None if found is None else found.value


def signed(value: float) -> str:
    return number(value, sign=True)


def sure(figure: Figure, form: Callable[[float], str] = number) -> str:
    """A figure with its interval."""
    if figure.value is None:
        return "-"
    told = form(figure.value)
    ends = [] if figure.low is None or figure.high is None else [form(figure.low), form(figure.high)]
    return told if set(ends) <= {told} else f"{told} [{', '.join(ends)}]"

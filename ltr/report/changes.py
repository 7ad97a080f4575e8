"""What a change to a list does to each metric, and why some do not see it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan

import torch

from ltr.gains import number
from ltr.metrics import BinaryMetric, RankingMetric
from ltr.report.case import Case

SAME = 1e-12  # values nearer than this are equal: what is left of a sum in another order
SETS = ("precision", "recall", "f1", "success", "judged")  # they ask what stands among the first k, in any order


@dataclass(frozen=True)
class Delta:
    """A metric before and after a change, None where it has no answer, and why, where that wants a word."""

    metric: RankingMetric
    before: float | None
    after: float | None
    why: str

    @property
    def by(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def moved(self) -> bool:
        return self.before is not self.after if self.by is None else abs(self.by) > SAME


@dataclass(frozen=True)
class Change:
    """What was changed, in words, and the grades from the top down that it leaves."""

    said: str
    positions: tuple[int, ...]
    grades: tuple[float | None, ...]
    deltas: tuple[Delta, ...]


def stated(metric: type[RankingMetric], word: str) -> str:
    """The sentence of a metric's docstring that begins with a word, as part of another one; "" where there is none.

    Example:
        >>> from ltr.metrics import METRICS
        >>> stated(METRICS["auc"], "Undefined")
        'undefined where relevant or other documents are missing'
    """
    found = re.search(rf"\b{word} .+?(?=\.(\s|$))", inspect.getdoc(metric) or "", re.DOTALL)
    text = " ".join(found[0].split()) if found else ""
    return text[:1].lower() + text[1:]


def silence(metric: RankingMetric) -> str:
    """Why it may have no answer on a list."""
    return stated(type(metric), "Undefined") or "undefined for a list without any gain"


def answered(value: float) -> float | None:
    """The value, None where it is NaN: the metric has no answer."""
    return None if isnan(value) else value


def change_of(
    case: Case,
    metrics: Sequence[RankingMetric],
    order: Sequence[int],
    swap: Sequence[int] | None,
    grade: Sequence[float] | None,
) -> Change | None:
    """What becomes of the metrics when two positions change places, or one gets another grade; None without either.

    Args:
        case: the query.
        metrics: that are measured before and after.
        order: the place in the case of each position, from the top down.
        swap, grade: as ``ltr.report.explain.explain`` takes them.

    Raises:
        ValueError: both at once, no such position, equal positions, a negative grade.
    """
    if swap is not None and grade is not None:
        raise ValueError("swap and grade: wanted one change at a time, got both")
    grades, judged = case.grades.clone(), case.judged.clone()
    if swap is not None:
        first, second = _places(swap, len(order))
        positions: tuple[int, ...] = (first, second)
        here, there = order[first - 1], order[second - 1]
        for column in (grades, judged):
            column[0, [here, there]] = column[0, [there, here]]
        said = f"the documents at positions {first} and {second} change places"
    elif grade is not None:
        position, value = _regrade(grade, len(order))
        positions = (position,)
        here = there = order[position - 1]
        was = f"grade {number(case.grades[0, here].item())}" if judged[0, here] else "no grade"
        grades[0, here], judged[0, here] = value, True
        said = f"the document at position {position} gets grade {number(value)} instead of {was}"
    else:
        return None
    after = replace(case, grades=grades, judged=judged)
    columns = (each.values(metrics)[:, 0].tolist() for each in (case, after))
    deltas = []
    for metric, before, now in zip(metrics, *columns, strict=True):
        delta = Delta(metric, answered(before), answered(now), "")
        deltas.append(replace(delta, why=_why(delta, case, after, positions, here, there)))
    left = tuple(grades[0, index].item() if judged[0, index] else None for index in order)
    return Change(said, positions, left, tuple(deltas))


def _places(swap: Sequence[int], length: int) -> tuple[int, int]:
    if len(swap) != 2 or not all(float(each).is_integer() and 1 <= each <= length for each in swap):
        raise ValueError(f"swap: wanted two positions from 1 to {length}, such as [1,2]; got {_listed(swap)}")
    if swap[0] == swap[1]:
        raise ValueError(f"swap: wanted two different positions, got {_listed(swap)}")
    return int(swap[0]), int(swap[1])


def _regrade(grade: Sequence[float], length: int) -> tuple[int, float]:
    if len(grade) != 2 or not (float(grade[0]).is_integer() and 1 <= grade[0] <= length):
        raise ValueError(f"grade: wanted a position from 1 to {length} and its grade, as [3,0]; got {_listed(grade)}")
    if not 0 <= grade[1] < float("inf"):
        raise ValueError(f"grade: wanted a position and a grade of at least 0, got {_listed(grade)}")
    return int(grade[0]), float(grade[1])


def _listed(values: Sequence[float]) -> str:
    return "[" + ",".join(f"{value:g}" for value in values) + "]"


def _why(delta: Delta, case: Case, after: Case, positions: tuple[int, ...], here: int, there: int) -> str:
    """Why a metric does not see a change, or sees one below its cutoff; the documents stand at here and there."""
    metric, ranking = delta.metric, case.ranking(delta.metric)
    inside = [float(ranking.within(metric.k)[0, index]) for index in (here, there)]
    swapped = here != there
    if delta.before is None or delta.after is None:
        when = "before and after" if delta.after is delta.before else "before" if delta.before is None else "any more"
        return f"no answer {when}: {silence(metric)}"
    if delta.moved:
        if swapped or any(inside):
            return ""
        aim = "number of relevant documents" if isinstance(metric, BinaryMetric) else "best order"
        return f"position {positions[0]} lies below the cutoff, but the {aim} to divide by is another now"
    if swapped and ranking.position[0, here] == ranking.position[0, there]:
        return "the two have equal scores, and so no order that a swap could change"
    grades = torch.stack([case.grades[0, here], after.grades[0, here]])
    worth = metric.document_gain(grades)
    if metric.base == "judged" and case.judged[0, here] == after.judged[0, here]:
        return "no grade counts, only whether somebody judged"
    if worth[0] == worth[1] and isinstance(metric, BinaryMetric):
        relevant = bool(worth[0] > 0)
        states = ("both documents are" if relevant else "neither document is") if swapped else "the document "
        states += "" if swapped else "is, before and after" if relevant else "never is"
        return f"relevant is a grade of {number(metric.threshold)} or more, and {states}"
    if worth[0] == worth[1]:
        same = "both documents have the same grade" if swapped else "the grade is what it was"
        return same if grades[0] == grades[1] else "the two grades are worth the same"
    if not any(inside):
        return f"{'both positions lie' if swapped else 'the position lies'} below the cutoff"
    if swapped and metric.base in SETS and min(inside) == 1:
        first = "in the list" if metric.k is None else f"among the first {metric.k}"
        return f"only which documents are {first} counts, and not their order"
    if metric.base == "mrr":
        return "the first relevant document stands where it stood"
    return "the value comes to the same either way"

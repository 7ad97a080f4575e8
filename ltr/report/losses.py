"""Where an NDCG is lost: by which lists, in selection or in order, and below the places that anybody sees."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from ltr.evaluation import Evaluation, Regret, regret_classes, regret_of
from ltr.evaluation.answers import answers
from ltr.evaluation.notes import all_of, brief
from ltr.evaluation.regret import CLASSES, ClassOfLists
from ltr.gains import Table
from ltr.gap.numbers import number
from ltr.metrics import NDCG, RankingMetric
from ltr.report.layout import Block

LONGEST = 1000  # places of a metric without a cutoff whose weight is looked at
SHORT = dict(zip(CLASSES, ("perfect", "wrong order", "below", "late", "nothing", "no answer"), strict=True))


class Lost(NamedTuple):
    """What the mean of the first NDCG of a table lacks to 1."""

    metric: NDCG
    name: str  # of the mean
    classes: list[ClassOfLists]

    @property
    def selection(self) -> float:
        return sum(each.selection for each in self.classes)

    @property
    def order(self) -> float:
        return sum(each.order for each in self.classes)


def losses(systems: Mapping[str, Evaluation]) -> dict[str, Lost]:
    """System -> what it loses; nothing where no NDCG is measured, or nothing is lost."""
    found = {}
    for name, table in systems.items():
        values = next((each for each in table.values if isinstance(each.metric, NDCG)), None)
        if values is None:
            continue
        metric = values.metric
        assert isinstance(metric, NDCG)
        size = len(values.query_ids)
        parts = [torch.zeros(size, dtype=kind) for kind in (torch.float64, torch.float64, torch.int64)]
        for queries, given in answers(values.lists):
            for whole, part in zip(parts, regret_of(metric, given), strict=True):
                whole[torch.from_numpy(queries)] = part
        title = metric.name if table.aggregate == "mean" else f"mean {metric.name}"
        lost = Lost(metric, title, regret_classes(Regret(*parts), values.weight))
        if np.isfinite(lost.selection) and lost.selection + lost.order > 5e-5:
            found[name] = lost
    return found


def what_is_lost(lost: Mapping[str, Lost]) -> list[Block]:
    """The two parts of what is lost, and how many lists are of each class."""
    rows = []
    for name, each in lost.items():
        classes = {SHORT[one.name]: str(one.lists) if one.lists else "-" for one in each.classes}
        parts = {"lost": each.selection + each.order, "selection": each.selection, "order": each.order}
        rows.append((name, {head: number(value) for head, value in parts.items()} | classes))
    return [Block(f"lost by {each.name}", rows) for each in list(lost.values())[:1]]


def kinds(lost: Mapping[str, Lost], heads: Collection[str]) -> dict[str, str]:
    """What the columns of that table are.

    Args:
        lost: as ``losses`` gives it.
        heads: the columns that have been printed.
    """
    if not lost:
        return {}
    metric = next(iter(lost.values())).metric
    first = f"the first {metric.k}" if metric.k else "the list"
    told = {
        "lost": "selection + order, over lists with an answer",
        "selection": f"better documents are not in {first}",
        "order": "those that are stand in the wrong order",
        "perfect": "lists that lose nothing",
        "wrong order": "lists with the right set in the wrong order",
        "below": "lists with a relevant document below the cutoff",
        "late": "lists whose first relevant document comes late",
        "nothing": f"lists with nothing relevant in {first}",
        "no answer": "lists that do not count",
    }
    return {head: text for head, text in told.items() if head in heads}


def shown_lines(metrics: Sequence[RankingMetric], shown: int, longest: int) -> list[str]:
    """For each metric, how much of what it scores lies below the places that anybody sees."""
    lines, whole = [], []
    for metric, name in brief(metrics).items():
        below = share_below(metric, shown, longest)
        if below is None and metric.base != "judged":
            whole.append(name)
        elif below is not None and below > 0.005:
            instead = f"; {name.partition('@')[0]}@{shown} scores what is shown" if metric.cuts else ""
            lines.append(
                f"{name}: {100 * below:.0f} % of its weight lies below position {shown}, where nobody looks{instead}"
            )
    if whole:
        lines.append(f"{all_of(whole)}: the whole list counts, also below position {shown}, where nobody looks")
    return lines or [f"shown={shown}: no metric here scores what lies below that position"]


def share_below(metric: RankingMetric, shown: int, longest: int = LONGEST) -> float | None:
    """The share of a metric's weight that lies below a position; None where it has no weights of positions.

    The weight of a position is the metric's value on a list whose only relevant document stands there.

    Args:
        metric: any; one without a cutoff looks at ``longest`` places.
        shown: the positions that the product displays.
        longest: documents of the longest list.

    Example:
        >>> from ltr.metrics import parse
        >>> round(share_below(parse("ndcg@10"), 3), 2)
        0.53
    """
    if not metric.windowed or metric.base == "judged":
        return None
    places = min(metric.k or longest, LONGEST)
    gain = metric.document_gain
    best = len(gain.gains) - 1 if isinstance(gain, Table) else getattr(gain, "threshold", 1.0)
    top = getattr(metric, "top", best)
    scores = torch.arange(places, 0, -1, dtype=torch.float64).expand(places, places)
    weight = metric(scores, torch.eye(places, dtype=torch.float64) * top)
    total = weight.sum().item()
    return weight[shown:].sum().item() / total if total > 0 else None

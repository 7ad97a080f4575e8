"""Surrogate losses of ranked lists, query by query, to stand beside the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from ltr.data import DataError
from ltr.evaluation.answers import tensor_of
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.notes import some
from ltr.evaluation.padding import Doubles, Flags, RankedBatch
from ltr.evaluation.queries import QueryRow
from ltr.gap.numbers import counted, known
from ltr.metrics import RankingMetric

if TYPE_CHECKING:
    from ltr.losses import Surrogate

CELLS = 1 << 14  # padded documents held at once: some losses hold a matrix of each list


@dataclass(frozen=True, eq=False)
class LossValues:
    """One surrogate on every list, in their order."""

    name: str  # as it was asked for
    surrogate: Surrogate
    lists: RankedLists
    value: Doubles  # [Q] NaN for a query without returned documents
    share: Doubles  # [Q] what the list weighs in the mean by the surrogate's own rule

    @property
    def counted(self) -> Flags:
        """[Q] is the list part of the mean?"""
        return self.lists.lengths > 0

    @property
    def mean(self) -> float:
        """Over the lists that count, each by its weight; NaN over none."""
        weight = self.lists.weight * self.share * self.counted
        return float((np.where(weight > 0, self.value, 0) * weight).sum() / weight.sum()) if weight.any() else np.nan

    @property
    def about(self) -> str:
        """What the loss has to do with a metric, "-" where it has nothing."""
        aim = self.surrogate.aim
        verb = {"approximation": "1 - it approximates", "bound": "bounds"}.get(self.surrogate.kind)
        return "-" if aim is None or verb is None else f"{verb} {aim.name}"

    def per_query(self) -> dict[str, float | None]:
        """Query -> the loss, in the order of the input; None for a query without returned documents."""
        pairs = zip(self.lists.query_ids, self.value.tolist(), self.counted.tolist(), strict=True)
        return {query: value if some else None for query, value, some in pairs}

    def rows(self) -> list[QueryRow]:
        """One row a query, for a file of values."""
        columns = zip(self.per_query().items(), self.lists.lengths.tolist(), self.lists.weight.tolist(), strict=True)
        missing = set(self.lists.missing)
        return [
            QueryRow(query, self.name, value, many, None, weight, "run" if query in missing else None)
            for (query, value), many, weight in columns
        ]

    def cells(self) -> dict[str, str]:
        """The columns of a table that say what it comes to."""
        return {
            "mean": known(self.mean),
            "n": str(int(self.counted.sum())),
            "unit": self.surrogate.unit,
            "what it is": self.about,
        }


def surrogates_of(
    losses: str | Surrogate | Sequence[str | Surrogate], metric: RankingMetric | str
) -> dict[str, Surrogate]:
    """Surrogates by name: those of conf/loss with their defaults, or ones that are given, by their class.

    Args:
        losses: names, as ``ltr list losses`` has them, or surrogates.
        metric: what those by name are made for, where they have a metric inside.

    Raises:
        ValueError: there is no such loss, the metric is none that it can be made for, or it learns from a teacher.

    Example:
        >>> from ltr.losses import MSE
        >>> surrogates_of(["list_mle", MSE()], "ndcg@10")
        {'list_mle': ListMLE(), 'MSE': MSE()}
    """
    from ltr.losses import Surrogate
    from ltr.losses.named import named

    found: dict[str, Surrogate] = {}
    for each in [losses] if isinstance(losses, str | Surrogate) else losses:
        if not isinstance(each, str | Surrogate):
            raise ValueError(f"losses: wanted names or surrogates, got {each!r}")
        try:
            surrogate = named(each, metric) if isinstance(each, str) else each
        except ValueError as error:
            raise ValueError(f"losses: {error}") from error
        name = base = each if isinstance(each, str) else type(each).__name__
        if surrogate.needs_teacher:
            raise ValueError(f"losses: {name} learns from another ranker's scores, and there are none here")
        while name in found and not isinstance(each, str):
            name = f"{base} {int(name[len(base) :] or 1) + 1}"
        found[name] = surrogate
    return found


def loss_values(lists: RankedLists, losses: Mapping[str, Surrogate]) -> dict[str, LossValues]:
    """Each surrogate on each list, of what was returned: a document without a score is in no loss, one that nobody
    judged has label 0.

    Args:
        lists: what a system returned, and what the judges say.
        losses: by name.

    Raises:
        DataError: a score is infinite, or a surrogate refuses a list.

    Example:
        >>> from ltr.losses import MSE
        >>> lists = RankedLists.from_arrays([1, 0, 2], [0.5, 0.5, 1.0], ["a", "a", "b"])
        >>> loss_values(lists, {"mse": MSE()})["mse"].per_query()
        {'a': 0.25, 'b': 1.0}
    """
    if losses and np.isinf(lists.score).any():
        row = int(np.isinf(lists.score).argmax())
        query = lists.query_ids[int(np.searchsorted(lists.offsets, row, side="right")) - 1]
        raise DataError(f"{lists.source}, query {query}: a loss wants finite scores, came {lists.score[row]:g}")
    return {name: _values(name, surrogate, lists) for name, surrogate in losses.items()}


def loss_notes(lists: RankedLists) -> list[str]:
    """What one must know before one sets a loss beside a metric, a sentence each."""
    return list(_notes(lists))


def _notes(lists: RankedLists) -> Iterator[str]:
    without = [query for query, many in zip(lists.query_ids, lists.lengths, strict=True) if not many]
    if without:
        yield f"no loss for {counted(len(without), 'query')} without returned documents (left out): {some(without)}"
    known = len(lists.score) if lists.judged is None else int(lists.judged.sum())
    absent = 0 if lists.pool is None else len(lists.pool) - known
    if absent:
        what = f"{counted(absent, 'judged document')} that {'was' if absent == 1 else 'were'} not returned"
        yield f"losses leave out {what}: there is no score"
    if lists.judged is not None and not lists.judged.all():
        yield f"losses give label 0 to {counted(len(lists.score) - known, 'document')} that nobody judged"


def _values(name: str, surrogate: Surrogate, lists: RankedLists) -> LossValues:
    value, share = np.full(len(lists.query_ids), np.nan), np.ones(len(lists.query_ids))
    with surrogate.evaluating():
        for batch in lists.batches(CELLS):
            try:
                found, weighed = _measured(surrogate, batch)
            except ValueError:
                for place, query in enumerate(batch.queries.tolist()):
                    try:
                        _measured(surrogate, _row(batch, place))
                    except ValueError as error:
                        where = f"{lists.judgements or lists.source}, query {lists.query_ids[query]}"
                        raise DataError(f"{where}: {name}: {error}") from None
                raise
            value[batch.queries], share[batch.queries] = found, weighed
    value[lists.lengths == 0] = np.nan
    return LossValues(name, surrogate, lists, value, share)


@torch.no_grad()
def _measured(surrogate: Surrogate, batch: RankedBatch) -> tuple[Doubles, Doubles]:
    given = [tensor_of(each) for each in (batch.scores, batch.relevance, batch.mask)]
    return surrogate(*given).double().numpy(), surrogate.shares(*given).double().numpy()


def _row(batch: RankedBatch, place: int) -> RankedBatch:
    """The batch of one of its lists."""
    one = slice(place, place + 1)
    lists = {name: getattr(batch, name)[one] for name in ("queries", "scores", "relevance", "mask")}
    return batch._replace(**lists)

"""Ranked lists as the tensors that metrics read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from ltr.evaluation.lists import RankedLists
from ltr.evaluation.padding import Integers, RankedBatch
from ltr.metrics import Answer
from ltr.metrics.base import Ideal
from ltr.ranking import Pool

CELLS = 1 << 18  # padded documents held at once: what stays in a core's cache


class PooledAnswer(Answer):
    """What a system returned, with the labels of all judged documents beside it: those that it did not return too."""

    everything: Pool

    def pool(self, ideal: Ideal) -> Pool:
        return self.everything if ideal == "judged" else super().pool(ideal)


def answers(lists: RankedLists, cells: int = CELLS) -> Iterator[tuple[Integers, Answer]]:
    """Batch after batch, the places of B queries and what metrics read of them.

    Args:
        lists: any.
        cells: padded documents of a batch; a longer list is a batch of its own.

    Example:
        >>> lists = RankedLists.from_arrays([1, 0, 2], [0.3, 0.2, 0.9], ["b", "a", "b"])
        >>> [(queries.tolist(), given.relevance.tolist()) for queries, given in answers(lists, cells=2)]
        [([0], [[1.0, 2.0]]), ([1], [[0.0]])]
    """
    for batch in lists.batches(cells):
        yield batch.queries, _answer(batch)


def with_pool(given: Answer, pool: Pool) -> Answer:
    """The same answer, where R and the ideal order are taken over this pool."""
    found = PooledAnswer(*given)
    found.everything = pool
    return found


def _answer(batch: RankedBatch) -> Answer:
    mask = tensor_of(batch.mask)
    judged = None if batch.judged is None else tensor_of(batch.judged)
    given = Answer(tensor_of(batch.scores), tensor_of(batch.relevance), mask, mask, judged)
    if batch.pool is None or batch.pool_mask is None:
        return given
    return with_pool(given, Pool(tensor_of(batch.pool), tensor_of(batch.pool_mask)))


def tensor_of(array: NDArray[Any]) -> Tensor:
    """The array as a tensor; a copy where it may not be written to, since torch warns of sharing such."""
    return torch.from_numpy(array if array.flags.writeable else array.copy())

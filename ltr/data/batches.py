"""Batches of whole lists: padded only to their own longest list, under a budget of padded documents, never cut."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch.utils.data import Dataset, Sampler

from ltr.data.ranking_data import DataError, Integers, RankingData
from ltr.lists import ListBatch

STEP = 1.2  # ratio of two neighbouring length classes: lists of one class are shuffled among each other


class ListDataset(Dataset[ListBatch]):
    """Turns the places of some queries into one padded batch: ``ListDataset(data)[[3, 0]]``.

    ``DataLoader(ListDataset(data), sampler=BucketBatches(data.lengths, ...), batch_size=None)`` is the whole loader.

    Example:
        >>> data = RankingData.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], queries=["a", "a", "b"])
        >>> batch = ListDataset(data)[[1, 0]]
        >>> batch.features[..., 0].tolist(), batch.mask.tolist()
        ([[3.0, 0.0], [1.0, 2.0]], [[True, False], [True, True]])
    """

    def __init__(self, data: RankingData) -> None:
        self.data = data

    def __len__(self) -> int:
        return len(self.data.query_ids)

    def __getitem__(self, queries: Sequence[int]) -> ListBatch:
        data, chosen = self.data, np.asarray(queries, dtype=np.int64)
        lengths = data.lengths[chosen]
        place = np.arange(lengths.max())
        mask = place < lengths[:, None]  # [B, L]
        rows = np.where(mask, data.offsets[chosen][:, None] + place, 0)
        return ListBatch(
            features=torch.from_numpy(data.features[rows] * mask[..., None]),
            relevance=torch.from_numpy((data.relevance[rows] * mask).astype(np.float32)),
            mask=torch.from_numpy(mask),
            query=torch.from_numpy(chosen),
            weight=torch.from_numpy(data.weight[chosen].astype(np.float32)),
        )


class BucketBatches(Sampler[list[int]]):
    """Yields the places of the queries of one batch after another; lists of like length stand together.

    A batch of b lists whose longest has n documents holds b * n <= documents; a longer list is a batch of its own.
    Training (shuffle=True): lengths are rounded up to classes a factor 1.2 apart; the queries of a class are shuffled,
    then the batches, by a generator of its own made from seed and epoch, so that neither the number of workers nor the
    draws of a model matters; every epoch has the same number of batches. Evaluation: one fixed order, by length.

    With several processes, training deals out whole batches and repeats the first ones so that each process has as
    many; evaluation deals out queries, each exactly once, and the processes may differ by one.

    Args:
        lengths: [Q] number of documents of each list.
        documents: padded documents of a batch.
        lists: the most lists of a batch; None: no limit.
        shuffle: training order (True) or evaluation order.
        seed: of the training order.
        rank, world: which of how many processes asks.

    Raises:
        DataError: a limit below 1, no query at all, or fewer queries to evaluate than processes.

    Example:
        >>> list(BucketBatches([5, 2, 3, 1], documents=6))
        [[0], [2, 1], [3]]
    """

    def __init__(
        self,
        lengths: Sequence[int] | Integers,
        *,
        documents: int = 4096,
        lists: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        if documents < 1 or (lists is not None and lists < 1):
            raise DataError(f"batches: wanted documents and lists of at least 1, came {documents} and {lists}")
        if not 0 <= rank < world:
            raise DataError(f"batches: wanted a rank from 0 to world - 1, came rank {rank} of {world}")
        self.lengths = np.asarray(lengths, dtype=np.int64)
        if not len(self.lengths):
            raise DataError("batches: wanted at least one query, came none")
        if not shuffle and len(self.lengths) < world:
            raise DataError(f"batches: {len(self.lengths)} queries cannot be evaluated by {world} processes")
        self.documents, self.lists, self.shuffle = documents, lists, shuffle
        self.seed, self.rank, self.world, self.epoch = seed, rank, world, 0
        self.sizes = self._sizes() if shuffle else []
        self.fixed = [] if shuffle else self._fixed()

    def set_epoch(self, epoch: int) -> None:
        """Choose the training order of this epoch (Lightning calls it)."""
        self.epoch = epoch

    def __len__(self) -> int:
        return math.ceil(len(self.sizes) / self.world) if self.shuffle else len(self.fixed)

    def __iter__(self) -> Iterator[list[int]]:
        yield from self._shuffled() if self.shuffle else self.fixed

    def _classes(self) -> Integers:
        edges = [1]
        while edges[-1] < self.lengths.max():
            edges.append(max(edges[-1] + 1, int(edges[-1] * STEP)))
        rounded = np.array(edges)[np.searchsorted(edges, self.lengths)]
        return np.where(self.lengths <= self.documents, np.minimum(rounded, self.documents), rounded)

    def _sizes(self) -> list[int]:
        return _cut(np.sort(self._classes())[::-1], self.documents, self.lists)

    def _fixed(self) -> list[list[int]]:
        order = np.argsort(-self.lengths, kind="stable")[self.rank :: self.world]
        return _parts(order, _cut(self.lengths[order], self.documents, self.lists))

    def _shuffled(self) -> list[list[int]]:
        generator = np.random.default_rng([self.seed, self.epoch])
        order = generator.permutation(len(self.lengths))
        order = order[np.argsort(-self._classes()[order], kind="stable")]
        batches = _parts(order, self.sizes)
        dealt = [batches[at] for at in generator.permutation(len(batches))]
        while len(dealt) % self.world:
            dealt.append(dealt[len(dealt) - len(batches)])
        return dealt[self.rank :: self.world]


def _cut(lengths: Integers, documents: int, lists: int | None) -> list[int]:
    """Numbers of lists a batch, for lists in falling order of length."""
    sizes: list[int] = []
    start = 0
    while start < len(lengths):
        most = max(1, documents // int(lengths[start]))
        sizes.append(min(most, lists or most, len(lengths) - start))
        start += sizes[-1]
    return sizes


def _parts(order: Integers, sizes: list[int]) -> list[list[int]]:
    return [part.tolist() for part in np.split(order, np.cumsum(sizes)[:-1])]

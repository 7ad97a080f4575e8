"""RankingDataModule: the splits as loaders of whole lists, the same on any number of workers and processes."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader

from ltr.data import BucketBatches, ListDataset, RankingData, Splits, check_trainable
from ltr.lists import ListBatch


class RankingDataModule(pl.LightningDataModule):
    """Batches of whole lists under a budget of padded documents; no list is ever cut.

    With several processes the Trainer needs ``use_distributed_sampler=False``: the batches are dealt out here, in
    training so that each process has as many, in evaluation so that each list is seen exactly once.

    Args:
        data: the splits; validation and test may be None.
        documents: padded documents of a batch.
        lists: the most lists of a batch; None: no limit.
        workers: processes that prepare batches; 0: the training process itself.
        seed: of the order of training, by epoch.

    Raises:
        DataError: a limit below 1, or training data that teaches nothing.

    Example:
        >>> from ltr.data import synthetic
        >>> loaders = RankingDataModule(synthetic(queries=20), lists=5)
        >>> sorted(len(batch.query) for batch in loaders.train_dataloader())
        [2, 5, 5]
    """

    def __init__(
        self, data: Splits, *, documents: int = 4096, lists: int | None = None, workers: int = 0, seed: int = 0
    ) -> None:
        super().__init__()
        self.data = data
        self.documents, self.lists, self.workers, self.seed = documents, lists, workers, seed

    def setup(self, stage: str) -> None:
        if stage == "fit":
            check_trainable(self.data.train, "training data")
            if self.trainer and self.data.validation is None:
                self.trainer.limit_val_batches = 0

    def train_dataloader(self) -> DataLoader[ListBatch]:
        return self._loader(self.data.train, shuffle=True)

    def val_dataloader(self) -> Any:
        return [] if self.data.validation is None else self._loader(self.data.validation)

    def test_dataloader(self) -> Any:
        return [] if self.data.test is None else self._loader(self.data.test)

    def _loader(self, data: RankingData, shuffle: bool = False) -> DataLoader[ListBatch]:
        rank, world = (self.trainer.global_rank, self.trainer.world_size) if self.trainer else (0, 1)
        if not shuffle:  # with fewer lists than processes, some see the same one, which counts once all the same
            world = min(world, len(data.query_ids))
            rank = rank % world
        batches = BucketBatches(
            data.lengths,
            documents=self.documents,
            lists=self.lists,
            shuffle=shuffle,
            seed=self.seed,
            rank=rank,
            world=world,
        )
        return _LateLoader(
            ListDataset(data),
            sampler=batches,
            batch_size=None,
            num_workers=self.workers,
            persistent_workers=self.workers > 0,
            generator=torch.Generator().manual_seed(self.seed),  # its own, so that loading draws from no model's
        )


class _LateLoader(DataLoader[ListBatch]):
    """Starts with the first batch: Lightning makes the iterator of a resumed run before it sets the epoch."""

    def __iter__(self) -> Any:
        yield from super().__iter__()

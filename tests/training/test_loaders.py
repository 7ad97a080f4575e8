"""RankingDataModule: whole lists, once each in evaluation, in an order that nothing but seed and epoch decides."""

from collections.abc import Callable
from functools import partial

import pytest
import pytorch_lightning as pl
import torch

from ltr.data import DataError, RankingData, Splits, synthetic
from ltr.losses import Softmax
from ltr.models import MLP
from ltr.training import RankingDataModule, RankingModule


def queries(loaders: RankingDataModule, split: str = "train") -> list[list[int]]:
    loader = {"train": loaders.train_dataloader, "validation": loaders.val_dataloader}[split]()
    return [batch.query.tolist() for batch in loader]


def test_each_list_comes_whole_and_once(splits: Splits) -> None:
    loaders = RankingDataModule(splits, documents=16)
    for split, data in (("train", splits.train), ("validation", splits.validation)):
        assert data is not None
        batches = queries(loaders, split)
        assert sorted(query for batch in batches for query in batch) == list(range(len(data.query_ids)))
    (batch, *_) = loaders.val_dataloader()
    assert splits.validation is not None
    assert batch.mask.sum(1).tolist() == splits.validation.lengths[batch.query.numpy()].tolist()


def test_the_order_comes_from_seed_and_epoch_alone(splits: Splits) -> None:
    first, second, other = (RankingDataModule(splits, documents=16, seed=seed) for seed in (1, 1, 2))
    torch.manual_seed(0)
    loader = first.train_dataloader()
    before = torch.get_rng_state()
    order = [batch.query.tolist() for batch in loader]
    assert torch.equal(torch.get_rng_state(), before), "loading draws from the model's generator"
    torch.manual_seed(99)
    assert queries(second) == order
    assert queries(other) != order
    loader.sampler.set_epoch(1)  # type: ignore[attr-defined]
    assert [batch.query.tolist() for batch in loader] != order


def test_missing_splits_have_no_loader(splits: Splits) -> None:
    loaders = RankingDataModule(Splits(splits.train, None, None))
    assert loaders.val_dataloader() == []
    assert loaders.test_dataloader() == []


def test_a_plain_trainer_trains_without_validation_data(
    plain_trainer: Callable[..., pl.Trainer], splits: Splits
) -> None:
    module = RankingModule(MLP(6, [4]), Softmax("ndcg"), "ndcg", optimizer=partial(torch.optim.SGD, lr=0.1))
    trainer = plain_trainer(max_epochs=1)
    trainer.fit(module, datamodule=RankingDataModule(Splits(splits.train, None, None)))
    assert set(trainer.callback_metrics) == {"train/loss", "train/batch_loss", "train/learning_rate"}


def test_data_that_teaches_nothing_is_refused(plain_trainer: Callable[..., pl.Trainer]) -> None:
    flat = RankingData.from_arrays([[1.0], [2.0]], [1, 1], queries=["a", "a"])
    module = RankingModule(MLP(1, [4]), Softmax("ndcg"), "ndcg", optimizer=torch.optim.SGD)
    with pytest.raises(DataError, match=r"^training data: the labels are all equal within each of the 1 lists"):
        plain_trainer().fit(module, datamodule=RankingDataModule(Splits(flat, None, None)))


def test_training_is_the_same_on_any_number_of_workers(plain_trainer: Callable[..., pl.Trainer]) -> None:
    # field report train-20: a seed does not fix the shuffle once workers load the batches.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/20679
    data = synthetic(queries=33, documents=5, features=5)
    assert len(data.train.query_ids) == 19

    def train(workers: int) -> list[float]:
        torch.manual_seed(3)
        module = RankingModule(
            MLP(5, [4], dropout=0.5), Softmax("ndcg"), "ndcg@5", optimizer=partial(torch.optim.Adam, lr=0.05)
        )
        loaders = RankingDataModule(data, documents=24, workers=workers, seed=3)
        trainer = plain_trainer(max_epochs=2)
        trainer.fit(module, datamodule=loaders)
        return [trainer.callback_metrics[tag].item() for tag in ("val/ndcg@5", "val/loss", "train/loss")]

    alone = train(0)
    assert train(0) == alone
    for workers in (1, 2):
        assert train(workers) == pytest.approx(alone, abs=1e-6)

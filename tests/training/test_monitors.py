"""What may be monitored: tags that are logged, of values that say something about progress."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from ltr.data import Splits
from ltr.losses import LambdaRank, Softmax, Surrogate
from ltr.models import Linear
from ltr.runs import RunError
from ltr.training import Checkpoint, EarlyStopping, RankingDataModule, RankingModule
from ltr.training.monitors import check_monitors, rank


def module_of(loss: Surrogate) -> RankingModule:
    return RankingModule(Linear(6), loss, "ndcg@5", ["mrr"], optimizer=partial(torch.optim.SGD, lr=0.1))


@pytest.mark.parametrize("keeper", [Checkpoint("val/loss"), EarlyStopping("val/loss"), Checkpoint("train/loss")])
def test_the_value_of_a_lambda_loss_chooses_nothing(
    plain_trainer: Callable[..., pl.Trainer], splits: Splits, keeper: pl.Callback
) -> None:
    # HOUSE section 5: LambdaRank's value says nothing about progress, since its weights move as ranks move.
    trainer = plain_trainer(callbacks=[keeper], enable_checkpointing=isinstance(keeper, Checkpoint))
    message = (
        r"^the monitor (val|train)/loss would select by the value of LambdaRank, which says nothing about progress"
    )
    with pytest.raises(RunError, match=message):
        trainer.fit(module_of(LambdaRank("ndcg@5")), datamodule=RankingDataModule(splits))
    assert trainer.global_step == 0


def test_the_value_of_an_informative_loss_may_choose(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    keeper = Checkpoint(["val/loss", "train/loss"])
    trainer = plain_trainer(callbacks=[keeper], enable_checkpointing=True)
    trainer.fit(module_of(Softmax("ndcg")), datamodule=RankingDataModule(splits))
    assert keeper.larger == {"val/loss": False, "train/loss": False}
    assert [entries[0]["file"].rpartition("-")[0] for entries in keeper.kept.values()] == [
        "epoch01-val_loss",
        "epoch01-train_loss",
    ]


def test_directions_come_from_the_metrics() -> None:
    tags = module_of(Softmax("ndcg")).tags
    assert tags == {
        "val/target": True, "val/ndcg@5": True, "val/mrr": True, "val/loss": False, "train/loss": False,
    }  # fmt: skip


def test_a_monitor_without_validation_data_is_refused(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    trainer = plain_trainer(callbacks=[Checkpoint()], enable_checkpointing=True)
    with pytest.raises(RunError, match=r"^the monitor val/target needs validation data, came none: wanted some, or "):
        trainer.fit(module_of(Softmax("ndcg")), datamodule=RankingDataModule(Splits(splits.train, None, None)))


def test_a_module_that_names_no_tags_is_refused() -> None:
    nameless: Any = SimpleNamespace()
    with pytest.raises(RunError, match=r"^SimpleNamespace has no `tags`: wanted a mapping from tag to "):
        check_monitors(nameless, nameless, ["val/mrr"])


def test_values_are_ordered_best_first() -> None:
    values = [0.1, float("nan"), 0.3, float("-inf"), 0.2]
    order = sorted(values, key=lambda value: rank(value, True))
    assert order[:4] == [0.3, 0.2, 0.1, float("-inf")]
    assert sorted(values, key=lambda value: rank(value, False))[:2] == [float("-inf"), 0.1]

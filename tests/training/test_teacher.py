"""A teacher: its scores reach the loss, and nothing else of it goes anywhere."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from ltr.data import Splits, Standardise
from ltr.lists import ListBatch
from ltr.losses import MSE, Surrogate, WeightedSum
from ltr.models import MLP, Linear
from ltr.runs import RunError
from ltr.training import RankingDataModule, RankingModule
from ltr.training.teacher import Teacher

SGD = partial(torch.optim.SGD, lr=0.05)


class Follow(Surrogate):
    """The mean squared distance to the teacher's scores."""

    unit, needs_teacher, shift_invariant = "squared scores", True, False

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, teacher: Tensor | None = None
    ) -> Tensor:
        assert mask is not None
        assert teacher is not None
        assert not teacher.requires_grad
        return (mask * (scores - teacher).square()).sum(1) / mask.sum(1)


def teacher(splits: Splits) -> Teacher:
    torch.manual_seed(1)
    return Teacher(MLP(6, [8], dropout=0.5), Standardise().fit(splits.train.features)).train()


def test_it_is_its_transform_and_then_its_model(splits: Splits) -> None:
    made = teacher(splits).eval()
    features, mask = torch.randn(2, 3, 6), torch.ones(2, 3, dtype=torch.bool)
    assert torch.equal(made(features, mask), made.model(made.transform(features, mask), mask))
    assert torch.equal(Teacher(made.model)(features, mask), made.model(features, mask))


def test_a_student_comes_to_score_as_its_teacher_does(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    master = Linear(6)
    module = RankingModule(Linear(6), Follow(), "ndcg", teacher=master, optimizer=partial(torch.optim.Adam, lr=0.1))
    trainer, loaders = plain_trainer(max_epochs=60), RankingDataModule(splits, documents=100)
    (before,) = trainer.validate(module, datamodule=loaders, verbose=False)
    trainer.fit(module, datamodule=loaders)
    assert trainer.callback_metrics["val/loss"].item() < 1e-3 * before["val/loss"]
    assert torch.allclose(module.model.output.weight, master.output.weight, atol=0.02)
    assert trainer.callback_metrics["train/loss"].item() < 1e-3


def test_it_is_frozen_and_in_evaluation_mode(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    made = teacher(splits)
    before = {name: each.clone() for name, each in made.state_dict().items()}
    module = RankingModule(Linear(6), Follow(), "ndcg", teacher=made, optimizer=SGD)
    plain_trainer(max_epochs=1).fit(module.train(), datamodule=RankingDataModule(splits))
    assert not made.training
    assert not any(each.requires_grad for each in made.parameters())
    assert all(torch.equal(each, before[name]) for name, each in made.state_dict().items())


def test_it_is_in_no_checkpoint_and_no_optimiser(
    plain_trainer: Callable[..., pl.Trainer], splits: Splits, tmp_path: Path
) -> None:
    module = RankingModule(Linear(6), Follow(), "ndcg", teacher=teacher(splits), optimizer=SGD)
    trainer = plain_trainer(max_epochs=1)
    trainer.fit(module, datamodule=RankingDataModule(splits))
    trainer.save_checkpoint(tmp_path / "one.ckpt")
    state = torch.load(tmp_path / "one.ckpt", weights_only=True)
    assert sorted(state["state_dict"]) == ["model.output.bias", "model.output.weight"]
    assert len(module.configure_optimizers().param_groups[0]["params"]) == 2


def test_it_moves_with_the_module(splits: Splits) -> None:
    made = teacher(splits)
    module = RankingModule(Linear(6), Follow(), "ndcg", teacher=made, optimizer=SGD).to(torch.float64)
    assert {each.dtype for each in made.parameters()} == {torch.float64}
    module.to("meta")
    assert {each.device.type for each in made.parameters()} == {"meta"}


def test_a_sum_hands_it_to_the_part_that_learns_from_it(
    plain_trainer: Callable[..., pl.Trainer], splits: Splits
) -> None:
    loss = WeightedSum([MSE(), Follow()], [0.5, 1])
    module = RankingModule(Linear(6), loss, "ndcg", teacher=Linear(6), optimizer=SGD)
    trainer = plain_trainer(max_epochs=1)
    trainer.fit(module, datamodule=RankingDataModule(splits))
    assert trainer.callback_metrics["val/loss"].item() > 0


def test_a_teacher_and_a_loss_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^teacher: wanted a trained run, whose scores Follow learns from; got none$"):
        RankingModule(Linear(6), Follow(), "ndcg", optimizer=SGD)
    with pytest.raises(
        ValueError, match=r"^teacher: MSE learns from labels alone: leave it out, or choose a loss that"
    ):
        RankingModule(Linear(6), MSE(), "ndcg", teacher=Linear(6), optimizer=SGD)


def test_a_teacher_that_gives_no_score_for_each_document_is_refused() -> None:
    class Wide(nn.Module):
        def forward(self, features: Tensor, mask: Tensor) -> Tensor:
            return features

    module = RankingModule(Linear(2), Follow(), "ndcg", teacher=Wide(), optimizer=SGD)
    features, mask = torch.zeros(1, 3, 2), torch.ones(1, 3, dtype=torch.bool)
    batch = ListBatch(features, torch.zeros(1, 3), mask, torch.zeros(1, dtype=torch.long), torch.ones(1))
    with pytest.raises(RunError, match=r"^Wide: wanted a score for each document, .* = \[1, 3\], came \[1, 3, 2\]$"):
        module.taught(batch)

"""RankingModule: one loss, exact means, tags that never change, and a checkpoint of tensors and plain Python."""

import logging
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from ltr.data import RankingData, Splits, Standardise
from ltr.lists import ListBatch
from ltr.losses import MSE, ApproxMetric, LambdaRank, RankNet, Softmax, Surrogate
from ltr.metrics import parse
from ltr.models import MLP, Linear
from ltr.training import RankingDataModule, RankingModule

SGD = partial(torch.optim.SGD, lr=0.1)


def lists(*pairs: tuple[list[float], list[float]], weights: dict[str, float] | None = None) -> RankingData:
    """Lists of (scores, labels), the score being the one feature; their ids are q0, q1, ..."""
    queries = [f"q{at}" for at, (scores, _) in enumerate(pairs) for _ in scores]
    features = [[score] for scores, _ in pairs for score in scores]
    labels = [label for _, labels in pairs for label in labels]
    return RankingData.from_arrays(features, labels, queries=queries, weights=weights)


def scorer(weight: float = 1.0) -> Linear:
    model = Linear(1)
    model.output.weight.data.fill_(weight)
    model.output.bias.data.zero_()
    return model


TRAIN = lists(
    ([1.0, 0.0], [0.0, 1.0]), ([0.5, 1.0, 0.0], [1.0, 2.0, 0.0]), ([1.0, 0.0, 3.0, 2.0], [0.0, 1.0, 2.0, 0.0])
)


@pytest.mark.parametrize("documents", [2, 6, 100])
def test_a_mean_over_lists_does_not_depend_on_the_batches(
    plain_trainer: Callable[..., pl.Trainer], documents: int
) -> None:
    data = lists(
        ([3.0, 2.0, 1.0], [2.0, 0.0, 1.0]), ([1.0, 2.0], [2.0, 0.0]), ([1.0, 1.0], [0.0, 1.0]), ([5.0], [0.0]),
        weights={"q0": 1.0, "q1": 2.0, "q2": 0.5, "q3": 1.0},
    )  # fmt: skip
    module = RankingModule(scorer(), MSE(), "ndcg@10", ["mrr-zero", "ndcg@10"], optimizer=SGD)
    (found,) = plain_trainer().validate(
        module, datamodule=RankingDataModule(Splits(TRAIN, data, None), documents=documents), verbose=False
    )
    first = 1.0 * (3 + 1 / math.log2(4)) / (3 + 1 / math.log2(3))
    second, third = 1 / math.log2(3), (1 + 1 / math.log2(3)) / 2
    expected = (first + 2 * second + 0.5 * third) / 3.5
    assert found["val/ndcg@10"] == pytest.approx(expected, abs=1e-12)
    assert found["val/target"] == found["val/ndcg@10"]
    assert found["val/mrr-zero"] == pytest.approx((1 + 2 * 0.5 + 0.5 * 0.75 + 0) / 4.5, abs=1e-12)


def test_the_tags_are_those_of_the_configuration(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    # field report tensorboard-03: a logger changes "@" in a metric's name.
    # https://github.com/lanpa/tensorboardX/issues/696
    module = RankingModule(Linear(6), ApproxMetric("ndcg"), "ndcg@10", ["recall@10"], optimizer=SGD)
    trainer = plain_trainer(max_epochs=1)
    trainer.fit(module, datamodule=RankingDataModule(splits))
    tags = set(trainer.callback_metrics)
    assert {"val/ndcg@10", "val/recall@10", "val/target", "val/loss", "train/loss"} <= tags
    assert {"gap/belief[ndcg]", "gap/exact_aim[ndcg]", "gap/exact_target[ndcg@10]", "gap/gap_aim[ndcg]"} <= tags
    assert set(module.tags) <= tags
    (tested,) = trainer.test(module, datamodule=RankingDataModule(splits), verbose=False)
    assert set(tested) == {"test/loss", "test/ndcg@10", "test/recall@10"}


def test_one_step_descends_the_weighted_mean_over_lists(plain_trainer: Callable[..., pl.Trainer]) -> None:
    weights = {"q0": 1.0, "q1": 3.0}
    data = lists(([1.0, 2.0], [1.0, 0.0]), ([1.0, 3.0, 0.0], [0.0, 2.0, 1.0]), weights=weights)
    model = scorer(0.5)
    module = RankingModule(model, MSE(), "ndcg", optimizer=partial(torch.optim.SGD, lr=0.01))
    trainer = plain_trainer(max_epochs=1, limit_val_batches=0)
    trainer.fit(module, datamodule=RankingDataModule(Splits(data, None, None)))

    weight = torch.tensor(0.5, requires_grad=True)
    bias = torch.tensor(0.0, requires_grad=True)
    per_list = [
        MSE()(torch.tensor([scores]) * weight + bias, torch.tensor([labels]))
        for scores, labels in (([1.0, 2.0], [1.0, 0.0]), ([1.0, 3.0, 0.0], [0.0, 2.0, 1.0]))
    ]
    loss = ((1 * per_list[0] + 3 * per_list[1]) / 4).sum()
    loss.backward()
    assert trainer.callback_metrics["train/loss"].item() == pytest.approx(loss.item(), rel=1e-6)
    assert model.output.weight.item() == pytest.approx(0.5 - 0.01 * weight.grad.item(), rel=1e-6)
    assert model.output.bias.item() == pytest.approx(0.0 - 0.01 * bias.grad.item(), rel=1e-6)


class ByLength(MSE):
    """Lists weigh as much as they have documents: the mean over all documents of the batch."""

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor:
        return mask.sum(1).to(relevance.dtype)


def test_one_step_descends_the_mean_by_the_shares_of_the_loss(plain_trainer: Callable[..., pl.Trainer]) -> None:
    """Errors 0, 2 of two documents and 1, 1, -1 of three, the lists weighing 1 and 3: (1 * 2 * 2 + 3 * 3 * 1) / 11."""
    pairs = ([1.0, 2.0], [1.0, 0.0]), ([1.0, 3.0, 0.0], [0.0, 2.0, 1.0])
    data = lists(*pairs, weights={"q0": 1.0, "q1": 3.0})
    model = scorer()
    module = RankingModule(model, ByLength(), "ndcg", optimizer=partial(torch.optim.SGD, lr=0.01))
    trainer = plain_trainer(max_epochs=1)
    loaders = RankingDataModule(Splits(data, data, None))
    (before,) = trainer.validate(module, datamodule=loaders, verbose=False)
    trainer.fit(module, datamodule=loaders)
    assert before["val/loss"] == pytest.approx(13 / 11, rel=1e-6)
    assert before["val/ndcg"] == pytest.approx(
        sum(w * parse("ndcg")(*pair).item() for w, pair in zip((1, 3), pairs, strict=True)) / 4
    )
    assert trainer.callback_metrics["train/loss"].item() == pytest.approx(13 / 11, rel=1e-6)
    slope = (2 * 1 * (0 + 2) + 2 * 3 * (1 + 1 - 1)) / 11  # of the bias
    assert model.output.bias.item() == pytest.approx(-0.01 * slope, rel=1e-6)


def test_a_mean_over_the_pairs_of_the_batch_reaches_training_and_validation(
    plain_trainer: Callable[..., pl.Trainer],
) -> None:
    """One pair in the first list, three in the second, in batches of one list each or together: a mean over four."""
    pairs = ([1.0, 2.0], [1.0, 0.0]), ([1.0, 3.0, 0.0], [0.0, 2.0, 1.0])
    margins = torch.tensor([1.0 - 2, 3 - 1, 3 - 0, 0 - 1])
    wanted = torch.log1p(torch.exp(-margins)).mean().item()
    data = Splits(lists(*pairs), lists(*pairs), None)
    for most in (1, 2):
        module = RankingModule(scorer(), RankNet(pairs="batch"), "ndcg", optimizer=partial(torch.optim.SGD, lr=0.0))
        trainer = plain_trainer(max_epochs=1)
        trainer.fit(module, datamodule=RankingDataModule(data, lists=most))
        assert trainer.callback_metrics["train/loss"].item() == pytest.approx(wanted, rel=1e-6)
        assert trainer.callback_metrics["val/loss"].item() == pytest.approx(wanted, rel=1e-6)


def test_lists_without_weight_do_not_divide_by_zero(plain_trainer: Callable[..., pl.Trainer]) -> None:
    data = lists(([1.0, 2.0], [1.0, 0.0]), ([1.0, 2.0], [1.0, 0.0]), weights={"q0": 0.0, "q1": 2.0})
    module = RankingModule(scorer(), MSE(), "ndcg", optimizer=partial(torch.optim.SGD, lr=0.0))
    trainer = plain_trainer(max_epochs=1)
    trainer.fit(module, datamodule=RankingDataModule(Splits(data, None, None), lists=1))
    assert module.model.output.weight.item() == 1.0
    expected = MSE()(torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 0.0]])).item()
    assert trainer.callback_metrics["train/loss"].item() == pytest.approx(expected)


def test_a_validation_before_the_fit_changes_nothing(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    def train(validate_first: bool) -> float:
        torch.manual_seed(0)
        module = RankingModule(MLP(6, [4]), Softmax("ndcg"), "ndcg@5", optimizer=SGD)
        trainer, loaders = plain_trainer(), RankingDataModule(splits, documents=50)
        if validate_first:
            trainer.validate(module, datamodule=loaders, verbose=False)
        trainer.fit(module, datamodule=loaders)
        return trainer.callback_metrics["val/target"].item()

    assert train(True) == train(False)


class Half(nn.Module):
    """Scores in half precision, whatever comes in."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.dtype = dtype

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        return (features[..., 0] * self.weight).to(self.dtype)


class Seen(MSE):
    """Remembers the type of the scores it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.dtypes: set[torch.dtype] = set()

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        self.dtypes.add(scores.dtype)
        return super().forward(scores, relevance, mask)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_scores_are_lifted(plain_trainer: Callable[..., pl.Trainer], dtype: torch.dtype) -> None:
    loss = Seen()
    module = RankingModule(Half(dtype), loss, "ndcg", optimizer=SGD)
    plain_trainer(max_epochs=1).fit(module, datamodule=RankingDataModule(Splits(TRAIN, TRAIN, None)))
    assert loss.dtypes == {torch.float32, torch.float64}  # in training, and in float64 for the gap


def test_mixed_precision_leaves_the_loss_in_float32(plain_trainer: Callable[..., pl.Trainer]) -> None:
    loss = Seen()
    module = RankingModule(scorer(), loss, "ndcg", optimizer=SGD)
    trainer = plain_trainer(max_epochs=1, precision="bf16-mixed", limit_val_batches=0)
    trainer.fit(module, datamodule=RankingDataModule(Splits(TRAIN, None, None)))
    assert loss.dtypes == {torch.float32}


class Broken(nn.Module):
    """NaN scores for every list whose first feature reaches 5."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        return torch.where(features[..., 0] >= 5, torch.nan, features[..., 0] * self.weight)


def test_nan_scores_make_the_metric_nan_and_are_named(
    plain_trainer: Callable[..., pl.Trainer], caplog: pytest.LogCaptureFixture
) -> None:
    data = lists(([1.0, 0.0], [1.0, 0.0]), ([5.0, 0.0], [1.0, 0.0]), ([0.0, 6.0], [1.0, 0.0]))
    module = RankingModule(Broken(), MSE(), "ndcg@10", optimizer=SGD)
    with caplog.at_level(logging.WARNING, "ltr"):
        (found,) = plain_trainer().validate(
            module, datamodule=RankingDataModule(Splits(TRAIN, data, None)), verbose=False
        )
    assert math.isnan(found["val/ndcg@10"])
    assert caplog.messages == [
        "validation at epoch 0: ndcg@10 is NaN, since the scores of 2 of 3 lists are NaN: query q1, q2"
    ]


class Learned(Surrogate):
    """A surrogate with a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return ((scores * self.scale - relevance) ** 2).mean(1)


def test_a_checkpoint_holds_each_tensor_once_and_loads_safely(
    plain_trainer: Callable[..., pl.Trainer], splits: Splits, tmp_path: Any
) -> None:
    # HOUSE section 5: a Metric that holds the surrogate writes its parameters twice. Field report train-14:
    # https://github.com/Lightning-AI/pytorch-lightning/issues/21757
    transform = Standardise().fit(splits.train.features)
    module = RankingModule(Linear(6), Learned(), "ndcg@10", ["ap"], transform=transform, optimizer=SGD)
    trainer = plain_trainer(max_epochs=1)
    trainer.fit(module, datamodule=RankingDataModule(splits))
    trainer.save_checkpoint(tmp_path / "one.ckpt")
    state = torch.load(tmp_path / "one.ckpt", weights_only=True)
    assert sorted(state["state_dict"]) == [
        "loss.scale", "model.output.bias", "model.output.weight",
        "transform.deviation", "transform.mean", "transform.varies",
    ]  # fmt: skip
    assert "hyper_parameters" not in state


def test_the_surrogate_is_trained_with_the_model(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    loss = Learned()
    module = RankingModule(Linear(6), loss, "ndcg@10", optimizer=SGD)
    plain_trainer(max_epochs=1).fit(module, datamodule=RankingDataModule(splits))
    assert loss.scale.item() != 1.0


def test_rows_of_a_list_say_what_the_mean_is_over(plain_trainer: Callable[..., pl.Trainer]) -> None:
    data = lists(([1.0, 0.0], [0.0, 1.0]), ([5.0, 0.0, 1.0], [0.0, 0.0, 0.0]))
    module = RankingModule(scorer(), MSE(), "mrr", ["ap-zero"], optimizer=SGD)
    plain_trainer().validate(module, datamodule=RankingDataModule(Splits(TRAIN, data, None)), verbose=False)
    found = module.evaluated["validation"]
    assert found.rows(data.query_ids) == [
        {"query": "q0", "metric": "mrr", "value": 0.5, "documents": 2, "defined": True, "weight": 1.0},
        {"query": "q1", "metric": "mrr", "value": None, "documents": 3, "defined": False, "weight": 1.0},
        {"query": "q0", "metric": "ap-zero", "value": 0.5, "documents": 2, "defined": True, "weight": 1.0},
        {"query": "q1", "metric": "ap-zero", "value": 0.0, "documents": 3, "defined": False, "weight": 1.0},
    ]
    np.testing.assert_array_equal(found.values(parse("mrr")), [0.5, np.nan])


def test_the_gap_is_that_of_all_lists_together(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    module = RankingModule(Linear(6), ApproxMetric("ndcg@10"), "ndcg@10", optimizer=SGD)
    rows = []
    for documents in (10, 10_000):
        loaders = RankingDataModule(splits, documents=documents)
        plain_trainer().validate(module, datamodule=loaders, verbose=False)
        rows.append(module.evaluated["validation"].gap)
    for name, value in rows[0].items():
        assert rows[1][name] == pytest.approx(value, abs=1e-6), name
    assert rows[0]["belief"] - rows[0]["aim_value"] == pytest.approx(rows[0]["gap_aim"], abs=1e-12)


def test_a_vacuous_certificate_has_no_tag(plain_trainer: Callable[..., pl.Trainer]) -> None:
    data = lists((list(range(40)), [0.0] * 20 + [2.0] * 20))
    module = RankingModule(scorer(-1.0), LambdaRank("ndcg@10"), "ndcg@10", optimizer=SGD)
    (found,) = plain_trainer().validate(module, datamodule=RankingDataModule(Splits(TRAIN, data, None)), verbose=False)
    assert module.evaluated["validation"].gap["vacuous"]
    assert not [tag for tag in found if "certificate" in tag]
    assert "gap/exact_aim[ndcg@10]" in found


def test_the_module_scores_raw_features(splits: Splits) -> None:
    transform = Standardise().fit(splits.train.features)
    model = Linear(6)
    module = RankingModule(model, MSE(), "ndcg", transform=transform, optimizer=SGD)
    batch: ListBatch = next(iter(RankingDataModule(splits).train_dataloader()))
    expected = model(transform(batch.features, batch.mask), batch.mask)
    torch.testing.assert_close(module(batch.features, batch.mask), expected)

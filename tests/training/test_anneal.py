"""Annealing: when it sharpens and when it stops, what it leaves alone, and that an interruption changes nothing."""

import logging
from collections.abc import Callable
from functools import partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch

from ltr.data import ListDataset, RankingData, Splits, synthetic
from ltr.gap import alignment
from ltr.gap.scored import descent, scored
from ltr.losses import MSE, ApproxMetric, ListNet, RankNet, Surrogate, Yeti
from ltr.metrics import parse
from ltr.models import Linear
from ltr.runs import Run, RunError
from ltr.training import Anneal, Checkpoint, EarlyStopping, RankingModule

Fitted = Callable[..., tuple[Run, dict[str, Any]]]

TWO = {"accelerator": "cpu", "devices": 2, "strategy": "ddp_spawn"}
STILL = partial(torch.optim.SGD, lr=0.0)  # each validation finds the model as it was made
TAG = "gap/temperature[units of the scores]"


def linear() -> Linear:
    model = Linear(6)
    model.output.weight.data = torch.linspace(-1.0, 1.0, 6)[None]
    return model


def data(heavy: float = 1.0) -> Splits:
    """All lists of validation count; the first of them has a weight of its own."""
    made = synthetic(queries=150, documents=12, features=6, seed=1)
    validation = made.validation
    assert validation is not None
    labels = np.split(validation.relevance, np.cumsum(validation.lengths)[:-1])
    kept = validation.select([at for at, each in enumerate(labels) if len(set(each.tolist())) > 1])
    weight = np.ones(len(kept.query_ids))
    weight[0] = heavy
    return Splits(made.train, _weighted(kept, weight), None)


def _weighted(lists: RankingData, weight: np.ndarray) -> RankingData:
    return RankingData.from_arrays(
        lists.features, lists.relevance, queries=np.repeat(lists.query_ids, lists.lengths).tolist(),
        weights=dict(zip(lists.query_ids, weight.tolist(), strict=True)),
    )  # fmt: skip


def by_hand(lists: RankingData, loss: Surrogate, validations: int) -> tuple[list[float], list[float]]:
    """The temperature of each validation at scores that stay as they are, and the differences that decided it."""
    batch = ListDataset(lists)[range(len(lists.query_ids))]
    with torch.no_grad():
        given = scored(linear()(batch.features, batch.mask), batch.relevance, batch.mask)
    weight, temperatures, moved = batch.weight.numpy() / batch.weight.numpy().sum(), [], []
    stopped = False
    for _ in range(validations):
        assert loss.softness is not None
        temperatures.append(loss.softness)
        if stopped:
            continue
        sharper = loss.softened(0.5)
        one, other = (
            np.nan_to_num(
                alignment(
                    parse("ndcg@10"), given.scores, given.relevance, descent(each, given), given.mask
                ).numpy()
            )
            for each in (sharper, loss)
        )  # fmt: skip
        moved.append(float(weight @ (one - other)))
        n = len(one)
        error = sqrt(weight**2 @ (one - other - moved[-1]) ** 2 * n / (n - 1))
        loss, stopped = (sharper, False) if moved[-1] > -error else (loss, True)
    return temperatures, moved


class Decided(pl.Callback):
    """Puts an answer in place of each decision, behind an Anneal."""

    def __init__(self, anneal: Anneal, factor: float) -> None:
        super().__init__()
        self.anneal, self.factor = anneal, factor

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.anneal.factor, self.anneal.stopped = self.factor, False


def annealed(fitted: Fitted, name: str = "run", **options: Any) -> list[dict[str, Any]]:
    settings = {"data": data(), "model": linear(), "transform": None, "optimizer": STILL, "callbacks": [Anneal()]}
    return fitted(name, **settings | options)[0].gap_rows()


@pytest.mark.parametrize("heavy", [1.0, 1000.0])
def test_a_blunt_loss_is_sharpened_until_its_alignment_would_fall(fitted: Fitted, heavy: float) -> None:
    lists = data(heavy).validation
    assert lists is not None
    expected, moved = by_hand(lists, ApproxMetric("ndcg@10", temperature=20.0), 12)
    rows = annealed(
        fitted, data=data(heavy), loss=ApproxMetric("ndcg@10", temperature=20.0), trainer={"max_epochs": 12}
    )
    assert [row["temperature"] for row in rows] == pytest.approx(expected, rel=1e-12)
    falls = len(moved) - 1
    assert 2 < falls < 11, "it is sharpened some times, and stops within the training"
    assert moved[-1] < 0 < moved[0]
    assert expected[0] == 20.0
    assert expected[falls:] == [20.0 * 0.5**falls] * (12 - falls)
    temperatures = torch.tensor([row["temperature"] for row in rows])
    believed = torch.tensor([row["loss"] for row in rows])
    assert (believed[1:] != believed[:-1]).equal(temperatures[1:] != temperatures[:-1]), "of the loss at it, each"


def test_each_decision_is_logged(fitted: Fitted, summaries: Any, caplog: pytest.LogCaptureFixture) -> None:
    loss = RankNet(sigma=8.0)  # a temperature of 1/8
    with caplog.at_level(logging.INFO, "ltr"):
        run, _ = fitted(
            data=data(), model=linear(), transform=None, optimizer=STILL, loss=loss, callbacks=[Anneal(lists=10)]
        )
    said = [each for each in caplog.messages if "temperature" in each]
    assert len(said) == 2, "nothing is decided once it has stopped"
    start = "epoch 0: the temperature of the loss, 0.125 (units of the scores), stays, not 0.0625: alignment there 0."
    assert said[0].startswith(start)
    assert said[0].endswith(", 10 lists")
    ends = "annealing ends at a temperature of 0.125 (units of the scores), and the loss is put back to 0.125"
    assert said[1] == ends
    assert [row[TAG] for row in run.metrics() if row[TAG] is not None] == [0.125] * 4
    assert len(summaries(run.events)[TAG]) == 4


@pytest.mark.parametrize(
    "loss",
    [partial(ApproxMetric, "ndcg@10", temperature=20.0), partial(Yeti, "ndcg@10", sigma=0.01)],
    ids=["soft", "drawn"],
)
def test_a_resumed_training_is_the_uninterrupted_one(fitted: Fitted, loss: Callable[[], Surrogate]) -> None:
    options: dict[str, Any] = {"data": data(), "trainer": {"max_epochs": 5, "val_check_interval": 0.5}}
    short = {**options, "trainer": {**options["trainer"], "max_epochs": 2}}
    whole, _ = fitted("whole", loss=loss(), callbacks=[Anneal(factor=0.7)], **options)
    parts, _ = fitted("parts", loss=loss(), callbacks=[Anneal(factor=0.7)], **short)
    begun = Begun()
    fitted(parts, loss=loss(), callbacks=[Anneal(factor=0.7), begun], resume=True, **options)
    assert begun.temperatures[0] == whole.gap_rows()[4]["temperature"], "of the first validation that comes"
    assert len({row["temperature"] for row in whole.gap_rows()}) > 4, "it is sharpened before and after"
    assert parts.gap_path.read_text() == whole.gap_path.read_text()
    assert parts.metrics_path.read_text() == whole.metrics_path.read_text()
    first, second = (torch.load(run.last_checkpoint(), weights_only=True)["state_dict"] for run in (whole, parts))
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert torch.equal(second[name], value) if isinstance(value, torch.Tensor) else second[name] == value, name


def test_what_is_stopped_stays_stopped() -> None:
    first, second = Anneal(), Anneal()
    first.factor, first.stopped = 0.25, True
    second.load_state_dict(first.state_dict())
    assert (second.factor, second.stopped) == (0.25, True)


def test_two_processes_decide_as_one(fitted: Fitted) -> None:
    alone, both = (
        annealed(
            fitted, f"on{len(trainer)}", loss=ApproxMetric("ndcg@10", temperature=20.0),
            trainer={**trainer, "max_epochs": 4},
        )
        for trainer in ({}, TWO)
    )  # fmt: skip
    assert [row["temperature"] for row in both] == [row["temperature"] for row in alone]
    assert [row["loss"] for row in both] == pytest.approx([row["loss"] for row in alone], abs=1e-6)
    assert len({row["temperature"] for row in alone}) > 2


def test_losses_of_two_temperatures_are_never_compared(fitted: Fitted) -> None:
    loss = ApproxMetric("ndcg@10", temperature=2.0)
    rows = annealed(fitted, loss=loss, trainer={"max_epochs": 12}, optimizer=partial(torch.optim.SGD, lr=0.05))
    temperatures = [row["temperature"] for row in rows]
    last = temperatures.index(temperatures[-1])
    assert 2 < last < 6
    assert [row["validations"] for row in rows] == [1] * last + list(range(1, 13 - last))
    for name, states in (("tau", 2), ("tau_best", 2), ("change", 6)):
        assert [row[name] is not None for row in rows] == [False] * (last + states - 1) + [True] * (13 - last - states)
    moved = rows[-1]["loss"] - rows[-6]["loss"]
    assert rows[-1]["change"]["loss"] == pytest.approx(moved, abs=1e-9)


def test_the_configured_loss_is_back_when_the_training_ends(fitted: Fitted) -> None:
    loss = RankNet(sigma=0.1)
    test = synthetic(queries=150, documents=12, features=6, seed=1).test
    assert test is not None
    anneal, model = Anneal(), linear()
    options = {"transform": None, "optimizer": STILL, "callbacks": [anneal, Decided(anneal, 0.3)]}
    run, summary = fitted(data=data()._replace(test=test), loss=loss, model=model, **options)
    assert run.gap_rows()[-1]["temperature"] == pytest.approx(0.3 / 0.1)
    assert (loss.sigma, loss.softness) == (0.1, 10.0)
    batch = ListDataset(test)[range(len(test.query_ids))]
    with torch.no_grad():
        losses = RankNet(sigma=0.1)(model(batch.features, batch.mask), batch.relevance, batch.mask)
    share = RankNet(sigma=0.1).share(batch.relevance, batch.mask)
    weight = torch.ones_like(losses) if share is None else share
    assert summary["test"]["loss"] == pytest.approx(float((weight * losses).sum() / weight.sum()), rel=1e-5)


class Begun(pl.Callback):
    """Which temperature an epoch begins with."""

    def __init__(self) -> None:
        super().__init__()
        self.temperatures: list[float | None] = []

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, RankingModule)
        self.temperatures.append(pl_module.loss.softness)


class Broken(pl.Callback):
    """Fails in the third epoch."""

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if trainer.current_epoch == 2:
            raise OSError("the disk is full")


def test_the_configured_loss_is_back_when_the_training_fails(fitted: Fitted) -> None:
    loss = ApproxMetric("ndcg@10", temperature=20.0)
    with pytest.raises(OSError, match="the disk is full"):
        fitted(data=data(), loss=loss, callbacks=[Anneal(), Broken()])
    assert loss.temperature == 20.0


def test_the_training_does_not_notice_what_is_measured(fitted: Fitted) -> None:
    anneal = Anneal()
    runs = [
        fitted(f"{len(callbacks)}", data=data(), loss=Yeti("ndcg@10"), callbacks=callbacks)[0]
        for callbacks in ([], [anneal, Decided(anneal, 1.0)])
    ]
    assert runs[0].gap_path.read_text() == runs[1].gap_path.read_text()
    first, second = (torch.load(run.last_checkpoint(), weights_only=True) for run in runs)
    for name, weight in first["state_dict"].items():
        assert (
            second["state_dict"][name] == weight if "extra" in name else torch.equal(second["state_dict"][name], weight)
        )
    assert torch.equal(first["ltr_randomness"][0]["torch"], second["ltr_randomness"][0]["torch"])


def test_scores_that_are_no_numbers_decide_nothing(fitted: Fitted, caplog: pytest.LogCaptureFixture) -> None:
    nan = partial(torch.optim.SGD, lr=float("nan"))
    with caplog.at_level(logging.INFO, "ltr"):
        rows = annealed(fitted, loss=ApproxMetric("ndcg@10", temperature=20.0), optimizer=nan)
    assert [row["temperature"] for row in rows] == [20.0] * 4
    said = [each for each in caplog.messages if "no temperature is decided" in each]
    assert said == [f"epoch {at}: no temperature is decided: no list counts, or a score is NaN" for at in range(4)]


def test_a_check_before_training_decides_nothing(fitted: Fitted) -> None:
    loss = ApproxMetric("ndcg@10", temperature=20.0)
    rows = annealed(fitted, loss=loss, trainer={"max_epochs": 2, "num_sanity_val_steps": 1})
    assert [row["temperature"] for row in rows] == [20.0, 10.0]


@pytest.mark.parametrize(("loss", "name"), [(MSE(), "MSE"), (ListNet(), "ListNet")])
def test_a_loss_without_a_temperature_is_refused(fitted: Fitted, loss: Surrogate, name: str) -> None:
    wanted = rf"^anneal: {name} has no temperature \(or the like\) to sharpen; wanted one of ADRMSE, ARPLoss, Approx"
    with pytest.raises(RunError, match=wanted) as error:
        fitted(loss=loss, callbacks=[Anneal()])
    assert "ListNet," not in str(error.value).partition("wanted")[2]


@pytest.mark.parametrize(
    "keeper", [Checkpoint(["val/target", "val/loss"]), EarlyStopping("val/loss")], ids=lambda each: type(each).__name__
)
def test_a_monitor_of_the_loss_is_refused(fitted: Fitted, keeper: pl.Callback, tmp_path: Path) -> None:
    message = (
        "^anneal: val/loss at one temperature says nothing against val/loss at another, and "
        f"{type(keeper).__name__} monitors it: wanted a metric, such as val/target$"
    )
    with pytest.raises(RunError, match=message):
        fitted(callbacks=[Anneal(), keeper])


def test_without_validation_data_there_is_nothing_to_decide_by(fitted: Fitted, splits: Splits) -> None:
    message = "^anneal: decides by validation lists, came none: wanted validation data, or callbacks=none$"
    with pytest.raises(RunError, match=message):
        fitted(data=splits._replace(validation=None), callbacks=[Anneal(), Checkpoint(None)], monitor=None)


@pytest.mark.parametrize(("factor", "lists"), [(0.0, 64), (1.0, 64), (-0.5, 64), (float("nan"), 64), (0.5, 0)])
def test_wrong_arguments_are_named(factor: float, lists: int) -> None:
    with pytest.raises(ValueError, match=r"^anneal: wanted 0 < factor < 1 and lists >= 1, got .* and \d+$"):
        Anneal(factor, lists)

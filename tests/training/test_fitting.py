"""fit: from parts to a finished run folder, the same after an interruption, and honest about what was tested."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch

from ltr.data import RankingData, Splits, synthetic
from ltr.evaluation import lists_of, per_query, score
from ltr.losses import LambdaRank
from ltr.models import MLP, Linear
from ltr.report import print_run
from ltr.runs import Run, RunError, claim
from ltr.training import Checkpoint, EarlyStopping, cosine

Fitted = Callable[..., tuple[Run, dict[str, Any]]]


class Interrupted(Exception):
    """A machine that goes down."""


class Stop(pl.Callback):
    """Goes down in this epoch: at its start, or after its validation, before the epoch is over."""

    def __init__(self, epoch: int, hook: str) -> None:
        self.epoch, self.hook = epoch, hook

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self.hook == "start" and trainer.current_epoch == self.epoch:
            raise Interrupted

    def on_train_batch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule, *args: Any) -> None:
        if self.hook == "batch" and trainer.current_epoch == self.epoch:
            raise Interrupted

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        if self.hook == "validated" and trainer.current_epoch == self.epoch:
            raise Interrupted


def weights(run: Run) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = torch.load(run.last_checkpoint(), weights_only=True)["state_dict"]
    return found


@pytest.mark.parametrize(("hook", "workers"), [("start", 0), ("batch", 0), ("validated", 0), ("start", 1)])
def test_a_resumed_run_continues_as_if_it_had_never_stopped(fitted: Fitted, hook: str, workers: int) -> None:
    options: dict[str, Any] = {"scheduler": partial(cosine, warmup=2), "workers": workers}
    whole, expected = fitted("whole", callbacks=[EarlyStopping(patience=9)], **options)
    with pytest.raises(Interrupted):
        fitted("parts", callbacks=[EarlyStopping(patience=9), Stop(2, hook)], **options)
    parts = Run(whole.path.parent / "parts")
    assert parts.read_info()["status"] == "failed"
    assert parts.read_info()["error"].startswith("Interrupted")

    _, found = fitted(parts, callbacks=[EarlyStopping(patience=9)], resume=True, **options)
    assert weights(parts).keys() == weights(whole).keys()
    for name, tensor in weights(whole).items():
        assert torch.equal(weights(parts)[name], tensor), name
    assert parts.metrics_path.read_text() == whole.metrics_path.read_text()
    assert parts.gap_path.read_text() == whole.gap_path.read_text()
    assert parts.read_index() == whole.read_index()
    assert {path.name for path in parts.checkpoints.iterdir()} == {path.name for path in whole.checkpoints.iterdir()}
    for key in ("best", "validation", "test", "test_gap", "checkpoint", "seed", "data"):
        assert found[key] == expected[key]
    assert found["status"] == "finished"
    assert found["error"] is None


def test_two_halves_make_a_whole(fitted: Fitted) -> None:
    whole, _ = fitted("whole", trainer={"max_epochs": 4})
    parts, _ = fitted("parts", trainer={"max_epochs": 2})
    assert [row["epoch"] for row in parts.gap_rows()] == [0, 1]
    fitted(parts, trainer={"max_epochs": 4}, resume=True)
    assert len(list((parts.events / "best").iterdir())) == 1
    assert all(torch.equal(weights(parts)[name], tensor) for name, tensor in weights(whole).items())
    assert parts.metrics_path.read_text() == whole.metrics_path.read_text()
    assert parts.gap_path.read_text() == whole.gap_path.read_text()


def test_a_run_that_stopped_early_stays_stopped(fitted: Fitted) -> None:
    options: dict[str, Any] = {"callbacks": [EarlyStopping(patience=1)], "optimizer": partial(torch.optim.SGD, lr=0.0)}
    run, _ = fitted(trainer={"max_epochs": 9}, **options)
    assert [row["epoch"] for row in run.gap_rows()] == [0, 1]
    fitted(run, trainer={"max_epochs": 9}, resume=True, **options | {"callbacks": [EarlyStopping(patience=1)]})
    assert [row["epoch"] for row in run.gap_rows()] == [0, 1]


def test_resuming_on_other_data_is_refused(fitted: Fitted) -> None:
    run, _ = fitted()
    other = synthetic(queries=50, documents=6, features=6, seed=2)
    with pytest.raises(RunError, match=r"was trained on other data: its training data had hash [0-9a-f]{64}, came "):
        fitted(run, data=other, resume=True)


def test_resuming_before_the_first_epoch_is_over_is_refused(fitted: Fitted, tmp_path: Path) -> None:
    run = claim(tmp_path, "new", "")
    with pytest.raises(RunError, match=r"^no checkpoint .*last\.ckpt: the run stopped before its first epoch was over"):
        fitted(run, resume=True)


class Weighted(pl.Callback):
    """Sets the weights of a linear scorer at the start of each epoch: w for the first feature, -(w-2)^2 the other."""

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        w = trainer.current_epoch + 1.0
        model: Any = pl_module.model
        model.output.weight.data = torch.tensor([[w, -((w - 2) ** 2)]])


def test_the_test_is_of_the_best_state_and_names_its_file(fitted: Fitted, capsys: pytest.CaptureFixture[str]) -> None:
    # field report train-13: the last weights are tested in place of the best.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/2046
    # At w = 1 and w = 3 the second feature turns the order round, at w = 2 it is not looked at.
    part = RankingData.from_arrays(
        [[3.0, 9.0], [2.0, 0.0], [1.0, 0.0], [0.0, 0.0]], [2, 0, 1, 0], queries=["a", "a", "b", "b"]
    )
    run, summary = fitted(
        data=Splits(part, part, part), model=Linear(2), transform=None, callbacks=[Weighted()],
        optimizer=partial(torch.optim.SGD, lr=0.0), trainer={"max_epochs": 3},
    )  # fmt: skip
    series = [row["val/ndcg@10"] for row in run.metrics() if row["val/ndcg@10"] is not None]
    worse = (1 / math.log2(3) + 1) / 2
    assert series == pytest.approx([worse, 1.0, worse], abs=1e-9)
    assert summary["best"]["epoch"] == 1
    assert summary["test"]["ndcg@10"] == 1.0
    assert summary["checkpoint"] == "checkpoints/epoch01-ndcg@10-1.0000.ckpt"
    assert "test on checkpoints/epoch01-ndcg@10-1.0000.ckpt: ndcg@10 1.0000" in capsys.readouterr().out
    state = torch.load(run.best_checkpoint(), weights_only=True)["state_dict"]
    assert state["model.output.weight"].tolist() == [[2.0, 0.0]]


def test_the_folder_holds_all_of_it_once(fitted: Fitted, splits: Splits) -> None:
    run, summary = fitted()
    names = sorted(path.name.partition(".tfevents")[0] for path in run.path.iterdir())
    assert names == [
        "best", "checkpoints", "events.out", "gap.jsonl", "metrics.csv", "per_query.test.csv",
        "per_query.validation.csv", "run.json",
    ]  # fmt: skip
    assert summary == run.read_info()
    assert summary["status"] == "finished"
    assert summary["seed"] == 3
    assert summary["larger_is_better"] == {"ndcg@10": True, "mrr": True, "ndcg": True}
    assert summary["versions"]["torch"] == torch.__version__
    assert summary["conventions"]["mrr"] == "mrr relevant=y>=1 ideal=judged unjudged=zero ties=average empty=skip"
    assert summary["data"]["train"]["hash"] == splits.train.content_hash()
    assert summary["data"]["test"]["queries"] == 10
    assert summary["loss"] == {"name": "ApproxMetric", "kind": "approximation", "aim": "ndcg", "unit": "ndcg"}
    assert summary["wall_seconds"] > 0
    best = [row["val/ndcg@10"] for row in run.metrics() if row["step"] == summary["best"]["step"]]
    assert summary["validation"]["ndcg@10"] == summary["best"]["value"] == best[0]


def test_the_tested_values_are_those_of_the_tested_file(fitted: Fitted, splits: Splits) -> None:
    run, summary = fitted()
    model = MLP(6, [8], dropout=0.3)
    state = torch.load(run.best_checkpoint(), weights_only=True)["state_dict"]
    model.load_state_dict({name[6:]: each for name, each in state.items() if name.startswith("model.")})
    mean, deviation = state["transform.mean"].float(), state["transform.deviation"].float()
    model.eval()
    test = splits.test
    assert test is not None

    def scorer(features: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = model((features - mean) / deviation, mask)
        return scores

    from ltr.metrics import parse

    (values,) = per_query(lists_of(score(scorer, test), test), [parse("ndcg@10")])
    assert values.summary().value == pytest.approx(summary["test"]["ndcg@10"], abs=1e-6)
    expected = {row.query: row.value for row in values.rows()}
    found = {row["query"]: row["value"] for row in run.read_per_query("test") if row["metric"] == "ndcg@10"}
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_checkpoint_is_plain(fitted: Fitted) -> None:
    # field report train-14: a checkpoint holds the configuration's own classes.
    # https://github.com/Lightning-AI/pytorch-lightning/issues/21757
    run, _ = fitted(callbacks=[EarlyStopping()], scheduler=partial(cosine, warmup=1))
    for path in (run.best_checkpoint(), run.last_checkpoint()):
        assert torch.load(path, weights_only=True)["state_dict"]


def test_equal_seeds_give_equal_runs(fitted: Fitted) -> None:
    (first, _), (second, _), (other, _) = fitted("a"), fitted("b"), fitted("c", seed=4)
    assert first.metrics_path.read_text() == second.metrics_path.read_text()
    assert first.metrics_path.read_text() != other.metrics_path.read_text()


def test_without_validation_data_the_last_state_is_tested(fitted: Fitted, splits: Splits) -> None:
    run, summary = fitted(data=Splits(splits.train, None, splits.test), monitor=None)
    assert summary["checkpoint"] == "checkpoints/last.ckpt"
    assert summary["best"]["epoch"] == 3
    assert summary["test"]["ndcg@10"] > 0
    assert run.gap_rows() == []
    with pytest.raises(RunError, match=r"^the monitor val/target needs validation data"):
        fitted("other", data=Splits(splits.train, None, splits.test))


def test_without_test_data_it_says_so(fitted: Fitted, splits: Splits, caplog: pytest.LogCaptureFixture) -> None:
    _, summary = fitted(data=Splits(splits.train, splits.validation, None))
    assert summary["test"] == {}
    assert [each for each in caplog.messages if each.startswith("no test data: the best state, checkpoints/epoch")]


def test_a_run_that_fails_says_why(fitted: Fitted, tmp_path: Path) -> None:
    run = claim(tmp_path, "failing", "")
    with pytest.raises(RunError, match=r"^the monitor val/loss would select by the value of LambdaRank"):
        fitted(run, loss=LambdaRank("ndcg@10"), monitor="val/loss")
    assert run.read_info()["status"] == "failed"
    assert run.read_info()["error"].startswith("RunError: the monitor val/loss")
    assert not run.checkpoints.exists()


class Impatient(pl.Callback):
    def on_train_batch_end(self, *args: Any) -> None:
        raise KeyboardInterrupt


def test_an_interruption_is_one(fitted: Fitted, tmp_path: Path) -> None:
    import signal

    run = claim(tmp_path, "stopped", "")
    with pytest.raises(KeyboardInterrupt):
        fitted(run, callbacks=[Impatient()])
    assert run.read_info()["status"] == "interrupted"
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_several_monitors_and_their_own_checkpoint(fitted: Fitted) -> None:
    run, summary = fitted(callbacks=[Checkpoint(["val/mrr", "val/target"], keep=2)], monitor="val/mrr")
    assert summary["best"]["metric"] == "mrr"
    assert set(run.read_index()["best"]) == {"val/mrr", "val/target"}
    assert run.best_checkpoint("val/target").name.split("-")[1] == "ndcg@10"


def test_the_monitor_is_the_first_of_a_checkpoint_that_is_given(fitted: Fitted, tmp_path: Path) -> None:
    run = claim(tmp_path, "refused", "")
    with pytest.raises(RunError, match=r"^the state to test is the best by monitor=val/target, but .* val/mrr first"):
        fitted(run, callbacks=[Checkpoint("val/mrr")])
    assert run.read_info()["status"] == "started"
    assert fitted("mrr", monitor="val/mrr")[1]["best"]["metric"] == "mrr"


@pytest.mark.parametrize("setting", ["max_epochs", "max_steps"])
def test_a_training_of_nothing_is_refused_by_the_settings_name(fitted: Fitted, setting: str) -> None:
    with pytest.raises(RunError, match=rf"^trainer\.{setting}: wanted more than 0, got 0"):
        fitted(trainer={setting: 0})


def everything(run: Run) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in run.path.rglob("*") if path.is_file()}


class Broken(pl.Callback):
    def setup(self, *args: Any, **options: Any) -> None:
        raise Interrupted


BEFORE_IT_STARTS: dict[str, dict[str, Any]] = {
    "another class": {"model": Linear(6)},
    "another width": {"model": MLP(6, [9])},
    "a callback that fails": {"callbacks": [Broken()]},
    "a monitor that nothing logs": {"callbacks": [EarlyStopping("val/ap")]},
    "no epochs": {"trainer": {"max_epochs": 0}},
}


@pytest.mark.parametrize("changes", BEFORE_IT_STARTS.values(), ids=BEFORE_IT_STARTS)
def test_a_run_that_cannot_go_on_is_left_as_it_was(fitted: Fitted, changes: dict[str, Any]) -> None:
    run, _ = fitted("parts", trainer={"max_epochs": 2}, config="seed: 3\n")
    before = everything(run)
    with pytest.raises((RunError, Interrupted)):
        fitted(run, resume=True, config="seed: 4\n", **changes)
    assert everything(run) == before


def test_the_configuration_of_a_run_that_goes_on_is_the_new_one(fitted: Fitted) -> None:
    run, _ = fitted("parts", trainer={"max_epochs": 1}, config="epochs: 1\n")
    _, found = fitted(run, resume=True, trainer={"max_epochs": 2}, config="epochs: 2\n")
    assert run.read_config() == {"epochs": 2}
    assert found["resumed"] > found["started"]


@pytest.mark.parametrize("split", ["validation", "test"])
def test_other_data_of_any_split_are_noticed(fitted: Fitted, splits: Splits, split: str) -> None:
    run, _ = fitted(trainer={"max_epochs": 1})
    before = everything(run)
    for part in (splits.train, None):
        with pytest.raises(RunError, match=rf"its {split} data had hash [0-9a-f]{{64}}, came "):
            fitted(run, data=splits._replace(**{split: part}), monitor=None, resume=True)
    assert everything(run) == before


def test_a_run_with_all_epochs_done_is_tested_once_more(fitted: Fitted) -> None:
    run, first = fitted(trainer={"max_epochs": 1})
    before = run.metrics_path.read_text()
    _, again = fitted(run, trainer={"max_epochs": 1}, resume=True)
    assert again["test"] == first["test"]
    assert run.metrics_path.read_text() == before


class Diverges(Linear):
    def forward(self, features: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = super().forward(features, mask)
        return scores if self.training else scores * torch.nan


def test_a_run_of_nothing_but_nan_ends_and_says_so(fitted: Fitted, caplog: pytest.LogCaptureFixture) -> None:
    run, summary = fitted(model=Diverges(6), trainer={"max_epochs": 2})
    assert (summary["status"], summary["best"]["value"], summary["best"]["epoch"]) == ("finished", None, 0)
    assert [
        each for each in caplog.messages if each.startswith("no state was better than NaN by val/target: the first")
    ]
    assert run.gap_rows()[-1]["not_finite"] == 2
    print_run(run)


def test_validation_lists_that_teach_nothing(fitted: Fitted, splits: Splits) -> None:
    even = RankingData.from_arrays(np.ones((4, 6)), [1, 1, 2, 2], queries=["a", "a", "b", "b"])
    run, summary = fitted(data=splits._replace(validation=even), trainer={"max_epochs": 2})
    assert (summary["status"], summary["best"]["value"]) == ("finished", 1.0)
    assert {(row["lists"], row["gap_aim"]) for row in run.gap_rows()} == {(0, None)}
    print_run(run)


def test_weights_reach_everything_that_is_said(
    fitted: Fitted, splits: Splits, capsys: pytest.CaptureFixture[str]
) -> None:
    validation = splits.validation
    assert validation is not None
    pieces = np.split(validation.relevance, validation.offsets[1:-1])
    validation = validation.select([place for place, labels in enumerate(pieces) if np.ptp(labels)])
    weighted = replace(validation, weight=2.0 ** np.arange(len(validation.query_ids)))
    run, summary = fitted(data=splits._replace(validation=weighted), trainer={"max_epochs": 2})
    rows = [row for row in run.read_per_query("validation") if row["metric"] == "ndcg@10" and row["value"] is not None]
    mean = np.average([row["value"] for row in rows], weights=[row["weight"] for row in rows])
    last = run.gap_rows()[-1]
    assert last["lists"] == len(rows)
    assert last["target_value"] == pytest.approx(mean, abs=1e-9)
    assert last["target_value"] != pytest.approx(np.mean([row["value"] for row in rows]), abs=1e-3)
    assert last["belief"] - last["aim_value"] == pytest.approx(last["gap_aim"], abs=1e-9)
    logged = [row["val/ndcg@10"] for row in run.metrics() if row["val/ndcg@10"] is not None]
    assert logged[-1] == pytest.approx(mean, abs=1e-9)
    best = next(row for row in run.gap_rows() if row["epoch"] == summary["best"]["epoch"])
    assert summary["best"]["value"] == pytest.approx(best["target_value"], abs=1e-9)
    assert f"ndcg@10 {mean:.4f}" in capsys.readouterr().out


def test_gradients_are_clipped_by_the_trainer(fitted: Fitted) -> None:
    norms: list[float] = []

    class Watch(pl.Callback):
        def on_before_optimizer_step(self, trainer: pl.Trainer, module: pl.LightningModule, *args: Any) -> None:
            norms.append(sum(float(each.grad.norm()) ** 2 for each in module.parameters() if each.grad is not None))

    clipped: list[float] = []

    class Step(torch.optim.SGD):
        def step(self, closure: Any = None) -> Any:  # type: ignore[override]
            loss = closure()
            clipped.append(sum(float(each.grad.norm()) ** 2 for group in self.param_groups for each in group["params"]))
            return loss

    fitted(optimizer=partial(Step, lr=0.1), callbacks=[Watch()], trainer={"gradient_clip_val": 0.01, "max_epochs": 1})
    assert min(norms) > 0.01**2
    assert clipped == pytest.approx([0.01**2] * len(clipped), rel=1e-3)


def test_a_strategy_that_starts_the_command_again_is_refused(fitted: Fitted) -> None:
    with pytest.raises(RunError, match=r"^2 devices with this trainer.strategy would start the whole command once"):
        fitted(trainer={"devices": 2, "strategy": "ddp"})


def test_the_record_of_a_run_is_its_best_state(fitted: Fitted, summaries: Any, tmp_path: Path) -> None:
    # field report tensorboard-01. https://github.com/Lightning-AI/pytorch-lightning/issues/2971
    run = claim(tmp_path, "recorded", "")
    run.write_config("loss: {_target_: ltr.losses.ApproxMetric}\noptimizer: {lr: 0.02}\nlists: null\n")
    _, summary = fitted(run, trainer={"max_epochs": 8}, optimizer=partial(torch.optim.Adam, lr=1.0))
    assert summary["best"]["epoch"] < 7, "the best epoch must not be the last one, else this tells nothing"
    found = summaries(run.events / "best")
    assert {tag for tag in found if not tag.startswith("_")} == {
        f"{split}/{name}" for split in ("val", "test") for name in ("ndcg@10", "mrr", "loss")
    }
    ((step, value),) = found["val/ndcg@10"]
    assert value.tensor.float_val[0] == pytest.approx(summary["best"]["value"], abs=1e-6)
    assert step == summary["best"]["step"]

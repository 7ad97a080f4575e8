"""What a training says: every number with its unit, and no number that means nothing."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import pytorch_lightning as pl
import torch

from ltr.data import Splits
from ltr.losses import MSE, ApproxMetric, LambdaRank, Softmax, Surrogate
from ltr.models import Linear
from ltr.training import RankingDataModule, RankingModule
from ltr.training.progress import Bar, Lines, gap_text, progress

ROW: dict[str, Any] = {
    "kind": "approximation", "aim": "ndcg", "target": "ndcg@10", "loss_unit": "ndcg", "belief": 0.5, "aim_value": 0.75,
    "aim_floor": 0.4, "gap_aim": -0.25, "vacuous": False,
}  # fmt: skip


@pytest.mark.parametrize(("changes", "text"), [
    ({}, "believes 0.5000, exact 0.7500, gap -0.2500 [ndcg]"),
    ({"kind": "bound", "gap_aim": 0.25}, "certifies 0.5000, exact 0.7500, gap 0.2500 [ndcg]"),
    ({"kind": "bound", "belief": -1234.5, "vacuous": True},
     "certificate vacuous: -1234, a random order has 0.4000 [ndcg]"),
    ({"kind": "neither", "loss_unit": "nats"}, "no belief: nats have no unit in common with ndcg@10"),
    ({"belief": None}, "no list counts for the gap"),
])  # fmt: skip
def test_the_gap_in_words(changes: dict[str, Any], text: str) -> None:
    assert gap_text(ROW | changes) == text


@pytest.mark.parametrize(("loss", "unit", "says"), [
    (ApproxMetric("ndcg@10"), "ndcg", r"believes [\d.]+, exact [\d.]+, gap [-+][\d.]+ \[ndcg\]"),
    (LambdaRank("ndcg@10"), "ndcg@10", r"(certifies|certificate vacuous: )[-\d.]+, .*\[ndcg@10\]"),
    (Softmax("ndcg@10"), "nats", r".*\[.*\]|no belief: nats have no unit in common with ndcg@10"),
    (MSE(), "squared label units", "no belief: squared label units have no unit in common with ndcg@10"),
])  # fmt: skip
def test_one_plain_line_a_validation(
    plain_trainer: Callable[..., pl.Trainer], splits: Splits, capsys: pytest.CaptureFixture[str],
    loss: Surrogate, unit: str, says: str,
) -> None:  # fmt: skip
    module = RankingModule(Linear(6), loss, "ndcg@10", optimizer=partial(torch.optim.SGD, lr=0.1))
    trainer = plain_trainer(callbacks=[Lines()], num_sanity_val_steps=1)
    trainer.fit(module, datamodule=RankingDataModule(splits))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    for epoch, line in enumerate(lines):
        assert re.fullmatch(
            rf"epoch {epoch:02d}   validation loss [-\d.]+ \[{unit}\]   ndcg@10 0\.\d{{4}}   {says}", line
        ), line


def test_the_bar_shows_the_target_and_the_gap(plain_trainer: Callable[..., pl.Trainer], splits: Splits) -> None:
    bar = Bar()
    module = RankingModule(Linear(6), ApproxMetric("ndcg"), "ndcg@10", optimizer=partial(torch.optim.SGD, lr=0.1))
    trainer = plain_trainer(callbacks=[bar], enable_progress_bar=True)
    shown: list[dict[str, Any]] = []
    original = bar.get_metrics

    def watch(*args: Any) -> dict[str, Any]:
        shown.append(original(*args))
        return shown[-1]

    bar.get_metrics = watch  # type: ignore[method-assign]
    trainer.fit(module, datamodule=RankingDataModule(splits))
    assert shown[0] == {}, "there is nothing to show before the first validation"
    assert set(shown[-1]) == {"ndcg@10", "gap"}
    assert shown[-1]["gap"].endswith("[ndcg]")


def test_a_terminal_gets_the_bar() -> None:
    assert isinstance(progress(terminal=True), Bar)
    assert isinstance(progress(terminal=False), Lines)
    assert isinstance(progress(), Lines)

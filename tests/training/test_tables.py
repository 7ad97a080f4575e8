"""Accumulators: sums of per-list values over counts, in any order of batches, before and after a fit."""

from collections.abc import Callable

import pytest
import pytorch_lightning as pl
import torch

from ltr.metrics import parse
from ltr.training import MetricMean, QueryTable, tables

SCORES = torch.tensor([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 0.0], [0.5, 0.1, 0.2]])
LABELS = torch.tensor([[2.0, 0.0, 1.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])


def test_rows_come_in_order_of_query_and_once() -> None:
    table = QueryTable(["a", "b"])
    table.update(torch.tensor([3, 0]), {"a": torch.tensor([0.3, 0.0]), "b": torch.tensor([1, 2])})
    table.update(torch.tensor([1, 3]), {"a": torch.tensor([0.1, 0.3]), "b": torch.tensor([True, False])})
    found = table.compute()
    assert {name: column.tolist() for name, column in found.items()} == {
        "query": [0, 1, 3],
        "a": [0.0, pytest.approx(0.1), pytest.approx(0.3)],
        "b": [2.0, 1.0, 1.0],
    }
    assert found["a"].dtype == torch.float64


def test_a_reset_frees_the_rows() -> None:
    table = QueryTable(["a"])
    table.update(torch.tensor([0]), {"a": torch.tensor([1.0])})
    table.reset()
    assert table.query == []
    assert table.values == []


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_mean_does_not_depend_on_the_batches(cut: int) -> None:
    # HOUSE rule: averages of batch means are wrong whenever batches differ in size.
    metric = parse("ndcg@2")
    mean = MetricMean("ndcg@2")
    for part in (slice(0, cut), slice(cut, None)):
        mean.update(SCORES[part], LABELS[part])
    assert mean.compute().item() == pytest.approx(metric.mean(SCORES, LABELS).item(), abs=1e-12)


@pytest.mark.parametrize(("name", "expected"), [("mrr", (1 + 1 / 3 + 0.75) / 3), ("mrr-zero", (1 + 1 / 3 + 0.75) / 4)])
def test_a_mean_follows_the_rule_for_lists_without_an_answer(name: str, expected: float) -> None:
    mean = MetricMean(name)
    mean.update(SCORES, LABELS)
    assert mean.compute().item() == pytest.approx(expected, abs=1e-12)


def test_a_mean_weighs_lists() -> None:
    mean = MetricMean("mrr")
    mean.update(SCORES[:2], LABELS[:2], weight=torch.tensor([3.0, 1.0]))
    assert mean.compute().item() == pytest.approx((3 * 1 + 1 / 3) / 4, abs=1e-12)


class Own(pl.LightningModule):
    """A module of somebody's own that borrows MetricMean."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.mean = MetricMean("mrr")

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        loss: torch.Tensor = self.layer(batch).sum()
        return loss

    def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
        self.mean.update(SCORES, LABELS)
        self.log("val/mrr", self.mean)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def test_a_validation_before_the_fit_does_no_harm(plain_trainer: Callable[..., pl.Trainer]) -> None:
    # HOUSE section 5: `self.n += x` on state made in inference mode breaks the fit that follows.
    module, loader = Own(), torch.utils.data.DataLoader([torch.ones(1)] * 2)
    trainer = plain_trainer(max_epochs=1)
    trainer.validate(module, loader, verbose=False)
    trainer.fit(module, loader, loader)
    assert trainer.callback_metrics["val/mrr"].item() == pytest.approx((1 + 1 / 3 + 0.75) / 3, abs=1e-12)
    assert not [name for name in module.state_dict() if name.startswith("mean")]


def test_a_mean_moves_to_a_device_without_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """The meta device stands for Apple's, which refuses float64."""
    monkeypatch.setattr(tables, "exact_dtype", lambda device: torch.float32 if device.type == "meta" else torch.float64)
    mean = MetricMean("mrr")
    assert mean.total.dtype == torch.float64
    mean.to("meta")
    assert (mean.total.dtype, mean.count.device.type) == (torch.float32, "meta")
    mean.reset()
    assert mean.total.dtype == torch.float32

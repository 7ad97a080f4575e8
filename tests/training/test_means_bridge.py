"""Means as others hold them: torchmetrics' collections and wrappers, its own classes beside ours, Lightning's log."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import pytorch_lightning as pl
import torch
from torchmetrics import Metric, MetricCollection
from torchmetrics.retrieval import RetrievalMAP, RetrievalMRR, RetrievalNormalizedDCG
from torchmetrics.wrappers import MetricTracker

from ltr.metrics.presets import PRESETS
from ltr.training import MetricMean

SCORES = torch.tensor([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 0.0], [0.5, 0.1, 0.2]])
LABELS = torch.tensor([[2.0, 0.0, 1.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
RR = [1, 1 / 3, 0.75]  # the third list has a tie, the fourth nothing relevant
QUERY = torch.tensor([5, 40_000_000, 2_000_000_000, -7])


def test_the_bridge_needs_no_lightning() -> None:
    code = """
import sys
from ltr.training import MetricMean, QueryTable
MetricMean("mrr").update([[2.0, 1.0]], [[0, 1]])
assert "torchmetrics" in sys.modules
assert not {"pytorch_lightning", "hydra", "polars", "tensorboard"} & sys.modules.keys()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_name_of_the_room_is_there() -> None:
    from ltr import training

    assert [name for name in training.__all__ if not hasattr(training, name)] == []
    assert sorted(training.__all__) == training.__all__ == dir(training)
    with pytest.raises(AttributeError, match=r"^module 'ltr.training' has no attribute 'trainer'$"):
        getattr(training, "trainer")  # noqa: B009


# -- torchmetrics -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("per_query", [False, True])
def test_a_collection_never_takes_one_metric_for_another(per_query: bool) -> None:
    """torchmetrics updates one metric of several whose states are equal after the first batch, such as these."""
    names = ["ndcg@1", "ndcg@5", "mrr", "recall@5"]
    found = MetricCollection({name: MetricMean(name, per_query=per_query) for name in names})
    plain = {name: MetricMean(name) for name in names}
    for part in (slice(0, 1), slice(1, 4)):
        found.update(SCORES[part], LABELS[part], indexes=QUERY[part])
        for mean in plain.values():
            mean.update(SCORES[part], LABELS[part])
    assert SCORES[0].argmax() == LABELS[0].argmax(), "all are 1 on the first list"
    assert len({value.item() for value in found.compute().values()}) == 4
    assert found.compute() == {name: mean.compute() for name, mean in plain.items()}


def test_a_collection_holds_ours_beside_theirs() -> None:
    both = MetricCollection([RetrievalMRR(empty_target_action="skip"), MetricMean(["mrr-stable", "ndcg"])])
    query = QUERY[:, None].expand(4, 3)
    first = both(SCORES, LABELS > 0, indexes=query)
    assert list(first) == ["RetrievalMRR", "mrr-stable", "ndcg"]
    assert first["mrr-stable"].item() == pytest.approx(first["RetrievalMRR"].item())


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("copy", [lambda mean: mean.clone(), lambda mean: pickle.loads(pickle.dumps(mean))])
def test_a_copy_goes_its_own_way(copy: Callable[[MetricMean], MetricMean], per_query: bool) -> None:
    mean = MetricMean("mrr", per_query=per_query)
    mean.update(SCORES[:1], LABELS[:1], indexes=QUERY[:1])
    twin = copy(mean)
    twin.update(SCORES[1:], LABELS[1:], indexes=QUERY[1:])
    assert mean.compute().item() == 1.0
    assert twin.compute().item() == pytest.approx(sum(RR) / 3)
    assert (twin.metrics, twin.per_query) == (mean.metrics, mean.per_query)


@pytest.mark.parametrize("per_query", [False, True])
def test_a_call_gives_the_batch_and_adds_it(per_query: bool) -> None:
    mean = MetricMean("mrr", per_query=per_query)
    batches = [mean(SCORES[at : at + 1], LABELS[at : at + 1], indexes=QUERY[at : at + 1]).item() for at in range(4)]
    assert batches == pytest.approx([*RR, torch.nan], nan_ok=True)
    assert mean.compute().item() == pytest.approx(sum(RR) / 3)


def test_rows_lie_on_the_cpu_when_asked() -> None:
    mean = MetricMean("mrr", per_query=True, compute_on_cpu=True)
    mean.update(SCORES, LABELS, indexes=QUERY)
    assert mean.compute_on_cpu
    assert mean.table()["mrr"].tolist() == pytest.approx([torch.nan, *RR], nan_ok=True)


@pytest.mark.parametrize(("name", "best"), [("mrr", 1.0), ("arp", 1.0)])
def test_a_tracker_knows_which_direction_is_better(name: str, best: float) -> None:
    tracker = MetricTracker(MetricMean(name))
    for scores in ([1.0, 2.0], [2.0, 1.0]):
        tracker.increment()
        tracker.update(torch.tensor([scores]), torch.tensor([[1.0, 0.0]]))
    assert tracker.best_metric() == best
    assert MetricMean(["mrr", "arp"]).higher_is_better is None


def test_states_come_back_from_a_checkpoint_when_asked() -> None:
    mean, twin = MetricMean("mrr"), MetricMean("mrr")
    assert mean.state_dict() == {}
    mean.persistent(True)
    mean.update(SCORES, LABELS)
    twin.load_state_dict(mean.state_dict())
    twin.update(SCORES[:1], LABELS[:1])
    assert twin.compute().item() == pytest.approx((sum(RR) + 1) / 4)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("ndcg", RetrievalNormalizedDCG()),
        ("ndcg@5", RetrievalNormalizedDCG(top_k=5)),
        ("mrr", RetrievalMRR()),
        ("mrr@3", RetrievalMRR(top_k=3)),
        ("ap", RetrievalMAP()),
        ("ap@5", RetrievalMAP(top_k=5)),
    ],
)
@pytest.mark.parametrize("grades", [[0.52, 0.32, 0.13, 0.02, 0.01], [0.97, 0.03, 0.0, 0.0, 0.0]])
def test_the_preset_gives_what_torchmetrics_gives(name: str, theirs: Metric, grades: list[float]) -> None:
    generator = torch.Generator().manual_seed(4)
    query = torch.arange(600) % 40
    scores = torch.rand(600, generator=generator)
    labels = torch.multinomial(torch.tensor(grades), 600, replacement=True, generator=generator)
    mean = MetricMean(PRESETS["torchmetrics"].parse(name))
    theirs.reset()
    for part in (query < 13, query >= 13):
        mean.update(scores[part], labels[part], indexes=query[part])
        theirs.update(scores[part], labels[part] if "ndcg" in name else labels[part] > 0, indexes=query[part])
    assert mean.compute().item() == pytest.approx(theirs.compute().item(), abs=1e-6)


# -- Lightning --------------------------------------------------------------------------------------------------------


class Own(pl.LightningModule):
    """A module of somebody's own that borrows MetricMean."""

    def __init__(self, mean: MetricMean) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.mean, self.seen = mean, mean.clone()

    def training_step(self, batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        self.seen(SCORES[batch_idx : batch_idx + 1], LABELS[batch_idx : batch_idx + 1], indexes=QUERY[batch_idx, None])
        self.log("train/mrr", self.seen, on_step=True, on_epoch=True)
        loss: torch.Tensor = self.layer(batch).sum()
        return loss

    def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
        some = slice(0, 1) if batch_idx == 0 else slice(1, 4)
        self.mean.update(SCORES[some], LABELS[some], indexes=QUERY[some])
        self.log("val/mrr", self.mean)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.1)


@pytest.mark.parametrize("per_query", [False, True])
def test_lightning_logs_the_mean_of_each_epoch(plain_trainer: Callable[..., pl.Trainer], per_query: bool) -> None:
    # HOUSE section 5: `self.n += x` on state made in inference mode breaks the fit that follows a validation.
    module, loader = Own(MetricMean("mrr", per_query=per_query)), torch.utils.data.DataLoader([torch.ones(1)] * 2)
    trainer = plain_trainer(max_epochs=2)
    trainer.validate(module, loader, verbose=False)
    trainer.fit(module, loader, loader)
    logged: Any = trainer.callback_metrics
    assert logged["val/mrr"].item() == pytest.approx(sum(RR) / 3, abs=1e-12)
    assert logged["train/mrr_epoch"].item() == pytest.approx((1 + 1 / 3) / 2, abs=1e-12)
    assert logged["train/mrr_step"].item() == pytest.approx(1 / 3, abs=1e-12)
    assert not [name for name in module.state_dict() if not name.startswith("layer")]


def test_lightning_logs_a_collection(plain_trainer: Callable[..., pl.Trainer]) -> None:
    class Several(Own):
        def validation_step(self, batch: torch.Tensor, batch_idx: int) -> None:
            self.several.update(SCORES, LABELS)
            self.log_dict(self.several)

    module, loader = Several(MetricMean("mrr")), torch.utils.data.DataLoader([torch.ones(1)] * 2)
    module.several = MetricCollection({name: MetricMean(name) for name in ("mrr", "mrr-zero")}, prefix="val/")
    trainer = plain_trainer()
    trainer.validate(module, loader, verbose=False)
    found = {name: value.item() for name, value in trainer.callback_metrics.items()}
    assert found == pytest.approx({"val/mrr": sum(RR) / 3, "val/mrr-zero": sum(RR) / 4})

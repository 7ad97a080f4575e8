"""Two processes: every list once, one run folder, and the steps that one process would take.

What goes to the processes is the package's own: they cannot import this file.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch

from ltr.data import BucketBatches, ListDataset, RankingData, Splits
from ltr.losses import Softmax
from ltr.models import Linear
from ltr.runs import Run

Fitted = Callable[..., tuple[Run, dict[str, Any]]]

TWO = {"accelerator": "cpu", "devices": 2, "strategy": "ddp_spawn"}


def lists(
    pairs: list[tuple[list[float], list[float]]], column: int = 0, weights: list[float] | None = None
) -> RankingData:
    """Lists of (values, labels); the values stand in one of two features, the other is 0."""
    rows = [(f"q{at}", value, label) for at, pair in enumerate(pairs) for value, label in zip(*pair, strict=True)]
    features = [[value, 0.0] if column == 0 else [0.0, value] for _, value, _ in rows]
    given = {f"q{at}": weight for at, weight in enumerate(weights)} if weights else None
    return RankingData.from_arrays(
        features, [label for *_, label in rows], queries=[query for query, *_ in rows], weights=given
    )


# Training moves the weight of the second feature alone, so that the scores of lists in the first are known.
TRAIN = lists(
    [([1.0, 0.0], [0.0, 1.0]), ([0.5, 1.0, 0.0], [1.0, 2.0, 0.0]), ([1.0, 0.0, 3.0], [0.0, 1.0, 2.0]),
     ([2.0, 0.0], [1.0, 0.0]), ([0.3, 0.1, 0.2], [0.0, 0.0, 1.0])],
    column=1, weights=[1.0, 2.0, 0.5, 3.0, 1.0],
)  # fmt: skip
FIRST, SECOND = ([1.0, 0.0], [1.0, 0.0]), ([1.0, 0.0], [0.0, 1.0])
# The processes have unlike numbers of batches to validate: 2 and 1.
# field report ddp-01: a padded sampler makes 0.5 of a mean of 0.4.
# https://github.com/pytorch/pytorch/issues/25162
FIVE = lists([FIRST, SECOND, SECOND, SECOND, FIRST])
# field report ddp-03: a query cut in two, or a mean of two halves.
# https://github.com/Lightning-AI/torchmetrics/issues/2852
ONE = lists([([0.9, 0.8, 0.7, 0.6], [0.0, 1.0, 0.0, 1.0])])


def linear() -> Linear:
    model = Linear(2)
    model.output.weight.data = torch.tensor([[1.0, 0.5]])
    model.output.bias.data.zero_()
    return model


def test_two_processes_validate_as_one_and_leave_one_folder(fitted: Fitted, summaries: Any) -> None:
    # field report ddp-05: a folder for each process. https://github.com/hydra-ecosystem/hydra/issues/2070
    options: dict[str, Any] = {
        "data": Splits(TRAIN, FIVE, ONE), "model": linear(), "metric": "ndcg@1", "metrics": ["mrr"],
        "loss": Softmax("ndcg"), "optimizer": partial(torch.optim.SGD, lr=0.1), "documents": 4,
        "transform": None,
    }  # fmt: skip
    runs = {}
    for devices, trainer in ((1, {}), (2, TWO)):
        run, summary = fitted(f"on{devices}", **options, trainer={**trainer, "max_epochs": 1})
        runs[devices] = run
        assert summary["validation"]["ndcg@1"] == pytest.approx(0.4, abs=1e-6), f"{devices} processes"
        assert summary["test"]["ndcg@1"] == 0.0
        assert [row["query"] for row in run.read_per_query("validation")] == ["q0", "q1", "q2", "q3", "q4"] * 2
    alone, both = (runs[devices].gap_rows()[0] for devices in (1, 2))
    for name in ("lists", "left_out", "loss", "target_value", "floor", "ceiling", "belief", "gap_aim", "gap_abs"):
        assert both[name] == pytest.approx(alone[name], abs=1e-6), name
    assert [path.name for path in runs[2].path.parent.iterdir() if path.name.startswith("on2")] == ["on2"]
    assert len(list(runs[2].path.glob("events.out.tfevents.*"))) == 1
    assert len(list(runs[2].checkpoints.glob("epoch*.ckpt"))) == 1
    assert len(summaries(runs[2].events)["val/ndcg@1"]) == 1
    assert {each["file"] for each in runs[2].read_index()["best"].values()} == {"epoch00-ndcg@1-0.4000.ckpt"}


def union_steps(seed: int, documents: int) -> Iterator[Any]:
    """The lists of each step over both processes, as one batch."""
    shares = [
        BucketBatches(TRAIN.lengths, documents=documents, shuffle=True, seed=seed, rank=rank, world=2)
        for rank in (0, 1)
    ]
    for parts in zip(*shares, strict=True):
        yield ListDataset(TRAIN)[[query for part in parts for query in part]]


def test_a_step_of_two_processes_is_that_of_one_with_all_their_lists(fitted: Fitted) -> None:
    run, summary = fitted(
        data=Splits(TRAIN, ONE, None), model=linear(), loss=Softmax("ndcg"), metric="ndcg", metrics=["recall@2"],
        transform=None, optimizer=partial(torch.optim.SGD, lr=0.5), documents=4, trainer={**TWO, "max_epochs": 1},
    )  # fmt: skip
    model, loss = linear(), Softmax("ndcg")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    sums = torch.zeros(2)
    for batch in union_steps(seed=3, documents=4):
        values = loss(model(batch.features, batch.mask), batch.relevance, batch.mask)
        mean = (batch.weight * values).sum() / batch.weight.sum()
        sums += torch.tensor([(batch.weight * values).sum().item(), batch.weight.sum().item()])
        optimizer.zero_grad()
        mean.backward()
        optimizer.step()
    checkpoint = torch.load(run.last_checkpoint(), weights_only=True)
    assert len(checkpoint["ltr_randomness"]) == 2, "each process has draws of its own"
    state = checkpoint["state_dict"]
    torch.testing.assert_close(state["model.output.weight"], model.output.weight.data)
    assert state["model.output.weight"][0, 1] != 0.5
    logged = [row["train/loss"] for row in run.metrics() if row["train/loss"] is not None]
    assert logged == pytest.approx([(sums[0] / sums[1]).item()], rel=1e-5)
    # one list for two processes (ddp-03)
    ideal = 1 + 1 / math.log2(3)
    assert summary["validation"]["ndcg"] == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal, abs=1e-6)
    assert summary["validation"]["ndcg"] == pytest.approx(0.650920929807, abs=1e-6)
    assert summary["validation"]["recall@2"] == 0.5

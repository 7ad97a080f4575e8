"""The closer look of a validation: which lists, with which scores, and that the training does not notice."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from ltr.data import ListDataset, RankingData, Splits, Standardise, synthetic
from ltr.gap.diagnose import Measured, measure
from ltr.gap.scored import scored
from ltr.losses import MSE, ApproxMetric, Distil, ListNet, Softmax
from ltr.metrics import parse
from ltr.models import MLP, Linear
from ltr.runs import Run
from ltr.training import RankingModule
from ltr.training.charts import SUMS
from ltr.training.diagnostics import Diagnostics
from ltr.training.teacher import Teacher

Fitted = Callable[..., tuple[Run, dict[str, Any]]]

TWO = {"accelerator": "cpu", "devices": 2, "strategy": "ddp_spawn"}
STILL = partial(torch.optim.SGD, lr=0.0)  # each validation finds the model as it was made


def linear(features: int = 6) -> Linear:
    model = Linear(features)
    model.output.weight.data = torch.linspace(-1.0, 1.0, features)[None]
    return model


def numbered(lists: int = 40, **weights: float) -> RankingData:
    """List q has the weight q + 1, unless told otherwise; every fourth has equal labels, so that it does not count."""
    random = np.random.default_rng(0)
    lengths = random.integers(2, 7, lists)
    labels = random.integers(0, 3, lengths.sum()).astype(float)
    starts = np.cumsum(lengths) - lengths
    for at, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        labels[start : start + length] = 1.0
        labels[start] = 1.0 if at % 4 == 0 else 2.0
    return RankingData.from_arrays(
        random.normal(size=(len(labels), 6)),
        labels,
        queries=np.repeat([f"q{at}" for at in range(lists)], lengths).tolist(),
        weights={f"q{at}": weights.get(f"q{at}", at + 1.0) for at in range(lists)},
    )


def drawn(data: RankingData, most: int, seed: int = 0) -> list[float]:
    """The weights of the lists that are looked at."""
    module = RankingModule(linear(), MSE(), "ndcg@10", optimizer=STILL)
    found = Diagnostics(module, Splits(data, data, None), most, seed).validation
    return sorted(float(weight) for batch in found for weight in batch.weight)


def test_lists_are_drawn_among_those_that_count_and_have_a_weight() -> None:
    counting = [at + 1.0 for at in range(40) if at % 4 and at != 7]
    assert drawn(numbered(q7=0.0), 100) == counting
    some = drawn(numbered(q7=0.0), 10)
    assert len(some) == len(set(some)) == 10
    assert set(some) < set(counting)


def test_the_seed_draws_the_lists() -> None:
    assert drawn(numbered(), 10, seed=1) == drawn(numbered(), 10, seed=1) != drawn(numbered(), 10, seed=2)


def rows(fitted: Fitted, name: str = "run", **options: Any) -> list[dict[str, Any]]:
    run, _ = fitted(name, **options)
    return run.gap_rows()


def by_hand(data: Splits, loss: Any, transform: Any = None) -> Measured:
    """All lists, padded to the longest, scored by the linear model."""
    found = []
    for part in (data.validation, data.train):
        assert part is not None
        batch = ListDataset(part)[range(len(part.query_ids))]
        features = batch.features if transform is None else transform(batch.features, batch.mask)
        with torch.no_grad():
            found.append(scored(linear()(features, batch.mask), batch.relevance, batch.mask, batch.weight))
    return measure(loss, parse("ndcg@10"), *found, lists=1000, sure=False)


def test_a_row_holds_the_figures_of_the_lists_as_the_module_scores_them(fitted: Fitted) -> None:
    train, validation = numbered(20), numbered(30)
    standard = Standardise()
    standard.fit(train.features)
    for transform in (None, standard):
        (row,) = rows(
            fitted, f"{transform is None}", data=Splits(train, validation, None), model=linear(), transform=transform,
            loss=Softmax("ndcg@10"), optimizer=STILL, trainer={"max_epochs": 1},
        )  # fmt: skip
        expected = by_hand(Splits(train, validation, None), Softmax("ndcg@10"), transform)
        for held, figures in ((row["diagnostics"], expected.figures), (row["ledger"], expected.ledger)):
            assert held == pytest.approx({name: each.value for name, each in figures.items()}, rel=1e-5, abs=1e-5)
        assert row["diagnostics"]["loss"] == pytest.approx(row["loss"], abs=1e-6), "all lists are looked at"


def test_the_training_does_not_notice(fitted: Fitted) -> None:
    off, on = (fitted(f"{lists}", diagnostics=lists)[0] for lists in (0, 64))
    assert on.metrics_path.read_text() == off.metrics_path.read_text()
    first, second = (torch.load(run.last_checkpoint(), weights_only=True) for run in (off, on))
    for name, weight in first["state_dict"].items():
        assert torch.equal(second["state_dict"][name], weight), name
    assert torch.equal(first["ltr_randomness"][0]["torch"], second["ltr_randomness"][0]["torch"])
    assert [(row["ledger"], row["diagnostics"]) for row in off.gap_rows()] == [({}, {})] * 4
    assert all(row["diagnostics"] for row in on.gap_rows())


def same(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    for one, other in zip(first, second, strict=True):
        for name in ("ledger", "diagnostics"):
            assert one[name]
            ours, theirs = (
                {key: float("nan" if v is None else v) for key, v in each[name].items()} for each in (one, other)
            )
            assert theirs == pytest.approx(ours, rel=1e-6, abs=1e-6, nan_ok=True), name


def test_the_batches_do_not_matter(fitted: Fitted, splits: Splits) -> None:
    options: dict[str, Any] = {"model": linear(), "optimizer": STILL, "trainer": {"max_epochs": 2}, "diagnostics": 5}
    same(*(rows(fitted, f"{size}", documents=size, **options) for size in (6, 512)))


def test_two_processes_see_what_one_sees(fitted: Fitted) -> None:
    data = Splits(numbered(20), numbered(30), None)
    options: dict[str, Any] = {"data": data, "model": linear(), "optimizer": STILL, "diagnostics": 8}
    alone, both = (
        rows(fitted, f"on{len(trainer)}", **options, trainer={**trainer, "max_epochs": 2}) for trainer in ({}, TWO)
    )
    same(alone, both)
    assert [row["tau_best"] for row in both] == [row["tau_best"] for row in alone]


@pytest.mark.parametrize("loss", [ApproxMetric("ndcg@10"), Softmax("ndcg@10"), MSE(), ListNet()], ids=lambda x: x.kind)
def test_the_ledger_adds_up_at_every_validation(fitted: Fitted, loss: Any) -> None:
    data = synthetic(queries=50, documents=6, features=6, seed=1)
    found = rows(fitted, data=data, loss=loss, model=MLP(6, [8]), trainer={"max_epochs": 5})
    known = [row["ledger"] for row in found if row["ledger"]["total"] is not None]
    assert len(known) == (3 if loss.kind == "neither" else 5), "a fit of three states is the least"
    for ledger in known:
        *lines, total = ledger.items()
        assert total == ("total", pytest.approx(sum(value for _, value in lines), abs=1e-6))
        assert {line for line, _ in lines} == set(SUMS[loss.kind][1:])


def test_weights_of_lists_count(fitted: Fitted) -> None:
    heavy, even = (
        Splits(numbered(20), numbered(30, **weights), None) for weights in ({}, {f"q{at}": 1.0 for at in range(30)})
    )
    options: dict[str, Any] = {"model": linear(), "optimizer": STILL, "transform": None, "trainer": {"max_epochs": 1}}
    for name, data in (("heavy", heavy), ("even", even)):
        (row,) = rows(fitted, name, data=data, **options)
        expected = by_hand(data, ApproxMetric("ndcg@10"))
        assert row["diagnostics"] == pytest.approx(
            {key: each.value for key, each in expected.figures.items()}, rel=1e-5, abs=1e-5
        )
        assert row["diagnostics"]["loss"] == pytest.approx(row["loss"], abs=1e-6)


def test_a_loss_that_learns_from_a_teacher_is_looked_at_too(fitted: Fitted, splits: Splits) -> None:
    found = rows(fitted, loss=Distil(), teacher=Teacher(linear()), trainer={"max_epochs": 1})
    assert found[0]["diagnostics"]["loss"] > 0


def test_scores_that_are_no_numbers_leave_nothing_to_look_at(fitted: Fitted) -> None:
    (row,) = rows(
        fitted, model=linear(), optimizer=partial(torch.optim.SGD, lr=float("nan")), trainer={"max_epochs": 1}
    )
    assert (row["ledger"], row["diagnostics"], row["tau_best"]) == ({}, {}, None)

"""Early stopping: patience in validations, the metric's direction, and no opinion about NaN."""

from collections.abc import Callable
from typing import Any

import pytest

from ltr.runs import Run, RunError
from ltr.training import Checkpoint, EarlyStopping

NAN = float("nan")


@pytest.mark.parametrize(
    ("tag", "series", "patience", "epochs"),
    [
        ("val/mrr", [0.1, 0.3, 0.2, 0.3, 0.4, 0.5], 2, 4),
        ("val/mrr", [0.1, 0.3, 0.2, 0.4, 0.3, 0.2], 3, 6),
        ("val/loss", [0.5, 0.3, 0.4, 0.35, 0.1, 0.0], 2, 4),
        # HOUSE section 5: Lightning's EarlyStopping ends a run at a NaN.
        # https://github.com/Lightning-AI/pytorch-lightning/issues/2636
        ("val/mrr", [0.3, NAN, NAN, NAN, 0.2, 0.1], 2, 6),
        ("val/mrr", [NAN, NAN, NAN, NAN, NAN, NAN], 1, 6),
        ("val/mrr", [NAN, 0.2, 0.1, 0.3, 0.3, 0.3], 1, 3),
    ],
)
def test_the_run_ends_after_so_many_validations_without_a_better_value(
    run_scripted: Callable[..., Run], scripted: Any, tag: str, series: list[float], patience: int, epochs: int
) -> None:
    module = scripted({tag: series})
    run_scripted(module, [EarlyStopping(tag, patience), Checkpoint(tag)])
    assert module.weight.item() == epochs


def test_a_value_must_be_better_by_the_least(run_scripted: Callable[..., Run], scripted: Any) -> None:
    module = scripted({"val/mrr": [0.1, 0.15, 0.19, 0.9]})
    run_scripted(module, [EarlyStopping("val/mrr", 2, least=0.1), Checkpoint("val/mrr")])
    assert module.weight.item() == 3


def test_a_check_before_training_never_counts(run_scripted: Callable[..., Run], scripted: Any) -> None:
    module = scripted({"val/mrr": [0.1, 0.2, 0.3]}, sanity=0.99)
    run_scripted(module, [EarlyStopping("val/mrr", 1), Checkpoint("val/mrr")], num_sanity_val_steps=1)
    assert module.weight.item() == 3


def test_without_a_monitor_nothing_is_stopped(run_scripted: Callable[..., Run], scripted: Any) -> None:
    module = scripted({"val/mrr": [0.3, 0.2, 0.1]})
    run_scripted(module, [EarlyStopping(None, 1), Checkpoint(None)])
    assert module.weight.item() == 3


def test_what_it_waited_for_survives_an_interruption() -> None:
    first, second = EarlyStopping(), EarlyStopping()
    first.best, first.waited = -0.4, 2
    second.load_state_dict(first.state_dict())
    assert (second.best, second.waited) == (-0.4, 2)


@pytest.mark.parametrize(("monitor", "message"), [
    ("train/loss", r"^early stopping counts validations: wanted a monitor val/\.\.\., got train/loss \(callbacks\."),
    ("val/ap", "^nothing logs the monitor val/ap; there are: val/mrr$"),
])  # fmt: skip
def test_a_wrong_monitor_is_an_error_before_the_first_batch(
    run_scripted: Callable[..., Run], scripted: Any, monitor: str, message: str
) -> None:
    module = scripted({"val/mrr": [0.1]})
    with pytest.raises(RunError, match=message):
        run_scripted(module, [EarlyStopping(monitor), Checkpoint("val/mrr")])
    assert module.batches_seen == 0


@pytest.mark.parametrize(("patience", "least"), [(0, 0.0), (1, -0.1)])
def test_wrong_arguments_are_named(patience: int, least: float) -> None:
    with pytest.raises(ValueError, match=f"^early stopping: wanted patience >= 1 and least >= 0, got {patience} and "):
        EarlyStopping(patience=patience, least=least)

"""fit with losses that draw: the same after an interruption, whichever draws had been made."""

from pathlib import Path

import pytest
import torch

from ltr.losses import ExpectedMetric, Perturbed
from ltr.runs import Run
from tests.training.test_fitting import Fitted, Interrupted, Stop, weights


def loss() -> Perturbed:
    return Perturbed(ExpectedMetric("ndcg", samples=2), samples=2)


@pytest.mark.parametrize("hook", ["start", "batch"])
def test_a_resumed_run_goes_on_with_the_draws_that_would_have_come(fitted: Fitted, tmp_path: Path, hook: str) -> None:
    whole, expected = fitted("whole", loss=loss())
    with pytest.raises(Interrupted):
        fitted("parts", loss=loss(), callbacks=[Stop(2, hook)])
    parts, found = fitted(Run(tmp_path / "runs" / "parts"), loss=loss(), resume=True)
    ours, theirs = weights(parts), weights(whole)
    assert ours["loss._extra_state"] == theirs["loss._extra_state"] != {"calls": 0}
    assert ours["loss.loss._extra_state"] == theirs["loss.loss._extra_state"] != {"calls": 0}
    assert all(torch.equal(each, theirs[name]) for name, each in ours.items() if name.startswith("model."))
    assert parts.metrics_path.read_text() == whole.metrics_path.read_text()
    assert found["test"] == expected["test"]


def test_other_draws_make_another_run(fitted: Fitted) -> None:
    one, other = (fitted(f"seed {seed}", loss=ExpectedMetric("ndcg", samples=2, seed=seed))[0] for seed in (0, 1))
    assert any(not torch.equal(each, weights(other)[name]) for name, each in weights(one).items() if "model" in name)

"""What a run folder keeps of each validation."""

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ltr import gap
from ltr.data import synthetic
from ltr.losses import MSE, ApproxMetric, LambdaRank
from ltr.models import Linear
from ltr.runs import Run

Fitted = Callable[..., tuple[Run, dict[str, Any]]]
Read = Callable[[Path], dict[str, list[tuple[int, Any]]]]


def test_a_row_of_the_gap_for_each_validation(fitted: Fitted) -> None:
    run, _ = fitted(trainer={"num_sanity_val_steps": 1})
    rows = run.gap_rows()
    assert [row["epoch"] for row in rows] == [0, 1, 2, 3]
    assert [row["validations"] for row in rows] == [1, 2, 3, 4]
    assert {row["kind"] for row in rows} == {"approximation"}
    for row in rows:
        assert row["belief"] - row["aim_value"] == pytest.approx(row["gap_aim"], abs=1e-9)
    logged = {row["step"]: row for row in run.metrics() if row["val/ndcg@10"] is not None}
    assert [row["belief"] for row in rows] == [logged[row["step"]]["gap/belief[ndcg]"] for row in rows]


def test_concordance_is_that_of_the_lists_that_count(fitted: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[np.ndarray, np.ndarray]] = []
    original = gap.concordance

    def watch(loss: Any, metric: Any, **options: Any) -> dict[str, Any]:
        given.append((loss, metric))
        return original(loss, metric, **options)

    monkeypatch.setattr(gap, "concordance", watch)
    run, _ = fitted()
    rows = run.gap_rows()
    losses, targets = given[-2]  # the last one is that of the best loss
    assert losses.shape == targets.shape == (4, rows[0]["lists"])
    assert losses.mean(1) == pytest.approx([row["loss"] for row in rows], abs=1e-9)
    assert targets.mean(1) == pytest.approx([row["target_value"] for row in rows], abs=1e-9)


def test_values_of_the_last_validation_add_up_to_its_mean(fitted: Fitted) -> None:
    run, _ = fitted()
    values = [row["value"] for row in run.read_per_query("validation") if row["metric"] == "ndcg@10"]
    logged = [row["val/ndcg@10"] for row in run.metrics() if row["val/ndcg@10"] is not None]
    assert np.mean([value for value in values if value is not None]) == pytest.approx(logged[-1], abs=1e-12)
    assert None in values, "the mean skips lists with nothing relevant"


def test_tensorboard_has_curves_histograms_text_and_a_chart(fitted: Fitted, summaries: Read) -> None:
    run, _ = fitted()
    found = set(summaries(run.events))
    assert {"val/ndcg@10", "val/mrr", "train/loss", "gap/belief[ndcg]", "gap/exact_target[ndcg@10]"} <= found
    assert {"val/lists/ndcg@10", "val/lists/mrr", "gap/tau[rank correlation]", "gap/regret[ndcg@10]"} <= found
    assert {"gap/gap_aim[ndcg]", "gap/gap_sd[ndcg]", "gap/gap_target[ndcg@10]", "gap/residual[ndcg@10]"} <= found
    assert len(summaries(run.events)["val/lists/ndcg@10"]) == 4
    assert "custom_scalars__config__" in found
    assert "config/text_summary" not in found, "this run has no configuration"


def test_the_configuration_is_shown_as_text(fitted: Fitted, summaries: Read, tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.write_info(started="now")
    run.write_config("metric: ndcg@10\nseed: 3\n")
    fitted(run)
    ((_, value),) = summaries(run.events)["config/text_summary"]
    assert value.tensor.string_val[0].decode() == "    metric: ndcg@10\n    seed: 3"


def test_a_vacuous_certificate_stays_off_the_chart_and_is_said(
    fitted: Fitted, summaries: Read, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "ltr"):
        run, _ = fitted(loss=LambdaRank("ndcg@10"))
    assert all(row["vacuous"] for row in run.gap_rows())
    assert not [tag for tag in summaries(run.events) if "certificate" in tag]
    (message,) = [each for each in caplog.messages if "vacuous" in each]
    assert message.startswith("the certificate of LambdaRank is vacuous: it guarantees ndcg@10 >= -")


def test_a_loss_of_no_kind_forms_no_gap(fitted: Fitted, summaries: Read) -> None:
    run, _ = fitted(loss=MSE())
    assert {row["gap_aim"] for row in run.gap_rows()} == {None}
    assert [row["tau"] is None for row in run.gap_rows()] == [True, False, False, False]
    assert not [tag for tag in summaries(run.events) if tag.startswith(("gap/belief", "gap/gap_"))]
    assert "gap/exact_target[ndcg@10]" in summaries(run.events)


def test_an_aim_of_its_own_is_named(fitted: Fitted) -> None:
    run, summary = fitted(loss=ApproxMetric("ap"))
    assert {(row["aim"], row["target"]) for row in run.gap_rows()} == {("ap", "ndcg@10")}
    assert summary["conventions"]["ap"].startswith("ap ")


class Backwards(MSE):
    """Wants the worst document on top: the loss falls, and every metric with it."""

    def forward(
        self, scores: torch.Tensor, relevance: torch.Tensor, mask: torch.Tensor | None = None, **documents: Any
    ) -> torch.Tensor:
        return super().forward(scores, relevance.amax(1, keepdim=True) - relevance, mask, **documents)


def backwards(fitted: Fitted, run: Run | str, epochs: int, **options: Any) -> tuple[Run, dict[str, Any]]:
    data = synthetic(queries=400, documents=6, features=6, seed=1)
    slow = partial(torch.optim.Adam, lr=0.004)
    model, trainer = Linear(6), {"max_epochs": epochs}
    return fitted(run, data, loss=Backwards(), model=model, optimizer=slow, trainer=trainer, **options)


def test_an_alarm_is_said_once_and_kept(fitted: Fitted, summaries: Read, caplog: pytest.LogCaptureFixture) -> None:
    run, info = backwards(fitted, "run", 8)
    rows = run.gap_rows()
    assert [row["alarm"] for row in rows] == [None] * 5 + ["loss-without-metric"] * 3
    assert [row["change"] is None for row in rows] == [True] * 5 + [False] * 3
    change = rows[-1]["change"]
    assert change["validations"] == 5
    assert change["loss"] == pytest.approx(rows[-1]["loss"] - rows[-6]["loss"], abs=1e-9)
    assert change["target"] == pytest.approx(rows[-1]["target_value"] - rows[-6]["target_value"], abs=1e-9)
    best = [row["diagnostics"]["best_loss"] for row in (rows[-6], rows[-1])]
    loss = [row["diagnostics"]["loss"] for row in (rows[-6], rows[-1])]
    assert change["best_loss"] == pytest.approx(best[1] - best[0], abs=1e-9)
    assert change["scale_share"] == pytest.approx(1 - (best[1] - best[0]) / (loss[1] - loss[0]), abs=1e-9)

    (kept,) = info["alarms"]
    assert set(kept) == {"epoch", "step", "code", "sentence", "value", "unit", "interval"}
    assert (kept["epoch"], kept["step"], kept["code"]) == (5, rows[5]["step"], "loss-without-metric")
    assert (kept["value"], kept["interval"]) == (rows[5]["change"]["target"], rows[5]["change"]["interval"])
    assert kept["interval"][0] < kept["value"] < kept["interval"][1] < 0
    ((step, text),) = summaries(run.events)["gap/alarm/text_summary"]
    assert (step, text.tensor.string_val[0].decode()) == (kept["step"], f"    {kept['sentence']}")
    assert [each for each in caplog.messages if "got worse" in each] == [f"epoch 5: {kept['sentence']}"]


def test_a_resumed_run_knows_its_alarms(fitted: Fitted) -> None:
    whole, expected = backwards(fitted, "whole", 8)
    parts, _ = backwards(fitted, "parts", 6)
    parts.write_info(alarms=[{"epoch": 7}])  # of an epoch that the run goes back behind
    _, found = backwards(fitted, parts, 8, resume=True)
    assert found["alarms"] == expected["alarms"]
    assert parts.gap_path.read_text() == whole.gap_path.read_text()


def test_a_run_without_alarm_says_so(fitted: Fitted) -> None:
    run, info = fitted(trainer={"max_epochs": 7})
    assert info["alarms"] == []
    assert [row["alarm"] for row in run.gap_rows()] == [None] * 7


def test_tau_of_the_best_loss_is_that_of_the_rows(fitted: Fitted) -> None:
    rows = fitted()[0].gap_rows()
    best = [[row["diagnostics"]["best_loss"]] for row in rows]
    assert rows[-1]["tau_best"] == gap.concordance(best, [[row["target_value"]] for row in rows])["tau"]
    assert rows[0]["tau_best"] is None

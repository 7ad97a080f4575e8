"""What a run folder keeps of each validation."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ltr import gap
from ltr.losses import MSE, ApproxMetric, LambdaRank
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
    losses, targets = given[-1]
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

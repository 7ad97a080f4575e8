"""The tags and the charts of the gap."""

from functools import partial
from typing import Any

import pytest
import torch

from ltr.gap.diagnose import Measured
from ltr.gap.figures import Figure
from ltr.losses import MSE, ApproxMetric, LambdaRank, Softmax
from ltr.models import Linear
from ltr.training import RankingModule
from ltr.training.charts import SUMS, layout, scalars

ROW = {
    "vacuous": False, "target_value": 0.5, "aim_value": 0.6, "tau": 0.25, "tau_best": None, "regret": 0.01,
    "residual": float("nan"),
}  # fmt: skip


def module(loss: Any, metric: str = "ndcg@10") -> RankingModule:
    return RankingModule(Linear(2), loss, metric, optimizer=partial(torch.optim.SGD, lr=0.1))


def ledger(unit: str, **lines: float | None) -> Measured:
    parts = {line: Figure(value, unit) for line, value in lines.items()}
    return Measured({}, parts | {"total": Figure(sum(each or 0.0 for each in lines.values()), unit)}, None)


def test_every_tag_names_its_unit_and_nothing_that_is_not_known_has_one() -> None:
    figures = {
        "alignment": Figure(0.7, "cosine"),
        "r2": Figure(None, "share"),
        "scale": Figure(2.0, "times the scores"),
    }
    assert scalars(module(MSE()), ROW, Measured(figures, {}, None)) == {
        "gap/tau[rank correlation]": 0.25,
        "gap/regret[ndcg@10]": 0.01,
        "gap/gradient/alignment[cosine]": 0.7,
        "gap/scale/scale[times the scores]": 2.0,
    }


def test_an_estimate_is_reached_from_the_exact_value() -> None:
    seen = ledger("ndcg@10", generalisation=0.04, smoothing=-0.02, specification=0.1)
    found = scalars(module(ApproxMetric("ndcg@10")), ROW, seen)
    assert found["gap/ledger/smoothing[ndcg@10]"] == -0.02
    assert found["gap/ledger/exact[ndcg@10]"] == 0.5
    assert found["gap/ledger/exact+specification[ndcg@10]"] == 0.5 + 0.1
    assert found["gap/ledger/exact+specification+smoothing[ndcg@10]"] == pytest.approx(0.5 + 0.1 - 0.02)
    assert found["gap/ledger/exact+specification+smoothing+generalisation[ndcg@10]"] == pytest.approx(0.62)
    assert found["gap/ledger/total[ndcg@10]"] == pytest.approx(0.62 - 0.5)


def test_the_exact_value_is_reached_from_what_a_bound_guarantees() -> None:
    seen = ledger("ndcg@10", intrinsic=0.3, scale=0.1, specification=-0.1, generalisation=None)
    found = scalars(module(Softmax("ndcg")), ROW, seen)
    assert found["gap/ledger/guaranteed[ndcg@10]"] == pytest.approx(0.5 - 0.3 - 0.1 + 0.1)
    assert found["gap/ledger/guaranteed+generalisation[ndcg@10]"] == pytest.approx(0.5 - 0.3)
    assert found["gap/ledger/guaranteed+generalisation+scale[ndcg@10]"] == pytest.approx(0.5 - 0.2)
    assert found["gap/ledger/guaranteed+generalisation+scale+intrinsic+specification[ndcg@10]"] == pytest.approx(0.5)
    assert "gap/ledger/generalisation[ndcg@10]" not in found


def test_an_aim_of_another_unit_is_what_the_ledger_ends_at() -> None:
    seen = ledger("ap", generalisation=0.0, smoothing=0.1, specification=0.0)
    assert scalars(module(ApproxMetric("ap")), ROW, seen)["gap/ledger/exact[ap]"] == 0.6


def test_a_vacuous_certificate_has_no_ledger_in_the_charts() -> None:
    seen = ledger("ndcg@10", intrinsic=30.0, scale=0.0, specification=0.0, generalisation=1.0)
    found = scalars(module(LambdaRank("ndcg@10")), ROW | {"vacuous": True}, seen)
    assert not [tag for tag in found if "ledger" in tag]


@pytest.mark.parametrize("loss", [ApproxMetric("ndcg@10"), Softmax("ndcg@10"), MSE()], ids=lambda loss: loss.kind)
def test_belief_against_truth_comes_first_and_every_chart_shows_what_is_logged(
    fitted: Any, loss: Any, summaries: Any
) -> None:
    run, _ = fitted(loss=loss)
    rows = layout(module(loss))
    assert next(iter(rows)) == "gap: belief against truth"
    (first,) = next(iter(rows.values())).values()
    assert "gap/exact_target[ndcg@10]" in first
    logged = set(summaries(run.events))
    silent = {tag for charts in rows.values() for tags in charts.values() for tag in tags} - logged
    others = {line for kind, (_, *lines) in SUMS.items() for line in lines if kind != loss.kind}
    silent -= {f"gap/ledger/{line}[ndcg@10]" for line in others}
    if run.gap_rows()[-1]["vacuous"]:
        silent = {tag for tag in silent if not tag.startswith(("gap/certificate", "gap/ledger"))}
    assert not silent

"""What a diagnosis looks like on the page: words first, then numbers, then what each of them is."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from ltr.gap.belief import columns, summarise
from ltr.gap.diagnose import Diagnosis
from ltr.gap.figures import Figure
from ltr.gap.findings import Finding
from ltr.gap.temperature import Setting
from ltr.losses.named import named
from ltr.metrics import parse
from ltr.report.gap import ROWS, print_diagnosis

ALARM = Finding("falls", "alarm", "The metric fell.", Figure(-0.02, "ndcg@2", -0.03, -0.01, 40), "Stop earlier.")
REMARK = Finding("timid", "remark", "The scores are timid.", Figure(3.0, "times the scores", lists=40))
LEDGER = {
    "generalisation": Figure(0.05, "ndcg@2", 0.01, 0.09, 80),
    "smoothing": Figure(-0.1, "ndcg@2", -0.2, -0.05, 40),
    "specification": Figure(None, "ndcg@2"),
    "total": Figure(-0.05, "ndcg@2", -0.1, 0.0, 40),
}


def diagnosis(
    loss: str = "approx",
    metric: str = "ndcg@2",
    findings: Sequence[Finding] = (REMARK,),
    validations: int = 0,
    measured: bool = False,
) -> Diagnosis:
    """Of three lists, with figures that are made up; over the validations the metric rises, and so does belief."""
    surrogate, target = named(loss, metric), parse(metric)
    scores = torch.tensor([[0.3, 0.1, 0.2], [0.9, 0.1, 0.5], [0.2, 0.2, 0.1]])
    labels = torch.tensor([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    found = {name: each.detach().numpy() for name, each in columns(surrogate, target, scores, labels).items()}
    belief = summarise(surrogate, target, found)
    figures = {
        "target": Figure(belief["target_value"], metric, 0.25, 0.75, 2),
        "gap_aim": Figure(belief["gap_aim"], metric, -0.25, 0.25, 2),
        "alignment": Figure(0.5, "cosine", 0.4, 0.6, 2),
        "r2": Figure(None, "share"),
    }
    history: list[dict[str, Any]] = []
    for epoch in range(validations):
        risen = {"target_value": epoch / 10, "aim_value": None if belief["aim"] is None else epoch / 10}
        risen["belief"] = None if belief["belief"] is None else belief["belief"] + epoch / 10
        history.append({**belief, **risen, "loss": -epoch, "epoch": epoch, "tau": 1.0 if epoch else None})
        if measured:
            history[-1]["ledger"] = {"generalisation": 0.02 * epoch, "smoothing": -0.1, "total": 0.02 * epoch - 0.1}
            history[-1] |= {"diagnostics": {"best_loss": 1.0 - epoch, "alignment": 0.5}, "tau_best": None}
    return Diagnosis(surrogate, target, belief, figures, LEDGER, history, findings)


def page(found: Diagnosis, capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    print_diagnosis(found, {"scores": "both.csv"}, **options)
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


def test_alarms_stand_before_remarks_and_both_before_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    parts = page(diagnosis(findings=[ALARM, REMARK]), capsys, notes=["a note"]).split("\n\n")
    assert parts[0] == "\n".join(
        ["scores      both.csv", "loss        ApproxMetric, in ndcg: 1 - loss estimates ndcg", "metric      ndcg@2"]
    )
    assert parts[1] == ("1 list left out: without an answer by the metric, or with labels that are all equal\na note")
    assert parts[2] == "alarm\nThe metric fell.\n  Stop earlier."
    assert parts[3] == "remarks\nThe scores are timid."
    assert parts[4].startswith("belief against truth ")


def test_without_an_alarm_the_page_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    out = page(diagnosis(), capsys)
    assert "\n\nno alarm\n\nremarks\nThe scores are timid.\n" in out
    assert "remarks" not in page(diagnosis(findings=[]), capsys)


def rows(out: str, title: str) -> dict[str, list[str]]:
    """The table of that title: label -> cells."""
    (part,) = [part for part in out.split("\n\n") if part.startswith(title)]
    return {line[:24].strip(): line[24:].split() for line in part.splitlines()[1:]}


def test_belief_stands_beside_the_truth_by_its_aim_and_by_the_metric(capsys: pytest.CaptureFixture[str]) -> None:
    found = diagnosis()
    table = rows(page(found, capsys), "belief against truth")
    exact = (1 + 0) / 2  # ndcg@2: the first list stands right, in the second the relevant one is third
    assert table["exact ndcg@2"] == ["0.5000", "0.2500", "to", "0.7500", "2"]
    assert table["exact ndcg"] == [f"{(1 + 0.5) / 2:.4f}", "-", "2"]  # 1 / log2(1 + 3)
    assert table["gap to ndcg@2"] == [f"{found.belief['belief'] - exact:+.4f}", "-", "2"]
    assert table["gap to ndcg"][1:] == ["-0.2500", "to", "+0.2500", "2"]


def test_a_certificate_that_guarantees_nothing_stands_beside_no_truth(capsys: pytest.CaptureFixture[str]) -> None:
    found = diagnosis("lambdarank")
    assert found.belief["vacuous"]
    out = page(found, capsys)
    assert rows(out, "belief against truth")["guaranteed ndcg@2"] == ["vacuous", "-", "2"]
    assert "gap to" not in out
    assert "gap_aim" not in out


def test_a_loss_without_a_unit_in_common_believes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    out = page(diagnosis("mse"), capsys)
    assert "loss        MSE, in squared label units: it has no unit in common with ndcg@2\n" in out
    assert list(rows(out, "belief against truth")) == [
        "exact ndcg@2", "ndcg@2 of a random order", "ndcg@2 of the ideal orde",
    ]  # fmt: skip


def test_the_ledger_has_a_bar_for_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    (part,) = [part for part in page(diagnosis(), capsys).split("\n\n") if part.startswith("ledger, ndcg@2")]
    assert [line.split()[-1] for line in part.splitlines()[1:]] == ["+" * 12, "-" * 24, "-", "-" * 12]


def test_what_has_no_value_is_not_explained_either(capsys: pytest.CaptureFixture[str]) -> None:
    out = page(diagnosis(), capsys)
    assert "\nalignment" in out
    assert "\nr2" not in out


def test_validations_stand_in_a_table_and_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    parts = page(diagnosis(validations=3, metric="mrr"), capsys).split("\n\n")
    (table,) = [part for part in parts if part.startswith("epoch")]
    head, *lines = table.splitlines()
    assert head.split() == ["epoch", "loss", "believed", "mrr", "exact", "mrr", "tau"]
    assert [line.split()[-2:] for line in lines] == [["0.0000", "-"], ["0.1000", "1.00"], ["0.2000", "1.00"]]
    (strips,) = [part for part in parts if part.startswith("b belief, m exact mrr")]
    assert [line.split()[1].index("m") for line in strips.splitlines()[-3:]] == sorted(
        line.split()[1].index("m") for line in strips.splitlines()[-3:]
    )
    assert strips.splitlines()[-3].split()[1].startswith("m")
    assert strips.splitlines()[-1].endswith("b")


def test_what_validations_measure_stands_beside_them(capsys: pytest.CaptureFixture[str]) -> None:
    out = page(diagnosis("mse", "mrr", validations=3, measured=True), capsys)
    (table,) = [part for part in out.split("\n\n") if part.startswith("epoch")]
    head, *lines = (re.split("  +", line) for line in table.splitlines())
    assert head == ["epoch", "loss", "best scaled", "exact mrr", "tau", "alignment"]
    assert [line[2] for line in lines] == ["1.0000", "0.0000", "-1.0000"]
    assert {line[-1] for line in lines} == {"+0.5000"}
    assert "\nbest scaled  the least that the loss of some lists comes to " in out


def test_many_validations_are_thinned_out_and_one_has_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    (table,) = [part for part in page(diagnosis(validations=99), capsys).split("\n\n") if part.startswith("epoch")]
    epochs = [line.split()[0] for line in table.splitlines()[1:]]
    assert (len(epochs), epochs[0], epochs[-1]) == (ROWS, "0", "98")
    assert "m exact" not in page(diagnosis("mse", validations=1), capsys)


def test_softenings_of_the_loss_have_a_row_each_and_its_own_a_mark(capsys: pytest.CaptureFixture[str]) -> None:
    cosines = torch.zeros(2)
    swept = [
        Setting(
            softness, Figure(-softness, "ndcg"), Figure(cosine, "cosine", 0.1, 0.9, 2), Figure(0.0, "ndcg@2"), cosines
        )
        for softness, cosine in ((0.01, 0.3), (0.1, 0.5), (1.0, 0.4))
    ]
    (part,) = [part for part in page(diagnosis(), capsys, swept=swept).split("\n\n") if part.startswith("temperature")]
    assert (
        part
        == """\
temperature      gap  alignment     alignment, 95 %    yield
0.01         -0.0100    +0.3000  +0.1000 to +0.9000  +0.0000
0.1 *        -0.1000    +0.5000  +0.1000 to +0.9000  +0.0000
1            -1.0000    +0.4000  +0.1000 to +0.9000  +0.0000
* as it is; the gradient points best towards ndcg@2 at 0.1, with a cosine of 0.5000. gap: what the
  loss believes of its aim, less the exact value."""
    )


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("loss", ["approx", "lambdarank", "mse"])
def test_no_line_is_wider_than_the_screen(
    loss: str, width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    out = page(diagnosis(loss, findings=[ALARM, REMARK], validations=9), capsys)
    assert [line for line in out.splitlines() if len(line) > width] == []

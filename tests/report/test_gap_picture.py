"""A diagnosis as a picture: what is drawn of it, and in which files."""

from pathlib import Path

import pytest

from ltr.report.gap_picture import plot_diagnosis
from tests.report.test_gap import diagnosis


def drawn(path: Path) -> str:
    return path.read_text()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_each_form_is_written(ending: str, tmp_path: Path) -> None:
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    path = tmp_path / f"gap.{ending}"
    plot_diagnosis(diagnosis(), path)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("validations", [0, 1, 4])
@pytest.mark.parametrize(("loss", "metric"), [("approx", "ndcg@2"), ("lambdarank", "ndcg@2"), ("mse", "mrr")])
def test_every_kind_is_drawn_with_and_without_validations(
    loss: str, metric: str, validations: int, tmp_path: Path
) -> None:
    plot_diagnosis(diagnosis(loss, metric, validations=validations), tmp_path / "gap.svg")
    text = drawn(tmp_path / "gap.svg")
    ledger = [] if loss == "lambdarank" else ["ledger"]  # whose certificate guarantees nothing
    over_time = ["does the metric rise when the loss falls"] if validations else []
    panels = ["belief against truth", *ledger, "does a step down the loss", *over_time]
    assert [title for title in panels if f"<!-- {title}" not in text] == []
    assert text.count('id="axes_') == len(panels)


def test_a_vacuous_certificate_is_not_drawn_beside_the_truth(tmp_path: Path) -> None:
    for validations in (0, 3):
        plot_diagnosis(diagnosis("lambdarank", validations=validations), tmp_path / "gap.svg")
        assert "<!-- guaranteed" not in drawn(tmp_path / "gap.svg")
        plot_diagnosis(diagnosis("approx", validations=validations), tmp_path / "gap.svg")
        assert "<!-- believed ndcg -->" in drawn(tmp_path / "gap.svg")


def test_validations_that_were_measured_are_bars_and_lines_and_not_points(tmp_path: Path) -> None:
    for measured in (False, True):
        plot_diagnosis(diagnosis(validations=3, measured=measured), tmp_path / "gap.svg")
        text = drawn(tmp_path / "gap.svg")
        assert ("<!-- total -->" in text) is not measured  # a tick of the ledger as it stands
        assert text.count("<!-- epoch -->") == (3 if measured else 1)

"""The script of the table of surrogates, on made lists: what it prints is what the run folders hold."""

import csv
import json
import sys
import tempfile
from contextlib import nullcontext
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ltr.data import synthetic
from ltr.intervals import interval
from ltr.runs import Run
from tests.cli.conftest import write_letor

SCRIPT = Path(__file__).parents[2] / "scripts" / "surrogates.py"
COLUMNS = ("kind", "aim", "rate", "gap", "tau", "tau_best", "alignment", "yield", "regret", "test", "minus")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    spec = spec_from_file_location("surrogates", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "surrogates", module)  # postponed annotations are looked up there
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "RATES", (0.03,))
    monkeypatch.setattr(module, "EVERY", 1)
    monkeypatch.setattr(module, "HIDDEN", [8])
    monkeypatch.setattr(module, "mslr_sample", lambda: synthetic(100, documents=8, features=4))
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda: nullcontext(str(tmp_path)))  # to look into it after
    return module


def printed(script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str) -> str:
    monkeypatch.setattr(sys, "argv", ["surrogates.py", *words.split()])
    script.main()
    return capsys.readouterr().out


def rows(text: str) -> dict[str, dict[str, str]]:
    """Surrogate -> column -> cell, in the order of the table."""
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {name: dict(zip(COLUMNS, cells, strict=True)) for name, *cells in lines[2:]}


def on_test(path: Path) -> np.ndarray:
    """The target on the test queries that have an answer."""
    with (path / "per_query.test.csv").open(newline="") as file:
        return np.array([float(row["value"]) for row in csv.DictReader(file) if row["value"]])


def test_the_table_holds_what_the_runs_have_left(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = printed(script, monkeypatch, capsys, "--losses hinge approx --seeds 3 --epochs 2")
    table = rows(text)
    assert {name: (row["kind"], row["aim"]) for name, row in table.items()} == {
        "approx": ("approximation", "ndcg"),
        "hinge": ("bound", "pairs"),
    }
    runs = {name: tmp_path / name / "fold1" / "seed3" for name in table}
    means = {name: json.loads((runs[name] / "run.json").read_text())["test"]["ndcg@10"] for name in table}
    best = max(means, key=lambda name: means[name])
    assert next(iter(table)) == best
    for name, row in table.items():
        states = [json.loads(line) for line in (runs[name] / "gap.jsonl").read_text().splitlines()]
        chosen = max(states, key=lambda state: state["val_target"])
        assert len(states) == 2
        assert row["rate"] == "0.03"
        assert float(row["gap"]) == pytest.approx(chosen["gap_aim"], abs=0.0005)
        for column in ("tau", "tau_best"):
            assert float(row[column]) == pytest.approx(states[-1][column])  # of two states: 1 or -1
        assert float(row["regret"]) == pytest.approx(states[-1]["regret"], abs=0.00005)
        assert float(row["alignment"]) == pytest.approx(chosen["diagnostics"]["alignment"], abs=0.0005)
        assert float(row["yield"]) == pytest.approx(chosen["diagnostics"]["yield"], abs=0.00005)
        values = on_test(runs[name])
        low, high, _ = interval(values)
        assert values.mean() == pytest.approx(means[name])
        assert row["test"] == f"{means[name]:.3f} [{low:.3f}, {high:.3f}]"
        if name != best:
            lost = values - on_test(runs[best])
            low, high, _ = interval(lost)
            assert row["minus"] == f"{lost.mean():+.3f} [{low:+.3f}, {high:+.3f}]"
            assert f"of {2.8 * lost.std(ddof=1) / len(lost) ** 0.5:.3f} (" in text
    floor = json.loads((runs[best] / "run.json").read_text())["test_bounds"]["ndcg@10"]["floor"]
    assert f"A random order is worth {floor:.3f}." in text


def test_values_are_averaged_over_seeds_and_folds_follow_one_another(script: ModuleType, tmp_path: Path) -> None:
    folds = []
    for fold, seeds in enumerate(([0.2, None, 0.4], [0.4, None, 0.8]), start=1):
        found = []
        for shift in (0.0, 0.1):
            run = Run(tmp_path / f"fold{fold}-{shift}")
            run.path.mkdir()
            about = {"metric": "ndcg@10", "documents": 3, "defined": True, "weight": 1.0}
            run.write_per_query(
                "test",
                [{"query": str(at), "value": each and each + shift, **about} for at, each in enumerate(seeds)],
            )
            run.write_index({"best": {"val/target": {"epoch": 1}}})
            state = {"gap_aim": shift, "tau": 1.0, "tau_best": None, "regret": 0.0}
            run.append_gap({**state, "epoch": 1, "diagnostics": {"alignment": shift, "yield": 0.0}})
            found.append(script.Trained(run, 0.01 * fold, None))
        folds.append(found)
    row = script.row_of("approx", folds)
    np.testing.assert_allclose(row.values, [0.2 + 0.05, 0.4 + 0.05, 0.4 + 0.05, 0.8 + 0.05])
    np.testing.assert_allclose(row.seeds, [(0.2 + 0.4 + 0.4 + 0.8) / 4, (0.2 + 0.4 + 0.4 + 0.8) / 4 + 0.1])
    assert (row.rates, row.means["tau_best"]) == ("0.01 0.02", None)
    assert row.means["gap"] == pytest.approx((0.0 + 0.1) / 2)


def test_only_a_whole_interval_below_the_best_sets_a_surrogate_apart(script: ModuleType) -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.4, 0.6, 50)
    noise = rng.normal(0, 0.05, 50)
    noise -= noise.mean()
    means = dict.fromkeys(("gap", "tau", "tau_best", "alignment", "yield", "regret"), 0.5)

    def row(name: str, values: np.ndarray) -> object:
        return script.Row(name, "neither", "-", "0.01", means, np.array([values.mean()] * 2), values)

    text = script.markdown([row("near", base - 0.001 + noise), row("far", base - 0.2), row("best", base)], base - 0.1)
    assert list(rows(text)) == ["best", "near", "far"]
    assert "1 of 2 lie below best with their whole interval: far." in text
    assert "Not shown to beat it: far." in text
    assert "moves by 0.000" in text


def test_the_rate_is_the_best_one_on_validation_data(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(script, "RATES", (1e-6, 0.03))
    table = rows(printed(script, monkeypatch, capsys, "--losses mse --seeds 1 --epochs 2"))
    values = {rate: Run(tmp_path / "mse" / "fold1" / f"rate{rate:g}").best()["value"] for rate in (1e-6, 0.03)}
    assert values[1e-6] != values[0.03]
    assert float(table["mse"]["rate"]) == max(values, key=lambda rate: values[rate])


def test_a_student_learns_from_lambdarank_which_has_no_row_of_its_own(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = rows(printed(script, monkeypatch, capsys, "--losses distil --seeds 1 2 --epochs 1"))
    assert list(table) == ["distil"]
    assert len([*tmp_path.glob("lambdarank/fold1/seed*/run.json")]) == 2
    assert (table["distil"]["tau"], table["distil"]["minus"]) == ("-", "-")


def test_each_fold_has_three_parts_to_train_on(script: ModuleType, tmp_path: Path) -> None:
    for part in range(1, 6):
        write_letor(tmp_path / f"S{part}.txt", 4 + part, seed=part)
    found = [tuple(len(each.query_ids) for each in fold) for fold in script.read(tmp_path)]
    assert found == [(5 + 6 + 7, 8, 9), (6 + 7 + 8, 9, 5), (7 + 8 + 9, 5, 6), (8 + 9 + 5, 6, 7), (9 + 5 + 6, 7, 8)]


def test_labels_that_stand_for_probabilities_are_shares_of_the_highest(script: ModuleType) -> None:
    data = synthetic(50, documents=6, features=4)
    assert max(part.relevance.max() for part in data if part is not None) == 4
    assert [script.surrogate_of(name, data).top for name in ("sigmoid", "rcr")] == [4, 4]
    assert script.surrogate_of("rcr", data).alpha == script.named("rcr").alpha

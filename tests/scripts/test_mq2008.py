"""The script that reproduces the numbers on MQ2008, on five small parts."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.cli.conftest import write_letor

SCRIPT = Path(__file__).parents[2] / "scripts" / "mq2008.py"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = spec_from_file_location("mq2008", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "COMMON", [*module.COMMON, "trainer.max_epochs=1"])
    monkeypatch.setattr(module, "CANDIDATES", {"linear": ["model=linear", "loss=listnet"]})
    return module


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    for part in range(1, 6):
        write_letor(tmp_path / f"S{part}.txt", 6, seed=part)
    return tmp_path


@pytest.mark.parametrize("seeds", [[3], [1, 2]])
def test_one_fold_with_one_seed_and_with_several(
    script: ModuleType, parts: Path, tmp_path: Path, seeds: list[int]
) -> None:
    found = script.train(parts, 2, script.CANDIDATES["linear"], seeds, tmp_path / "root")
    assert len(found) == len(seeds)
    assert all(0 <= each[split] <= 1 for each in found for split in ("validation", "test"))


def test_the_table_has_every_fold(
    script: ModuleType, parts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["mq2008.py", str(parts), "--seeds", "1"])
    script.main()
    (row,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| linear ")]
    assert len(row.split("|")[-2].split()) == 5

"""The import contracts of pyproject.toml hold, and break when a room reaches where it must not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def lint_imports(folder: Path) -> tuple[int, str]:
    """Exit status and report of the contracts, checked on the package that lies in this folder."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports; exit(lint_imports(no_cache=True))"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_every_contract_is_kept() -> None:
    status, report = lint_imports(ROOT)
    assert status == 0, report
    assert re.search(r"Contracts: 4 kept, 0 broken\.", report), report


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("metrics/stray.py", "import ltr.losses", "ltr.metrics is not allowed to import ltr.losses"),
        ("evaluation/stray.py", "import ltr.training", "ltr.evaluation is not allowed to import ltr.training"),
        ("models/stray.py", "import ltr.data", "ltr.models is not allowed to import ltr.data"),
        ("cli/stray.py", "import pytorch_lightning", "ltr.cli.stray -> pytorch_lightning"),
        ("training/stray.py", "import omegaconf", "ltr.training.stray -> omegaconf"),
        ("losses/stray.py", "import torchmetrics", "ltr.losses is not allowed to import torchmetrics"),
        ("stray.py", "", "ltr.stray"),
    ],
)
def test_a_stray_import_breaks_a_contract(tmp_path: Path, file: str, line: str, complaint: str) -> None:
    shutil.copytree(ROOT / "ltr", tmp_path / "ltr", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "ltr" / file).write_text(line + "\n")
    status, report = lint_imports(tmp_path)
    assert status == 1
    assert complaint in report

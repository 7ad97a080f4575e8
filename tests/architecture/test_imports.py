"""What an import brings with it, and what no file may import: import-linter sees no submodules of outside packages."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "ltr"
HEAVY = ("hydra", "numpy", "omegaconf", "polars", "pytorch_lightning", "scipy", "tensorboard", "torch", "torchmetrics")


def loaded_by(code: str) -> set[str]:
    """The heavy packages in sys.modules after the code ran in a fresh interpreter."""
    report = f"import sys; print('loaded:', *sorted({set(HEAVY)!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].removeprefix("loaded:").split())


def test_the_package_alone_is_light() -> None:
    assert loaded_by("import ltr; ltr.__version__") == set()


def test_a_room_comes_when_it_is_named() -> None:
    assert loaded_by("import ltr; ltr.gains.Exp2") >= {"torch"}


@pytest.mark.parametrize("room", ["lists", "ranking", "metrics", "losses", "models", "data", "gap"])
def test_the_mathematics_runs_without_frameworks(room: str) -> None:
    frameworks = {"hydra", "omegaconf", "pytorch_lightning", "tensorboard", "torchmetrics"}
    assert loaded_by(f"import ltr.{room}") & frameworks == set()


def test_help_waits_for_nothing_heavy() -> None:
    code = """
from ltr.cli import main
try:
    main(["--help"])
except SystemExit as end:
    assert not end.code, end.code
"""
    assert loaded_by(code) == set()


def imports_of(source: str) -> Iterator[str]:
    """Dotted names that a source imports or reaches through a name it imported whole (torch.nn)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Attribute):
            yield ast.unparse(node)


def importers_of(name: str) -> set[str]:
    """Files of the package, as paths inside it, that import this name or something below it."""
    return {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(f"{found}.".startswith(f"{name}.") for found in imports_of(path.read_text()))
    }


@pytest.mark.parametrize(
    "source",
    ["import torch.nn", "import torch.nn.functional as F", "from torch import nn", "from torch.nn import Module",
     "import torch\ntorch.nn.functional.relu"],
)  # fmt: skip
def test_every_way_of_importing_a_submodule_is_seen(source: str) -> None:
    assert any(f"{found}.".startswith("torch.nn.") for found in imports_of(source))


def test_evaluation_and_report_hold_no_networks() -> None:
    assert importers_of("torch.nn"), "the search finds no torch.nn anywhere, so it proves nothing"
    assert [file for file in importers_of("torch.nn") if file.startswith(("evaluation", "report"))] == []


def test_only_training_writes_event_files() -> None:
    assert [file for file in importers_of("torch.utils.tensorboard") if not file.startswith("training/")] == []


def test_configuration_is_instantiated_in_one_place() -> None:
    assert importers_of("hydra.utils.instantiate") == {"cli/build.py"}

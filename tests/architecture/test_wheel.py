"""The built wheel holds the package and its configuration, and works without the checkout."""

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's files, as an installation lays them out."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("ltr_toolkit-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


LTR = "import sys; from ltr.cli import main; sys.exit(main(sys.argv[1:]))"  # what the entry point ltr does


def imported(source: str) -> Iterator[str]:
    """Top-level packages that a source imports, wherever in it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def undeclared(sources: Iterator[str], requirements: list[str]) -> set[str]:
    """Packages outside Python and ltr that are imported, and whose distribution no requirement names."""

    def plain(name: str) -> str:
        return re.sub(r"[-_.]+", "-", name).lower()

    declared = {plain(re.split(r"[^\w.-]", each)[0]) for each in requirements}
    distributions = packages_distributions()
    found = {name for source in sources for name in imported(source)} - sys.stdlib_module_names - {"ltr"}
    return {name for name in found if not declared & {plain(each) for each in distributions.get(name, [name])}}


def test_every_package_that_is_imported_is_declared() -> None:
    """The wheel is tried in the development environment, which has more than an installation has."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [*project["dependencies"], *project["optional-dependencies"]["plot"]]
    assert undeclared((path.read_text() for path in (ROOT / "ltr").rglob("*.py")), requirements) == set()
    assert undeclared(iter(["import yaml"]), requirements) == set()  # PyYAML: another name than the package
    late = "def f():\n    import hypothesis.strategies\n    from pytest import mark\n    from . import x\n    import os"
    assert undeclared(iter([late]), requirements) == {"hypothesis", "pytest"}
    without = [each for each in requirements if not each.startswith("PyYAML")]
    assert undeclared((path.read_text() for path in (ROOT / "ltr").rglob("*.py")), without) == {"yaml"}


def python(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_wheel_holds_what_the_tree_holds(unpacked: Path) -> None:
    def files(folder: Path) -> set[str]:
        paths = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
        return {path.relative_to(folder).as_posix() for path in paths}

    configuration = {f"conf/{file}" for file in files(ROOT / "conf")}
    assert "conf/train.yaml" in configuration
    assert files(unpacked / "ltr") == files(ROOT / "ltr") | configuration
    assert [path.name for path in unpacked.iterdir() if path.suffix != ".dist-info"] == ["ltr"]


def test_wheel_trains_from_any_folder_with_a_preset_of_ones_own(unpacked: Path, tmp_path: Path) -> None:
    where = python(unpacked, tmp_path, "-c", "import ltr; print(ltr.__file__)")
    assert where.stdout.strip() == str(unpacked / "ltr" / "__init__.py")
    (tmp_path / "mine" / "loss").mkdir(parents=True)
    (tmp_path / "mine" / "loss" / "sharp.yaml").write_text("{_target_: ltr.losses.RankNet, sigma: 3.0}\n")
    train = ["train", "--config-dir", "mine", "data=synthetic", "loss=sharp", "trainer.max_epochs=1", "name=here"]
    done = python(unpacked, tmp_path, "-c", LTR, *train)
    assert done.returncode == 0, done.stdout + done.stderr
    (written,) = tmp_path.rglob("config.yaml")
    assert "sigma: 3.0" in written.read_text()


def test_the_entry_point_is_the_function_tried_here(unpacked: Path) -> None:
    (entries,) = unpacked.glob("*.dist-info/entry_points.txt")
    assert "ltr = ltr.cli:main" in entries.read_text().splitlines()


def test_wheel_helps_and_trains_on_ones_own_file_from_an_empty_folder(unpacked: Path, tmp_path: Path) -> None:
    rows = [f"{at % 3} qid:{at // 4} 1:{at % 3}.5 2:{at % 7}\n" for at in range(48)]
    (tmp_path / "elsewhere").mkdir()
    file = tmp_path / "elsewhere" / "own=rows.txt"
    file.write_text("".join(rows))
    empty = tmp_path / "empty"
    empty.mkdir()
    for words in (["--help"], ["train", "--help"]):
        done = python(unpacked, empty, "-c", LTR, *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert "usage: ltr " in done.stdout
    train = ["train", "data=letor", f"data.train={file}", f"data.test={file}", "trainer.max_epochs=1", "name=own"]
    done = python(unpacked, empty, "-c", LTR, *train)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"read {file}: 48 documents, 12 queries, 2 features" in done.stderr
    assert [path.name for path in empty.iterdir()] == ["runs"]
    assert (empty / "runs" / "own" / "per_query.test.csv").is_file()

"""The built wheel holds the package and its configuration, and works without the checkout."""

import os
import subprocess
import sys
import zipfile
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
    command = "import sys; from ltr.cli import main; sys.exit(main(sys.argv[1:]))"
    train = ["train", "--config-dir", "mine", "data=synthetic", "loss=sharp", "trainer.max_epochs=1", "name=here"]
    done = python(unpacked, tmp_path, "-c", command, *train)
    assert done.returncode == 0, done.stdout + done.stderr
    (written,) = tmp_path.rglob("config.yaml")
    assert "sigma: 3.0" in written.read_text()

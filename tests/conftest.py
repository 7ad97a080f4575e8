"""What every test relies on: one thread a process, repeatable examples, and the way to the shared folder."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The suite runs in several processes; torch reads this once, at its import.
os.environ["OMP_NUM_THREADS"] = "1"

settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data and reference cases: LTR_SHARED, or ../shared beside the checkout."""
    folder = Path(os.environ.get("LTR_SHARED") or ROOT.parent / "shared").absolute()
    if not folder.is_dir():
        pytest.fail(f"tests marked `shared` need a folder of data and cases: LTR_SHARED or ../shared, not {folder}")
    return folder

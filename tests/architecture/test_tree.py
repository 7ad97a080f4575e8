"""Names and sizes of files: a file says what it holds, and stays readable in one sitting."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("ltr", "tests", "scripts") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "misc"])
def test_no_file_is_named_for_leftovers(name: str) -> None:
    assert [path for path in SOURCES if path.stem.strip("_") in {name, name.rstrip("s")}] == []


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in SOURCES}
    assert {path: length for path, length in lengths.items() if length >= 400} == {}

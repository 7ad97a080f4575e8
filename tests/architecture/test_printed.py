"""Pages that train nothing show what their commands print to the last digit; ``test_examples`` leaves numbers out."""

import re
import shlex
from pathlib import Path

import pytest

from ltr.cli import main
from tests.architecture.test_examples import PAGES, ROOT, blocks_of

EXACT = [path for path in PAGES if "```console\n$ ltr " in path.read_text() and "$ ltr train" not in path.read_text()]


def test_there_are_such_pages() -> None:
    assert {path.name for path in EXACT} >= {"choosing.md", "conventions.md", "evaluating.md"}


@pytest.mark.parametrize("path", EXACT, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_number_of_a_page_is_printed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    for block in blocks_of(path.read_text()):
        if block.mark == "file":
            Path(str(block.note)).write_text(block.text)
        if block.language != "console" or block.mark != "run":
            continue
        commands = [line for line in block.text.splitlines() if line.startswith("$ ltr ")]
        capsys.readouterr()
        assert [main(shlex.split(line.removeprefix("$ ltr "))) for line in commands] == [0] * len(commands)
        printed = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        for line in block.text.splitlines():
            wanted = re.escape(line).replace(re.escape("..."), ".*")
            assert line in commands or any(re.fullmatch(wanted, each) for each in ["", *printed]), line

"""Files that appear whole or not at all."""

from pathlib import Path

import pytest

from ltr.cli.errors import ConfigError
from ltr.cli.output import check_writable, write


def test_a_file_is_replaced_in_one_step_and_leaves_no_draft(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("old")
    write("query\nä\n", tmp_path / "v.csv")
    assert (tmp_path / "v.csv").read_bytes() == "query\nä\n".encode()
    assert [path.name for path in tmp_path.iterdir()] == ["v.csv"]


def test_a_failed_start_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write("\udc80", tmp_path / "v.csv")
    assert (tmp_path / "v.csv").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["v.csv"]


def test_without_a_file_it_goes_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    write("a,b\n", None)
    assert capsys.readouterr().out == "a,b\n"


def test_what_cannot_be_written_is_said_before(tmp_path: Path) -> None:
    check_writable(None)
    check_writable(tmp_path / "v.csv")
    with pytest.raises(ConfigError, match=r"^output: no such folder: "):
        check_writable(tmp_path / "no" / "v.csv")
    with pytest.raises(ConfigError, match=r"^output: wanted a file to write, .* is a folder$"):
        check_writable(tmp_path)

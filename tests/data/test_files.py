"""From what a user names to the files that are read."""

import os
import threading
from pathlib import Path

import pytest

from ltr.data import DataError
from ltr.data.files import files_of, lines_of


def test_folder_is_sorted_and_leaves_hidden_files_out(tmp_path: Path) -> None:
    for name in ("b", "a10", "a2", ".c", "_d"):
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    assert [path.name for path in files_of(tmp_path)] == ["a10", "a2", "b"]
    assert [path.name for path in files_of([str(tmp_path / "b"), tmp_path])] == ["b", "a10", "a2", "b"]


def test_home_and_dots_are_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "sub").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "sub")
    assert files_of("~/a") == files_of("../a") == [tmp_path / "a"]


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        files_of(tmp_path / "a")
    assert str(caught.value) == f"{tmp_path}/a: no such file or folder"
    with pytest.raises(DataError) as caught:
        files_of(tmp_path)
    assert str(caught.value) == f"{tmp_path}: wanted a file or a folder with files, came a folder without any"
    with pytest.raises(DataError, match=r"^wanted at least one path, came an empty list$"):
        files_of([])


def test_lines_are_numbered_from_one(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\ntwo")
    assert list(lines_of(path)) == [(1, b"one\r\n"), (2, b"\n"), (3, b"two")]


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"one\ntwo\n",))
    writer.start()
    assert list(lines_of(pipe)) == [(1, b"one\n"), (2, b"two\n")]
    writer.join()


def test_a_file_that_only_looks_packed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(b"\x1f\x8bnot at all packed")
    with pytest.raises(DataError, match=rf"^{path}: cannot be read \("):
        list(lines_of(path))

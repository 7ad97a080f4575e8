"""From what a user names (a path, several, a folder) to the files that are read, in a fixed order."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from ltr.data.ranking_data import DataError

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def files_of(paths: Paths) -> list[Path]:
    """Absolute paths of the files, in the order given; a folder is read sorted by name (part-1, part-10, part-2).

    Files of a folder whose name starts with a dot or an underscore are left out (_SUCCESS and the like).

    Raises:
        DataError: no path, a missing file (named by its absolute path), or a folder without files.
    """
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not named:
        raise DataError("wanted at least one path, came an empty list")
    files: list[Path] = []
    for name in named:
        path = Path(os.path.abspath(os.path.expanduser(name)))
        if path.is_dir():
            inside = sorted(entry for entry in path.iterdir() if entry.is_file() and entry.name[0] not in "._")
            if not inside:
                raise DataError(f"{path}: wanted a file or a folder with files, came a folder without any")
            files += inside
        elif path.exists():
            files.append(path)
        else:
            raise DataError(f"{path}: no such file or folder")
    return files


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, line) of a text file, gzip or not (told by its first bytes), less a UTF-8 mark.

    Raises:
        DataError: the file cannot be opened, is not text, or is a damaged gzip.
    """
    try:
        with path.open("rb") as handle:  # opened once: it may be a pipe
            packed = handle.peek(2)[:2] == b"\x1f\x8b"
            lines = gzip.GzipFile(fileobj=handle) if packed else handle
            if b"\0" in lines.peek(1024)[:1024]:
                raise DataError(f"{path}: wanted a text file, came binary data")
            for number, line in enumerate(lines, start=1):
                yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error


def text_of(raw: bytes, path: Path, number: int) -> str:
    """The bytes as UTF-8 text. Raises DataError with file and line when they are not."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        shown = raw[:40].decode(errors="backslashreplace")
        raise DataError(f"{path}, line {number}: wanted UTF-8 text, came '{shown}'") from None

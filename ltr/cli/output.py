"""What the verbs write: a file that is there only once it is whole, or the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from ltr.cli.errors import ConfigError


def check_writable(output: str | Path | None, *inputs: str | Path) -> None:
    """Refuse an output file that cannot be, or that is one of the inputs, before the work is done.

    Raises:
        ConfigError: its folder is not there, it is a folder itself, or a file that is read.
    """
    if output is not None and not Path(output).parent.is_dir():
        raise ConfigError(f"output: no such folder: {Path(output).parent}")
    if output is not None and Path(output).is_dir():
        raise ConfigError(f"output: wanted a file to write, {output} is a folder")
    for read in inputs if output is not None and Path(output).exists() else ():
        if Path(read).exists() and Path(read).samefile(output or ""):
            raise ConfigError(f"output: {output} is a file that is read here, and would be lost: choose another name")


def write(text: str, output: str | Path | None) -> None:
    """Write the text to the file in one step, or to stdout."""
    if output is None:
        sys.stdout.write(text)
        return
    from ltr.evaluation.output import replaced

    with replaced(output) as draft:
        draft.write_text(text, encoding="utf-8", newline="")

"""The command line ``ltr``: a verb, its inputs in order, and Hydra's ``key=value``.

What a verb needs is imported once the verb is known, so that ``ltr --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ltr import __version__
from ltr.cli.errors import ConfigError, guarded
from ltr.cli.help import VERBS, of_verb, overview
from ltr.cli.words import read
from ltr.options import near


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns its exit status: 0, 1 (data, runs), 2 (configuration), 3 (an alarm of
    ``ltr gap``), 130 (interrupted), 141 (nobody reads the output any more).

    Args:
        arguments: the words after ``ltr``; those of the process when None.

    Example:
        >>> main(["--version"])
        ltr 0.1.0
        0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    return guarded(lambda: _run(words))[0]


def _run(words: list[str]) -> None:
    if not words or words[0] in ("--help", "-h", "help"):
        print(overview())
    elif words[0] == "--version":
        print(f"ltr {__version__}")
    elif words[0] not in VERBS:
        raise ConfigError(f"{words[0]}: no such verb{near(words[0], list(VERBS))} (ltr --help lists them)")
    else:
        name, *rest = words
        command = read(rest, name, VERBS[name].inputs)
        if command.help:
            print(of_verb(name, command.config_dir))
            return
        from ltr.cli.run import run

        run(name, command)

"""What a command refuses, and the one place where an exception becomes a line on stderr and an exit status."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence

log = logging.getLogger("ltr.cli")

FRAMEWORKS = ("pytorch_lightning", "lightning_fabric")  # their own exceptions speak to the user


class ConfigError(ValueError):
    """A configuration that cannot be run: one line for each thing that is wrong."""

    def __init__(self, lines: str | Sequence[str]) -> None:
        self.lines = (lines,) if isinstance(lines, str) else tuple(dict.fromkeys(lines))
        super().__init__("\n".join(self.lines))


class Failed(Exception):
    """Something failed and was reported, yet the rest was done: one line each, exit status 1."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        super().__init__("\n".join(lines))


class Alarmed(Exception):
    """All was done, printed and written, and what was found is an alarm: nothing more is said, exit status 3."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("; ".join(lines))


def guarded(action: Callable[[], object]) -> tuple[int, str | None]:
    """(exit status, what went wrong): 0, 1 for data and runs, 2 for the configuration, 3 for an alarm, 130 when
    interrupted.

    A fault of the user's is one line on stderr for each thing that is wrong; a fault of ours keeps its traceback.
    """
    try:
        action()
    except ConfigError as error:
        return _said(error.lines, 2)
    except Failed as error:
        return _said(error.lines, 1)
    except Alarmed as error:
        return 3, str(error)
    except KeyboardInterrupt:
        return _said(["interrupted"], 130)
    except BrokenPipeError:  # the reader of our output went away, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else the last flush complains once more
        return 141, "the reader of the output went away"  # as a shell counts it
    except Exception as error:
        if is_plain(error):
            return _said([_one_line(error)], 1)
        log.exception("this is a fault of the program or of your own code, not of the configuration:")
        return 1, _one_line(error)
    return 0, None


def is_plain(error: Exception) -> bool:
    """Does this exception carry a message for the user?"""
    from ltr.data import DataError
    from ltr.runs import RunError

    return isinstance(error, DataError | RunError | OSError) or type(error).__module__.startswith(FRAMEWORKS)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _said(lines: Sequence[str], status: int) -> tuple[int, str]:
    for line in lines:
        print(f"ltr: {line}", file=sys.stderr)
    return status, "; ".join(lines)

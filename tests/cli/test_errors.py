"""From exceptions to exit statuses and lines."""

import pytest

from ltr.cli.errors import Alarmed, ConfigError, Failed, guarded
from ltr.cli.run import log_to_stderr
from ltr.data import DataError
from ltr.runs import RunError


def failing(error: BaseException) -> tuple[int, str | None]:
    def action() -> None:
        raise error

    return guarded(action)


@pytest.mark.parametrize(
    ("error", "status", "lines"),
    [
        (ConfigError(["a: no", "b: no", "a: no"]), 2, "ltr: a: no\nltr: b: no\n"),
        (DataError("train.txt, line 2: wanted\nthat"), 1, "ltr: train.txt, line 2: wanted that\n"),
        (RunError("no run"), 1, "ltr: no run\n"),
        (Failed(["2 jobs failed", "x: y"]), 1, "ltr: 2 jobs failed\nltr: x: y\n"),
        (PermissionError(13, "Permission denied", "runs"), 1, "ltr: [Errno 13] Permission denied: 'runs'\n"),
        (KeyboardInterrupt(), 130, "ltr: interrupted\n"),
    ],
)
def test_what_the_user_can_mend_is_lines(
    error: BaseException, status: int, lines: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failing(error)[0] == status
    assert capsys.readouterr() == ("", lines)


def test_what_the_frameworks_say_to_the_user_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    class MisconfigurationException(Exception):
        __module__ = "lightning_fabric.utilities.exceptions"

    assert failing(MisconfigurationException("no GPU here")) == (1, "no GPU here")
    assert capsys.readouterr().err == "ltr: no GPU here\n"


def test_a_fault_of_the_program_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr()
    assert failing(KeyError("x")) == (1, "'x'")
    err = capsys.readouterr().err
    assert err.startswith("error: this is a fault of the program")
    assert "Traceback (most recent call last):" in err
    assert err.endswith("KeyError: 'x'\n")


def test_an_alarm_was_printed_already(capsys: pytest.CaptureFixture[str]) -> None:
    assert failing(Alarmed(["the loss works against the metric", "and more"])) == (
        3,
        "the loss works against the metric; and more",
    )
    assert capsys.readouterr() == ("", "")


def test_success() -> None:
    assert guarded(lambda: None) == (0, None)

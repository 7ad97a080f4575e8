"""Running a verb: what is logged reaches stderr, and verbs that do not train do without Lightning."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from ltr.cli.run import as_yaml, log_to_stderr, verb_function


@pytest.fixture
def logger() -> logging.Logger:
    log_to_stderr()
    log_to_stderr()
    return logging.getLogger("ltr.somewhere")


def test_log_lines_are_plain_and_warnings_are_named(logger: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logger.info("read %d", 3)
    logger.warning("careful")
    logger.debug("never")
    assert capsys.readouterr() == ("", "read 3\nwarning: careful\n")


def test_yaml_reads_back() -> None:
    assert as_yaml({"a": {"b": [1, None, "007"]}}) == "a:\n  b:\n  - 1\n  - null\n  - '007'\n"


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict", "compare"])
def test_a_verbs_function_carries_its_name(verb: str) -> None:
    assert verb_function(verb).__name__ == verb


@pytest.mark.parametrize(
    "words", [["evaluate", "first"], ["predict", "first", "data/test.txt"], ["compare", "first", "second"]]
)
def test_verbs_that_do_not_train_import_no_lightning(at_work: Path, words: list[str]) -> None:
    code = f"import sys; from ltr.cli import main; s = main({words!r}); print(s, 'pytorch_lightning' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=at_work, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 False"

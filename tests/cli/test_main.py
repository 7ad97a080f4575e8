"""The door: verbs, help, versions, and how a refusal looks from outside."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import ltr as package
from tests.cli.conftest import Ltr


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"], ["help"]])
def test_help(ltr: Ltr, arguments: list[str]) -> None:
    status, out, err = ltr(*arguments)
    assert (status, err) == (0, "")
    assert out.startswith("ltr - train on a surrogate, validate on the exact metric, and know the gap between them\n")


def test_version(ltr: Ltr) -> None:
    assert ltr("--version") == (0, f"ltr {package.__version__}\n", "")


def test_an_unknown_verb_names_the_nearest(ltr: Ltr) -> None:
    assert ltr("trian") == (2, "", "ltr: trian: no such verb; did you mean train? (ltr --help lists them)\n")


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict", "compare", "gap", "list"])
def test_help_of_a_verb(ltr: Ltr, verb: str) -> None:
    status, out, _ = ltr(verb, "--help")
    assert status == 0
    assert out.count(f"\n  ltr {verb}") == 3


def test_help_of_a_verb_needs_no_torch() -> None:
    code = "import sys; from ltr.cli import main; main(['train', '--help']); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_the_installed_command_refuses_without_a_traceback(tmp_path: Path) -> None:
    program = Path(sysconfig.get_path("scripts"), "ltr")
    done = subprocess.run([program, "train", "-x"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[0].startswith("ltr: -x: no such option")
    assert len(done.stderr.splitlines()) == 1


def test_what_is_wrong_outside_of_lightning_is_said_before_it_is_loaded(here: Path) -> None:
    run = "import sys; from ltr.cli import main; status = main(['train', 'metrik=ap'])"
    code = f"{run}; print(status, 'pytorch_lightning' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=True)
    assert done.stdout == "2 False\n"
    assert done.stderr == "ltr: metrik: ltr train has no such key; did you mean metric?\n"


def test_output_that_nobody_reads_on_ends_quietly_and_not_as_a_success() -> None:
    code = "import sys; from ltr.cli import main; sys.exit(main(['list', 'metrics']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141  # as a shell counts a broken pipe


def test_a_closed_output_is_no_traceback() -> None:
    code = "import sys; sys.stdout = None; from ltr.cli import main; sys.exit(main(['list', 'metrics']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")

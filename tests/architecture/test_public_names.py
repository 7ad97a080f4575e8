"""Public names change only on purpose: by this list.

After a change that is meant: `python tests/architecture/test_public_names.py > tests/architecture/public_names.txt`
"""

from importlib import import_module
from pathlib import Path

import pytest

LIST = Path(__file__).with_name("public_names.txt")
MODULES = ("ltr", "ltr.metrics", "ltr.losses")


def public_names() -> list[str]:
    return [f"{module} {name}" for module in MODULES for name in sorted(import_module(module).__all__)]


def test_public_names_are_those_of_the_list() -> None:
    listed = LIST.read_text().splitlines()
    now = public_names()
    assert now == listed, f"gone: {sorted({*listed} - {*now})}; new: {sorted({*now} - {*listed})}"


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_there(module: str) -> None:
    there = import_module(module)
    assert [name for name in there.__all__ if not hasattr(there, name)] == []


if __name__ == "__main__":
    print("\n".join(public_names()))

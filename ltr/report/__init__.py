"""What a person reads at the end: tables from the files that runs have left, and of systems that were evaluated."""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["print_run", "print_sweep"]

if TYPE_CHECKING:
    from ltr.report.tables import print_run, print_sweep
else:

    def __getattr__(name: str) -> object:
        if name in __all__:  # rich waits until it is wanted
            return getattr(import_module("ltr.report.tables"), name)
        raise AttributeError(f"module 'ltr.report' has no attribute {name!r}")

"""What a person reads at the end: tables from the files that runs have left."""

from ltr.report.tables import print_run, print_sweep

__all__ = ["print_run", "print_sweep"]

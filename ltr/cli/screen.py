"""What the verbs print: tables as wide as the terminal, wide enough for a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table

WIDTH = 132  # where the output is no terminal


def show(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column is text and whose others are numbers."""
    table = Table()
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left")
    for row in rows:
        table.add_row(*row)
    console = Console()
    (console if console.is_terminal else Console(width=WIDTH)).print(table)


def span(low: float, high: float, sign: str = "") -> str:
    """An interval as text, "-" where there is none."""
    return f"{low:{sign}.4f} to {high:{sign}.4f}" if low <= high else "-"

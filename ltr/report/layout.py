"""Tables and sentences of plain text that fit the width of a screen."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ltr.gap.numbers import number
from ltr.metrics import RankingMetric

FOLDED = 100  # columns of sentences where there is no screen
LABEL = 30  # a longer label has a line of its own
NOTHING = ("", "-")


class Block(NamedTuple):
    """Rows of a table under a title of their own."""

    title: str  # stands above the labels
    rows: Sequence[tuple[str, Mapping[str, str]]]  # label, and head of a column -> cell


class Layout(NamedTuple):
    """A table as lines, its columns, and those for which there was no room."""

    lines: list[str]
    heads: list[str]
    left_out: list[str]


def screen() -> int | None:
    """Columns of the terminal, or those that COLUMNS says; None where the output is read by a file or a program.

    Example:
        >>> os.environ["COLUMNS"] = "72"
        >>> screen()
        72
        >>> del os.environ["COLUMNS"]
    """
    told = os.environ.get("COLUMNS", "").isdigit()
    return shutil.get_terminal_size().columns if told or sys.stdout.isatty() else None


def laid_out(
    blocks: Sequence[Block], width: int | None = None, *, least: Sequence[str] = (), text: Sequence[str] = ()
) -> Layout:
    """Blocks whose columns stand below each other; a column of nothing but "-" is left out without a word.

    Args:
        blocks: with the same columns.
        width: columns of the screen; None: any number.
        least: columns that go where there is no room, the first one first.
        text: columns that stand to the left.

    Example:
        >>> rows = [("bm25", {"mean": "0.25", "n": "7"}), ("dense", {"mean": "0.5", "n": "-"})]
        >>> table = laid_out([Block("ap", rows)])
        >>> print("\\n".join(table.lines))
        ap     mean  n
        bm25   0.25  7
        dense   0.5  -
    """
    rows = [row for block in blocks for row in block.rows]
    cells: dict[str, list[str]] = {}
    for _, row in rows:
        for head, cell in row.items():
            cells.setdefault(head, []).append(cell)
    wide = {
        head: max(len(head), *map(len, column)) for head, column in cells.items() if not set(column) <= set(NOTHING)
    }
    labels = [len(each) for each in (*(block.title for block in blocks), *(label for label, _ in rows))]
    first, left_out = _most(labels, LABEL), []
    for head in least:
        if head in wide and width is not None and first + _room(wide) > width:
            del wide[head]
            left_out.append(head)
    if width is not None and first + _room(wide) > width:
        first = _most(labels, width - _room(wide))

    def line(label: str, row: Mapping[str, str]) -> list[str]:
        own = [label] if len(label) > first else []
        columns = [
            row.get(head, "").ljust(room) if head in text else row.get(head, "").rjust(room)
            for head, room in wide.items()
        ]
        return [*own, "  ".join([("" if own else label).ljust(first), *columns]).rstrip()]

    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines else []
        lines += line(block.title, {head: head for head in wide})
        for label, row in block.rows:
            lines += line(label, row)
    return Layout(lines, list(wide), left_out)


def _most(lengths: Sequence[int], limit: int) -> int:
    return max((length for length in lengths if length <= limit), default=0)


def _room(columns: Mapping[str, int]) -> int:
    return sum(2 + width for width in columns.values())


class Page:
    """What is printed, table after table, no wider than the screen."""

    def __init__(self) -> None:
        self.width = screen()
        self.heads: set[str] = set()  # columns that stand on the page
        self.left_out: list[str] = []  # columns for which there was no room

    def table(self, blocks: Sequence[Block], *, least: Sequence[str] = (), text: Sequence[str] = ()) -> None:
        """Print a table below an empty line, as ``laid_out`` makes it."""
        if blocks:
            found = laid_out(blocks, self.width, least=least, text=text)
            self.heads |= set(found.heads)
            self.left_out += [head for head in found.left_out if head not in self.left_out]
            print("", *found.lines, sep="\n")

    def lines(self, sentences: Sequence[str], *, apart: bool = False, whole: bool = False) -> None:
        """Print sentences; blanks before one indent it.

        Args:
            sentences: of any length.
            apart: below an empty line.
            whole: not folded unless there is a screen.
        """
        if apart and sentences:
            print()
        for sentence in sentences:
            indent = " " * (len(sentence) - len(sentence.lstrip()))
            room = len(sentence) if whole and self.width is None else max(20, min(self.width or FOLDED, FOLDED))
            fold = textwrap.TextWrapper(
                room, subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False
            )
            print(fold.fill(sentence))

    def dropped(self) -> list[str]:
        """What to say of columns for which there was no room."""
        names = ", ".join(self.left_out)
        return [f"left out for want of room: {names} (COLUMNS=132 makes room)"] if self.left_out else []


def brief(metrics: Sequence[RankingMetric]) -> dict[RankingMetric, str]:
    """What a sentence calls each metric: base and cutoff where these tell it from the others, else its name.

    Example:
        >>> from ltr.metrics import parse
        >>> list(brief([parse("ndcg-linear-docid@10"), parse("ap"), parse("ap-rel2")]).values())
        ['ndcg@10', 'ap', 'ap-rel2']
    """
    words = {metric: metric.convention.partition(" ")[0] for metric in metrics}
    return {metric: word if list(words.values()).count(word) == 1 else metric.name for metric, word in words.items()}


def span(low: float, high: float, *, sign: bool = False) -> str:
    """An interval, "-" where there is none.

    Example:
        >>> span(0.25, 0.5), span(-0.1, 0.2, sign=True), span(float("nan"), 1)
        ('0.2500 to 0.5000', '-0.1000 to +0.2000', '-')
    """
    return f"{number(low, sign=sign)} to {number(high, sign=sign)}" if low <= high else "-"


def percent(share: float) -> str:
    """A share with one decimal; what is not nothing is not 0.

    Example:
        >>> percent(0.0791), percent(0.00001), percent(1)
        ('7.9 %', '<0.1 %', '100.0 %')
    """
    return "<0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def some(names: Sequence[str], most: int = 5) -> str:
    """The first few by name.

    Example:
        >>> some(["q1", "q2"]), some(["q1", "q2", "q3"], 2)
        ('q1, q2', 'q1, q2 and 1 more')
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def all_of(names: Sequence[str]) -> str:
    """The names as words of a sentence.

    Example:
        >>> all_of(["a"]), all_of(["a", "b", "c"])
        ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

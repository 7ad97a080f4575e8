"""Tables and sentences of plain text that fit the width of a screen."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ltr.gap.numbers import counted
from ltr.intervals import FEW

FOLDED = 100  # columns of sentences where there is no screen
LABEL = 30  # a longer label has a line of its own
LEAST = 30  # columns into which text is folded beside others
NOTHING = ("", "-")


class Block(NamedTuple):
    """Rows of a table under a title of their own."""

    title: str  # stands above the labels
    rows: Sequence[tuple[str, Mapping[str, str]]]  # label, and head of a column -> cell


class Layout(NamedTuple):
    """A table as lines, and its columns."""

    lines: list[str]
    heads: list[str]


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


def laid_out(blocks: Sequence[Block], width: int | None = None, *, text: Sequence[str] = ()) -> Layout:
    """Blocks whose columns stand below each other; a column of nothing but "-" is left out without a word.

    Columns for which a line has no room stand in lines of their own below the block, under the same labels; one
    without a head, which is there for the eye, goes.

    Args:
        blocks: with the same columns.
        width: columns of the screen; None: any number.
        text: columns that stand to the left; the last one is folded where it does not fit.

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
    first = _most(labels, LABEL)
    if "" in wide and width is not None and first + _room(wide) > width:
        del wide[""]
    parts = [list(wide)]
    if width is not None:
        last = list(wide)[-1:]
        if last and last[0] in text:
            room = width - first - _room(wide) + wide[last[0]]
            wide[last[0]] = min(wide[last[0]], room if room >= LEAST else max(LEAST, width - first - 2))
        first = _most(labels, min(LABEL, width - 2 - max(wide.values(), default=0)))
        parts = _parts(wide, width - first)

    def row_of(label: str, row: Mapping[str, str], part: Sequence[str]) -> list[str]:
        own = [label] if len(label) > first else []
        folded = {head: textwrap.wrap(row.get(head, ""), wide[head]) if head in text else [] for head in part}
        lines = []
        for place in range(max(1, *map(len, folded.values())) if part else 1):
            columns = [
                "".join(folded[head][place : place + 1]).ljust(wide[head])
                if head in text
                else ("" if place else row.get(head, "")).rjust(wide[head])
                for head in part
            ]
            lines.append("  ".join([("" if own or place else label).ljust(first), *columns]).rstrip())
        return [*own, *lines]

    lines: list[str] = []
    for block in blocks:
        for part in parts:
            lines += [""] if lines else []
            lines += row_of(block.title, {head: head for head in part}, part)
            for label, row in block.rows:
                lines += row_of(label, row, part)
    return Layout(lines, list(wide))


def _most(lengths: Sequence[int], limit: int) -> int:
    return max((length for length in lengths if length <= limit), default=0)


def _room(columns: Mapping[str, int]) -> int:
    return sum(2 + width for width in columns.values())


def _parts(columns: Mapping[str, int], room: int) -> list[list[str]]:
    """The columns in order, as many to a part as there is room for."""
    parts: list[list[str]] = [[]]
    left = room
    for head, width in columns.items():
        if parts[-1] and 2 + width > left:
            parts.append([])
            left = room
        parts[-1].append(head)
        left -= 2 + width
    return parts


def beside(terms: Mapping[str, Sequence[str]], width: int) -> list[str]:
    """Terms, and beside each its sentences, folded to a width, each on lines of its own.

    Example:
        >>> print("\\n".join(beside({"se": ["standard error", "of the mean"], "n": ["lists"]}, 14)))
        se  standard
            error
            of the
            mean
        n   lists
    """
    first = max(map(len, terms), default=0) + 2
    lines = []
    for term, sentences in terms.items():
        room = max(1, width - first)
        told = [line for each in sentences for line in textwrap.wrap(each, room, break_on_hyphens=False)]
        heads = [term, *[""] * max(0, len(told) - 1)]
        lines += [f"{head:<{first}}{line}".rstrip() for head, line in zip(heads, told or [""], strict=True)]
    return lines


class Page:
    """What is printed, table after table, no wider than the screen."""

    def __init__(self) -> None:
        self.width = screen()
        self.heads: set[str] = set()  # columns that stand on the page
        self.bold = sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and "NO_COLOR" not in os.environ

    @property
    def folded(self) -> int:
        """Columns of a sentence."""
        return max(20, min(self.width or FOLDED, FOLDED))

    def title(self, text: str, *, apart: bool = True) -> None:
        """Print a sentence, bold on a terminal, below an empty line unless it is not ``apart``."""
        lines = _folded(text, self.folded)
        self._print([f"\x1b[1m{line}\x1b[0m" if self.bold else line for line in lines], apart)

    def table(self, blocks: Sequence[Block], *, text: Sequence[str] = (), apart: bool = True) -> None:
        """Print a table, as ``laid_out`` makes it, below an empty line unless it is not ``apart``."""
        if blocks:
            found = laid_out(blocks, self.width, text=text)
            self.heads |= set(found.heads)
            self._print(found.lines, apart)

    def lines(self, sentences: Sequence[str], *, apart: bool = False, whole: bool = False, hang: bool = True) -> None:
        """Print sentences; blanks before one indent it.

        Args:
            sentences: of any length.
            apart: below an empty line.
            whole: not folded unless there is a screen.
            hang: indent what is folded.
        """
        width = None if whole and self.width is None else self.folded
        self._print([line for sentence in sentences for line in _folded(sentence, width, hang)], apart)

    def terms(self, terms: Mapping[str, str], *, apart: bool = True) -> None:
        """Print what words mean, beside each other, below an empty line unless they are not ``apart``."""
        self._print(beside({term: [text] for term, text in terms.items()}, self.folded), apart)

    @staticmethod
    def _print(lines: Sequence[str], apart: bool) -> None:
        if lines:
            print(*([""] if apart else []), *lines, sep="\n")


def _folded(sentence: str, width: int | None, hang: bool = True) -> list[str]:
    indent = " " * (len(sentence) - len(sentence.lstrip()))
    return textwrap.wrap(
        sentence,
        max(1, len(sentence)) if width is None else width,
        subsequent_indent=indent + "  " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    )


def too_few(lists: int) -> str:
    """Why no winner is named, "" where there are lists enough.

    Example:
        >>> too_few(1)[:42], too_few(50)
        ('1 list is too few to name a winner: below ', '')
    """
    if lists >= FEW:
        return ""
    are = "is" if lists == 1 else "are"
    return (
        f"{counted(lists, 'list')} {are} too few to name a winner: below {FEW}, such intervals cover less than they "
        "say, and another draw of queries could turn any of these orders around."
    )

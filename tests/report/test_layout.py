"""Tables and sentences that fit a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltr.report.layout import FEW, LABEL, Block, Page, beside, laid_out, screen, too_few

ROWS = [("bm25", {"mean": "0.5", "sd": "0.1", "n": "7"}), ("dense", {"mean": "0.25", "sd": "-", "n": "7"})]


def test_columns_of_all_blocks_stand_below_each_other() -> None:
    blocks = [Block("ap", ROWS), Block("precision", [("bm25", {"mean": "0.123456", "sd": "2", "n": "7"})])]
    assert laid_out(blocks).lines == [
        "ap             mean   sd  n",
        "bm25            0.5  0.1  7",
        "dense          0.25    -  7",
        "",
        "precision      mean   sd  n",
        "bm25       0.123456    2  7",
    ]


def test_what_is_empty_goes_without_a_word_and_so_does_what_has_no_head_where_there_is_no_room() -> None:
    empty = [(label, {"": "|||", **cells, "se": "-", "note": ""}) for label, cells in ROWS]
    found = laid_out([Block("ap", empty)])
    assert found.heads == ["", "mean", "sd", "n"]
    assert laid_out([Block("ap", empty)], 24) == found
    assert laid_out([Block("ap", empty)], 23).heads == ["mean", "sd", "n"]


def test_columns_without_room_stand_below_under_the_same_labels() -> None:
    blocks = [Block("ap", ROWS), Block("mrr", ROWS[:1])]
    assert laid_out(blocks, 16).lines == [
        "ap     mean   sd",
        "bm25    0.5  0.1",
        "dense  0.25    -",
        "",
        "ap     n",
        "bm25   7",
        "dense  7",
        "",
        "mrr    mean   sd",
        "bm25    0.5  0.1",
        "",
        "mrr    n",
        "bm25   7",
    ]
    long = [Block("ap", [("x" * (LABEL + 1), {"mean": "0.5"}), ("y", {"mean": "0.25"})])]
    assert laid_out(long, 200).lines == ["ap  mean", "x" * (LABEL + 1), "     0.5", "y   0.25"]


@given(
    st.lists(st.lists(st.text("abc", min_size=1, max_size=12), min_size=3, max_size=3), min_size=1, max_size=4),
    st.integers(30, 60),
)
def test_no_line_is_too_wide_and_no_cell_is_lost(cells: list[list[str]], width: int) -> None:
    rows = [(f"row{place}", dict(zip("xyz", row, strict=True))) for place, row in enumerate(cells)]
    lines = laid_out([Block("a table", rows)], width, text=("z",)).lines
    assert all(len(line) <= width and line == line.rstrip() for line in lines)
    words = [word for line in lines for word in line.split()]
    assert all(word in words for row in cells for word in row)


def test_text_at_the_end_is_folded_where_it_does_not_fit() -> None:
    rows = [("ap", {"value": "0.5", "what": "words that are many, and then some more"}), ("mrr", {"what": "few"})]
    assert laid_out([Block("", rows)], 44, text=("what",)).lines == [
        "     value  what",
        "ap     0.5  words that are many, and then",
        "            some more",
        "mrr         few",
    ]


def test_text_for_which_little_room_is_left_stands_below_as_wide_as_it_is() -> None:
    rows = [("ap", {"value": "0.5", "what": "words that are many, and then some more"}), ("mrr", {"what": "few"})]
    above = ["     value", "ap     0.5", "mrr", ""]
    assert laid_out([Block("", rows)], 41, text=("what",)).lines[:4] == above
    folded = ["     what", "ap   words that are many, and then some", "     more", "mrr  few"]
    assert laid_out([Block("", rows)], 41, text=("what",)).lines[4:] == folded
    assert laid_out([Block("metric that is long", rows)], 57, text=("what",)).lines == [
        "metric that is long  value",
        "ap                     0.5",
        "mrr",
        "",
        "metric that is long  what",
        "ap                   words that are many, and then some",
        "                     more",
        "mrr                  few",
    ]


def test_terms_stand_beside_what_they_mean() -> None:
    assert beside({"n": ["lists"], "floor": ["a random order", "of the same"]}, 16) == [
        "n      lists",
        "floor  a random",
        "       order",
        "       of the",
        "       same",
    ]


def test_a_long_label_has_a_line_of_its_own() -> None:
    name = "ndcg-letor-short0-retrieved-stable-zero@10"
    assert len(name) > LABEL
    assert laid_out([Block("metric", [(name, {"mean": "0.5"}), ("ap", {"mean": "0.25"})])]).lines == [
        "metric  mean", name, "         0.5", "ap      0.25",
    ]  # fmt: skip
    label = "x" * LABEL
    fits, folds = (laid_out([Block("", [(label, {"mean": "0.5"})])], LABEL + 6 - less).lines for less in (0, 1))
    assert fits[1:] == [f"{label}   0.5"]
    assert folds[1:] == [label, "   0.5"]


def test_text_stands_to_the_left() -> None:
    rows = [("a", {"n": "1", "what": "x"}), ("b", {"n": "22", "what": "longer"})]
    assert laid_out([Block("", rows)], text=("what",)).lines == ["    n  what", "a   1  x", "b  22  longer"]


def test_a_page_folds_and_remembers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    page = Page()
    page.table([])
    page.table([Block("ap", ROWS)])
    page.table([Block("precision@100", ROWS)])
    page.lines(["one two three four five six", "  seven eight nine ten eleven"], apart=True)
    page.lines([], apart=True)
    assert (
        capsys.readouterr().out
        == """\

ap     mean   sd  n
bm25    0.5  0.1  7
dense  0.25    -  7

precision@100  mean
bm25            0.5
dense          0.25

precision@100   sd
bm25           0.1
dense            -

precision@100  n
bm25           7
dense          7

one two three four
  five six
  seven eight nine
    ten eleven
"""
    )
    assert page.heads == {"mean", "sd", "n"}


def test_a_file_gets_whole_tables_and_folded_sentences(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert screen() is None
    page = Page()
    page.table([Block("ap", [("bm25", {str(place): "1" for place in range(99)})])])
    page.lines([30 * "words "])
    page.lines([30 * "whole "], whole=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines[1]) > 300
    assert max(map(len, lines[3:5])) <= 100
    assert len(lines[5]) == 180 - 1


def test_few_lists_name_no_winner() -> None:
    assert too_few(1).startswith("1 list is too few to name a winner: below 50, ")
    assert too_few(FEW - 1).startswith("49 lists are too few to name a winner: below 50, ")
    assert too_few(FEW) == ""

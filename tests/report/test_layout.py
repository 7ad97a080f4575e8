"""Tables and sentences that fit a screen."""

import pytest

from ltr.report.layout import LABEL, Block, Page, all_of, laid_out, screen, some

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


def test_what_is_empty_goes_without_a_word_and_what_has_no_room_is_told() -> None:
    empty = [(label, {**cells, "se": "-", "note": ""}) for label, cells in ROWS]
    found = laid_out([Block("ap", empty)], least=("sd", "n"))
    assert (found.heads, found.left_out) == (["mean", "sd", "n"], [])
    assert laid_out([Block("ap", empty)], 19, least=("sd", "n")) == found
    narrow = laid_out([Block("ap", empty)], 18, least=("se", "sd", "n"))
    assert (narrow.heads, narrow.left_out) == (["mean", "n"], ["sd"])
    assert narrow.lines == ["ap     mean  n", "bm25    0.5  7", "dense  0.25  7"]
    assert laid_out([Block("ap", empty)], 5, least=("sd",)).heads == ["mean", "n"]  # the others stay


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
    page.table([Block("ap", ROWS)], least=("sd", "n"))
    page.table([Block("precision@100", ROWS)], least=("sd", "n"))
    page.lines(["one two three four five six", "  seven eight nine ten eleven"], apart=True)
    page.lines([], apart=True)
    page.lines(page.dropped(), whole=True)
    assert (
        capsys.readouterr().out
        == """\

ap     mean   sd  n
bm25    0.5  0.1  7
dense  0.25    -  7

precision@100  mean
bm25            0.5
dense          0.25

one two three four
  five six
  seven eight nine
    ten eleven
left out for want of
  room: sd, n
  (COLUMNS=132 makes
  room)
"""
    )
    assert page.heads == {"mean", "sd", "n"}


def test_a_file_gets_whole_tables_and_folded_sentences(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert screen() is None
    page = Page()
    page.table([Block("ap", [("bm25", {str(place): "1" for place in range(99)})])], least=("1",))
    page.lines([30 * "words "])
    page.lines([30 * "whole "], whole=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines[1]) > 300
    assert page.dropped() == []
    assert max(map(len, lines[3:5])) <= 100
    assert len(lines[5]) == 180 - 1


def test_names_in_a_sentence() -> None:
    assert some(["a"]) == all_of(["a"]) == "a"
    assert some(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert all_of(list("abc")) == "a, b and c"

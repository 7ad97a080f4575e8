"""ltr/report/walkthrough.py: what a person reads, in plain words, at any width."""

import os
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise

import polars as pl
import pytest

from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists
from ltr.metrics import METRICS, NDCG, parse
from ltr.report.explain import explain
from ltr.report.walkthrough import RULES, _positions, print_explanation


def page(lists: RankedLists, *names: str, query: str = "0", width: int = 120, **change: object) -> str:
    """The printed page."""
    metrics = [parse(name) for name in names]
    worked = metrics[0]
    assert isinstance(worked, NDCG)
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        with redirect_stdout(StringIO()) as printed:
            print_explanation(explain(lists, query, worked, metrics, **change), ["a title"])  # type: ignore[arg-type]
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    return printed.getvalue()


def said(*arguments: object, **options: object) -> str:
    """The page as one line, wherever it was wrapped."""
    return " ".join(page(*arguments, **options).split())  # type: ignore[arg-type]


def lists_of(grades: list[float], scores: list[float] | None = None) -> RankedLists:
    return RankedLists.from_arrays(grades, scores or list(range(len(grades), 0, -1)))


def test_the_whole_page_of_the_worked_example() -> None:
    found = page(lists_of([3, 1, 2, 0, 3]), "ndcg@5", "mrr", "rbp", "recall@5", width=80, swap=[1, 2])
    assert (
        found
        == """\
a title

Somebody has graded each document: 0 is worth nothing, and the higher the
better. The table goes down the list, from position 1 on top.
gain      what a grade is worth: 2^y-1 for grade y, so 7 for grade 3
discount  how much of it counts, 1/log2(1+r) at position r: readers start at the
          top, and few go far
points    gain times discount
sum       the points from the top down to here
best      the grade that would stand here in the best order, the highest grades
          first, and its points

position  grade  gain  discount  points     sum  |  best  best points
1             3     7     1.000   7.000   7.000  |     3        7.000
2             1     1     0.631   0.631   7.631  |     3        4.417
3             2     3     0.500   1.500   9.131  |     2        1.500
4             0     0     0.431   0.000   9.131  |     1        0.431
5             3     7     0.387   2.708  11.839  |     0        0.000

DCG, discounted cumulative gain: the points that this list collects
The points, added up from the top down.
DCG = 7.000 + 0.631 + 1.500 + 0.000 + 2.708 = 11.839
Position 1 alone holds 59 % of it.

IDCG, ideal DCG: the points that the best order would collect
The same sum, with the highest grades first.
IDCG = 7.000 + 4.417 + 1.500 + 0.431 + 0.000 = 13.347

NDCG, normalised DCG: how near the one comes to the other
ndcg@5 = DCG / IDCG = 11.839 / 13.347 = 0.8870
This list collects 89 % of what the best order would; 1 is the best there is, 0
the worst. The same documents in a random order come to 0.7953 on average.

every metric on this list
Each asks something else of the same list. @5: only the first 5 positions count.
Relevant means a grade of 1 or more. A position moved a metric if its value
would be another with a worthless document (grade 0) in that place.

metric     value  moved by  what it is
ndcg@5    0.8870  1-3, 5    Normalised discounted cumulative gain
mrr       1.0000  1         Reciprocal rank
rbp       0.5699  1-3, 5    Rank-biased precision
recall@5  1.0000  1-3, 5    Recall at k
rbp: residual 0.3277, the most that documents which nobody graded, or which
stand beyond the end of the list, could add to its value.
ltr list ap says how ap is computed, and so of each; ltr list metrics says what
each assumes of a reader.

what if the documents at positions 1 and 2 change places?
The grades are then 1, 3, 2, 0, 3.
metric that moves  before   after   change
ndcg@5             0.8870  0.7211  -0.1659
The others do not see it:
  mrr, rbp, recall@5: relevant is a grade of 1 or more, and both documents are.

by these rules
ndcg@5 gain=2^y-1 discount=1/log2(1+r) ideal=judged unjudged=zero ties=average
  empty=skip
mrr relevant=y>=1 ideal=judged unjudged=zero ties=average empty=skip
rbp relevant=y>=1 p=0.8 ideal=judged unjudged=zero ties=average empty=skip
recall@5 relevant=y>=1 divisor=R ideal=judged unjudged=zero ties=average
  empty=skip

ideal=judged   the best order is that of all graded documents, returned or not
unjudged=zero  a document that nobody graded counts as one of grade 0
ties=average   documents with equal scores: the mean over all their orders
empty=skip     a list without an answer is left out of a mean
relevant=y>=1  the grades that make a document relevant
p=0.8          how likely a reader goes on from one result to the next
divisor=R      what is found is divided by R, the number of relevant documents
"""
    )


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_line_is_wider_than_the_screen_and_none_ends_in_blanks(width: int) -> None:
    names = ("ndcg@20", "mrr", "rbp", "pairs", "gradedap-max4@20")
    for grades, change in (([3.5, 1, 2, 0, 3] * 5, {"grade": [25, 0]}), ([1, 1], {"swap": [1, 2]}), ([0], {})):
        lines = page(lists_of(grades), *names, width=width, **change).splitlines()  # type: ignore[arg-type]
        assert [line for line in lines if len(line) > width or line != line.rstrip()] == []
        assert "" not in (lines[0], lines[-1])
        assert not any(one == two == "" for one, two in pairwise(lines))


def test_every_word_of_a_convention_is_told_below() -> None:
    every = [metric for base in METRICS for metric in (f"{base}-max4" if base in ("err", "gradedap") else base,)]
    options = ["ndcg-retrieved-docid-zero", "ap-min-condensed-stable-one@3", "precision-min-worst-error@3", "recall@3"]
    words = {word for name in (*every, *options) for word in parse(name).convention.split()[1:]}
    told = {word for word in words if RULES.get(word) or RULES.get(word.partition("=")[0])}
    assert {word.partition("=")[0] for word in words - told} <= {"gain", "discount"}  # which stand above the table
    found = page(lists_of([1, 0]), "ndcg", "ap-rel2")
    assert "\nempty=skip     a list without an answer is left out of a mean\n" in found
    assert found.count("ties=average   documents") == 1


def test_a_gain_that_is_not_the_default_is_named() -> None:
    assert "gain what a grade is worth: y for grade y, so 3 for grade 3 " in said(lists_of([3, 1]), "ndcg-linear@5")
    assert "how much of it counts, 1/r at position r" in said(lists_of([3, 1]), "ndcg-reciprocal@5")


def test_fractional_grades_keep_their_decimals() -> None:
    found = page(lists_of([1.5, 0.25]), "ndcg-linear")
    assert "\n1           1.5  1.500     1.000   1.500  1.500  |   1.5        1.500\n" in found
    assert "\n2          0.25  0.250     0.631   0.158  1.658  |  0.25        0.158\n" in found


def test_ties_are_marked_and_explained() -> None:
    found = page(lists_of([2, 0, 1, 3], [0.5, 0.9, 0.5, 0.1]), "ndcg")
    assert [line.split()[:4] for line in found.splitlines() if line[:2] in ("1 ", "2=", "3=", "4 ")] == [
        ["1", "0", "0", "1.000"],
        ["2=", "2", "3", "0.565"],
        ["3=", "1", "1", "0.565"],
        ["4", "3", "7", "0.431"],
    ]
    assert (
        "=: documents with equal scores (positions 2 to 3). Nobody can say which comes first, so each gets the mean "
        "discount of its positions."
    ) in " ".join(found.split())
    assert "=" not in page(lists_of([2, 0, 1, 3], [0.5, 0.9, 0.5, 0.1]), "ndcg-stable").partition("DCG =")[0]


def trec(judged: dict[str, float], run: list[str]) -> RankedLists:
    qrels = pl.DataFrame({"query": ["q"] * len(judged), "document": [*judged], "label": [*judged.values()]})
    scores = list(range(len(run), 0, -1))
    return join(qrels, pl.DataFrame({"query": ["q"] * len(run), "document": run, "score": scores}))


def test_documents_that_nobody_graded_and_graded_ones_that_lack() -> None:
    lists = trec({"b": 2, "c": 1, "d": 0}, ["x", "b"])
    found = page(lists, "ndcg@5", query="q")
    assert "\n1         x             -     0     1.000   0.000  0.000  |     2        3.000\n" in found
    assert "\n3                                                         |     0        0.000\n" in found
    assert "\n-: nobody has graded this document; it counts as one of grade 0.\n" in found
    assert "The list lacks 2 graded documents, 1 of them above grade 0; they count here." in said(
        lists, "ndcg@5", query="q"
    )
    lacks = said(lists, "ndcg-retrieved@5", query="q")
    assert "1 of them above grade 0; by this rule (ideal=retrieved) they do not count." in lacks
    condensed = page(lists, "ndcg-condensed@5", query="q")
    assert "\n1 document that nobody has graded left the list (unjudged=ignored).\n" in condensed
    assert "-: nobody" not in condensed
    assert "The list lacks 1 graded document, of grade 0. IDCG" in said(
        trec({"b": 2, "c": 0}, ["b"]), "ndcg", query="q"
    )


def test_long_lists_are_cut_below_the_cutoff() -> None:
    grades = [float(place % 3) for place in range(40)]
    assert "\nBelow, 30 more documents do not count.\n" in page(lists_of(grades), "ndcg@5")
    assert "and few go far; only the first 5 positions count" in said(lists_of(grades), "ndcg@5")
    found = page(lists_of(grades), "ndcg@12", swap=[2, 30])
    assert "\n...\n30 " in found
    assert "\nBelow, 27 more documents do not count.\n" in found
    assert "DCG = 0.000 + 0.631 + 1.500 + 0.000 + 0.387 + 1.069 + 0.000 + 0.315 + ... + 0.270 + 0.811" not in found
    assert "DCG = 0.000 + 0.631 + 1.500 + 0.000 + 0.387 + 1.069 + 0.000 + 0.315 + ... + 0.811 =" in found
    whole = page(lists_of(grades), "ndcg")
    assert "\nBelow, 20 more documents count for 5.4" in whole
    assert page(lists_of([0.0] * 30), "ndcg", grade=[30, 1]).count("0, ...\n") == 0
    assert "0, 0, ...\n" in page(lists_of([0.0] * 30), "ndcg", grade=[1, 1])


def test_a_list_without_an_answer_says_so() -> None:
    found = page(lists_of([0, 0]), "ndcg", "mrr")
    assert "No document is worth anything, so no order is better than another, and there is no answer.\nA mean" in found
    assert "\nmrr     no answer  Reciprocal rank\n" in found
    assert "\nNo answer by ndcg: undefined for a list without any gain.\n" in found
    assert "\nNo answer by mrr: undefined for a list with nothing relevant.\n" in found
    for rule, does in (
        ("skip", "leaves such a list out"),
        ("zero", "counts it as 0"),
        ("one", "counts it as 1"),
        ("error", "refuses it"),
    ):
        assert f"A mean over lists {does} (empty={rule})." in said(lists_of([0, 0]), f"ndcg-{rule}")


def test_a_list_that_a_rule_sets_to_zero_says_so() -> None:
    found = page(lists_of([3, 1]), "ndcg-short0@5")
    assert "By this rule it counts 0 all the same: the list has fewer than 5 documents (short0)." in found


def test_gains_too_large_to_write() -> None:
    found = page(lists_of([1999, 2000]), "ndcg")
    assert "; here in parts of the largest one" in " ".join(found.split())
    assert "\n1          1999  0.500     1.000   0.500  0.500  |  2000        1.000\n" in found
    assert "\n1            40  1.1e+12" in page(lists_of([40]), "ndcg")


def test_a_change_that_no_metric_sees() -> None:
    found = page(lists_of([1, 1]), "ndcg@5", "ap", swap=[1, 2])
    assert "\nNo metric sees it:\n  ndcg@5: both documents have the same grade.\n  ap: relevant is a grade" in found
    assert "metric that moves" not in found


def test_relevance_is_told_where_all_metrics_agree_on_it() -> None:
    assert "Relevant means a grade of 2 or more." in page(lists_of([2, 1]), "ndcg", "ap-rel2")
    assert "Relevant means" not in page(lists_of([2, 1]), "ndcg", "ap-rel2", "mrr")
    assert "Relevant means" not in page(lists_of([2, 1]), "ndcg")


@pytest.mark.parametrize(
    ("positions", "text"),
    [
        ((), "none"),
        ((4,), "4"),
        ((1, 2, 4, 6, 7, 8), "1-2, 4, 6-8"),
        (range(1, 31, 2), "1, 3, 5, 7, 9, 10 more"),
    ],
)
def test_positions_in_runs(positions: tuple[int, ...], text: str) -> None:
    assert _positions(positions) == text


def test_titles_are_bold_on_a_terminal_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = NDCG()
    found = explain(lists_of([1, 0]), "0", metric, [metric])
    print_explanation(found, ["a title"])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    print_explanation(found, ["a title"])
    assert capsys.readouterr().out.startswith("\x1b[1ma title\x1b[0m\n")
    monkeypatch.setenv("NO_COLOR", "1")
    print_explanation(found, ["a title"])
    assert "\x1b" not in capsys.readouterr().out


def test_a_residual_is_told_in_words() -> None:
    text = said(lists_of([1, 0]), "ndcg", "rbp-p0.5", "rbp-p0.5@1")
    assert (
        "rbp-p0.5: residual 0.2500, the most that documents which nobody graded, or which stand beyond the end of "
        in text
    )
    assert (
        "rbp-p0.5@1: residual 0.5000, the most that documents which nobody graded, or which stand beyond the cutoff"
        in text
    )


@pytest.mark.parametrize("width", [40, 60, 80])
def test_what_is_folded_of_a_sum_is_indented(width: int) -> None:
    lines = page(lists_of([3, 1, 2, 0] * 5), "ndcg@20", width=width).splitlines()
    for head in ("DCG = ", "IDCG = "):
        (at,) = (at for at, line in enumerate(lines) if line.startswith(head))
        assert lines[at + 1].startswith("  "), lines[at : at + 2]

"""ltr/report/walkthrough.py: what a person reads, in plain words, at any width."""

import polars as pl
import pytest
from rich.console import Console

from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists
from ltr.metrics import NDCG, parse
from ltr.report.explain import explain
from ltr.report.walkthrough import _positions, print_explanation


def page(lists: RankedLists, *names: str, query: str = "0", width: int = 120, **change: object) -> str:
    """The printed page, without the blanks at the ends of lines."""
    metrics = [parse(name) for name in names]
    worked = metrics[0]
    assert isinstance(worked, NDCG)
    console = Console(width=width, markup=False, highlight=False, color_system=None)
    with console.capture() as captured:
        print_explanation(explain(lists, query, worked, metrics, **change), "a title", console)  # type: ignore[arg-type]
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def said(*arguments: object, **options: object) -> str:
    """The page as one line, wherever it was wrapped."""
    return " ".join(page(*arguments, **options).split())  # type: ignore[arg-type]


def lists_of(grades: list[float], scores: list[float] | None = None) -> RankedLists:
    return RankedLists.from_arrays(grades, scores or list(range(len(grades), 0, -1)))


def test_the_whole_page_of_the_worked_example() -> None:
    found = page(lists_of([3, 1, 2, 0, 3]), "ndcg@5", "mrr", "recall@5", swap=[1, 2])
    assert (
        found
        == """
a title
Somebody has graded each document: 0 is worth nothing, and the higher the better. A grade has a gain, 2^y-1 for grade y:
7 for grade 3. Readers start at the top and few go far, so a position keeps only a part of the gain, its discount,
1/log2(1+r) at position r. Gain times discount are the points that count.
position  grade  gain  discount  points     sum  |  best grade  points
1             3     7     1.000   7.000   7.000  |           3   7.000
2             1     1     0.631   0.631   7.631  |           3   4.417
3             2     3     0.500   1.500   9.131  |           2   1.500
4             0     0     0.431   0.000   9.131  |           1   0.431
5             3     7     0.387   2.708  11.839  |           0   0.000

DCG, discounted cumulative gain: the points that this list collects
The points, added up from the top down.
DCG = 7.000 + 0.631 + 1.500 + 0.000 + 2.708 = 11.839
Position 1 alone holds 59 % of it.

IDCG, ideal DCG: the points that the best order would collect
The same sum, with the highest grades first.
IDCG = 7.000 + 4.417 + 1.500 + 0.431 + 0.000 = 13.347

NDCG, normalised DCG: how near the one comes to the other
ndcg@5 = DCG / IDCG = 11.839 / 13.347 = 0.8870
This list collects 89 % of what the best order would; 1 is the best there is. The same documents in a random order come
to 0.7953 on average.

every metric on this list
Each asks something else of the same list. Relevant means a grade of 1 or more. A position moved a metric if its value
would be another with a worthless document (grade 0) in that place.
metric     value  moved by positions  what it is
ndcg@5    0.8870  1-3, 5              Normalised discounted cumulative gain: DCG@k / DCG@k of the documents in order of
                                      their labels.
mrr       1.0000  1                   Reciprocal rank: 1 / rank of the first relevant document, 0 when that lies beyond
                                      k; named mrr.
recall@5  1.0000  1-3, 5              Recall at k: relevant documents among the first k, over all relevant documents of
                                      the list.

what if the documents at positions 1 and 2 change places?
The grades are then 1, 3, 2, 0, 3.
metric that moves  before   after   change
ndcg@5             0.8870  0.7211  -0.1659
The others do not see it:
mrr, recall@5: it only asks for a grade of 1 or more: both are relevant or both are not.

by these rules
ndcg@5 gain=2^y-1 discount=1/log2(1+r) ideal=judged unjudged=zero ties=average empty=skip
mrr relevant=y>=1 ideal=judged unjudged=zero ties=average empty=skip
recall@5 relevant=y>=1 divisor=R ideal=judged unjudged=zero ties=average empty=skip"""
    )


@pytest.mark.parametrize("width", [80, 100, 120])
def test_all_but_rules_and_the_division_keep_to_the_width(width: int) -> None:
    found = page(lists_of([3.5, 1, 2, 0, 3] * 5), "ndcg@20", "mrr", "rbp", "pairs", width=width, grade=[25, 0])
    prose = found.partition("\nby these rules\n")[0].splitlines()
    assert [line for line in prose if len(line) > width] == []
    assert "points     sum  |  best grade  points\n" in found


def test_a_gain_that_is_not_the_default_is_named() -> None:
    assert "A grade has a gain, y for grade y: 3 for grade 3." in said(lists_of([3, 1]), "ndcg-linear@5")
    assert "its discount, 1/r at position r" in said(lists_of([3, 1]), "ndcg-reciprocal@5")


def test_fractional_grades_keep_their_decimals() -> None:
    found = page(lists_of([1.5, 0.25]), "ndcg-linear")
    assert "\n1           1.5  1.500     1.000   1.500  1.500  |         1.5   1.500\n" in found
    assert "\n2          0.25  0.250     0.631   0.158  1.658  |        0.25   0.158\n" in found


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
    assert "\n1         x             -     0     1.000   0.000  0.000  |           2   3.000\n" in found
    assert "\n3                                                         |           0   0.000\n" in found
    assert "\n-: nobody has graded this document; it counts as one of grade 0.\n" in found
    assert "The list lacks 2 graded documents, 1 of them above grade 0; they count here." in said(
        lists, "ndcg@5", query="q"
    )
    lacks = said(lists, "ndcg-retrieved@5", query="q")
    assert "1 of them above grade 0; by this rule (ideal=retrieved) they do not count." in lacks
    condensed = page(lists, "ndcg-condensed@5", query="q")
    assert "\n1 document that nobody has graded left the list (unjudged=ignored).\n" in condensed
    assert "-: nobody" not in condensed
    assert "The list lacks 1 graded document, none of them above grade 0. IDCG" in said(
        trec({"b": 2, "c": 0}, ["b"]), "ndcg", query="q"
    )


def test_long_lists_are_cut_below_the_cutoff() -> None:
    grades = [float(place % 3) for place in range(40)]
    assert "\nBelow, 30 documents do not count.\n" in page(lists_of(grades), "ndcg@5")
    assert "\nOnly the first 5 positions count.\n" in page(lists_of(grades), "ndcg@5").replace(". ", ".\n")
    found = page(lists_of(grades), "ndcg@12", swap=[2, 30])
    assert "\n...\n30 " in found
    assert "\nBelow, 27 documents do not count.\n" in found
    assert "DCG = 0.000 + 0.631 + 1.500 + 0.000 + 0.387 + 1.069 + 0.000 + 0.315 + ... + 0.270 + 0.811" not in found
    assert "DCG = 0.000 + 0.631 + 1.500 + 0.000 + 0.387 + 1.069 + 0.000 + 0.315 + ... + 0.811 =" in found
    whole = page(lists_of(grades), "ndcg")
    assert "\nBelow, 20 documents count for 5.4" in whole
    assert page(lists_of([0.0] * 30), "ndcg", grade=[30, 1]).count("0, ...\n") == 0
    assert "0, 0, ...\n" in page(lists_of([0.0] * 30), "ndcg", grade=[1, 1])


def test_a_list_without_an_answer_says_so() -> None:
    found = page(lists_of([0, 0]), "ndcg", "mrr")
    assert "No document is worth anything, so no order is better than another, and there is no answer. A mean" in found
    assert "\nmrr         -  none " in found
    assert "\n-: no document is worth anything to it, so it has no answer here.\n" in found
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
    assert "Here gains are parts of the largest one" in found
    assert "\n1          1999  0.500     1.000   0.500  0.500  |        2000   1.000\n" in found
    assert "\n1            40  1.1e+12" in page(lists_of([40]), "ndcg")


def test_a_change_that_no_metric_sees() -> None:
    found = page(lists_of([1, 1]), "ndcg@5", "ap", swap=[1, 2])
    assert "\nNo metric sees it:\nndcg@5: both documents have the same grade.\nap: it only asks" in found
    assert "metric that moves" not in found


def test_relevance_is_told_where_all_metrics_agree_on_it() -> None:
    assert "Relevant means a grade of 2 or more." in page(lists_of([2, 1]), "ndcg", "ap-rel2")
    assert "Relevant means" not in page(lists_of([2, 1]), "ndcg", "ap-rel2", "mrr")
    assert "Relevant means" not in page(lists_of([2, 1]), "ndcg")


def test_what_a_metric_is_is_told_once() -> None:
    assert page(lists_of([2, 1]), "ndcg@1", "ndcg@2").count("Normalised discounted cumulative gain") == 1


@pytest.mark.parametrize(
    ("positions", "text"),
    [
        ((), "none"),
        ((4,), "4"),
        ((1, 2, 4, 6, 7, 8), "1-2, 4, 6-8"),
        (range(1, 31, 2), "1, 3, 5, 7, 9, 11, 13, 15, and 7 more"),
    ],
)
def test_positions_in_runs(positions: tuple[int, ...], text: str) -> None:
    assert _positions(positions) == text


def test_a_console_of_its_own_is_as_wide_as_the_environment_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = NDCG()
    found = explain(lists_of([1, 0]), "0", metric, [metric])
    widths = []
    for columns in ("60", "90"):
        monkeypatch.setenv("COLUMNS", columns)
        print_explanation(found, "a title")
        prose = capsys.readouterr().out.partition("position")[0]
        assert "\x1b" not in prose
        widths.append(max(map(len, prose.splitlines())))
    assert widths[0] <= 60 < widths[1] <= 90

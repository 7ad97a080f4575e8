"""Rules for tables of judgements and answers; what they say of files is tested with the readers."""

import polars as pl
import pytest

from ltr.data import DataError
from ltr.data.judgements import checked_labels, refuse_repeats, refuse_scores, settled, short


def place(row: int) -> str:
    return f"here, row {row}"


def test_a_table_without_repeats_stays_as_it_is() -> None:
    table = pl.DataFrame({"query": ["a", "a", "b"], "document": ["x", "y", "x"], "label": [1.0, 2.0, None]})
    assert settled(table, "mean", place) is table
    refuse_repeats(table, place)


def test_pairs_that_read_alike_when_joined_are_two() -> None:
    refuse_repeats(pl.DataFrame({"query": ["a", "ax", "x"], "document": ["xb", "b", "x"]}), place)


def test_other_columns_are_those_of_the_first_row() -> None:
    table = pl.DataFrame(
        {"note": ["n1", "n2", "n3"], "query": ["a"] * 3, "document": ["x", "y", "x"], "label": [1.0, 2.0, 5.0]}
    )
    assert settled(table, "last", place).rows() == [("n1", "a", "x", 5.0), ("n2", "a", "y", 2.0)]


def test_who_did_not_judge_does_not_contradict() -> None:
    table = pl.DataFrame({"query": ["a"] * 3, "document": ["x"] * 3, "label": [None, 2.0, None]})
    for assessors in ("error", "max", "majority", "majority_higher", "mean", "median", "last"):
        assert settled(table, assessors, place).rows() == [("a", "x", 2.0)]
    nobody = table.with_columns(label=pl.lit(None, pl.Float64))
    for assessors in ("error", "max", "majority", "majority_higher", "mean", "median", "last"):
        assert settled(nobody, assessors, place).rows() == [("a", "x", None)]


def test_a_tie_of_votes_goes_to_the_lower_or_the_higher_label() -> None:
    votes = [
        (f"d{low}{high}{turn}", [low, high][::turn])
        for low in range(4)
        for high in range(low + 1, 5)
        for turn in (1, -1)
    ]
    table = pl.DataFrame(
        {"query": "a", "document": [each for each, _ in votes], "label": [labels for _, labels in votes]}
    )
    table = table.explode("label").cast({"label": pl.Float64})
    assert settled(table, "majority", place)["label"].to_list() == [min(labels) for _, labels in votes]
    assert settled(table, "majority_higher", place)["label"].to_list() == [max(labels) for _, labels in votes]


def test_the_first_contradiction_is_named() -> None:
    table = pl.DataFrame({"query": ["a"] * 4, "document": ["y", "x", "x", "y"], "label": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(DataError, match=r"^here, row 2: wanted one judgement of document x of query a, came label 3 "):
        settled(table, "error", place)


@pytest.mark.parametrize("typed", ["1e400", "-1e400", "9" * 400])
def test_a_score_that_is_too_large_is_not_infinite(typed: str) -> None:
    table = pl.DataFrame({"query": ["a"] * 3, "document": list("xyz"), "score": [1.0, float("inf"), float(typed)]})
    refuse_scores(table, pl.Series(["1", "inf", "-Infinity"]), place)
    with pytest.raises(DataError) as caught:
        refuse_scores(table, pl.Series(["1", "inf", typed]), place)
    came = typed if len(typed) < 60 else typed[:57] + "..."
    assert str(caught.value) == (
        f"here, row 2: wanted a score that a 64-bit float holds, or inf (query a, document z), came '{came}'"
    )


def test_what_came_is_shown_on_one_short_line() -> None:
    assert short("a\nb\rc") == "a\\nb\\rc"
    assert short("x" * 60) == "x" * 60
    assert short("x" * 61) == "x" * 57 + "..."


def test_any_negative_label_can_say_that_nobody_judged() -> None:
    table = pl.DataFrame({"query": ["a"] * 4, "document": list("wxyz"), "label": [1.0, -1.0, -2.5, 0.0]})
    typed = pl.Series(["1", "-1", "-2.5", "0"])
    assert checked_labels(table, typed, "negative", place)["label"].to_list() == [1, None, None, 0]
    with pytest.raises(DataError, match=r"^here, row 2: wanted a label .*, came '-2\.5'; say unjudged_label=-2\.5 if"):
        checked_labels(table, typed, -1, place)
    for label, word in ((None, "x"), (float("nan"), "nan"), (float("inf"), "inf")):
        strange = table.with_columns(label=pl.Series([1.0, -1.0, 0.0, label]))
        with pytest.raises(DataError, match=rf"^here, row 3: wanted a label .*, came '{word}'$"):
            checked_labels(strange, pl.Series(["1", "-1", "0", word]), "negative", place)

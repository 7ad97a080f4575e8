"""Columns of text, and what is known of queries; the rest is tested where it is used: test_lists, test_joining."""

import numpy as np
import polars as pl
import pytest

from ltr.data import DataError
from ltr.evaluation.columns import Attributes, Texts, among, attributes_of, together


@pytest.mark.parametrize(
    "values",
    [["a", "bb", "c"], np.array(["a", "bb", "c"]), np.array([b"a", b"bb", b"c"]), pl.Series(["a", "bb", "c"])],
)
def test_texts_read_like_an_array(values: object) -> None:
    texts = Texts.of(Texts.of(values))
    assert (texts[0], texts[np.int64(-1)], len(texts)) == ("a", "c", 3)
    assert texts[1:].tolist() == texts[np.array([1, 2])].tolist() == texts[np.array([False, True, True])].tolist()
    assert list(texts) == texts.tolist() == ["a", "bb", "c"]
    assert np.asarray(texts).dtype == object
    assert np.asarray(texts, dtype=str).tolist() == ["a", "bb", "c"]


def test_numbers_become_texts() -> None:
    assert Texts.of([2**70, 1.0, "None"]).tolist() == ["1180591620717411303424", "1.0", "None"]
    assert Texts.of(pl.Series([7, 8])).tolist() == ["7", "8"]


@pytest.mark.parametrize("values", [["a", None], ["a", float("nan")], pl.Series(["a", None]), np.array(["a", None])])
def test_what_is_no_id_is_no_text(values: object) -> None:
    with pytest.raises(DataError, match=r"^run, row 1: wanted the id of a document, came none$"):
        Texts.of(values, "run")


def test_rows_stay_where_they_are_when_they_stand_together() -> None:
    order, offsets = together(np.array([0, 0, 2]), 4)
    assert (order, offsets.tolist()) == (None, [0, 2, 2, 3, 3])
    order, offsets = together(np.array([1, 0, 1, 0]), 2)
    assert order is not None
    assert (order.tolist(), offsets.tolist()) == ([1, 3, 0, 2], [0, 2, 4])


def test_places_of_ids() -> None:
    assert among(pl.Series(["b", "b", "x", "a"]), ("a", "b")).tolist() == [1, 1, -1, 0]


def test_a_difference_far_down_is_found() -> None:
    table = pl.DataFrame({"query": "a", "price": [5] * 2000 + [6], "market": ["de"] * 2001})
    attributes = attributes_of(table, np.zeros(2001, np.int64), ("a",))
    assert attributes["market"].tolist() == ["de"]
    with pytest.raises(DataError, match=r"^wanted one value of price a query, came 5 and 6 in query a$"):
        attributes["price"]


def test_rows_that_do_not_count_say_nothing() -> None:
    table = pl.DataFrame({"query": ["a", "x", "a"], "price": [None, 6, 5]})
    assert attributes_of(table, np.array([0, -1, 0]), ("a",))["price"].tolist() == [5]


def test_an_unknown_attribute_is_named() -> None:
    with pytest.raises(DataError, match=r"^wanted an attribute of the queries \(there are none\), came market$"):
        Attributes({}, {})["market"]
    assert Attributes({}, {}).get("market") is None

"""RankingData: what it holds, what it refuses."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from ltr.data import DataError, RankingData


@pytest.fixture
def data() -> RankingData:
    return RankingData.from_arrays(
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
        [0, 1, 2, 3],
        queries=["b", "a", "b", "c"],
        document_ids=["w", "x", "y", "z"],
        weights={"a": 1, "b": 2, "c": 3},
    )


def test_rows_of_a_query_are_put_together(data: RankingData) -> None:
    assert data.query_ids == ("b", "a", "c")
    assert data.features.tolist() == [[1, 2], [5, 6], [3, 4], [7, 8]]
    assert data.relevance.tolist() == [0, 2, 1, 3]
    assert data.lengths.tolist() == [2, 1, 1]
    assert data.document_ids == ("w", "y", "x", "z")
    assert data.row.tolist() == [0, 2, 1, 3]
    assert data.weight.tolist() == [2, 1, 3]
    assert data.features.dtype == np.float32


def test_select_takes_everything_along(data: RankingData) -> None:
    part = data.select([2, 0])
    assert part.query_ids == ("c", "b")
    assert part.features.tolist() == [[7, 8], [1, 2], [5, 6]]
    assert part.relevance.tolist() == [3, 0, 2]
    assert part.offsets.tolist() == [0, 1, 3]
    assert part.document_ids == ("z", "w", "y")
    assert part.row.tolist() == [3, 0, 2]
    assert part.weight.tolist() == [3, 2]
    assert data.select([]).features.shape == (0, 2)


def test_predicting_needs_no_labels() -> None:
    data = RankingData.from_arrays([[1.0]], queries=[7])
    assert (data.labelled, data.relevance.tolist(), data.query_ids) == (False, [0], ("7",))


def test_ids_that_differ_as_text_are_two_queries() -> None:
    # data-13, github.com/terrier-org/pyterrier/pull/254
    data = RankingData.from_arrays(
        [[0.5], [0.25], [0.75], [0.5]], queries=["0012", "0012", "12", "12"], document_ids=["007", "7", "007", "7"]
    )
    assert data.query_ids == ("0012", "12")
    assert data.select([0]).document_ids == ("007", "7")


def test_hash_sees_what_changes_training(data: RankingData) -> None:
    same = replace(data, source="elsewhere", row=data.row[::-1])
    assert data.content_hash() == same.content_hash() == data.select([0, 1, 2]).content_hash()
    assert len(data.content_hash()) == len(data.select([]).content_hash()) == 64
    others = [
        replace(data, features=data.features + 1),
        replace(data, relevance=data.relevance + 1),
        replace(data, weight=data.weight + 1),
        replace(data, query_ids=("b", "a", "d")),
        replace(data, document_ids=None),
        replace(data, labelled=False),
        replace(data, offsets=np.array([0, 1, 3, 4])),
        data.select([1, 0, 2]),
    ]
    assert len({data.content_hash(), *(other.content_hash() for other in others)}) == 1 + len(others)


def test_huge_features_are_clipped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        data = RankingData.from_arrays([[1.0, 1e300], [-1e31, 2.0]], lengths=[2], source="mine")
    assert data.features.tolist() == np.float32([[1, 1e30], [-1e30, 2]]).tolist()
    assert caplog.messages == ["mine: values beyond +-1e+30 were clipped (feature 0: 1, feature 1: 1)"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        # data-23, github.com/lightgbm-org/LightGBM/issues/392
        (
            {"features": np.zeros((5, 1)), "lengths": [3, 3]},
            "arrays: the group sizes add up to 6 rows, there are 5",
        ),
        ({"features": np.zeros((2, 1)), "lengths": [2, 0]}, None),
        ({"features": np.zeros(3), "lengths": [3]}, "arrays: features must be [documents, features], came [3]"),
        (
            {"features": np.zeros((2, 1))},
            "arrays: wanted either queries (an id a row) or lengths (group sizes)",
        ),
        (
            {"features": np.zeros((2, 1)), "queries": [1, 2], "lengths": [2]},
            "arrays: wanted either queries (an id a row) or lengths (group sizes)",
        ),
        ({"features": np.zeros((2, 1)), "queries": ["a"]}, "arrays: 2 rows need as many query ids, came 1"),
        (
            {"features": np.zeros((2, 1)), "lengths": [2], "relevance": [1]},
            "arrays: 2 rows need as many labels, came [1]",
        ),
        (
            {"features": np.zeros((2, 1)), "lengths": [2], "document_ids": ["a"]},
            "arrays: 2 rows need as many document ids, came 1",
        ),
        (
            {"features": [[1.0, 2.0], [3.0, np.nan]], "lengths": [2]},
            "arrays, row 1: feature 1 must be finite, came nan",
        ),
        (
            {"features": np.zeros((3, 1)), "queries": ["a", "b", "a"], "relevance": [0, 0, np.nan]},
            "arrays, row 2 (query a): wanted a label that is a number from 0 to 1e+30, came nan",
        ),
        (
            {"features": np.zeros((3, 1)), "queries": ["a", "b", "a"], "relevance": [0, -1, 0]},
            "arrays, row 1 (query b): wanted a label that is a number from 0 to 1e+30, came -1",
        ),
        (
            {"features": np.zeros((1, 1)), "queries": ["a"], "weights": {"b": 1}},
            "weights: wanted a weight for each query of arrays, came none for 1 of 1, first query a",
        ),
        (
            {"features": np.zeros((1, 1)), "queries": ["a"], "weights": {"a": -1}},
            "arrays, query a: wanted a weight that is a number from 0 to 1e+30, came -1",
        ),
    ],
)
def test_what_arrays_may_be(arguments: dict, message: str | None) -> None:
    if message is None:  # a group of size 0 is no query
        assert RankingData.from_arrays(**arguments).query_ids == ("0",)
        return
    with pytest.raises(DataError) as caught:
        RankingData.from_arrays(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "change, message",
    [
        ({"features": np.zeros(4, np.float32)}, "arrays: features must be [documents, features], came [4]"),
        (
            {"weight": np.ones(2)},
            "arrays: 3 query ids need 3 group sizes and 3 weights, came 3 and 2",
        ),
        ({"offsets": np.array([0, 2, 3, 5])}, "arrays: the group sizes add up to 5 rows, there are 4"),
        ({"offsets": np.array([0, 2, 2, 4])}, "arrays: wanted group sizes of at least 1, came [2, 0, 2]"),
        (
            {"row": np.arange(3)},
            "arrays: 4 rows of features need as many labels, places and document ids, came 4, 3 and 4",
        ),
    ],
)
def test_parts_must_fit(data: RankingData, change: dict, message: str) -> None:
    with pytest.raises(DataError) as caught:
        replace(data, **change)
    assert str(caught.value) == message


def test_documents_in_descending_order_of_id_stay_in_their_lists() -> None:
    data = RankingData.from_arrays(
        [[1], [2], [3], [4]], [1, 0, 0, 2], queries=["q", "q", "q", "p"], document_ids=["a", "10", "9", "z"]
    )
    ordered = data.reordered(data.id_order())
    assert ordered.document_ids == ("a", "9", "10", "z")
    assert ordered.features[:, 0].tolist() == [1, 3, 2, 4]
    assert (ordered.relevance.tolist(), ordered.row.tolist()) == ([1, 0, 0, 2], [0, 2, 1, 3])

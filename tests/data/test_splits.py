"""Splits by query."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltr.data import DataError, RankingData, split_by_query
from ltr.data.splits import hold_out


def made(queries: list[str]) -> RankingData:
    return RankingData.from_arrays(np.arange(len(queries))[:, None], queries=queries)


def test_unit_is_the_query() -> None:
    # data-24, github.com/dotnet/machinelearning-samples/issues/832
    queries = list("aaabbccccd")
    first, second = split_by_query(made(queries), [0.5, 0.5], seed=1)
    assert len(first.query_ids) == len(second.query_ids) == 2
    assert {*first.query_ids} | {*second.query_ids} == set("abcd")
    assert len(first.relevance) + len(second.relevance) == 10
    for _ in range(5):
        permuted = np.random.default_rng(_).permutation(queries).tolist()
        again = split_by_query(made(permuted), [0.5, 0.5], seed=1)
        assert [{*part.query_ids} for part in again] == [{*first.query_ids}, {*second.query_ids}]


def test_seed_matters() -> None:
    data = made([str(query) for query in range(40)])
    assert len({split_by_query(data, [0.5, 0.5], seed)[0].query_ids for seed in range(10)}) == 10


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 99))
def test_counts_are_kept_and_order_stays(first: int, second: int, seed: int) -> None:
    data = made([f"q{query}" for query in range(first + second)])
    parts = split_by_query(data, [first, second], seed)
    assert [len(part.query_ids) for part in parts] == [first, second]
    assert all((np.diff(part.row) > 0).all() for part in parts)
    assert sorted(np.concatenate([part.row for part in parts])) == list(range(first + second))


def test_three_fractions() -> None:
    parts = split_by_query(made([str(query) for query in range(10)]), [0.6, 0.2, 0.2], seed=0)
    assert [len(part.query_ids) for part in parts] == [6, 2, 2]


@pytest.mark.parametrize(
    "parts, message",
    [
        ([0.5, 0.4], "arrays: wanted parts that are fractions of 1 or numbers of its 4 queries, came [0.5, 0.4]"),
        ([3, 2], "arrays: wanted parts that are fractions of 1 or numbers of its 4 queries, came [3, 2]"),
        ([5, -1], "arrays: wanted parts that are fractions of 1 or numbers of its 4 queries, came [5, -1]"),
        ([], "arrays: wanted parts that are fractions of 1 or numbers of its 4 queries, came []"),
        ([4, 0], "arrays: 4 queries in parts of [4, 0] leave a part without a query"),
        ([0.9, 0.1], "arrays: 4 queries in parts of [0.9, 0.1] leave a part without a query"),
    ],
)
def test_parts_must_add_up_and_hold_a_query(parts: list[float], message: str) -> None:
    with pytest.raises(DataError) as caught:
        split_by_query(made(list("abcd")), parts, seed=0)
    assert str(caught.value) == message


@pytest.mark.parametrize("part, count", [(0.5, 2), (0.01, 1), (3, 3)])
def test_a_share_or_a_number_of_queries_is_held_out(part: float, count: int) -> None:
    kept, held = hold_out(made(list("abcd")), part, seed=1)
    assert len(held.query_ids) == count
    assert {*kept.query_ids} ^ {*held.query_ids} == set("abcd")


def test_nothing_to_hold_out_is_refused() -> None:
    with pytest.raises(DataError, match=r"^arrays: wanted a fraction or a number of queries to hold out, came -1$"):
        hold_out(made(list("abcd")), -1, seed=1)

"""RankedLists: rows of any order and kind as lists, equal scores by id, the first k, padded batches."""

import re
import tracemalloc
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ltr.data import DataError
from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists


def as_dict(lists: RankedLists) -> dict[str, list[tuple[float, float]]]:
    ends = zip(lists.offsets[:-1], lists.offsets[1:], strict=True)
    rows = [list(zip(lists.score[a:b].tolist(), lists.relevance[a:b].tolist(), strict=True)) for a, b in ends]
    return dict(zip(lists.query_ids, rows, strict=True))


def test_rows_of_a_query_are_put_together_in_their_order() -> None:
    # data-15, github.com/dmlc/xgboost/issues/10142
    lists = RankedLists.from_arrays([2, 0, 1, 3, 0], [0.1, 0.9, 0.7, 0.2, 0.4], [20, 10, 20, 10, 20])
    assert as_dict(lists) == {"20": [(0.1, 2), (0.7, 1), (0.4, 0)], "10": [(0.9, 0), (0.2, 3)]}
    assert (lists.judged, lists.pool, lists.documents, lists.missing, lists.source) == (None, None, None, (), "arrays")
    assert lists.weight.tolist() == [1, 1]


def test_without_ids_all_rows_are_one_list() -> None:
    # metric-54, github.com/catboost/catboost/issues/2355
    assert as_dict(RankedLists.from_arrays([0, 1, 2], [3, 2, 1])) == {"0": [(3, 0), (2, 1), (1, 2)]}


@pytest.mark.parametrize(
    "qid, names",
    [
        ([2**70, 2**70 + 1, 2**70], ("1180591620717411303424", "1180591620717411303425")),
        ([2**63, -1, 2**63], ("9223372036854775808", "-1")),
        (np.array([2**64 - 1, 2, 2**64 - 1], dtype=np.uint64), ("18446744073709551615", "2")),
        (["007", "7", "007"], ("007", "7")),
        ([b"b", b"a", b"b"], ("b", "a")),
        (np.array(["b", "a", "b"]), ("b", "a")),
        (np.array([b"b", b"a", b"b"]), ("b", "a")),
        ([(1, 2), (1, 3), (1, 2)], ("(1, 2)", "(1, 3)")),
        (pl.Series(["b", "a", "b"]), ("b", "a")),
        (torch.tensor([5, 3, 5]), ("5", "3")),
        (np.array(["2024-05-02", "2024-05-01", "2024-05-02"], dtype="datetime64[D]"), ("2024-05-02", "2024-05-01")),
        ([1, "x", 1.0], ("1", "x")),
        ((each for each in "bab"), ("b", "a")),
    ],
)  # fmt: skip
def test_ids_are_names_of_any_kind(qid: object, names: tuple[str, ...]) -> None:
    lists = RankedLists.from_arrays([1, 2, 3], [0.1, 0.2, 0.3], qid)
    assert as_dict(lists) == {names[0]: [(0.1, 1), (0.3, 3)], names[1]: [(0.2, 2)]}


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([1, "x", "1"], ", row 2: wanted query ids of one kind, came '1' after 1, which both read 1"),
        ([b"a", "b", "a"], ", row 2: wanted query ids of one kind, came 'a' after b'a', which both read a"),
        ([[1, 2], [3, 4], [1, 2]], ": wanted query ids such as texts or numbers, came unhashable type: 'list'"),
        ([(1, [2]), 1, 2], ": wanted query ids such as texts or numbers, came unhashable type: 'list'"),
        ([{}, {}, {}], ": wanted query ids such as texts or numbers, came unhashable type: 'dict'"),
    ],
)
def test_ids_that_are_no_names(qid: object, message: str) -> None:
    with pytest.raises(DataError, match=f"^arrays{re.escape(message)}$"):
        RankedLists.from_arrays([1, 2, 3], [0.1, 0.2, 0.3], qid)


def test_memory_follows_the_rows() -> None:
    # metric-42, github.com/Lightning-AI/torchmetrics/issues/3290
    tracemalloc.start()
    RankedLists.from_arrays([0, 1, 1, 0], [0.2, 0.8, 0.9, 0.4], [5, 2_000_000_000, 5, 2**62])
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


@pytest.mark.parametrize("kind", [np.int32, np.float32, np.float16, bool, torch.float32, torch.bfloat16, torch.int64])
def test_numbers_may_be_of_any_kind(kind: type) -> None:
    values = torch.tensor([1, 0], dtype=kind) if isinstance(kind, torch.dtype) else np.array([1, 0], dtype=kind)
    lists = RankedLists.from_arrays(values, values)
    assert (lists.relevance.tolist(), lists.score.tolist()) == ([1, 0], [1, 0])
    assert lists.relevance.dtype == lists.score.dtype == np.float64


def test_what_was_given_stays_as_it_was() -> None:
    labels, scores = np.array([1.0, -1.0]), np.array([0.5, 0.7])
    lists = RankedLists.from_arrays(labels, scores, unjudged_label=-1)
    lists.score[:], lists.relevance[:] = 9, 9
    assert (labels.tolist(), scores.tolist()) == ([1, -1], [0.5, 0.7])


def test_unjudged_rows_read_as_zero() -> None:
    lists = RankedLists.from_arrays([-1, 2, 0], [3, 2, 1], unjudged_label=-1)
    assert lists.judged is not None
    assert (lists.relevance.tolist(), lists.judged.tolist()) == ([0, 2, 0], [False, True, True])
    nan = RankedLists.from_arrays([float("nan"), 2, 0], [3, 2, 1], unjudged_label=float("nan"))
    told = RankedLists.from_arrays([-7, 2, 0], [3, 2, 1], judged=[0, 1, 1])
    for same in (nan, told):
        assert same.judged is not None
        assert (same.relevance.tolist(), same.judged.tolist()) == ([0, 2, 0], [False, True, True])


def test_weights_are_those_of_queries() -> None:
    # metric-01, github.com/dmlc/xgboost/issues/8708
    qid = ["b", "a", "b"]
    assert RankedLists.from_arrays([1, 0, 1], [3, 2, 1], qid, weight=[3, 0.5]).weight.tolist() == [3, 0.5]
    assert RankedLists.from_arrays([1, 0, 1], [3, 2, 1], qid, weight=[3, 0.5, 3]).weight.tolist() == [3, 0.5]
    assert RankedLists.from_arrays([1, 0], [3, 2], [7, 5], weight=[3, 0.5]).weight.tolist() == [3, 0.5]


FINE = {"y_true": [1, 0, 2], "y_score": [0.3, 0.2, 0.1], "qid": ["b", "a", "b"]}


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"y_true": [1, 0]}, ": wanted as many scores as labels, at least one, came 3 and 2"),
        ({"y_true": [], "y_score": [], "qid": None}, ": wanted as many scores as labels, at least one, came 0 and 0"),
        ({"y_true": np.zeros((3, 1))}, ": wanted labels as flat numbers, one a row, came shape [3, 1]"),
        ({"y_score": 0.5}, ": wanted scores as flat numbers, one a row, came shape []"),
        ({"y_true": [[1], [0], [2]]}, ": wanted labels as flat numbers, came [1], [0], [2]"),
        ({"y_true": ["1", "0", "2"]}, ": wanted labels as flat numbers, came '1', '0', '2'"),
        (
            {"y_true": [1, None, 2]},
            ", row 1 (query a): wanted a label that is a number from 0 to 1e+30, came nan (1 such in all)",
        ),
        ({"y_score": np.array(["a", "b", "c"])}, ": wanted scores as flat numbers, came 'a', 'b', 'c'"),
        (
            {"y_score": np.array([1, 2**53 + 1, 2**62])},
            ": wanted scores as numbers that float64 tells apart (to 2^53), came 9007199254740993",
        ),
        (
            {"y_true": [1, -1, -2]},
            ", row 1 (query a): wanted a label that is a number from 0 to 1e+30, came -1 (2 such in all); "
            "say unjudged_label if a negative label marks documents that nobody judged",
        ),
        (
            {"y_true": [1, 0, float("nan")]},
            ", row 2 (query b): wanted a label that is a number from 0 to 1e+30, came nan (1 such in all)",
        ),
        (
            {"y_true": [1, 0, 1e31]},
            ", row 2 (query b): wanted a label that is a number from 0 to 1e+30, came 1e+31 (1 such in all)",
        ),
        (
            {"y_score": [1, float("nan"), float("nan")]},
            ", row 1 (query a): wanted a score that is a number, came nan (2 such in all)",
        ),
        ({"qid": ["a", "b"]}, ": wanted a query id for each of 3 rows, came shape [2]"),
        ({"qid": np.zeros((3, 2))}, ": wanted a query id for each of 3 rows, came shape [3, 2]"),
        ({"qid": ["a", None, "b"]}, ", row 1: wanted a query id, came None"),
        ({"qid": np.array([1.0, 2.0, float("nan")])}, ", row 2: wanted a query id, came nan"),
        ({"weight": [1, 2, 3, 4]}, ": wanted a weight for each of 3 rows or 2 queries, came 4"),
        ({"weight": [1, 2, 3]}, ", row 2: wanted one weight a query, came 3 after 1 in query b"),
        (
            {"weight": [1, -2]},
            ": wanted a weight that is a number from 0 to 1e+30 for each query, came -2 for a",
        ),
        (
            {"weight": [1, float("nan")]},
            ": wanted a weight that is a number from 0 to 1e+30 for each query, came none for a",
        ),
        ({"judged": [True]}, ": wanted judged for each of 3 rows, came 1"),
        ({"documents": ["x"]}, ": wanted documents for each of 3 rows, came 1"),
        (
            {"documents": ["x", "x", "x"]},
            ", row 2: wanted each document once in a query, came document x of query b again, first in row 0",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_arrays_is_named(wrong: dict, message: str) -> None:
    with pytest.raises(DataError) as caught:
        RankedLists.from_arrays(**{**FINE, **wrong, "source": "here"})
    assert str(caught.value) == f"here{message}"


def test_one_table_is_a_whole_evaluation() -> None:
    table = pl.DataFrame(
        {
            "query": ["b", "a", "b"],
            "document": ["x", "x", "y"],
            "label": [None, 1, 2],
            "score": [0.5, 0.1, 0.7],
            "weight": [2, None, None],
            "market": ["de", "fr", "de"],
            "price": [5, 7, 6],
        }
    )
    with pytest.raises(DataError) as caught:
        RankedLists.from_table(table, "shop.csv")
    assert str(caught.value) == (
        "shop.csv: wanted a weight that is a number from 0 to 1e+30 for each query, came none for a"
    )
    lists = RankedLists.from_table(table.with_columns(weight=pl.col("weight").fill_null(2)), "shop.csv")
    assert as_dict(lists) == {"b": [(0.5, 0), (0.7, 2)], "a": [(0.1, 1)]}
    assert lists.judged is not None
    assert lists.judged.tolist() == [False, True, True]
    assert np.asarray(lists.documents).tolist() == ["x", "y", "x"]
    assert lists.weight.tolist() == [2, 2]
    assert dict(lists.attributes).keys() == {"market"}
    assert lists.attributes["market"].tolist() == ["de", "fr"]
    with pytest.raises(DataError, match=r"^wanted one value of price a query, came 5 and 6 in query b$"):
        lists.attributes["price"]
    with pytest.raises(DataError, match=r"^wanted an attribute of the queries \(market\), came color$"):
        lists.attributes["color"]


@pytest.mark.parametrize(
    "table, message",
    [
        ({"query": ["a"], "score": [1]}, ": wanted the columns query, label, score, came query, score"),
        ({"query": [], "label": [], "score": []}, ": wanted the columns query, label, score, came no rows"),
        ({"query": ["a", None], "label": [1, 1], "score": [1, 1]}, ", row 1: wanted the id of a query, came none"),
        (
            {"query": ["a"], "label": [1], "score": [None]},
            ", row 0 (query a): wanted a score that is a number, came nan (1 such in all)",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_named(table: dict, message: str) -> None:
    with pytest.raises(DataError) as caught:
        RankedLists.from_table(pl.DataFrame(table), "here")
    assert str(caught.value) == f"here{message}"
    with pytest.raises(DataError, match=r"^here: cannot be read \(.*\)$"):
        RankedLists.from_table(pl.DataFrame({"query": ["a"], "label": ["x"], "score": [1]}), "here")


def test_parts_must_fit() -> None:
    lists = RankedLists.from_arrays([1, 0], [0.5, 0.7])
    with pytest.raises(DataError) as caught:
        replace(lists, offsets=np.array([0, 3]))
    assert str(caught.value) == (
        "arrays: 1 queries with 2 documents need 2 offsets up to 2 and 1 weights, came 2 offsets up to 3 and 1"
    )
    with pytest.raises(DataError) as caught:
        replace(lists, judged=np.array([True]))
    assert str(caught.value) == "arrays: wanted judged for each of 2 documents, came 1"


def test_a_table_of_queries_tells_weights_and_attributes() -> None:
    lists = RankedLists.from_arrays([1, 0, 1], [3, 2, 1], ["a", "b", "c"])
    table = {"query": ["c", "x", "a", "b", "a"], "weight": [3, 9, 1, 2, None], "year": [2024, 9, None, 2025, 2023]}
    told = lists.described_by(pl.DataFrame(table)).described_by(pl.DataFrame({"query": ["b"], "market": ["de"]}))
    assert told.weight.tolist() == [1, 2, 3]
    assert told.attributes["year"].tolist() == [2023, 2025, 2024]
    assert told.attributes["market"].tolist() == [None, "de", None]
    with pytest.raises(DataError) as caught:
        lists.described_by(pl.DataFrame({"query": ["b"], "weight": [1]}), "weights.csv")
    assert str(caught.value) == (
        "weights.csv: wanted a weight that is a number from 0 to 1e+30 for each query, came none for a"
    )
    with pytest.raises(DataError, match=r"^table: wanted one weight a query, came 1 and 2 in query b$"):
        lists.described_by(pl.DataFrame({"query": ["b", "b"], "weight": [1, 2]}))


def test_equal_scores_go_by_descending_id_as_bytes() -> None:
    ids = ["d9", "d10", "é", "z", "Z", "d9x"]
    lists = RankedLists.from_arrays(range(6), [1, 1, 1, 1, 1, 1], documents=ids).by_id()
    assert np.asarray(lists.documents).tolist() == sorted(ids, key=str.encode, reverse=True)
    assert lists.relevance.tolist() == [ids.index(each) for each in lists.documents]  # type: ignore[union-attr]


def test_without_ties_or_ids_nothing_moves() -> None:
    plain = RankedLists.from_arrays([0, 1], [1, 1])
    assert plain.by_id() is plain
    across = RankedLists.from_arrays([0, 1], [1, 1], ["a", "b"], documents=["x", "y"])
    assert across.by_id() is across


ROW = st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, -0.0, 1.0, 2.0, float("inf"), -float("inf")]))


@given(rows=st.lists(ROW, min_size=1, max_size=30), k=st.integers(1, 6), seed=st.integers(0, 99), judged=st.booleans())
def test_the_order_is_that_of_score_then_id(rows: list, k: int, seed: int, judged: bool) -> None:
    names = [f"d{at}" for at in np.random.default_rng(seed).permutation(len(rows))]
    query, score = [row[0] for row in rows], [row[1] for row in rows]
    known = np.arange(len(rows)) % 3 > 0 if judged else None
    lists = RankedLists.from_arrays(range(len(rows)), score, query, documents=names, judged=known)
    expected: dict[str, list[str]] = {each: [] for each in query}
    for at in sorted(range(len(rows)), key=lambda at: (score[at], names[at].encode()), reverse=True):
        expected[query[at]].append(names[at])
    ordered, top = lists.by_id(), lists.top(k)
    assert lists.query_ids == ordered.query_ids == top.query_ids == tuple(expected)
    for place, ranking in enumerate(expected.values()):
        rows_of = slice(ordered.offsets[place], ordered.offsets[place + 1])
        by_score = np.argsort(-ordered.score[rows_of], kind="stable")
        assert np.asarray(ordered.documents)[rows_of][by_score].tolist() == ranking
        kept = np.asarray(top.documents)[top.offsets[place] : top.offsets[place + 1]].tolist()
        given_order = [name for name, each in zip(names, query, strict=True) if each == lists.query_ids[place]]
        assert kept == [name for name in given_order if name in ranking[:k]]  # in the order of the input
        if top is not lists:
            assert top.pool is not None
            assert top.pool_offsets is not None
            labels = lists.relevance[lists.offsets[place] : lists.offsets[place + 1]]
            if lists.judged is not None:
                labels = labels[lists.judged[lists.offsets[place] : lists.offsets[place + 1]]]
            assert top.pool[top.pool_offsets[place] : top.pool_offsets[place + 1]].tolist() == labels.tolist()


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5"])
def test_a_depth_is_a_whole_number(k: object) -> None:
    with pytest.raises(DataError) as caught:
        RankedLists.from_arrays([1], [1]).top(k)  # type: ignore[arg-type]
    assert str(caught.value) == f"arrays: wanted a depth that is a whole number from 1, came {k!r}"


def test_lists_of_one_length_are_views() -> None:
    lists = RankedLists.from_arrays([1, 0, 2, 0], [0.5, 0.7, 0.1, 0.2], ["b", "b", "a", "a"])
    (batch,) = lists.batches()
    assert np.shares_memory(batch.scores, lists.score)
    assert np.shares_memory(batch.relevance, lists.relevance)
    assert batch.scores.tolist() == [[0.5, 0.7], [0.1, 0.2]]
    assert batch.mask.all()
    assert (batch.judged, batch.pool, batch.pool_mask) == (None, None, None)
    torch.from_numpy(batch.scores)  # warns where it may not be written


def test_a_query_without_documents_is_a_row_of_padding() -> None:
    qrels = pl.DataFrame({"query": ["a", "b"], "document": ["x", "y"], "label": [1, 2]})
    run = pl.DataFrame({"query": ["b", "b"], "document": ["y", "z"], "score": [-float("inf"), 2]})
    lists = join(qrels, run)
    (batch,) = lists.batches()
    assert batch.queries.tolist() == [1, 0]
    assert batch.scores.tolist() == [[-float("inf"), 2], [0, 0]]
    assert batch.mask.tolist() == [[True, True], [False, False]]
    assert batch.judged is not None
    assert batch.pool is not None
    assert batch.judged.tolist() == [[True, False], [False, False]]
    assert batch.pool.tolist() == [[2], [1]]
    alone = [each for each in lists.batches(cells=1) if each.queries.tolist() == [0]]
    assert [each.mask.tolist() for each in alone] == [[[False]]]


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=20), cells=st.integers(1, 40))
def test_batches_hold_each_list_once(lengths: list[int], cells: int) -> None:
    query = np.repeat(np.arange(len(lengths)), lengths)
    score = np.arange(len(query), dtype=float)
    lists = RankedLists.from_arrays(score, -score, query, judged=score % 2 > 0)
    seen: dict[int, list[float]] = {}
    for batch in lists.batches(cells):
        assert batch.scores.size <= max(cells, batch.scores.shape[1])
        assert not batch.scores[~batch.mask].any()
        assert not batch.relevance[~batch.mask].any()
        for at, place in enumerate(batch.queries.tolist()):
            assert place not in seen
            seen[place] = batch.scores[at][batch.mask[at]].tolist()
            if batch.judged is not None:
                known = batch.judged[at][batch.mask[at]]
                assert (
                    batch.relevance[at][batch.mask[at]].tolist() == (-batch.scores[at][batch.mask[at]] * known).tolist()
                )
    assert seen == {place: lists.score[lists.offsets[place] : lists.offsets[place + 1]].tolist() for place in seen}
    assert len(seen) == len(lengths)

"""A run beside judgements."""

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltr.data import DataError
from ltr.data.formats.trec import Run, read_qrels, read_run
from ltr.evaluation import columns
from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists


def qrels_of(*rows: tuple[str, str, float | None]) -> pl.DataFrame:
    return pl.DataFrame(rows, {"query": pl.String, "document": pl.String, "label": pl.Float64}, orient="row")


def run_of(*rows: tuple[str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, {"query": pl.String, "document": pl.String, "score": pl.Float64}, orient="row")


QRELS = qrels_of(("b", "x", 2), ("a", "x", 1), ("b", "y", 0), ("c", "z", 3), ("b", "u", None))
RUN = run_of(("d", "x", 9), ("a", "y", 2), ("b", "u", 1), ("b", "y", 3), ("a", "x", 4))


def test_queries_are_those_of_the_judgements() -> None:
    lists = join(QRELS, RUN, source="bm25.run")
    assert lists.query_ids == ("b", "a", "c")
    assert (lists.missing, lists.extra, lists.source) == (("c",), ("d",), "bm25.run")
    assert lists.offsets.tolist() == [0, 2, 4, 4]
    assert lists.score.tolist() == [1, 3, 2, 4]
    assert lists.relevance.tolist() == [0, 0, 0, 1]
    assert np.asarray(lists.documents).tolist() == ["u", "y", "y", "x"]
    assert lists.judged is not None
    assert lists.judged.tolist() == [False, True, False, True]
    assert lists.pool is not None
    assert lists.pool_offsets is not None
    assert (lists.pool.tolist(), lists.pool_offsets.tolist()) == ([2, 0, 1, 3], [0, 2, 3, 4])


def test_a_run_from_a_file_is_a_run(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("a 0 x 1\na 0 y 0\n")
    (tmp_path / "run").write_text("a Q0 y 1 0.5 bm25\na Q0 x 2 0.4 bm25\n")
    assert join(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run")).relevance.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        (Run(RUN, "bm25"), RUN, "the judgements: wanted a polars DataFrame of query, document, label, came Run"),
        (QRELS, "bm25.run", "the run: wanted a polars DataFrame of query, document, score, came str"),
        (QRELS, {"b": {"x": 1.0}}, "the run: wanted a polars DataFrame of query, document, score, came dict"),
        (None, RUN, "the judgements: wanted a polars DataFrame of query, document, label, came NoneType"),
    ],
)
def test_what_is_no_table_is_refused(qrels: Any, run: Any, message: str) -> None:
    with pytest.raises(DataError, match=f"^run: {message}$"):
        join(qrels, run)


def test_ids_of_two_kinds_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING"):
        assert not join(QRELS, run_of(("d", "w", 1), ("a", "doc-x", 2), ("b", "X", 3))).relevance.any()
        join(QRELS, RUN)
        join(QRELS, run_of(("b", "u", 1)))  # known to the judges, who did not judge it
    assert [record.getMessage() for record in caplog.records] == [
        "run: nobody judged a document that the run returned; in query a, for one, the judgements have document x and "
        "the run has doc-x: are these ids of one kind?"
    ]


def test_queries_of_both_sides_only() -> None:
    lists = join(QRELS, RUN, queries="intersection")
    assert (lists.query_ids, lists.missing, lists.extra) == (("b", "a"), ("c",), ("d",))
    assert lists.offsets.tolist() == [0, 2, 4]
    assert lists.pool is not None
    assert lists.pool_offsets is not None
    assert (lists.pool.tolist(), lists.pool_offsets.tolist()) == ([2, 0, 1], [0, 2, 3])


def test_the_same_queries_on_both_sides() -> None:
    with pytest.raises(DataError) as caught:
        join(QRELS, RUN, queries="strict")
    assert str(caught.value) == (
        "run: wanted the same queries on both sides (queries=strict), "
        "came queries that the run lacks: c; that nobody judged: d"
    )
    fewer = QRELS.filter(pl.col("query") != "c")
    with pytest.raises(DataError, match=r"the run lacks: none; that nobody judged: d$"):
        join(fewer, RUN, queries="strict")
    assert join(fewer, RUN.filter(pl.col("query") != "d"), queries="strict").query_ids == ("b", "a")
    with pytest.raises(DataError) as caught:
        join(QRELS, RUN, queries="all")
    assert str(caught.value) == "run: queries must be judged, intersection or strict, got 'all'"


def test_no_query_in_common() -> None:
    others = run_of(*((f"q{at}", "x", at) for at in range(5)))
    for queries in ("judged", "intersection", "strict"):
        with pytest.raises(DataError) as caught:
            join(QRELS, others, queries=queries, source="bm25.run")
        assert str(caught.value) == (
            "bm25.run: no query in common: the judgements have b, a, c, the run has q0, q1, q2 and 2 more"
        )


def test_all_that_was_judged_was_returned() -> None:
    lists = join(qrels_of(("b", "x", 2), ("a", "x", 1)), run_of(("a", "x", 1), ("b", "x", 2)))
    assert (lists.query_ids, lists.judged, lists.pool, lists.pool_offsets) == (("b", "a"), None, None, None)


def test_a_query_that_nobody_judged_may_return_what_others_return() -> None:
    lists = join(
        qrels_of(("b", "x", 2), ("a", "x", 1)), run_of(("d", "x", 9), ("b", "x", 2), ("e", "x", 3), ("a", "x", 1))
    )
    assert (lists.extra, lists.relevance.tolist(), lists.score.tolist()) == (("d", "e"), [2, 1], [2, 1])


def test_scores_may_be_written() -> None:
    lists = join(qrels_of(("b", "x", 2)), run_of(("b", "x", 2)))
    assert lists.score.flags.writeable  # torch warns where it may not
    table = pl.DataFrame({"query": ["a"], "label": [1.0], "score": [2.0]})
    assert RankedLists.from_table(table).score.flags.writeable


def test_a_query_that_nobody_judged_is_no_list_and_one_of_unjudged_documents_is() -> None:
    lists = join(qrels_of(("a", "x", None), ("b", "x", 1)), run_of(("a", "x", 1), ("b", "x", 1)))
    assert lists.query_ids == ("a", "b")
    assert lists.judged is not None
    assert lists.judged.tolist() == [False, True]


def test_a_depth_leaves_the_pool_as_it_was() -> None:
    qrels = qrels_of(("a", "x", 1), ("a", "y", 2), ("a", "z", 3))
    run = run_of(("a", "x", 1), ("a", "y", 1), ("a", "z", 0))
    lists = join(qrels, run, depth=1)
    assert np.asarray(lists.documents).tolist() == ["y"]
    assert lists.pool is not None
    assert lists.pool.tolist() == [1, 2, 3]
    assert join(qrels, run, depth=3).pool is None


def test_weights_and_attributes_come_from_either_side() -> None:
    qrels = QRELS.with_columns(weight=pl.Series([2, 1, 2, 5, None]), kind=pl.Series(["k", None, "k", None, "k"]))
    run = RUN.with_columns(weight=pl.lit(7), kind=pl.lit("r"), seconds=pl.Series([9, 1, 2, 2, 1])).with_row_index(
        "rank"
    )
    lists = join(qrels, run)
    assert lists.weight.tolist() == [2, 1, 5]
    assert lists.attributes["kind"].tolist() == ["k", None, None]
    assert lists.attributes["seconds"][:2].tolist() == [2, 1]
    assert np.isnan(lists.attributes["seconds"][2])
    with pytest.raises(DataError, match=r"^wanted one value of rank a query, came 2 and 3 in query b$"):
        lists.attributes["rank"]


@pytest.mark.parametrize(
    "qrels, run, message",
    [
        (QRELS.drop("label"), RUN, ": the judgements: wanted the columns query, document, label, came query, document"),
        (QRELS, RUN.head(0), ": the run: wanted the columns query, document, score, came no rows"),
        (
            pl.concat([QRELS, QRELS]),
            RUN,
            ": the judgements, row 5: wanted each document once in a query, came document x of query b again, "
            "first in row 0",
        ),
        (
            QRELS,
            pl.concat([RUN, RUN.tail(1)]),
            ": the run, row 5: wanted each document once in a query, came document x of query a again, first in row 4",
        ),
        (
            qrels_of(("a", "x", -1)),
            RUN,
            ": the judgements, row 0: wanted a label that is a number from 0 to 1e+30 (query a, document x), "
            "came '-1.0'; say unjudged_label=-1 if a negative label marks documents that nobody judged",
        ),
        (
            QRELS,
            run_of(("a", "x", float("nan"))),
            ": the run, row 0: wanted a score that is a number (query a, document x), came 'nan'",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_side_is_named(qrels: pl.DataFrame, run: pl.DataFrame, message: str) -> None:
    with pytest.raises(DataError) as caught:
        join(qrels, run, source="bm25.run")
    assert str(caught.value) == f"bm25.run{message}"


def by_hand(qrels: pl.DataFrame, run: pl.DataFrame) -> dict[str, tuple[list, list]]:
    labels: dict[str, dict[str, float | None]] = {}
    for query, document, label in qrels.rows():
        labels.setdefault(query, {})[document] = label
    return {
        query: (
            [(d, score, known.get(d)) for each, d, score in run.rows() if each == query],
            [label for label in known.values() if label is not None],
        )
        for query, known in labels.items()
    }


def as_dict(lists: RankedLists) -> dict[str, tuple[list, list]]:
    judged = np.ones(len(lists.score), np.bool_) if lists.judged is None else lists.judged
    labels = [label if known else None for label, known in zip(lists.relevance.tolist(), judged, strict=True)]
    rows = list(zip(np.asarray(lists.documents).tolist(), lists.score.tolist(), labels, strict=True))
    found = {}
    for place, query in enumerate(lists.query_ids):
        mine = rows[lists.offsets[place] : lists.offsets[place + 1]]
        if lists.pool is None or lists.pool_offsets is None:
            pool = sorted(label for _, _, label in mine if label is not None)
        else:
            pool = lists.pool[lists.pool_offsets[place] : lists.pool_offsets[place + 1]].tolist()
        found[query] = (mine, pool)
    return found


PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwxyz")), min_size=1, max_size=24, unique=True)


@pytest.mark.parametrize("hashes", ["own", "two", "one"])
@given(judged=PAIRS, returned=PAIRS)
def test_agrees_with_a_join_by_hand(hashes: str, judged: list, returned: list) -> None:
    """Also where the hash tells nothing apart, or little."""
    qrels = qrels_of(*((*pair, None if at % 5 == 4 else at % 4) for at, pair in enumerate(judged)))
    run = run_of(*((*pair, at % 3) for at, pair in enumerate(returned)))
    if not set(qrels["query"]) & set(run["query"]):
        return
    with pytest.MonkeyPatch.context() as patch:
        if hashes != "own":
            letters = "uvw" if hashes == "two" else ""
            patch.setattr(
                columns, "_hash", lambda table: np.array([d in letters for d in table["document"]], np.uint64) << 63
            )
        found = as_dict(join(qrels, run))
    expected = by_hand(qrels, run)
    assert list(found) == list(expected)
    for query, (rows, pool) in expected.items():
        assert found[query][0] == rows
        assert sorted(found[query][1]) == sorted(pool)


def test_a_hash_that_tells_all_apart_leaves_nothing_to_compare_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(columns, "_match_as_text")
    assert join(QRELS, RUN).relevance.tolist() == [0, 0, 0, 1]


@pytest.mark.shared
def test_counts_are_those_of_trec_eval(shared: Path) -> None:
    folder = shared / "data" / "trec" / "dl19"
    qrels = read_qrels(folder / "qrels.txt")
    for name in sorted(os.listdir(folder / "expected")):
        if not name.endswith(".trec_eval.gz") or ".level2." in name:
            continue
        lists = join(qrels, read_run(folder / name.replace(".trec_eval.gz", ".run")).table)
        with gzip.open(folder / "expected" / name, "rt") as handle:
            said = {tuple(line.split()[:2]): line.split()[2] for line in handle}
        assert lists.pool is not None
        assert lists.pool_offsets is not None
        for place, query in enumerate(lists.query_ids):
            rows = slice(lists.offsets[place], lists.offsets[place + 1])
            pool = lists.pool[lists.pool_offsets[place] : lists.pool_offsets[place + 1]]
            counts = [rows.stop - rows.start, int((pool >= 1).sum()), int((lists.relevance[rows] >= 1).sum())]
            assert counts == [int(said[measure, query]) for measure in ("num_ret", "num_rel", "num_rel_ret")]

"""Tables of judgements and answers from CSV and Parquet."""

import gzip
import logging
from collections.abc import Callable
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltr.data import DataError
from ltr.data.formats.tables import read_table

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str | bytes | dict[str, list], name: str | None = None) -> Path:
        if isinstance(content, dict):
            path = tmp_path / (name or "table.parquet")
            pl.DataFrame(content).write_parquet(path)
        else:
            path = tmp_path / (name or "table.csv")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def test_ids_are_text(write: Write) -> None:
    # data-13, github.com/terrierteam/pyterrier/pull/254
    table = read_table(write("qid,docid,label,f1\n0012,007,1,0.5\n0012,7,0,0.25\n12,12e3,2,0.75\n12,1.0,0,0.5\n"))
    assert table["query"].to_list() == ["0012", "0012", "12", "12"]
    assert table["document"].to_list() == ["007", "7", "12e3", "1.0"]
    assert table["label"].to_list() == [1, 0, 2, 0]
    assert table["f1"].to_list() == ["0.5", "0.25", "0.75", "0.5"]


def test_ids_of_parquet_become_text(write: Write) -> None:
    table = read_table(write({"q": [2**62 + 1, 7], "docno": ["a", "b"], "rel": [True, False]}))
    assert table.rows() == [("4611686018427387905", "a", 1.0), ("7", "b", 0.0)]


@pytest.mark.parametrize("query", ["query", "qid", "query_id", "q", "QID", " Query "])
@pytest.mark.parametrize("document", ["document", "doc", "docid", "doc_id", "docno", "item"])
def test_ids_go_by_many_names(write: Write, query: str, document: str) -> None:
    table = read_table(write({"market": ["de"], document: ["d"], query: ["q1"], "score": [1.5]}))
    assert table.columns == ["query", "document", "score", "market"]
    assert table.rows() == [("q1", "d", 1.5, "de")]


@pytest.mark.parametrize("label", ["label", "relevance", "rel", "grade"])
@pytest.mark.parametrize("score", ["score", "prediction"])
def test_numbers_go_by_many_names(write: Write, label: str, score: str) -> None:
    table = read_table(write(f"{score},{label},weight,qid\ninf,2,0.5,a\n-1,,,b\n"))
    assert table.columns == ["query", "label", "score", "weight"]
    assert table.rows() == [("a", 2.0, float("inf"), 0.5), ("b", None, -1.0, None)]
    assert table.schema["label"] == table.schema["score"] == table.schema["weight"] == pl.Float64


def test_the_forms_of_a_csv(write: Write) -> None:
    plain = read_table(write('q,doc,score\n1,"a,b\nc",1\n1,"say ""x""",2\n'))
    assert plain.rows() == [("1", "a,b\nc", 1.0), ("1", 'say "x"', 2.0)]
    for text in (
        "q,doc,score\r\n1,a,1\r\n",
        "q,doc,score\r1,a,1\r",
        "\n\nq,doc,score\n\n1,a,1\n\n",
        "\ufeffq,doc,score\n1,a,1",
    ):
        assert read_table(write(text)).rows() == [("1", "a", 1.0)]
    assert read_table(write(gzip.compress(b"q,doc,score\n1,a,1\n"), "a.CSV.gz")).rows() == [("1", "a", 1.0)]


def test_a_table_of_queries(write: Write) -> None:
    table = read_table(write({"qid": [1, 2], "day": [date(2024, 5, 1), None], "weight": [1, 3]}))
    assert table.rows() == [("1", 1.0, date(2024, 5, 1)), ("2", 3.0, None)]


def test_unjudged_labels_have_no_value(write: Write) -> None:
    path = write("q,doc,rel\n1,a,-1\n1,b,4\n1,c,\n")
    assert read_table(path, unjudged_label=-1)["label"].to_list() == [None, 4, None]
    nan = write({"q": ["1", "1"], "doc": ["a", "b"], "rel": [float("nan"), 2.0]})
    assert read_table(nan, unjudged_label=float("nan"))["label"].to_list() == [None, 2]


def test_several_judgements_come_to_one(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write("q,doc,rel,market\n1,a,1,de\n1,a,4,de\n1,b,2,de\n")
    assert read_table(path, assessors="mean").rows() == [("1", "a", 2.5, "de"), ("1", "b", 2.0, "de")]
    with caplog.at_level(logging.WARNING):
        assert len(read_table(write("q,doc,rel\n1,a,1\n1,a,1\n"))) == 1
    assert len(caplog.messages) == 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("", ": no rows: wanted column names and rows below, came an empty file"),
        ("\r\n\n", ": no rows: wanted column names and rows below, came an empty file"),
        ("q,doc,score\n", ": no rows: wanted one row a document below the column names, came none"),
        ("q,doc,score\n,,\n,,\n", ": no rows: wanted one row a document below the column names, came none"),
        (
            "q;doc;score\n1;a;1\n",
            ": wanted a column for the query (query, qid, query_id or q), came columns q;doc;score",
        ),
        ("q,qid,score\n1,a,1\n", ": wanted one column for the query, came q and qid"),
        ("q,rel,Grade,score\n1,a,1,1\n", ": wanted one column for the label, came rel and Grade"),
        ("q,doc,q\n1,a,1\n", ": wanted each column name once, came q again"),
        ("q,doc,score,rel\n1,a,3\n1,b,2,1\n", ", line 2: wanted 4 cells (q, doc, score, rel), came 3: '1,a,3'"),
        ("q,doc,score,rel\n1,a,3,\n\n1,b\n", ", line 4: wanted 4 cells (q, doc, score, rel), came 2: '1,b'"),
        ("q,doc,score\n1,a,3\n1,b,2,1\n", ", line 3: wanted 3 cells (q, doc, score), came 4: '1,b,2,1'"),
        ('q,doc,score\n1,"a,3\n1,b,2\n', ", line 2: wanted 3 cells (q, doc, score), came 2: '1,a,3\\n1,b,2\\n'"),
        ("q,doc,score\n1,a,1\n,b,1\n", ", line 3: wanted the id of a query, came an empty cell"),
        ("q,doc,score\n1,,1\n", ", line 2: wanted the id of a document, came an empty cell"),
        (
            "q,doc,score\n\n1,a,\n",
            ", line 3: wanted a score that is a number (query 1, document a), came an empty cell",
        ),
        ("q,doc,score\n1,a,nan\n", ", line 2: wanted a score that is a number (query 1, document a), came 'nan'"),
        ("q,doc,score\n1,a,1.2.3\n", ", line 2: wanted a score that is a number (query 1, document a), came '1.2.3'"),
        ("q,rel,score\n1,x,1\n", ", line 2: wanted a label that is a number from 0 to 1e+30 (query 1), came 'x'"),
        (
            "q,doc,rel\n1,a,1\n1,b,-2\n",
            ", line 3: wanted a label that is a number from 0 to 1e+30 (query 1, document b), came '-2'; "
            "say unjudged_label=-2 if a negative label marks documents that nobody judged",
        ),
        ("q,weight\n1,2\n2,-3\n", ", line 3: wanted a weight that is a number from 0 to 1e+30 (query 2), came '-3'"),
        ("q,weight\n1,2\n2,inf\n", ", line 3: wanted a weight that is a number from 0 to 1e+30 (query 2), came 'inf'"),
        ("q,weight\n1,much\n", ", line 2: wanted a weight that is a number from 0 to 1e+30 (query 1), came 'much'"),
        (
            "q,doc,score,rel\n1,a,3,1\n1,b,3,1\n1,a,4,1\n",
            ", line 4: wanted each document once in a query, came document a of query 1 again, first in line 2",
        ),
        (
            "q,doc,rel\n1,a,3\n1,a,4\n",
            ", line 3: wanted one judgement of document a of query 1, came label 4 after 3 in line 2; "
            "say assessors=max, majority, majority_higher, mean, median or last",
        ),
        (b"q,doc,score\n1,a,1\n1,\xff,1\n", ", line 3: wanted UTF-8 text, came '1,\\xff,1'"),
        ("q,doc,score\n1,a,1\n".encode("utf-16"), ": wanted a text file, came binary data"),
        (
            gzip.compress(b"q,doc,score\n1,a,1\n", mtime=0)[:-9],
            ": cannot be read (Compressed file ended before the end-of-stream marker was reached)",
        ),
        (f'q,doc,score\n1,"{"x" * 200_000},1\n', ": cannot be read (field larger than field limit (131072))"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_csv_is_named(write: Write, text: str | bytes, message: str) -> None:
    path = write(text)
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert str(caught.value) == f"{path}{message}"


GOOD = st.sampled_from(["1,a{},1", "1,'a\nb{}',1", "1,'a\r\nb\n\n,{}',1", "2,'a,{}',1", ""])


@given(before=st.lists(GOOD, max_size=6), head=st.integers(0, 2), end=st.sampled_from(["\n", "\r\n"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize(
    "row, wanted",
    [
        ("1,z,high", "a score that is a number"),
        ("1,z", "3 cells"),
        ("1,z,1,2", "3 cells"),
        ("1,,1", "the id of a document"),
        ("1,y,1", "each document once in a query, came document y of query 1 again, first in line 1$"),
    ],
)
def test_a_row_goes_by_the_line_on_which_it_begins(
    before: list[str], head: int, end: str, row: str, wanted: str, tmp_path: Path
) -> None:
    """Blank lines and cells of several lines may stand before it."""
    rows = [text.replace("'", '"').format(at) for at, text in enumerate(before)]
    start = ["1,y,1"] if "again" in wanted else []
    parts = [*[""] * head, "q,doc,score", *start, *rows]
    text = "".join(part + end for part in parts)
    path = tmp_path / "t.csv"
    path.write_bytes(f"{text}{row}{end}{end}9,z,1".encode())
    wanted = wanted.replace("line 1", f"line {head + 2}")
    with pytest.raises(DataError, match=rf"^{path}, line {text.count(chr(10)) + 1}: wanted {wanted}"):
        read_table(path)


@pytest.mark.parametrize(
    "columns, message",
    [
        (
            {"q": ["1", "2"], "score": [2**53, 2**53 + 1]},
            ", row 2: wanted a score that float64 tells from its neighbours (to 2^53), came 9007199254740993",
        ),
        (
            {"q": ["1", None], "score": [1.0, 2.0]},
            ", row 2: wanted the id of a query, came an empty cell",
        ),
        (
            {"q": ["1", "2"], "score": [1.0, float("nan")]},
            ", row 2: wanted a score that is a number (query 2), came 'nan'",
        ),
        (
            {"q": [b"1"], "doc": [[1]], "rel": [1]},
            ": wanted ids that are text and labels that are numbers, "
            "came query (Binary), document (List(Int64)), label (Int64)",
        ),
    ],
)
def test_what_is_wrong_with_a_parquet_is_named(write: Write, columns: dict[str, list], message: str) -> None:
    path = write(columns)
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert str(caught.value) == f"{path}{message}"


def test_what_is_no_table_is_named(write: Write, tmp_path: Path) -> None:
    text = write("q,doc\n", "a.txt")
    with pytest.raises(DataError) as caught:
        read_table(text)
    assert str(caught.value) == f"{text}: wanted a .csv, .csv.gz or .parquet file, came 'a.txt'"
    broken = write(b"PAR1", "a.parquet")
    with pytest.raises(DataError, match=rf"^{broken}: cannot be read \(parquet: .*\)$"):
        read_table(broken)
    with pytest.raises(DataError) as caught:
        read_table(tmp_path / "no.csv")
    assert str(caught.value) == f"{tmp_path}/no.csv: no such file or folder"
    with pytest.raises(DataError) as caught:
        read_table(tmp_path)
    assert str(caught.value) == f"{tmp_path}: wanted a file, came a folder"
    with pytest.raises(DataError, match=r"^assessors must be error, .* got 'vote'$"):
        read_table(write("q,doc,rel\n1,a,1\n"), assessors="vote")

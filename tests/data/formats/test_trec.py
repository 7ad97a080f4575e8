"""TREC files. Where trec_eval is named, the rule is that of version 10.0 (get_qrels.c, get_trec_results.c)."""

import gzip
import logging
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltr.data import DataError
from ltr.data.formats.trec import read_qrels, read_run

QRELS = "QUERY ITERATION DOCUMENT LABEL"
RUN = "QUERY Q0 DOCUMENT RANK SCORE TAG"
ANSWER = "q1 Q0 d1 1 2.5 bm25\n"


@pytest.fixture
def write(tmp_path: Path):
    def write_file(text: str | bytes, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file


def test_judgements_have_columns_of_one_kind(write) -> None:
    table = read_qrels(write("q1 0 d2 1\nq2 Q0 d1 0\nq1 0 d1 2.5\n"))
    assert table.schema == {"query": pl.String, "document": pl.String, "label": pl.Float64}
    assert table.rows() == [("q1", "d2", 1.0), ("q2", "d1", 0.0), ("q1", "d1", 2.5)]


def test_a_run_stays_in_its_order_and_its_ranks_are_not_read(write) -> None:
    run = read_run(write("q2 Q0 d1 7 0.25 first\nq1 x d2 one -1e3 second\nq1 Q0 d1 0 +.5 last\n"))
    assert run.table.schema == {"query": pl.String, "document": pl.String, "score": pl.Float64}
    assert run.table.rows() == [("q2", "d1", 0.25), ("q1", "d2", -1000.0), ("q1", "d1", 0.5)]
    assert run.tag == "last"


def test_ids_are_text(write) -> None:
    run = read_run(write('007 Q0 12e3 1 1 t\n7 Q0 "a,b 1 1 t\nnull Q0 é#1 1 1 NA\n'))
    assert run.table["query"].to_list() == ["007", "7", "null"]
    assert run.table["document"].to_list() == ["12e3", '"a,b', "é#1"]


def test_scores_are_64_bit_and_may_be_infinite(write) -> None:
    typed = ["1.000000001", "1", "inf", "-inf", "1e300", "0.1234567890123456789", "-0", "5.", "Infinity"]
    run = read_run(write("".join(f"q Q0 d{at} 1 {score} t\n" for at, score in enumerate(typed))))
    assert run.table["score"].to_list() == [float(score) for score in typed]


@pytest.mark.parametrize(
    "text",
    [
        "q1\tQ0\td1\t1\t2.5\tbm25\nq2\tQ0\td1\t1\t0.5\tbm25\n",
        "  q1   Q0 \t d1 1\t 2.5 bm25  \n\tq2 Q0 d1 1  0.5 bm25\n",
        "q1 Q0 d1 1 2.5 bm25\r\nq2 Q0 d1 1 0.5 bm25\r\n",
        "q1 Q0 d1 1 2.5 bm25\rq2 Q0 d1 1 0.5 bm25\r",
        "q1 Q0 d1 1 2.5 bm25\nq2 Q0 d1 1 0.5 bm25",
        "# a remark of six words here\nq1 Q0 d1 1 2.5 bm25\n  # another\nq2 Q0 d1 1 0.5 bm25\n#",
        "\n\nq1 Q0 d1 1 2.5 bm25\n   \n\nq2 Q0 d1 1 0.5 bm25\n\n",
        "q1 Q0 d1 1 2.5 bm25 and more junk\nq2 Q0 d1 1 0.5 bm25\n",
        "q1 Q0 d1 1 2.5 bm25\nq2 Q0 d1 1 0.5 bm25 x\n",
        "\ufeffq1 Q0 d1 1 2.5 bm25\nq2 Q0 d1 1 0.5 bm25\n",
        gzip.compress(b"q1 Q0 d1 1 2.5 bm25\nq2 Q0 d1 1 0.5 bm25\n"),
        "q1\vQ0\fd1\r1 2.5 bm25\nq2 Q0 d1 1 0.5 bm25\n",
    ],
    ids=[
        "tabs",
        "blanks",
        "crlf",
        "cr",
        "no-end",
        "remarks",
        "empty-lines",
        "junk",
        "late-junk",
        "mark",
        "gzip",
        "spaces",
    ],
)
def test_lines_are_read_as_trec_eval_reads_them(write, text: str | bytes) -> None:
    run = read_run(write(text))
    assert run.table.rows() == [("q1", "d1", 2.5), ("q2", "d1", 0.5)]
    assert run.tag == "bm25"


def test_the_unjudged_label_has_no_value(write) -> None:
    path = write("q1 0 d1 -1\nq1 0 d2 0\nq2 0 d1 -1\n")
    assert read_qrels(path, unjudged_label=-1).rows() == [("q1", "d1", None), ("q1", "d2", 0.0), ("q2", "d1", None)]
    with pytest.raises(DataError, match=r"line 1: .* came '-1'; say unjudged_label=-1 if"):
        read_qrels(path, unjudged_label=-2)


@pytest.mark.parametrize(
    "assessors, expected",
    [("max", 3), ("majority", 0), ("majority_higher", 2), ("mean", 7 / 5), ("median", 2), ("last", 0)],
)
def test_what_several_judgements_come_to(write, assessors: str, expected: float) -> None:
    path = write("q1 a d1 0\nq1 b d1 2\nq1 x d2 1\nq1 c d1 2\nq1 d d1 3\nq1 e d1 0\nq1 f d1 -1\n")
    table = read_qrels(path, assessors=assessors, unjudged_label=-1)
    assert table.rows() == [("q1", "d1", expected), ("q1", "d2", 1)]


def test_equal_judgements_count_once_with_a_warning(write, caplog: pytest.LogCaptureFixture) -> None:
    # data-19, github.com/joaopalotti/trectools/issues/52
    path = write("q1 0 d1 1\nq1 0 d1 1\nq1 0 d2 1\nq1 1 d1 1.0\n")
    with caplog.at_level(logging.WARNING):
        assert read_qrels(path).rows() == [("q1", "d1", 1.0), ("q1", "d2", 1.0)]
    assert caplog.messages == [
        f"{path}, line 2: document d1 of query q1 again, first in line 1 (2 such in all); each document counts once"
    ]


def test_different_judgements_are_an_error(write) -> None:
    path = write("# who\nq1 0 d1 1\nq1 0 d2 1\nq1 0 d1 1\nq1 1 d1 0.5\n")
    with pytest.raises(DataError) as caught:
        read_qrels(path)
    assert str(caught.value) == (
        f"{path}, line 5: wanted one judgement of document d1 of query q1, came label 0.5 after 1 in line 2; "
        "say assessors=max, majority, majority_higher, mean, median or last"
    )
    with pytest.raises(DataError) as caught:
        read_qrels(path, assessors="vote")
    assert str(caught.value) == (
        "assessors must be error, max, majority, majority_higher, mean, median or last, got 'vote'"
    )


def test_a_document_stands_once_in_a_run(write) -> None:
    path = write("q1 Q0 d1 1 3 t\n\nq2 Q0 d1 1 3 t\nq1 Q0 d1 2 2 t\n")
    with pytest.raises(DataError) as caught:
        read_run(path)
    assert str(caught.value) == (
        f"{path}, line 4: wanted each document once in a query, came document d1 of query q1 again, first in line 1"
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("q1 Q0 d1 1 2.5\n", f"line 1: wanted 6 fields '{RUN}', came 5: 'q1 Q0 d1 1 2.5'"),
        (ANSWER + "\n#\nq2 Q0\td2 1 2.5 \r\n", f"line 4: wanted 6 fields '{RUN}', came 5: 'q2 Q0 d2 1 2.5'"),
        (ANSWER + "q2  Q0 d2 1 2.5\n", f"line 2: wanted 6 fields '{RUN}', came 5: 'q2 Q0 d2 1 2.5'"),
        (
            "q1 Q0 my doc 1 9.0 t\n",
            f"line 1: wanted 6 fields '{RUN}', came 7: 'q1 Q0 my doc 1 9.0 t', where SCORE would be '1' and TAG '9.0'; "
            "is there a blank in an id?",
        ),
        (ANSWER + "q", f"line 2: wanted 6 fields '{RUN}', came 1: 'q'"),
        ("query,document,score\nq1,d1,2\n", f"line 1: wanted 6 fields '{RUN}', came 1: 'query,document,score'"),
        ("q1 Q0 " + "d" * 80 + "\n", f"line 1: wanted 6 fields '{RUN}', came 3: 'q1 Q0 {'d' * 51}...'"),
        (
            ANSWER + "q1 Q0 d2 2 high t\n",
            "line 2: wanted a score that is a number (query q1, document d2), came 'high'",
        ),
        (ANSWER + "q1 Q0 d2 2 nan t\n", "line 2: wanted a score that is a number (query q1, document d2), came 'nan'"),
        (ANSWER + "q1 Q0 d2 2 1_0 t\n", "line 2: wanted a score that is a number (query q1, document d2), came '1_0'"),
        (ANSWER + "q1 Q0 d2 2 1,5 t\n", "line 2: wanted a score that is a number (query q1, document d2), came '1,5'"),
        (ANSWER.encode() + b"q1 Q0 d\xff 2 1 t\n", "line 2: wanted UTF-8 text, came 'q1 Q0 d\\xff 2 1 t'"),
    ],
)
def test_a_malformed_line_of_a_run_is_named(write, text: str | bytes, message: str) -> None:
    path = write(text)
    with pytest.raises(DataError) as caught:
        read_run(path)
    assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize(
    "text, message",
    [
        ("q1 0 d1\n", f"line 1: wanted 4 fields '{QRELS}', came 3: 'q1 0 d1'"),
        (ANSWER, f"line 1: wanted 4 fields '{QRELS}', came 6: 'q1 Q0 d1 1 2.5 bm25'"),
        (
            "q1 0 d1 1\nq1 0 d2 1 x\n",
            f"line 2: wanted 4 fields '{QRELS}', came 5: 'q1 0 d2 1 x'; is there a blank in an id?",
        ),
        ("q1 0 d1 1\n q1 0 d2 1 x y\n", f"line 2: wanted 4 fields '{QRELS}', came 6: 'q1 0 d2 1 x y'"),
        (
            "q1 0 d1 1\n\nq1 0 d2 -1\n",
            "line 3: wanted a label that is a number from 0 to 1e+30 (query q1, document d2), came '-1'; "
            "say unjudged_label=-1 if a negative label marks documents that nobody judged",
        ),
        *(
            (
                f"q1 0 d1 {label}\n",
                f"line 1: wanted a label that is a number from 0 to 1e+30 (query q1, document d1), came '{label}'",
            )
            for label in ("nan", "inf", "1e31", "good", "0x1", "1_0")
        ),
        ("q1 0 d\xff 1\n".encode("latin-1"), "line 1: wanted UTF-8 text, came 'q1 0 d\\xff 1'"),
    ],
)
def test_a_malformed_line_of_judgements_is_named(write, text: str | bytes, message: str) -> None:
    path = write(text)
    with pytest.raises(DataError) as caught:
        read_qrels(path)
    assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize("read, form", [(read_qrels, QRELS), (read_run, RUN)])
@pytest.mark.parametrize(
    "text, message",
    [
        ("", ": no rows: wanted lines '{}', came an empty file"),
        (" \n\t\n", ": no rows: wanted lines '{}', came only blank lines"),
        ("# one\n\n  #two", ": no rows: wanted lines '{}', came only remarks and blank lines"),
        (b"PAR1\0\1", ": wanted a text file, came binary data"),
        ("q1 0 d1 1\n".encode("utf-16"), ": wanted a text file, came binary data"),
        (
            gzip.compress(b"q1 0 d1 1\n" * 9, mtime=0)[:-9],
            ": cannot be read (Compressed file ended before the end-of-stream marker was reached)",
        ),
    ],
)
def test_a_file_without_rows_is_named(write, read, form: str, text: str | bytes, message: str) -> None:
    path = write(text)
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value) == f"{path}{message.format(form)}"


@pytest.mark.parametrize("read", [read_qrels, read_run])
def test_what_is_no_file_is_named(read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        read("no.txt")
    assert str(caught.value) == f"{tmp_path}/no.txt: no such file or folder"
    with pytest.raises(DataError) as caught:
        read(".")
    assert str(caught.value) == f"{tmp_path}: wanted a file, came a folder"


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("q1 0 d1 1\nq1 0 d2\n",))
    writer.start()
    with pytest.raises(DataError, match=rf"^{pipe}, line 2: wanted 4 fields"):
        read_qrels(pipe)
    writer.join()


FIELD = st.text(
    st.characters(exclude_categories=["Zs", "Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff"),
    min_size=1,
    max_size=5,
)
ROWS = st.lists(
    st.tuples(FIELD.filter(lambda text: text[0] != "#"), FIELD, st.floats(allow_nan=False)),
    min_size=1,
    unique_by=lambda row: row[:2],
)
GAPS = st.lists(st.sampled_from([" ", " ", "\t", "  ", " \t "]), min_size=1, max_size=4)


@given(rows=ROWS, gaps=GAPS, end=st.sampled_from(["\n", "\r\n", " \n", "\n\n", "\n# q Q0 d 1 1 t\n", " rest\n"]))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reads_what_was_written(rows: list, gaps: list[str], end: str, tmp_path: Path) -> None:
    lines = []
    for at, (query, document, score) in enumerate(rows):
        fields = (query, "Q0", document, str(at), repr(score), "tag")
        lines.append("".join(field + gaps[(at + place) % len(gaps)] for place, field in enumerate(fields)).rstrip())
    path = tmp_path / "run"
    path.write_bytes(("".join(line + end for line in lines)).encode())
    assert read_run(path).table.rows() == rows


def test_a_million_lines_take_no_loop_over_lines(tmp_path: Path) -> None:
    """One call, counted in calls of Python functions: they do not grow with the lines."""

    def calls(rows: int) -> int:
        path = tmp_path / f"{rows}.txt"
        path.write_text("".join(f"q{at // 100} Q0 d{at} 1 {math.sin(at):.6f} t\n" for at in range(rows)))
        seen = 0

        def count(*_: object) -> None:
            nonlocal seen
            seen += 1

        sys.setprofile(count)
        try:
            read_run(path)
        finally:
            sys.setprofile(None)
        return seen

    calls(1)
    assert calls(20_000) < calls(200) + 200


def test_polars_waits_until_a_file_is_read() -> None:
    modules = "ltr.data.formats.trec, ltr.data.formats.tables, ltr.evaluation.lists, ltr.evaluation.joining"
    code = f"import sys, {modules}; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.shared
@pytest.mark.parametrize(
    "name, rows, tag",
    [
        ("results.trunc", 584, "STANDARD"),
        ("results.test", 1500, "STANDARD"),
        ("results.comment.test", 30100, "comment.test"),
    ],
)
def test_the_runs_of_trec_eval(shared: Path, name: str, rows: int, tag: str) -> None:
    path = shared / "data" / "trec" / "trec_eval_test" / name
    run = read_run(path)
    lines = [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]
    assert run.table.rows() == [(line[0], line[2], float(line[4])) for line in lines]
    assert (len(run.table), run.tag) == (rows, tag)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["qrels.test", "qrels.test.with-comments", "qrels.comment.test", "qrels.rel_level"])
def test_the_judgements_of_trec_eval(shared: Path, name: str) -> None:
    path = shared / "data" / "trec" / "trec_eval_test" / name
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    expected = [(line[0], line[2], None if line[3] == "-1" else float(line[3])) for line in lines]
    assert read_qrels(path, unjudged_label=-1).rows() == expected

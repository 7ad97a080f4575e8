"""The LETOR / SVMlight reader. Cases named data-NN and cli-02 are faults that users of ranking tools reported."""

import gzip
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ltr.data import DataError, RankingData, read_letor
from ltr.data.formats import letor as module

CUT_SHORT = gzip.compress(b"1 qid:1 1:1\n" * 9, mtime=0)[:-9]


@pytest.fixture
def write(tmp_path: Path):
    def write_file(text: str | bytes, name: str = "train.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_file


def parts(data: RankingData) -> dict[str, list]:
    return {query: data.select([at]).features.tolist() for at, query in enumerate(data.query_ids)}


def test_remarks_and_blank_lines_hold_no_row(write) -> None:
    # data-01, github.com/dmlc/xgboost/issues/4135
    data = read_letor(
        write(
            "# made by hand\n2 qid:1 1:0.5 2:1.0 # docid = A-1 inc = 1\n\n"
            "0 qid:1 1:0.25 # docid = A-2\n1 qid:2 2:3.0 # docid = B-1\n   \n"
        )
    )
    assert data.features.tolist() == [[0.5, 1.0], [0.25, 0.0], [0.0, 3.0]]
    assert data.relevance.tolist() == [2, 0, 1]
    assert data.lengths.tolist() == [2, 1]
    assert data.document_ids == ("A-1", "A-2", "B-1")


def test_a_row_that_lists_nothing_is_zeros(write) -> None:
    # data-03, github.com/jolibrain/deepdetect/issues/361
    data = read_letor(write("0 qid:1 2:0.5\n1 qid:1\n2 qid:1 1:0.75 2:0.125\n"))
    assert data.features.tolist() == [[0, 0.5], [0, 0], [0.75, 0.125]]
    assert data.relevance.tolist() == [0, 1, 2]


def test_index_base_zero_holds_for_every_split(write) -> None:
    # data-06, github.com/kunaldahiya/pyxclib/issues/10
    train = read_letor(write("1 qid:1 0:0.5 2:1.5\n0 qid:1 1:2.0\n"), index_base=0)
    test = read_letor(write("1 qid:7 1:3.0 2:4.0\n0 qid:7 2:6.0\n"), index_base=0, width=3)
    assert train.features.tolist() == [[0.5, 0, 1.5], [0, 2.0, 0]]
    assert test.features.tolist() == [[0, 3.0, 4.0], [0, 0, 6.0]]


def test_width_comes_from_training(write) -> None:
    # data-08, github.com/lightgbm-org/LightGBM/issues/2668
    assert read_letor(write("1 qid:1 1:1 5:2\n0 qid:1 2:1 5:1\n")).features.shape == (2, 5)
    test = read_letor(write("1 qid:9 1:4 3:7\n0 qid:9 2:3\n"), width=5)
    assert test.features.tolist() == [[4, 0, 7, 0, 0], [0, 3, 0, 0, 0]]


def test_indices_stand_in_any_order(write) -> None:
    # data-10, github.com/ibayer/fastFM/issues/66
    data = read_letor(write("2 qid:1 3:0.3 1:0.1\n0 qid:1 2:0.2 1:0.4\n"))
    assert data.features.tolist() == np.float32([[0.1, 0, 0.3], [0.4, 0.2, 0]]).tolist()


def test_query_ids_are_text(write) -> None:
    # data-12 (github.com/scikit-learn/scikit-learn/issues/5269); data-13's ids in this format
    data = read_letor(
        write("1 qid:9007199254740993 1:5\n0 qid:9007199254740993 1:1\n0 qid:9007199254740992 1:7\n1 qid:0012 1:2\n")
    )
    assert data.query_ids == ("9007199254740993", "9007199254740992", "0012")
    assert data.lengths.tolist() == [2, 1, 1]


def test_rows_of_a_query_are_put_together(write) -> None:
    # data-15, github.com/dmlc/xgboost/issues/10142
    text = "2 qid:20 1:0.1\n0 qid:10 1:0.9\n1 qid:20 1:0.7\n3 qid:10 1:0.2\n0 qid:20 1:0.4\n"
    data = read_letor(write(text))
    assert data.query_ids == ("20", "10")
    assert data.lengths.tolist() == [3, 2]
    assert data.relevance.tolist() == [2, 1, 0, 0, 3]
    assert data.features[:, 0].tolist() == np.float32([0.1, 0.7, 0.4, 0.9, 0.2]).tolist()
    assert data.row.tolist() == [0, 2, 4, 1, 3]
    with pytest.raises(DataError) as caught:
        read_letor(path := write(text), scattered="error")
    assert str(caught.value) == (
        f"{path}, line 3: wanted the rows of a query together (scattered=error), "
        f"came query 20 again, last seen in {path}, line 1"
    )


def test_a_query_may_go_on_in_the_next_file(write) -> None:
    first, second = write("1 qid:a 1:1\n0 qid:b 1:2\n", "1.txt"), write("1 qid:b 1:3\n0 qid:c 1:4\n", "2.txt")
    for scattered in ("gather", "error"):
        assert parts(read_letor([first, second], scattered=scattered)) == {"a": [[1]], "b": [[2], [3]], "c": [[4]]}


def test_document_ids_follow_their_rows(write) -> None:
    data = read_letor(write("1 qid:b 1:1 #docid = B1\n0 qid:a 1:2 # inc=1 docid=A1 x\n0 qid:b 1:3 # nothing\n"))
    assert data.document_ids == ("B1", "", "A1")
    assert read_letor(write("1 qid:b 1:1 # mydocid = 7\n")).document_ids is None


def test_mq2008_remark(write) -> None:
    data = read_letor(write("0 qid:10002 1:0.5 #docid = GX008-86-4444840 inc = 1 prob = 0.086\n"))
    assert data.document_ids == ("GX008-86-4444840",)


def test_fractional_labels_stay(write) -> None:
    assert read_letor(write("0.5 qid:1 1:1\n1.5 qid:1 1:1\n1e-3 qid:1 1:1\n")).relevance.tolist() == [0.5, 1.5, 0.001]


def test_labels_may_lack_where_one_predicts(write) -> None:
    data = read_letor(write("qid:1 1:1 2:2\nqid:2 2:3\nqid:2\n? qid:3 1:5\n"), labelled=False)
    assert data.features.tolist() == [[1, 2], [0, 3], [0, 0], [5, 0]]
    assert data.query_ids == ("1", "2", "3")
    assert not data.labelled
    assert data.relevance.tolist() == [0, 0, 0, 0]


def test_white_space_line_ends_and_mark_mean_nothing(write) -> None:
    data = read_letor(write(b"\xef\xbb\xbf1\tqid:1  1:0.5\t 2:1 \r\n 0 qid:1 1:+.5 2:-1e-1   # docid = \xc3\xa9\r\n"))
    assert data.features.tolist() == np.float32([[0.5, 1], [0.5, -0.1]]).tolist()
    assert data.document_ids == ("", "é")


def test_gzip_several_paths_and_folder(tmp_path: Path) -> None:
    (tmp_path / "part-10.txt").write_text("1 qid:c 1:3\n")
    (tmp_path / "part-2.txt").write_text("1 qid:d 1:4\n")
    (tmp_path / "part-1.txt.gz").write_bytes(gzip.compress(b"1 qid:a 1:1\n0 qid:c 1:2\n"))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".hidden").touch()
    data = read_letor(tmp_path)
    assert parts(data) == {"a": [[1]], "c": [[2], [3]], "d": [[4]]}
    assert data.source == f"{tmp_path / 'part-1.txt.gz'} and 2 more"
    named = read_letor([str(tmp_path / "part-2.txt"), tmp_path / "part-10.txt"])
    assert named.query_ids == ("d", "c")


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_order_of_a_folder_is_by_name(tmp_path: Path, hash_seed: str) -> None:
    # data-30, github.com/Lightning-Universe/lightning-flash/issues/1060
    for name in ("part-10", "part-2", "part-1"):
        (tmp_path / f"{name}.txt").write_text(f"1 qid:{name} 1:1\n")
    code = f"from ltr.data import read_letor; print(*read_letor({str(tmp_path)!r}).query_ids)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["part-1", "part-10", "part-2"]


def test_relative_path_is_of_the_current_folder(write, monkeypatch: pytest.MonkeyPatch) -> None:
    # config-05, github.com/hydra-ecosystem/hydra/issues/922
    path = write("1 qid:1 1:1\n")
    monkeypatch.chdir(path.parent)
    assert read_letor("train.txt").source == str(path)
    with pytest.raises(DataError) as caught:
        read_letor("data/train.txt")
    assert str(caught.value) == f"{path.parent}/data/train.txt: no such file or folder"


def test_labels_are_mapped_where_they_are_read(write) -> None:
    path = write("50 qid:1 1:1\n0 qid:1 1:2\n")
    assert read_letor(path, labels={0: 0, 50: 1}).relevance.tolist() == [1, 0]
    assert read_letor(path, labels={}, labelled=False).labelled is False
    with pytest.raises(DataError, match=r"the label map has no entry for label 50$"):
        read_letor(path, labels={0: 0})


def test_huge_values_are_clipped_with_a_warning(write, caplog: pytest.LogCaptureFixture) -> None:
    # data-21, github.com/lightgbm-org/LightGBM/issues/6149
    path = write("1 qid:1 1:1.79769313486e+308 2:1\n0 qid:1 1:2 2:3\n2 qid:1 1:4 3:-1e400\n1 qid:1 1:1e31\n")
    with caplog.at_level(logging.WARNING):
        data = read_letor(path)
    assert data.features.tolist() == np.float32([[1e30, 1, 0], [2, 3, 0], [4, 0, -1e30], [1e30, 0, 0]]).tolist()
    assert caplog.messages == [f"{path}: values beyond +-1e+30 were clipped (feature 1: 2, feature 3: 1)"]


FORM = "LABEL qid:QUERY INDEX:VALUE ..."


@pytest.mark.parametrize(
    "text, message",
    [
        # data-04 (github.com/o19s/elasticsearch-learning-to-rank/issues/389): no query
        ("4 1:9.5 2:20.0\n", f"line 1: wanted the query as qid:QUERY after the label ('{FORM}'), came '1:9.5'"),
        ("4\n", f"line 1: wanted the query as qid:QUERY after the label ('{FORM}'), came 'the end of the line'"),
        ("4 qid: 1:2\n", f"line 1: wanted the query as qid:QUERY after the label ('{FORM}'), came 'qid:'"),
        ("qid:1 1:2\n", f"line 1: wanted a label before qid: ('{FORM}'), came 'qid:1'"),
        # cli-02 (github.com/dmlc/xgboost/issues/4135): a value that is none
        (
            "1 qid:1 1:0.5 2:0.1\n0 qid:1 1:0.25 2:abc\n",
            "line 2: wanted a finite number as value of feature 2, came 'abc'",
        ),
        ("1 qid:1 1:nan\n", "line 1: wanted a finite number as value of feature 1, came 'nan'"),
        ("1 qid:1 1:1 2:-Inf\n", "line 1: wanted a finite number as value of feature 2, came '-Inf'"),
        ("1 qid:1 1:1e\n", "line 1: wanted a finite number as value of feature 1, came '1e'"),
        ("1 qid:1 1:1_0\n", "line 1: wanted a finite number as value of feature 1, came '1_0'"),
        ("1 qid:1 1:0x1\n", "line 1: wanted a finite number as value of feature 1, came '0x1'"),
        ("1 qid:1 0.5 0.25\n", "line 1: wanted INDEX:VALUE, came '0.5'"),
        ("1 qid:1 1: 2:3 4 5:6\n", "line 1: wanted INDEX:VALUE, came '1:'"),
        ("1 qid:1 1:1 2 5:3:4\n", "line 1: wanted INDEX:VALUE, came '2'"),
        ("1 qid:1 1:2:3\n", "line 1: wanted INDEX:VALUE, came '1:2:3'"),
        ("1 qid:1 1:1\n0 qid:1 1:1:1\n", "line 2: wanted INDEX:VALUE, came '1:1:1'"),
        ("1 qid:1 :3\n", "line 1: wanted INDEX:VALUE, came ':3'"),
        ("1 qid:1 1.5:3\n", "line 1: wanted a whole number as feature index, came '1.5'"),
        ("1 qid:1 qid:3\n", "line 1: wanted a whole number as feature index, came 'qid'"),
        (f"1 qid:1 {'x' * 50}\n", f"line 1: wanted INDEX:VALUE, came '{'x' * 37}...'"),
        (
            "1 qid:1 0:3\n",
            "line 1: wanted feature indices from 1 (index_base), came 0; "
            "say index_base=0 when the features are counted from 0",
        ),
        ("1 qid:1 -2:3\n", "line 1: wanted feature indices from 1 (index_base), came -2"),
        ("1 qid:1 9999999999999999999999:3\n", "line 1: wanted feature indices up to 1000000 (rows are stored dense), "
         "came 9999999999999999999999"),
        ("1 qid:1 3:1 2:1 3:1\n", "line 1: wanted each feature once, came feature 3 again"),
        ("nan qid:1 1:1\n", "line 1: wanted a label that is a number from 0 to 1e+30 (query 1), came 'nan'"),
        ("1 qid:1 1:1\n-1 qid:7 1:1\n", "line 2: wanted a label that is a number from 0 to 1e+30 (query 7), came '-1'"),
        ("inf qid:1 1:1\n", "line 1: wanted a label that is a number from 0 to 1e+30 (query 1), came 'inf'"),
        ("1e99 qid:1 1:1\n", "line 1: wanted a label that is a number from 0 to 1e+30 (query 1), came '1e99'"),
        ("good qid:1 1:1\n", "line 1: wanted a label that is a number from 0 to 1e+30 (query 1), came 'good'"),
        ("1 qid:1 1:\u0661\n", "line 1: wanted a finite number as value of feature 1, came '\u0661'"),
        (b"1 qid:\xff 1:1\n", "line 1: wanted UTF-8 text, came '\\xff'"),
        ("1 qid:1 1:1" + " " * 2000 + "2:\0\n", "line 1: wanted a finite number as value of feature 2, came '\0'"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_named(write, text: str | bytes, message: str) -> None:
    path = write(text)
    with pytest.raises(DataError) as caught:
        read_letor(path)
    assert str(caught.value) == f"{path}, {message}"


@pytest.mark.parametrize(
    "text, message",
    [
        ("", f": no rows: wanted lines '{FORM}', came an empty file"),
        ("# one\n\n#two", f": no rows: wanted lines '{FORM}', came only remarks and blank lines"),
        (" \n\n", f": no rows: wanted lines '{FORM}', came only blank lines"),
        ("1 qid:1\n0 qid:1\n", f": no features: wanted lines '{FORM}', came 2 rows without any"),
        (b"\x89PNG\r\n\0\0", ": wanted a text file, came binary data"),
        ("1 qid:1 1:1\n".encode("utf-16"), ": wanted a text file, came binary data"),
        (CUT_SHORT, ": cannot be read (Compressed file ended before the end-of-stream marker was reached)"),
    ],
)  # fmt: skip
def test_a_file_without_rows_is_named(write, text: str | bytes, message: str) -> None:
    path = write(text)
    with pytest.raises(DataError) as caught:
        read_letor(path)
    assert str(caught.value) == f"{path}{message}"


def test_a_feature_unseen_in_training_is_named(write) -> None:
    path = write("1 qid:9 1:4\n0 qid:9 2:3 6:1\n")
    with pytest.raises(DataError) as caught:
        read_letor(path, width=5)
    assert str(caught.value) == (f"{path}, line 2: feature 6 was not seen in training: wanted features 1 to 5, came 6")
    with pytest.raises(DataError) as caught:
        read_letor(path, width=6, index_base=0)
    assert str(caught.value) == (f"{path}, line 2: feature 6 was not seen in training: wanted features 0 to 5, came 6")


def test_a_document_stands_once_in_a_query(write) -> None:
    first = write("1 qid:1 1:1 # docid = A\n0 qid:2 1:1 # docid = A\n", "a.txt")
    path = write("0 qid:1 1:2 # docid = B\n0 qid:1 1:2 # docid = A\n", "b.txt")
    with pytest.raises(DataError) as caught:
        read_letor([first, path])
    assert str(caught.value) == (
        f"{path}, line 2: wanted each document once in a query, "
        f"came document A of query 1 again, first in {first}, line 1"
    )


def test_what_the_options_may_be(write) -> None:
    path = write("1 qid:1 1:1\n")
    with pytest.raises(DataError, match=r"^index_base must be 0 or 1, got 2$"):
        read_letor(path, index_base=2)
    with pytest.raises(DataError, match=r"^scattered must be gather or error, got 'sort'$"):
        read_letor(path, scattered="sort")


CELLS = st.one_of(st.floats(-(2.0**99), 2.0**99, width=32), st.integers(-9, 9).map(float))
ROWS = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.dictionaries(st.integers(1, 6), CELLS)), min_size=1
)


@given(rows=ROWS, dense=st.booleans(), block=st.integers(1, 20))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_reads_what_was_written(rows: list, dense: bool, block: int, tmp_path: Path) -> None:
    expected = np.zeros((len(rows), 7), dtype=np.float32)
    lines = []
    for at, (label, query, cells) in enumerate(rows):
        written = dict.fromkeys(range(1, 8), 0.0) | cells if dense else cells | {7: 0.5}
        for index, value in written.items():
            expected[at, index - 1] = value
        lines.append(f"{label} qid:{query} " + " ".join(f"{index}:{value!r}" for index, value in written.items()))
    path = tmp_path / "rows.txt"
    path.write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        data = read_letor(path)
    assert np.array_equal(data.features, expected[data.row])
    assert data.relevance.tolist() == [rows[at][0] for at in data.row]
    queries = [query for _, query, _ in rows]
    assert data.query_ids == tuple(dict.fromkeys(queries))
    grouped = [query for query, length in zip(data.query_ids, data.lengths, strict=True) for _ in range(length)]
    assert [queries[at] for at in data.row] == grouped


@pytest.mark.shared
@pytest.mark.parametrize("part, queries, rows", [("S1", 157, 2933), ("S5", 156, 2874)])
def test_mq2008_is_complete(shared: Path, part: str, queries: int, rows: int) -> None:
    data = read_letor(shared / "data" / "mq2008" / f"{part}.txt")
    assert (len(data.query_ids), data.features.shape) == (queries, (rows, 46))
    assert data.document_ids is not None
    assert all(data.document_ids)


@pytest.mark.shared
def test_agrees_with_a_second_reader(shared: Path) -> None:
    path = shared / "data" / "mslr_sample" / "web30k.fold1.vali.18q.txt"
    data = read_letor(path)
    rows = [line.split() for line in path.read_text().splitlines()]
    assert data.relevance.tolist() == [float(row[0]) for row in rows]
    assert np.array_equal(
        data.features, np.array([[cell.split(":")[1] for cell in row[2:]] for row in rows], np.float32)
    )
    assert data.query_ids == tuple(dict.fromkeys(row[1].removeprefix("qid:") for row in rows))

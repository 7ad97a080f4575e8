"""List weights from a file."""

from pathlib import Path

import numpy as np
import pytest

from ltr.data import DataError, RankingData, apply_weights, read_letor, split_by_query


@pytest.fixture
def data() -> RankingData:
    return RankingData.from_arrays(np.zeros((5, 1)), queries=["c", "a", "a", "b", "c"])


def test_weights_travel_with_their_query(data: RankingData, tmp_path: Path) -> None:
    # data-26, github.com/dmlc/xgboost/issues/5550
    path = tmp_path / "weights.txt"
    path.write_text("# by hand\na 1\n\nb\t3.0\nc 4 \n")
    (weighted,) = apply_weights(path, [data])
    assert dict(zip(weighted.query_ids, weighted.weight.tolist(), strict=True)) == {"c": 4, "a": 1, "b": 3}
    for part in split_by_query(weighted, [2, 1], seed=0):
        for query, weight in zip(part.query_ids, part.weight.tolist(), strict=True):
            assert weight == {"a": 1, "b": 3, "c": 4}[query]


def test_one_file_serves_all_splits(data: RankingData, tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    path.write_text("a 1\nb 3\nc 4\n")
    parts = apply_weights(path, [data.select([0, 1]), data.select([2])])
    assert [part.weight.tolist() for part in parts] == [[4, 1], [3]]


def test_read_letor_takes_them(tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("1 qid:b 1:1\n1 qid:a 1:1\n")
    (tmp_path / "weights.txt").write_text("a 0.5\nb 2\n")
    assert read_letor(tmp_path / "train.txt", weights=str(tmp_path / "weights.txt")).weight.tolist() == [2, 0.5]


def test_a_split_read_alone_takes_its_lines_from_the_file_of_all(data: RankingData, tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    path.write_text("a 1\nb 3\nc 4\nelsewhere 9\n")
    (found,) = apply_weights(path, [data], others=True)
    assert found.weight.tolist() == [4, 1, 3]
    (tmp_path / "test.txt").write_text("1 qid:c 1:1\n")
    assert read_letor(tmp_path / "test.txt", weights=path).weight.tolist() == [4]
    (tmp_path / "test.txt").write_text("1 qid:c 1:1\n1 qid:d 1:1\n")
    with pytest.raises(DataError, match=r"came none for 1 of 2, first query d$"):
        read_letor(tmp_path / "test.txt", weights=path)


@pytest.mark.parametrize(
    "text, message",
    [
        ("a 1\nb\n", ", line 2: wanted 'query-id weight', came 'b'"),
        ("a 1 2\n", ", line 1: wanted 'query-id weight', came 'a 1 2'"),
        ("a x\n", ", line 1: wanted a weight that is a number from 0 to 1e+30 (query a), came 'x'"),
        ("a nan\n", ", line 1: wanted a weight that is a number from 0 to 1e+30 (query a), came 'nan'"),
        ("a -1\n", ", line 1: wanted a weight that is a number from 0 to 1e+30 (query a), came '-1'"),
        ("a inf\n", ", line 1: wanted a weight that is a number from 0 to 1e+30 (query a), came 'inf'"),
        ("a 1\nb 1\na 1\n", ", line 3: wanted each query once, came a again, first in line 1"),
        ("a 1\nb 1\nc 1\nd 1\n", ", line 4: query d is in none of the data (arrays)"),
        ("a 1\n", ": wanted a weight for each query of arrays, came none for 2 of 3, first query c"),
    ],
)
def test_a_wrong_file_is_named(data: RankingData, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "weights.txt"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        apply_weights(path, [data])
    assert str(caught.value) == f"{path}{message}"

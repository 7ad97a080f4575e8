"""data=letor."""

import logging
from pathlib import Path

import pytest

from ltr.data import DataError, letor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.txt").write_text("".join(f"{at % 3} qid:{at} 1:1 4:{at}\n0 qid:{at} 1:2\n" for at in range(10)))
    (tmp_path / "vali.txt").write_text("1 qid:v 1:1\n0 qid:v 2:1\n")
    (tmp_path / "test.txt").write_text("2 qid:t 1:1\n0 qid:t 3:1\n")
    return tmp_path


def test_width_is_that_of_training(folder: Path) -> None:
    splits = letor(folder / "train.txt", folder / "vali.txt", folder / "test.txt")
    assert [part.features.shape for part in splits if part is not None] == [(20, 4), (2, 4), (2, 4)]
    with pytest.raises(
        DataError, match=r"test\.txt, line 2: feature 3 was not seen in training: wanted features 1 to 2"
    ):
        letor(folder / "vali.txt", folder / "vali.txt", folder / "test.txt")


@pytest.mark.parametrize("holdout, count", [(0.2, 2), (0.01, 1), (3, 3), (1, 1)])
def test_part_of_training_is_held_out(
    folder: Path, holdout: float, count: int, caplog: pytest.LogCaptureFixture
) -> None:
    path = folder / "train.txt"
    with caplog.at_level(logging.INFO):
        splits = letor(str(path), holdout=holdout, split_seed=3)
    assert splits.validation is not None
    assert splits.test is None
    assert (len(splits.train.query_ids), len(splits.validation.query_ids)) == (10 - count, count)
    assert {*splits.train.query_ids}.isdisjoint(splits.validation.query_ids)
    assert caplog.messages == [
        f"read {path}: 20 documents, 10 queries, 4 features",
        f"{path}: {count} of 10 queries split off for validation (seed 3)",
    ]


def test_no_query_left(folder: Path) -> None:
    path = folder / "vali.txt"
    with pytest.raises(DataError) as caught:
        letor(path)
    assert str(caught.value) == f"{path}: 1 queries in parts of [0, 1] leave a part without a query"
    with pytest.raises(DataError) as caught:
        letor(folder / "train.txt", holdout=0)
    assert str(caught.value) == (f"{folder}/train.txt: wanted a fraction or a number of queries to hold out, came 0")
    with pytest.raises(DataError, match=r"queries in parts of \[0, 10\] leave a part without a query$"):
        letor(folder / "train.txt", holdout=10)


def test_labels_are_mapped(folder: Path) -> None:
    train, validation, _ = letor(folder / "train.txt", folder / "vali.txt", labels={0: 0, 1: 5, 2: 0.5})
    assert sorted(set(train.relevance.tolist())) == [0, 0.5, 5]
    assert validation is not None
    assert validation.relevance.tolist() == [5, 0]
    with pytest.raises(DataError) as caught:
        letor(folder / "train.txt", labels={0: 0, 1: 1})
    assert str(caught.value) == f"{folder}/train.txt: the label map has no entry for label 2"


def test_one_weight_file_serves_all_splits(folder: Path) -> None:
    weights = folder / "weights.txt"
    weights.write_text("".join(f"{at} {at}\n" for at in range(10)) + "v 0.5\nt 7\n")
    splits = letor(folder / "train.txt", folder / "vali.txt", folder / "test.txt", weights=str(weights))
    assert [part.weight.tolist() for part in splits if part is not None] == [list(range(10)), [0.5], [7]]
    with pytest.raises(DataError, match=r"weights\.txt, line 11: query v is in none of the data"):
        letor(folder / "train.txt", None, folder / "test.txt", weights=str(weights))


def test_scattered_and_base_reach_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("1 qid:1 0:1\n0 qid:2 1:1\n0 qid:1 1:3\n")
    train, validation, _ = letor(path, path, index_base=0)
    assert train.features.tolist() == [[1, 0], [0, 3], [0, 1]]
    assert validation is not None
    with pytest.raises(DataError, match="line 3: wanted the rows of a query together"):
        letor(path, path, index_base=0, scattered="error")

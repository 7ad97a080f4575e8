"""What the log says of labels, maps of them, and labels that teach nothing."""

import re
import shlex
import subprocess

import numpy as np
import pytest

from ltr.data import DataError, RankingData, check_trainable, describe_labels, map_labels
from ltr.gains import Binary, Exp2, Gain, Linear, Table


def made(labels: list[float]) -> RankingData:
    return RankingData.from_arrays(np.zeros((len(labels), 1)), labels, lengths=[1] * len(labels), source="train.txt")


def lists_of(labels: list[list[float]], **options: object) -> RankingData:
    flat = [label for each in labels for label in each]
    return RankingData.from_arrays(np.zeros((len(flat), 1)), flat, lengths=[len(each) for each in labels], **options)


def test_each_grade_with_its_gain() -> None:
    report = describe_labels(made([0, 0, 0, 3, 0.5]), Exp2())
    assert report.lines == (
        "labels: 5 documents in 5 lists, 3 of them with nothing relevant",
        "label 0: 3 documents (60.0 %), gain 0",
        "label 0.5: 1 documents (20.0 %), gain 0.414214",
        "label 3: 1 documents (20.0 %), gain 7",
    )
    assert report.warning is None


def test_many_labels_are_summed_up() -> None:
    report = describe_labels(made([float(label) for label in range(101)]), Linear())
    assert report.lines[1:] == (
        "least of 101 different labels: 0, gain 0",
        "lower quartile of 101 different labels: 25, gain 25",
        "median of 101 different labels: 50, gain 50",
        "upper quartile of 101 different labels: 75, gain 75",
        "largest of 101 different labels: 100, gain 100",
    )
    assert report.warning is None


def test_an_exponential_gain_of_a_large_label_warns() -> None:
    assert describe_labels(made([0, 11]), Exp2()).warning == (
        "train.txt: 2 different labels up to 11 under an exponential gain: one document with the largest is worth 2047 "
        "of label 1. Consider the linear gain (metric=ndcg-linear@10), a table of gains "
        "(metric=ndcg-table0_1_3_7@10), or a label map ('data.labels={0:0,50:1,100:2}')"
    )


@pytest.mark.parametrize(
    "labels, gain, warns",
    [
        ([0, 10], Exp2(), False),
        ([0, 10.5], Exp2(), True),
        (np.arange(20) / 10, Exp2(), False),
        (np.arange(21) / 10, Exp2(), True),
        (np.arange(21) / 10, Linear(), False),
        ([0, 100], Linear(), False),
        ([0, 100], Binary(2), False),
        ([0, 2], Table((0, 1, 3)), False),
        ([0, 11], Table(tuple(range(12))), False),
        ([0, 11], Table(tuple(2**grade - 1 for grade in range(12))), True),
        ([0, 2000], Exp2(), True),
    ],
)
def test_when_it_warns(labels: list[float], gain: Gain, warns: bool) -> None:
    assert (describe_labels(made(list(labels)), gain).warning is not None) == warns


def test_a_gain_beyond_float64_is_said_in_words() -> None:
    report = describe_labels(made([0, 2000]), Exp2())
    assert report.lines[-1] == "label 2000: 1 documents (50.0 %), gain beyond float64"
    assert report.warning is not None
    assert "one document with the largest has a gain beyond float64. Consider" in report.warning
    many = describe_labels(made([float(100 * label) for label in range(31)]), Exp2())
    assert many.lines[-1] == "largest of 31 different labels: 3000, gain beyond float64"


def test_the_advice_survives_a_shell() -> None:
    """bash would make three words of braces with commas."""
    warning = describe_labels(made([0, 11]), Exp2()).warning
    assert warning is not None
    (advised,) = re.findall(r"\(('.*?')\)$", warning)
    (option,) = shlex.split(advised)
    assert option == "data.labels={0:0,50:1,100:2}"
    said = subprocess.run(["bash", "-c", f"printf '%s|' {advised}"], capture_output=True, text=True, check=True).stdout
    assert said == f"{option}|"


def test_labels_by_a_map() -> None:
    mapped = map_labels(made([0, 100, 50, 100]), {0: 0, 50: 1, 100: 2})
    assert mapped.relevance.tolist() == [0, 2, 1, 2]
    with pytest.raises(DataError, match=r"^train\.txt: the label map has no entry for label 50$"):
        map_labels(made([0, 50]), {0: 0})
    with pytest.raises(DataError, match=r"wanted a label that is a number from 0 to 1e\+30, came -1$"):
        map_labels(made([0, 50]), {0: 0, 50: -1})


def test_a_table_without_the_label_says_so() -> None:
    with pytest.raises(ValueError, match=r"^gain table: wanted whole labels 0 to 2, got 3$"):
        describe_labels(made([0, 3]), Table((0, 1, 3)))


def test_trainable_data_passes() -> None:
    check_trainable(lists_of([[1, 1], [0, 1], [2]]), "data.train")


@pytest.mark.parametrize(
    "data, message",
    [
        (
            lists_of([[1, 1], [0, 0], [3]]),
            "data.train: the labels are all equal within each of the 3 lists: "
            "no document should stand above another, so this trains on nothing (arrays)",
        ),
        (
            lists_of([[0, 1], [2, 2]], weights={"0": 0, "1": 1}),
            "data.train: every list with different labels has weight 0, so this trains on nothing (arrays)",
        ),
        (lists_of([[0, 1]]).select([]), "data.train: no query left to train on (arrays)"),
        (
            RankingData.from_arrays([[1.0]], queries=["a"]),
            "data.train: wanted labels to train on, came data without labels (arrays)",
        ),
    ],
)
def test_data_that_teaches_nothing_is_refused(data: RankingData, message: str) -> None:
    with pytest.raises(DataError) as caught:
        check_trainable(data, "data.train")
    assert str(caught.value) == message

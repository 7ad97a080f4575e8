"""What the log says of labels."""

import numpy as np
import pytest

from ltr.data import RankingData, describe_labels
from ltr.gains import Binary, Exp2, Gain, Linear, Table


def made(labels: list[float]) -> RankingData:
    return RankingData.from_arrays(np.zeros((len(labels), 1)), labels, lengths=[1] * len(labels), source="train.txt")


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
        "(metric=ndcg-table0_1_3_7@10), or a label map (data.labels={0:0,50:1,100:2})"
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


def test_a_table_without_the_label_says_so() -> None:
    with pytest.raises(ValueError, match=r"^gain table: wanted whole labels 0 to 2, got 3$"):
        describe_labels(made([0, 3]), Table((0, 1, 3)))

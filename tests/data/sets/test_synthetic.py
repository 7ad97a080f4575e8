"""data=synthetic: what is known of it holds."""

import numpy as np
import pytest

from ltr.data import DataError, synthetic
from ltr.data.sets.synthetic import true_score


def test_shape_and_parts() -> None:
    train, validation, test = synthetic(queries=100, documents=10, features=7, seed=2)
    assert validation is not None
    assert test is not None
    assert [len(part.query_ids) for part in (train, validation, test)] == [60, 20, 20]
    assert train.query_ids[:2] + test.query_ids[-1:] == ("q0", "q1", "q99")
    assert train.features.shape[1] == 7
    assert {*train.relevance} == {0, 1, 2, 3, 4}
    assert train.lengths.min() >= 1
    assert train.lengths.max() <= 19
    assert len(set(train.lengths)) > 5


def test_without_noise_grades_follow_the_true_score() -> None:
    train = synthetic(noise=0).train
    score = true_score(train.features)
    blanks = 0
    for start, end in zip(train.offsets, train.offsets[1:], strict=False):
        grades = train.relevance[start:end][np.argsort(score[start:end])]
        assert (np.diff(grades) >= 0).all()
        blanks += not grades.any()
    assert blanks >= 12


def test_shares_of_the_grades() -> None:
    train = synthetic(queries=2000, features=4).train
    listed = np.repeat(np.arange(len(train.query_ids)), train.lengths)
    grades = train.relevance[listed % 10 != 3]
    shares = [np.mean(grades == grade) for grade in range(5)]
    assert shares == pytest.approx([0.55, 0.20, 0.13, 0.08, 0.04], abs=0.015)
    assert np.std(true_score(train.features)) == pytest.approx(1.5, abs=0.05)


@pytest.mark.parametrize("part", [0, 1, 2])
def test_every_tenth_list_has_nothing_relevant(part: int) -> None:
    data = synthetic(queries=100)[part]
    assert data is not None
    largest = np.maximum.reduceat(data.relevance, data.offsets[:-1])
    assert (largest[3::10] == 0).all()


def test_seed_decides_everything() -> None:
    hashes = [synthetic(queries=20, seed=seed).train.content_hash() for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"queries": 4}, "synthetic: wanted queries of at least 5, came 4"),
        ({"documents": 0}, "synthetic: wanted documents of at least 1, came 0"),
        ({"features": 3}, "synthetic: wanted features of at least 4, came 3"),
        ({"noise": -0.1}, "synthetic: wanted noise of at least 0, came -0.1"),
        ({"noise": float("nan")}, "synthetic: wanted noise of at least 0, came nan"),
    ],
)
def test_least_values(arguments: dict, message: str) -> None:
    with pytest.raises(DataError) as caught:
        synthetic(**arguments)
    assert str(caught.value) == message

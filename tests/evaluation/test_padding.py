"""Padded arrays from lists of many lengths."""

import numpy as np
import pytest

from ltr.evaluation.padding import batches_by_width, padded


def test_the_widest_come_first_and_equals_stay_in_order() -> None:
    batches = [batch.tolist() for batch in batches_by_width(np.array([3, 0, 3, 5, 3]), 6)]
    assert batches == [[3], [0, 2], [4, 1]]
    many = np.array([1, 2] * 50)
    assert np.concatenate(list(batches_by_width(many, 6))).tolist() == [*range(1, 100, 2), *range(0, 100, 2)]


@pytest.mark.parametrize("width", [[], [0], [0, 0]])
def test_widths_of_nothing(width: list[int]) -> None:
    batches = [batch.tolist() for batch in batches_by_width(np.array(width, dtype=np.int64), 6)]
    assert batches == ([list(range(len(width)))] if width else [])


def test_what_stands_together_in_one_length_is_a_view() -> None:
    column, offsets = np.arange(7.0), np.array([0, 1, 3, 5, 7])
    (view,), mask = padded([column], offsets, np.array([1, 2]))
    assert view.tolist() == [[1, 2], [3, 4]]
    assert mask.all()
    assert np.shares_memory(view, column)
    (apart,), mask = padded([column], offsets, np.array([3, 1]))
    assert apart.tolist() == [[5, 6], [1, 2]]
    assert mask.all()
    assert not np.shares_memory(apart, column)


def test_padding_is_zero_even_beside_infinities() -> None:
    columns = [np.array([np.inf, -np.inf, 5.0]), np.array([True, True, False])]
    (numbers, flags), mask = padded(columns, np.array([0, 2, 2, 3]), np.array([0, 1, 2]))
    assert numbers.tolist() == [[np.inf, -np.inf], [0, 0], [5, 0]]
    assert flags.tolist() == [[True, True], [False, False], [False, False]]
    assert mask.tolist() == [[True, True], [False, False], [True, False]]


def test_lists_without_rows_are_one_place_wide() -> None:
    (column,), mask = padded([np.zeros(0)], np.array([0, 0, 0]), np.array([0, 1]))
    assert (column.tolist(), mask.tolist()) == ([[0], [0]], [[False], [False]])

"""ltr/inversions.py: pairs counted in a few passes, judged by the matrix of all pairs."""

from itertools import permutations

import pytest
import torch
from torch import Tensor

from ltr.inversions import concordance, inversions, overtaken, righted


def by_matrix(place: Tensor, labels: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    higher = (labels[:, :, None] > labels[:, None]) & mask[:, :, None] & mask[:, None]
    here, there = place[:, :, None], place[:, None]
    return tuple((higher & each).sum((1, 2)).double() for each in (here < there, here > there, here == there))


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_inversions_of_all_orders(length: int) -> None:
    numbers = torch.tensor(list(permutations(range(length))))
    falling = (numbers[:, :, None] > numbers[:, None]).triu(1).sum((1, 2))
    assert torch.equal(inversions(numbers), falling)


def test_equal_numbers_are_no_inversion() -> None:
    assert inversions(torch.tensor([[1, 1, 1], [2, 2, 0], [0, 0, 0]])).tolist() == [0, 2, 0]


@pytest.mark.parametrize("levels", [1, 2, 5, 64])
def test_overtaken_counts_the_earlier_and_larger_ones_of_each(levels: int) -> None:
    torch.manual_seed(levels)
    numbers = torch.randint(0, levels, (20, 64))
    earlier = (numbers[:, :, None] > numbers[:, None]).triu(1).sum(1)
    assert torch.equal(overtaken(numbers), earlier)
    assert torch.equal(earlier.sum(1), inversions(numbers))


@pytest.mark.parametrize("levels", [1, 2, 4, 1000])
def test_pairs_righted_by_a_swap(levels: int) -> None:
    torch.manual_seed(levels)
    mask, labels = torch.rand(10, 12) < 0.8, torch.randint(0, levels, (10, 12)).double() / 3
    place = torch.where(mask, torch.rand(10, 12), 2).argsort(1).argsort(1) + 1.0
    before, found = by_matrix(place, labels, mask)[0], righted(place, labels, mask)(None)
    for i in range(12):
        for j in range(12):
            swapped = place.clone()
            swapped[:, i], swapped[:, j] = place[:, j], place[:, i]
            more = by_matrix(swapped, labels, mask)[0] - before
            assert torch.equal(found[:, i, j], torch.where(mask[:, i] & mask[:, j], more, 0).float())


@pytest.mark.parametrize("levels", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("length", [1, 2, 3, 8, 17, 64])
def test_concordance_is_what_the_matrix_says(length: int, levels: int) -> None:
    torch.manual_seed(length * levels)
    mask = torch.rand(40, length) < 0.8
    labels = torch.randint(0, levels, (40, length)).double() / 3
    for place in (torch.rand(40, length).argsort(1) + 1, torch.randint(1, length + 1, (40, length))):
        assert all(map(torch.equal, concordance(place, labels, mask), by_matrix(place, labels, mask)))
        assert all(map(torch.equal, concordance(place.float(), labels, mask), by_matrix(place, labels, mask)))


def test_documents_in_the_order_that_they_are_listed_in() -> None:
    torch.manual_seed(0)
    mask = torch.arange(30) < torch.randint(0, 31, (40, 1))
    labels, place = torch.randint(0, 5, (40, 30)).double(), torch.arange(30).expand(40, 30)
    assert all(map(torch.equal, concordance(None, labels, mask), by_matrix(place, labels, mask)))


def test_labels_of_the_padding_do_not_matter() -> None:
    mask = torch.tensor([[True, True, False, True, False]])
    place = torch.tensor([[2, 1, 1, 3, 1]])
    for garbage in (-5.0, 0.0, 2.0, 99.0):
        labels = torch.tensor([[1.0, 0.0, garbage, 2.0, garbage]])
        assert [each.item() for each in concordance(place, labels, mask)] == [0, 3, 0]


def test_no_lists_and_no_documents() -> None:
    nothing = torch.zeros(0, 4)
    assert [len(each) for each in concordance(nothing.long(), nothing, nothing.bool())] == [0, 0, 0]
    padded = torch.zeros(2, 4)
    assert [each.tolist() for each in concordance(padded.long(), padded, padded.bool())] == [[0, 0]] * 3


def test_a_list_too_long_for_a_matrix() -> None:
    """Labels that fall from the top down, but for the last document, which has the highest."""
    labels = torch.arange(200_000, 0, -1).double()[None]
    labels[0, -1] = 1e6
    right, wrong, tied = concordance(None, labels, torch.ones_like(labels, dtype=torch.bool))
    assert (right.item(), wrong.item(), tied.item()) == (199_999 * 199_998 / 2, 199_999, 0)

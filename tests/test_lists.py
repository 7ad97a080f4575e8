"""ltr/lists.py: the one check at every door."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from ltr.lists import ListBatch, check_lists, check_weight, ragged
from ltr.metrics import parse


def test_one_list_becomes_a_batch_of_one() -> None:
    scores, relevance, mask = check_lists([0.5, 0.25, 0.0], [2, 0, 1])
    assert scores.tolist() == [[0.5, 0.25, 0.0]]
    assert relevance.tolist() == [[2.0, 0.0, 1.0]]
    assert mask.tolist() == [[True, True, True]]


def test_padded_places_become_zero_whatever_they_held() -> None:
    garbage = torch.tensor([[1.0, torch.nan, torch.inf]])
    scores, relevance, mask = check_lists(garbage, garbage, [[True, False, False]])
    assert scores.tolist() == relevance.tolist() == [[1.0, 0.0, 0.0]]
    assert mask.dtype == torch.bool


def test_a_negative_label_in_padding_is_no_fault() -> None:
    assert check_lists([[1.0, 2.0]], [[1, -1]], [[1, 0]])[1].tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
        (torch.int32, torch.float64),
        (torch.int64, torch.float64),
        (torch.bool, torch.float64),
    ],
)
def test_number_types(given: torch.dtype, read: torch.dtype) -> None:
    scores, relevance, _ = check_lists(torch.ones(1, 2, dtype=given), torch.ones(1, 2, dtype=given))
    assert (scores.dtype, relevance.dtype) == (read, read)


LARGE = 2**53


@pytest.mark.parametrize("read", [list, np.array, lambda row: np.array(row, np.uint64), torch.tensor])
def test_whole_scores_that_float64_would_tie_are_refused(read: Callable[[list[int]], Any]) -> None:
    """Losses too: no training makes such scores. Padding and labels may hold them."""
    fits, larger = [LARGE, LARGE - 1, LARGE + 2], [LARGE, LARGE - 1, LARGE + 1]
    assert check_lists(read(fits), [1, 0, 0])[0].tolist() == [fits]
    message = f"scores must be numbers that float64 tells apart (to 2^53): list 0, document 2 has {LARGE + 1}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_lists(read(larger), [1, 0, 0])
    assert check_lists(read(larger), read(larger), [[1, 1, 0]][0])[0].tolist() == [[LARGE, LARGE - 1, 0]]
    assert parse("mrr")(read(larger), [0, 1, 0], retrieved=[True, True, False]).item() == 1 / 2


def test_whole_numbers_beside_fractions_are_what_python_makes_of_them() -> None:
    assert check_lists([LARGE + 1, 0.5], [1, 0])[0].tolist() == [[float(LARGE), 0.5]]
    assert check_lists([float("inf"), 2.0**60], [1, 0])[0].tolist() == [[float("inf"), 2.0**60]]


def test_where_nothing_may_be_looked_at_they_are_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltr.lists.may_look", lambda values: False)  # as on an accelerator
    assert check_lists(np.array([LARGE + 1, 3]), [1, 0])[0].isnan().tolist() == [[True, False]]


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.float16, np.bool_])
def test_scores_of_any_kind_of_number(kind: type[np.generic]) -> None:
    scores = np.array([1, 0], dtype=kind)
    for options in ({}, {"mask": [True, True]}, {"retrieved": [True, True]}):
        assert parse("mrr")(scores, [0, 1], **options).item() == 1 / 2


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^scores must be real numbers, got complex64$"):
        check_lists(torch.tensor([1j, 2], dtype=torch.complex64), [1, 0])
    with pytest.raises(ValueError, match=r"^relevance must be real numbers, got complex128$"):
        check_lists([1, 0], np.array([1j, 2]))


@pytest.mark.parametrize("wrong", [-1.0, torch.nan, torch.inf])
def test_weights_are_numbers_from_0_on(wrong: float) -> None:
    weight = torch.tensor([0.0, wrong])
    with pytest.raises(ValueError, match=f"^weight must be numbers >= 0, got {wrong:g}$"):
        check_weight(weight)
    assert check_weight(weight[:1]).tolist() == [0.0]


def test_numpy_arrays_keep_their_precision() -> None:
    scores, _, _ = check_lists(np.array([1.0, 1.0 + 1e-9]), np.array([1, 0]))
    assert scores[0, 0] < scores[0, 1]


@pytest.mark.parametrize("name", ["scores", "relevance", "mask"])
@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ([[1, 2], [3]], "have as many documents in each list {}; got lists of 1 to 2"),
        ([[1], [1, 0], [0, 1, 1]] * 9, "have as many documents in each list {}; got lists of 1 to 3"),
        ([torch.ones(3), torch.ones(2)], "have as many documents in each list {}; got lists of 2 to 3"),
        ([[1, [2]], [1, 2]], "be real numbers, got [[1, [2]], [1, 2]]"),
        (["a", "b"], "be real numbers, got ['a', 'b']"),
        ([1j], "be real numbers, got [1j]"),
        ([1, None], "be real numbers, got [1, None]"),
        (np.array(["a"]), "be real numbers, got array(['a'], dtype='<U1')"),
    ],
    ids=str,
)
def test_nested_lists_that_are_no_table_of_numbers(name: str, wrong: Any, rule: str) -> None:
    given = {each: [[1, 0], [0, 1]] for each in ("scores", "relevance", "mask")}
    message = f"{name} must {rule.format('(fill up the shorter ones, and say where by mask)')}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_lists(**{**given, name: wrong})


def test_plain_numbers_keep_their_precision() -> None:
    """Compared as given: these two differ in the 64 bits that Python holds, and not in 32."""
    scores, _, _ = check_lists([1.0, 1.0 + 1e-9], [1, 0])
    assert scores[0, 0] < scores[0, 1]


def test_scores_stay_in_the_graph() -> None:
    leaf = torch.tensor([[0.3, 0.1]], requires_grad=True)
    scores, _, _ = check_lists(leaf, torch.tensor([[1.0, 0.0]]), torch.tensor([[True, False]]))
    (gradient,) = torch.autograd.grad(scores.sum(), leaf)
    assert gradient.tolist() == [[1.0, 0.0]]


def test_nan_scores_pass_where_they_are_not_refused() -> None:
    assert torch.isnan(check_lists([torch.nan, 0.0], [1, 0])[0]).tolist() == [[True, False]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([[0.1, 0.2]], [[1, 0, 2]], [[1, 1]]),
            "scores, relevance and mask must have one shape, [lists, documents] or [documents]; "
            "got [1, 2], [1, 3] and [1, 2]",
        ),
        (
            ([[[0.1]]], [[[1]]]),
            "scores, relevance and mask must have one shape, [lists, documents] or [documents]; "
            "got [1, 1, 1], [1, 1, 1] and [1, 1, 1]",
        ),
        (([0.1, 0.2], [0, -1]), "relevance must not be negative: list 0, document 1 has -1"),
        (([0.1, 0.2], [0, float("inf")]), "relevance must be finite: list 0, document 1 has inf"),
        (
            ([[0.1, 0.2], [0.3, 0.4]], [[1, 0], [-1.5, -0.5]]),
            "relevance must not be negative: list 1, document 0 has -1.5, and 1 more",
        ),
        (([0.1, 0.2], [torch.nan, 0]), "relevance must be a number: list 0, document 0 has nan"),
        (([0.1, torch.nan], [1, 0]), "scores must be numbers: list 0, document 1 has nan"),
    ],
)
def test_what_is_refused(arguments: tuple[list[float], ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_lists(*arguments, finite_scores=True)


def test_a_batch_is_a_named_tuple_of_five() -> None:
    assert ListBatch._fields == ("features", "relevance", "mask", "query", "weight")


# -- flat lists -----------------------------------------------------------------------------------------------------


def test_ragged_by_lengths() -> None:
    index, mask = ragged(5, lengths=[2, 0, 3])
    assert mask.tolist() == [[True, True, False], [False, False, False], [True, True, True]]
    assert index[mask].tolist() == [0, 1, 2, 3, 4]
    assert torch.equal(index, ragged(5, lengths=torch.tensor([2, 0, 3]))[0])


@pytest.mark.parametrize("qid", [["b", "a", "b", "b", "a"], np.array([7, -1, 7, 7, -1]), torch.tensor([7, 3, 7, 7, 3])])
def test_ragged_by_ids_in_any_order(qid: Any) -> None:
    index, mask = ragged(5, qid=qid)
    assert [row[real].tolist() for row, real in zip(index, mask, strict=True)] == [[0, 2, 3], [1, 4]]


def test_ragged_reads_what_stands_for_numbers_and_ids() -> None:
    wanted = ragged(3, lengths=[2, 1])
    for lengths in ((each for each in (2, 1)), np.array([2, 1], np.uint16), torch.tensor([2, 1], dtype=torch.int32)):
        assert all(torch.equal(*each) for each in zip(ragged(3, lengths=lengths), wanted, strict=True))
    for qid in (list(torch.tensor([5, 5, 6])), list(np.array(["x", "x", "y"])), ("x" + "" * i for i in range(3))):
        index, _ = ragged(3, qid=qid)
        assert index[0, :2].tolist() == [0, 1]


@pytest.mark.parametrize("qid", [[1.0, float("nan"), 1.0], [[1], [1], [2]], [{}, {}, {}]])
def test_ragged_ids_can_be_told_apart(qid: Any) -> None:
    with pytest.raises(ValueError, match=r"^qid must hold ids that can be told apart, got .* for document [01]$"):
        ragged(3, qid=qid)


def test_ragged_without_documents() -> None:
    assert [list(each.shape) for each in ragged(0, lengths=[])] == [[0, 0], [0, 0]]
    assert [list(each.shape) for each in ragged(0, lengths=[0, 0])] == [[2, 0], [2, 0]]
    assert [list(each.shape) for each in ragged(0, qid=[])] == [[0, 0], [0, 0]]


@pytest.mark.parametrize("given", [{}, {"lengths": [2], "qid": [0, 0]}])
def test_ragged_wants_one_way_to_tell_lists_apart(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^wanted lengths or qid, one of the two, to tell the lists apart$"):
        ragged(2, **given)


@pytest.mark.parametrize(
    "lengths", [[2, 2], [1, -1, 3], [1.5, 1.5], [[3]], [True, True, True], "3", ["a"], 2, [[1], [1, 1]], [None]]
)
def test_ragged_lengths_add_up(lengths: Any) -> None:
    wanted = "lengths must be whole numbers >= 0 that add up to the 3 documents, got "
    with pytest.raises(ValueError, match=f"^{re.escape(wanted)}"):
        ragged(3, lengths=lengths)


def test_ragged_ids_are_one_a_document() -> None:
    with pytest.raises(ValueError, match=r"^qid must have an id for each of the 3 documents, got 2$"):
        ragged(3, qid=["a", "b"])
    with pytest.raises(ValueError, match=r"^qid must have an id for each of the 3 documents, got 1$"):
        ragged(3, qid=3)

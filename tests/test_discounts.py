"""ltr/discounts.py: what a place is worth."""

import re
from math import log2

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ltr.discounts import Discount, Geometric, Letor, Log2, Reciprocal, Table, read

RANKS = torch.tensor([1.0, 2.0, 3.0, 4.0, 10.0], dtype=torch.float64)
DISCOUNTS = [Log2(), Letor(), Reciprocal(), Geometric(0.8), Geometric(1.0), Table((1.0, 0.5, 0.25))]


@pytest.mark.parametrize(
    ("discount", "weights"),
    [
        (Log2(), [1, 1 / log2(3), 1 / 2, 1 / log2(5), 1 / log2(11)]),
        (Letor(), [1, 1, 1 / log2(3), 1 / 2, 1 / log2(10)]),
        (Reciprocal(), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 10]),
        (Geometric(0.8), [1, 0.8, 0.8**2, 0.8**3, 0.8**9]),
        (Table((1.0, 0.5, 0.25)), [1, 0.5, 0.25, 0, 0]),
    ],
)
def test_weight_of_each_rank(discount: Discount, weights: list[float]) -> None:
    assert discount(RANKS).tolist() == pytest.approx(weights, abs=1e-12)


@pytest.mark.parametrize("discount", DISCOUNTS, ids=str)
def test_never_rises_and_never_falls_below_zero_between_ranks_too(discount: Discount) -> None:
    weights = discount(torch.linspace(1, 30, 291, dtype=torch.float64))
    assert (weights >= 0).all()
    assert (weights.diff() <= 1e-12).all()


@pytest.mark.parametrize("discount", DISCOUNTS, ids=str)
def test_at_least_one_over_the_rank_where_it_says_so(discount: Discount) -> None:
    rank = torch.arange(1, 2001, dtype=torch.float64)
    if discount.above_reciprocal:
        assert (discount(rank) >= 1 / rank - 1e-15).all()
    else:
        assert not isinstance(discount, Log2 | Letor | Reciprocal)


def test_a_table_is_linear_between_its_ranks_and_differentiable() -> None:
    rank = torch.tensor([1.5, 3.5, 4.5], dtype=torch.float64, requires_grad=True)
    weights = Table((1.0, 0.5, 0.25))(rank)
    assert weights.tolist() == [0.75, 0.125, 0.0]
    (gradient,) = torch.autograd.grad(weights.sum(), rank)
    assert gradient.tolist() == [-0.5, -0.25, 0.0]


@pytest.mark.parametrize(
    ("discount", "word", "formula"),
    [
        (Log2(), "log2", "1/log2(1+r)"),
        (Letor(), "letor", "1/log2(max(r,2))"),
        (Reciprocal(), "reciprocal", "1/r"),
        (Geometric(0.8), "geometric0.8", "0.8^(r-1)"),
        (Table((1, 0.5)), "positions1_0.5", "positions(1,0.5)"),
    ],
)
def test_words_and_formulas(discount: Discount, word: str, formula: str) -> None:
    assert (discount.word, discount.formula) == (word, formula)
    assert read(word) == discount


weights = st.lists(st.floats(1e-9, 1e20), min_size=1, max_size=5).map(lambda w: Table(tuple(sorted(w, reverse=True))))


@given(st.one_of(st.floats(1e-9, 1.0).map(Geometric), weights))
def test_every_word_reads_back(discount: Discount) -> None:
    assert read(discount.word) == discount


@pytest.mark.parametrize(
    "word", ["", "log", "exp2", "geometric", "geometric.", "positions", "positions_", "positionse"]
)
def test_other_words_are_no_discount(word: str) -> None:
    assert read(word) is None


@pytest.mark.parametrize("p", [0.0, -0.5, 1.5, float("nan"), True, "0.5"])
def test_a_geometric_discount_needs_a_probability(p: float) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'geometric discount: p must lie in (0, 1], got {p!r}')}$"):
        Geometric(p)


def test_parameters_may_be_numbers_of_any_kind() -> None:
    assert Geometric(np.float32(0.8)) == Geometric(0.8)
    assert Table(np.array([1, 0])) == Table((1.0, 0.0))


@pytest.mark.parametrize(
    ("table", "came"),
    [
        *(((), []), ((0.5, 1.0), [0.5, 1.0]), ((1.0, -0.5), -0.5), ((float("inf"), 1.0), float("inf"))),
        *(([0.0] * count, [0.0] * count) for count in (1, 2, 5)),
    ],
)
def test_a_table_that_rises_or_holds_what_is_no_weight_is_refused(table: tuple[float, ...], came: object) -> None:
    message = f"discount table: wanted numbers >= 0 that never rise, not all of them 0, got {came!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Table(table)

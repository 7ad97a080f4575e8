"""ltr/gains.py: what a grade is worth."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ltr.gains import LEAST, Binary, Exp2, Gain, Linear, Table, number, read, real, row

LABELS = torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
TABLE = Table((0, 1, 3, 7, 100))
GAINS = [Exp2(), Linear(), Binary(), Binary(2), TABLE]


@pytest.mark.parametrize(
    ("gain", "worth"),
    [
        (Exp2(), [2**0 - 1, 2**1 - 1, 2**2 - 1, 2**3 - 1, 2**4 - 1]),
        (Linear(), [0, 1, 2, 3, 4]),
        (Binary(), [0, 1, 1, 1, 1]),
        (Binary(2.5), [0, 0, 0, 1, 1]),
        (TABLE, [0, 1, 3, 7, 100]),
    ],
)
def test_worth_of_each_grade(gain: Gain, worth: list[float]) -> None:
    assert gain(LABELS).tolist() == [worth]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_2_to_the_y_less_1_is_exact_for_whole_labels(dtype: torch.dtype) -> None:
    """Rounded once, where the type does not hold it."""
    labels = torch.arange(61, dtype=dtype)
    assert Exp2()(labels).tolist() == torch.tensor([float(2**y - 1) for y in range(61)], dtype=dtype).tolist()
    top = torch.full_like(labels, 60)
    relative = [2.0 ** (y - 60) - 2.0**-60 for y in range(61)]
    assert Exp2().relative(labels, top).tolist() == torch.tensor(relative, dtype=torch.float64).to(dtype).tolist()


@given(st.one_of(st.floats(1e-300, 1), st.floats(0.9, 3), st.floats(1, 60)))
def test_2_to_the_y_less_1_loses_nothing_of_a_small_label(label: float) -> None:
    true = math.expm1(label * math.log(2))
    labels = torch.tensor([label], dtype=torch.float64)
    assert Exp2()(labels).item() == pytest.approx(true, rel=1e-14, abs=0)
    assert Exp2().relative(labels, labels).item() == pytest.approx(true * 2**-label, rel=1e-14, abs=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_2_to_the_y_less_1_does_not_fall_at_1(dtype: torch.dtype) -> None:
    below = torch.nextafter(torch.ones(1, dtype=dtype), torch.zeros(1, dtype=dtype))
    assert Exp2()(below) <= 1
    assert Exp2().relative(below, torch.ones_like(below)) <= 1 / 2


def test_fractional_labels_are_used_as_they_are() -> None:
    assert Exp2()(torch.tensor([0.5])).item() == pytest.approx(2**0.5 - 1)
    assert Linear()(torch.tensor([0.5])).item() == 0.5


@pytest.mark.parametrize("gain", GAINS, ids=str)
def test_relative_gains_are_the_gains_over_a_constant_of_the_list(gain: Gain) -> None:
    relative = gain.relative(LABELS, LABELS.amax(1, keepdim=True))
    assert relative.max() <= 1
    assert torch.allclose(relative * gain(LABELS).max(), gain(LABELS) * relative.max())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("top", [100.0, 2000.0])
def test_large_labels_do_not_overflow(top: float, dtype: torch.dtype) -> None:
    relative = Exp2().relative(
        torch.tensor([[top, top - 1, 1.0, 0.0]], dtype=dtype), torch.tensor([[top]], dtype=dtype)
    )
    assert relative[0].tolist() == pytest.approx([1, 0.5, 0, 0], abs=1e-12)


@pytest.mark.parametrize("gain", GAINS, ids=str)
def test_lists_of_zeros_and_of_nothing_are_worth_nothing(gain: Gain) -> None:
    assert gain.relative(torch.zeros(2, 3), torch.zeros(2, 1)).abs().sum() == 0
    assert gain.relative(torch.zeros(2, 0), torch.zeros(2, 1)).shape == (2, 0)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (5.0, "gain table: wanted whole labels 0 to 4, got 5"),
        (1.5, "gain table: wanted whole labels 0 to 4, got 1.5"),
    ],
)
def test_a_label_that_the_table_lacks_is_an_error(label: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        TABLE(torch.tensor([0.0, label]))


def test_a_table_keeps_its_fractions_for_whole_number_labels() -> None:
    assert Table((0, 0.5, 1.5))(torch.tensor([1, 2])).tolist() == [0.5, 1.5]


@pytest.mark.parametrize(
    ("gains", "came"),
    [
        *(((), []), ((0.0, 2.0, 1.0), [0.0, 2.0, 1.0]), ((-1.0, 2.0), -1.0), ((0, torch.inf), torch.inf), ("01", "0")),
        *(([0.0] * count, [0.0] * count) for count in (1, 2, 5)),
    ],
)
def test_a_table_that_falls_or_holds_what_is_no_gain_is_refused(gains: tuple[float, ...], came: object) -> None:
    message = f"gain table: wanted numbers >= 0 that never fall, not all of them 0, got {came!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        Table(gains)


@pytest.mark.parametrize(
    ("gain", "word", "formula"),
    [
        (Exp2(), "exp2", "2^y-1"),
        (Linear(), "linear", "y"),
        (Binary(2.0), "binary2", "[y>=2]"),
        (Table((0, 0.5, 3)), "table0_0.5_3", "table(0,0.5,3)"),
    ],
)
def test_words_and_formulas(gain: Gain, word: str, formula: str) -> None:
    assert (gain.word, gain.formula) == (word, formula)
    assert read(word) == gain


positive = st.floats(1e-9, 1e20)


@given(
    st.one_of(positive.map(Binary), st.lists(positive, min_size=1, max_size=5).map(lambda g: Table(tuple(sorted(g)))))
)
def test_every_word_reads_back(gain: Gain) -> None:
    assert read(gain.word) == gain


@pytest.mark.parametrize("word", ["", "exp", "log2", "binary", "binary.", "table", "table_", "table1__2", "binarye"])
def test_other_words_are_no_gain(word: str) -> None:
    assert read(word) is None


@pytest.mark.parametrize(("value", "text"), [(2.0, "2"), (0.5, "0.5"), (0, "0"), (1e15, "1000000000000000")])
def test_the_shortest_text_of_a_number(value: float, text: str) -> None:
    assert number(value) == text


@given(positive)
def test_numbers_read_back_and_hold_nothing_that_a_name_uses(value: float) -> None:
    assert float(number(value)) == value
    assert set(number(value)) <= set("0123456789.")


NUMBERS = [np.float64(2), np.float32(2), np.float16(2), np.int64(2), np.uint8(2), Fraction(2), 2, 2.0]


@pytest.mark.parametrize("value", NUMBERS, ids=lambda each: type(each).__name__)
def test_a_number_of_any_kind_is_a_plain_one(value: Any) -> None:
    assert type(real(value, "k")) is float
    assert real(value, "k", 2, 2, whole=True) == 2
    assert Binary(value) == Binary(2.0)
    assert Table((0, value)) == Table((0.0, 2.0))


def test_the_digits_of_a_number_are_kept_and_a_zero_has_no_sign() -> None:
    assert real(np.float32(0.7), "p") == 0.7
    assert Table((-0.0, 1)).word == "table0_1"


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), np.nan, np.float32("inf"), -1, 10**400, "2", None, Decimal(2), np.array(2.0)]
)
def test_what_is_no_number_from_0_on(value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'wanted it, got {value!r}')}$"):
        real(value, "wanted it")
    with pytest.raises(ValueError, match=r"^binary gain: the threshold must be a number >= 0, got "):
        Binary(value)


def test_a_number_out_of_its_range_or_not_whole() -> None:
    for value, options in ((0, {"low": LEAST}), (1.5, {"high": 1}), (1.5, {"whole": True})):
        with pytest.raises(ValueError, match=f"^wanted it, got {value}$"):
            real(value, "wanted it", **options)


def test_gains_are_values() -> None:
    assert len({Exp2(), Exp2(), Linear(), Binary(1), Binary(1.0), Table((0, 1)), Table((0.0, 1.0))}) == 4


def test_the_row_of_a_table_is_copied_to_an_accelerator_once() -> None:
    elsewhere = torch.empty(0, device="meta")
    with torch.inference_mode():
        first = row((0.0, 7.5), elsewhere, torch.float64)
    assert row((0.0, 7.5), elsewhere, torch.float64) is first
    assert (first.shape, first.device.type, first.is_inference()) == ((2,), "meta", False)
    assert row((0.0, 7.5), elsewhere, torch.float32).dtype == torch.float32
    assert row((0.0, 7.5), torch.empty(0), torch.float64).tolist() == [0, 7.5]


def test_a_table_compiles() -> None:
    torch.compiler.reset()
    assert torch.equal(torch.compile(TABLE, backend="eager", fullgraph=True)(LABELS), TABLE(LABELS))

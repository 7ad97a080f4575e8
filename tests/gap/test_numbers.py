"""ltr/gap/numbers.py"""

from math import inf, nan

import pytest

from ltr.gap.numbers import counted, known, number, percent


@pytest.mark.parametrize(("value", "sign", "text"), [
    (0.0, False, "0.0000"), (0.12345, False, "0.1235"), (0.05, True, "+0.0500"), (-0.05, True, "-0.0500"),
    (999.9, False, "999.9000"), (1000.0, False, "1000"), (4.0139808258602776e40, True, "+4.014e+40"),
    (None, True, "-"), (nan, True, "nan"), (inf, False, "inf"), (-inf, True, "-inf"),
])  # fmt: skip
def test_a_number_fits_its_column(value: float | None, sign: bool, text: str) -> None:
    assert number(value, sign=sign) == text
    assert len(text) <= 10


def test_digits() -> None:
    assert number(0.126, 2) == "0.13"


@pytest.mark.parametrize(("count", "noun", "text"), [
    (0, "list", "0 lists"), (1, "list", "1 list"), (2, "graded document", "2 graded documents"),
    (1, "query", "1 query"), (11, "query", "11 queries"),
])  # fmt: skip
def test_how_many_there_are(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


def test_numbers_and_shares() -> None:
    assert [known(each) for each in (0.5, nan, None)] == ["0.5000", "-", "-"]
    assert [percent(each) for each in (0, 1e-9, 0.0004, 0.0005, 0.5, 0.9994, 0.99951, 1)] == [
        "0.0 %", "< 0.1 %", "< 0.1 %", "0.1 %", "50.0 %", "99.9 %", "> 99.9 %", "100.0 %",
    ]  # fmt: skip

"""How a number, or a number of things, is written for a person: one way in all lines and tables."""

from __future__ import annotations

from math import isfinite


def number(value: float | None, digits: int = 4, *, sign: bool = False) -> str:
    """The number with so many decimals, of which large ones have none; "-" where there is none.

    Args:
        value: in any unit.
        digits: decimals below 1000; from there on as many significant digits.
        sign: write the plus of a positive one: of a difference.

    Example:
        >>> number(0.25), number(-0.5, 2), number(0.05, sign=True), number(None), number(float("nan"))
        ('0.2500', '-0.50', '+0.0500', '-', 'nan')
        >>> number(40139808258602776788681234.0), number(-1234.5)
        ('4.014e+25', '-1234')
    """
    if value is None:
        return "-"
    form = f"{'+' if sign and isfinite(value) else ''}.{digits}{'f' if abs(value) < 1000 else 'g'}"
    return format(value, form)


def known(value: float | None, *, sign: bool = False) -> str:
    """A number of a table, "-" where there is none.

    Example:
        >>> known(0.5), known(float("nan")), known(None), known(0.5, sign=True)
        ('0.5000', '-', '-', '+0.5000')
    """
    return number(None if value is None or value != value else value, sign=sign)


def span(low: float, high: float, *, sign: bool = False) -> str:
    """An interval, "-" where there is none.

    Example:
        >>> span(0.25, 0.5), span(-0.1, 0.2, sign=True), span(float("nan"), 1)
        ('0.2500 to 0.5000', '-0.1000 to +0.2000', '-')
    """
    return f"{number(low, sign=sign)} to {number(high, sign=sign)}" if low <= high else "-"


def percent(share: float) -> str:
    """A share with one decimal; what is not nothing is not 0, and what is not all is not 100.

    Example:
        >>> percent(0.0791), percent(0.00001), percent(0.99999), percent(1)
        ('7.9 %', '< 0.1 %', '> 99.9 %', '100.0 %')
    """
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return "> 99.9 %" if 0.9995 <= share < 1 else f"{100 * share:.1f} %"


def counted(count: int, noun: str) -> str:
    """How many there are, in words of the right number.

    Args:
        count: from 0 on.
        noun: of one of them, with its plural in -s, or -ies where it ends in y.

    Example:
        >>> counted(1, "query"), counted(2, "query"), counted(0, "list")
        ('1 query', '2 queries', '0 lists')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"

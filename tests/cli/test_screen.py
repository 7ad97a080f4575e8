"""Tables where the output is no terminal."""

import math

import pytest

from ltr.cli.screen import show, span


def test_a_table_is_not_squeezed_into_a_narrow_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show(("metric", "95 % interval"), [("ndcg-linear@10" * 3, "0.1000 to 0.2000" * 4)])
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "ndcg" in line]
    assert "ndcg-linear@10" * 3 in row
    assert "0.1000 to 0.2000" * 4 in row


def test_an_interval_or_none() -> None:
    assert span(0.1, 0.25) == "0.1000 to 0.2500"
    assert span(-0.1, 0.25, "+") == "-0.1000 to +0.2500"
    assert span(math.nan, math.nan) == "-"

"""The tables of docs/choosing.md: names that are read, and differences that follow from their formula."""

import re
from pathlib import Path

from ltr.metrics import METRICS, parse

PAGE = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The cells of the table whose head begins so, the head left out."""
    table = re.search(rf"^\| {heading} \|.*?\n\n", PAGE, re.MULTILINE | re.DOTALL)
    assert table
    return [line.strip("| ").split(" | ") for line in table[0].splitlines()[2:] if line]


def test_every_metric_that_a_task_is_given_has_a_name_that_is_read() -> None:
    names = [name for row in rows("task") for cell in row for name in re.findall(r"`([^`]+)`", cell)]
    assert len(names) > 20
    assert all(parse(name).name == name for name in names)


def test_every_metric_has_its_blind_spot() -> None:
    said = {name for row in rows("metric") for name in re.findall(r"`([^`]+)`", " ".join(row))}
    assert said == set(METRICS)


def test_the_detectable_differences_follow_from_the_formula() -> None:
    head = re.search(r"^\| queries \| SD (.+?) \|$", PAGE, re.MULTILINE)
    assert head
    spreads = [float(word) for word in head[1].split(" | ")]
    for queries, *cells in rows("queries"):
        n = int(queries.replace(",", ""))
        assert cells == [f"{2.8 * spread / n**0.5:.3f}" for spread in spreads]

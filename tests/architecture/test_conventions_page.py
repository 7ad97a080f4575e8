"""What docs/conventions.md says of names, options and presets is what the code does."""

import re
from pathlib import Path

import pytest

from ltr.metrics import METRICS, parse
from ltr.metrics.parse import ALIASES
from ltr.metrics.presets import PRESETS

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text()
NEEDS = dict.fromkeys(("err", "gradedap"), "-max4")


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, its head left out."""
    table = re.search(r"^\|.*?\n\n", PAGE[PAGE.index(f"\n## {heading}\n") :], re.MULTILINE | re.DOTALL)
    assert table
    return [line.strip("| ").split(" | ") for line in table[0].splitlines()[2:] if line]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_table_of_names_has_every_metric_and_every_alias_is_read_as_its_base() -> None:
    seen = []
    for name, _, *aliases in rows("Names"):
        metric = parse(name.strip("`"))
        seen.append(type(metric))
        for alias in words("".join(aliases)):
            assert type(parse(alias)) is type(metric), alias
    assert seen == list(METRICS.values())


def test_no_alias_is_left_out_of_the_table() -> None:
    shown = {re.split(r"[(@]|_\d", alias)[0].lower() for *_, cell in rows("Names") for alias in words(cell)}
    assert set(ALIASES) <= shown | set(METRICS) | {"relative_p", "p", "r"}


def said(row: list[str]) -> set[str]:
    """The bases that a row of the table of options is about."""
    listed = {base for base in words(row[1]) if base in METRICS}
    return set(METRICS) - listed if row[1].startswith("all") else listed


@pytest.mark.parametrize("row", rows("Options"), ids=lambda row: row[0].partition(":")[0].replace(" ", "-"))
def test_every_word_of_an_option_is_read_by_the_metrics_that_it_is_said_to_belong_to(row: list[str]) -> None:
    assert said(row)
    assert words(row[-1])
    for base in said(row):
        for word in words(row[-1]):
            needed = "" if word.startswith("max") else NEEDS.get(base, "")
            metric = parse(f"{base}{needed}-{word}")
            assert word in metric.name or metric == parse(base), (base, word)  # bpref is condensed anyway


def test_no_metric_reads_a_word_that_the_table_does_not_give_it() -> None:
    takers: dict[str, set[str]] = {}
    for row in rows("Options"):
        for word in words(row[-1]):
            takers[word] = takers.get(word, set()) | said(row)
    for word, bases in takers.items():
        for base in set(METRICS) - bases:
            with pytest.raises(ValueError, match=r"has no option|has a rule of its own"):
                parse(f"{base}{NEEDS.get(base, '')}-{word}")


def test_the_table_of_presets_is_that_of_the_code() -> None:
    wanted = {
        name: [each.about, ", ".join(f"`{base}`" for base in each.metrics), f"`{each.queries}`"]
        for name, each in PRESETS.items()
    }
    assert {words(name)[0]: cells for name, *cells in rows("Presets")} == wanted

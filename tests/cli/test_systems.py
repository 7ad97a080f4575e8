"""Systems in files: their names, and which queries count once they are read."""

from pathlib import Path

import pytest

from ltr.cli.errors import ConfigError
from ltr.cli.systems import are_files, find_run, named, read_systems
from ltr.data import DataError
from ltr.runs import RunError


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["runs/bm25.run", "dense.trec.gz"], ["bm25", "dense"]),
        (["a.run", "a.run.gz"], ["a.run", "a.run.gz"]),
        (["x/run.txt", "y/run.txt"], ["x/run", "y/run"]),
        (["x/run.txt", "x/run.csv", "y/run.csv"], ["x/run.txt", "x/run.csv", "y/run.csv"]),
        ([".run"], [".run"]),
        (["input.system"], ["input.system"]),
    ],
)
def test_names_of_systems(paths: list[str], names: list[str]) -> None:
    assert named(paths) == names


def test_what_names_files(here: Path) -> None:
    (here / "one").write_text("")
    (here / "folder").mkdir()
    assert [are_files([name]) for name in ("one", "gone.csv", "gone.parquet", "last", "folder")] == [
        True, True, True, False, False,
    ]  # fmt: skip
    assert are_files(["last", "first"])


def test_a_name_that_could_be_a_file(here: Path) -> None:
    with pytest.raises(ConfigError, match=r"^inputs: sub/gone\.run is neither a file nor a trained run$"):
        find_run(["sub/gone.run"], "runs")
    for name in ("gone", "..", "last"):
        with pytest.raises(RunError, match=r"there are no runs below"):
            find_run([name], "runs")


@pytest.fixture
def pair(here: Path) -> list[str]:
    (here / "qrels").write_text("a 0 x 1\nb 0 x 1\n")
    (here / "s.run").write_text("a Q0 x 1 2 s\na Q0 y 1 1 s\nc Q0 x 1 1 s\n")
    return ["qrels", "s.run"]


def test_one_reading_serves_every_rule(pair: list[str]) -> None:
    systems = read_systems(pair)
    (judged,), (both,) = (systems.lists(rule).values() for rule in ("judged", "intersection"))
    assert (judged.query_ids, both.query_ids) == (("a", "b"), ("a",))
    assert systems.lists("judged")["s"] is judged
    with pytest.raises(DataError, match=r"^s\.run: wanted the same queries on both sides \(queries=strict\), came "):
        systems.lists("strict")


def test_depth_weights_and_attributes(pair: list[str], here: Path) -> None:
    (here / "about.csv").write_text("query,weight,kind\na,3,shop\nb,1,web\n")
    (lists,) = read_systems(pair, depth=1, attributes="about.csv").lists("judged").values()
    assert lists.lengths.tolist() == [1, 0]
    assert lists.weight.tolist() == [3, 1]
    assert lists.attributes["kind"].tolist() == ["shop", "web"]
    (here / "both.csv").write_text("query,label,score\na,1,2\na,0,1\n")
    (whole,) = read_systems(["both.csv"], depth=1, attributes="about.csv").lists("strict").values()
    assert (whole.lengths.tolist(), whole.weight.tolist()) == ([1], [3])

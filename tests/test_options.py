"""The folder of configurations, read as files."""

from pathlib import Path

import pytest

from ltr import options


def test_the_folder_is_there_and_holds_a_root_for_every_verb() -> None:
    assert {path.stem for path in options.folder().glob("*.yaml")} == {
        "train",
        "evaluate",
        "explain",
        "gap",
        "predict",
        "compare",
    }


def test_the_folder_of_an_installed_package_is_inside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ltr/conf").mkdir(parents=True)
    monkeypatch.setattr(options, "__file__", str(tmp_path / "ltr/options.py"))
    assert options.folder() == tmp_path / "ltr/conf"
    (tmp_path / "ltr/conf").rmdir()
    assert options.folder() == tmp_path / "conf"


def test_options_of_all_folders_and_of_folders_within(tmp_path: Path) -> None:
    for name in ("a/loss/one.yaml", "b/loss/one.yaml", "b/loss/deep/two.yaml", "b/train.yaml", "b/loss/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert options.groups([tmp_path / "a", tmp_path / "b"]) == {
        "loss": {"one": tmp_path / "a/loss/one.yaml", "deep/two": tmp_path / "b/loss/deep/two.yaml"}
    }


def test_the_remark_is_the_first_line_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("# what it is\nx: 1\n")
    (tmp_path / "b.yaml").write_text("x: 1 # one\n")
    assert options.remark(tmp_path / "a.yaml") == "what it is"
    assert options.remark(tmp_path / "b.yaml") == ""


def test_the_nearest_word_or_all_of_a_few() -> None:
    assert options.near("max_epoch", ["max_epochs", "max_steps"]) == "; did you mean max_epochs?"
    assert options.near("zzz", ["a", "b"]) == "; known: a, b"
    assert options.near("zzz", [f"k{place}" for place in range(40)]) == ""

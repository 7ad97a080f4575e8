"""The texts of --help: everything that the folder of configurations holds, and examples that compose."""

import re
import shlex
from pathlib import Path

import pytest

from ltr import options
from ltr.cli.check import signature
from ltr.cli.help import VERBS, defaults_of, of_verb, overview
from ltr.cli.run import verb_function


def test_the_overview_names_every_verb() -> None:
    assert [name for name in VERBS if f"\n  {name}  " in overview()] == list(VERBS)


@pytest.mark.parametrize("verb", ["train", "evaluate", "predict", "compare", "explain", "gap"])
def test_a_verb_shows_its_inputs_its_keys_and_its_groups(verb: str) -> None:
    text, path = of_verb(verb), options.folder() / f"{verb}.yaml"
    assert " ".join(["usage: ltr", verb, *(word.upper() for word in VERBS[verb].inputs)]) in text
    groups = defaults_of(path)
    keys = [key for key in signature(verb_function(verb)).arguments if key not in groups]
    assert [key for key in keys if f"\n  {key}: " not in text] == []
    named = [option for group in groups for option in options.groups([options.folder()]).get(group, {})]
    assert [option for option in named if option not in text] == []
    assert [example for example in VERBS[verb].examples if f"\n  {example}" not in text] == []


def test_the_default_option_stands_in_brackets() -> None:
    assert "[lambdarank]" in of_verb("train")


def test_presets_of_ones_own_are_shown(tmp_path: Path) -> None:
    (tmp_path / "loss").mkdir()
    (tmp_path / "loss/zebra.yaml").touch()
    assert "zebra" in of_verb("train", tmp_path)
    assert "zebra" not in of_verb("train")


def test_only_train_sweeps() -> None:
    assert "--multirun" in of_verb("train")
    assert "--multirun" not in of_verb("predict")


def test_what_else_one_must_know_stands_at_the_end() -> None:
    assert of_verb("gap").endswith(f"\n\n{VERBS['gap'].note}")
    assert VERBS["gap"].note.startswith("exit status 3 when an alarm holds")


def test_list_has_a_help_too() -> None:
    assert "usage: ltr list WHAT\n" in of_verb("list")


def test_a_verb_that_takes_many_inputs_says_so() -> None:
    assert "usage: ltr explain INPUTS... [key=value ...]\n" in of_verb("explain")


@pytest.mark.parametrize("verb", list(VERBS))
def test_three_examples_that_begin_with_the_verb(verb: str) -> None:
    assert {tuple(shlex.split(example)[:2]) for example in VERBS[verb].examples} == {("ltr", verb)}
    assert len(VERBS[verb].examples) == 3


def test_examples_survive_a_shell() -> None:
    bare = [re.sub(r"'[^']*'", "", example) for verb in VERBS.values() for example in verb.examples]
    assert [example for example in bare if set("[]{}*?~$!()") & {*example}] == []

"""Every file of the configuration: it composes, its keys are its constructor's, and every argument has its key."""

from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from ltr import options
from ltr.cli.check import BY_CODE, HYDRA_KEYS, MISSING, locate, problems, signature
from ltr.cli.compose import Composer
from ltr.cli.help import defaults_of
from ltr.cli.run import verb_function
from ltr.cli.words import Word

ROOT = options.folder()
FILES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.yaml"))
OPTIONS = [file for file in FILES if "/" in file and not file.startswith("experiment/")]
VERBS = [file.removesuffix(".yaml") for file in FILES if "/" not in file]
NOT_ALL = ("pytorch_lightning.", "torch.")  # constructors of others: what is worth showing is


def target_nodes(value: Any, path: str) -> list[tuple[str, dict[str, Any]]]:
    if not isinstance(value, dict):
        return []
    own = [(path, value)] if "_target_" in value else []
    return own + [node for key, inner in value.items() for node in target_nodes(inner, f"{path}.{key}")]


def content(file: str) -> Any:
    return OmegaConf.to_container(OmegaConf.load(ROOT / file), resolve=False)


def test_there_are_files_of_every_group() -> None:
    groups = {file.partition("/")[0] for file in FILES if "/" in file}
    wanted = {"data", "transform", "model", "loss", "optimizer", "scheduler", "trainer", "callbacks", "experiment"}
    assert groups == wanted


@pytest.mark.parametrize("file", OPTIONS)
def test_the_keys_of_an_option_are_its_constructors(file: str) -> None:
    group = file.partition("/")[0]
    nodes = target_nodes(content(file), group)
    if content(file).get("_target_") == MISSING:
        assert file.endswith("/custom.yaml"), "only an option for one's own class names none"
        assert list(content(file)) == ["_target_"]
        return
    assert nodes or content(file) in ({}, None), "an option that builds nothing holds nothing"
    for path, node in nodes:
        known = signature(locate(node["_target_"]))
        keys = [key for key in node if key not in HYDRA_KEYS]
        assert [key for key in keys if key not in known.arguments] == []
        if not node["_target_"].startswith(NOT_ALL):
            passed = BY_CODE.get(path, ())
            assert [name for name in known.arguments if name not in (*keys, *passed)] == [], "arguments without a key"


@pytest.mark.parametrize("verb", VERBS)
def test_the_keys_of_a_verb_are_its_functions(verb: str) -> None:
    groups = defaults_of(ROOT / f"{verb}.yaml")
    keys = [key for key in content(f"{verb}.yaml") if key != "defaults"]
    assert set(keys) | groups.keys() - {"experiment"} == set(signature(verb_function(verb)).arguments)


@pytest.mark.parametrize("file", [file for file in FILES if "/" in file])
def test_every_option_composes_and_passes_the_check(file: str, tmp_path: Path) -> None:
    group, _, option = file.removesuffix(".yaml").partition("/")
    (tmp_path / "train.txt").touch()
    words = [Word(group, option)]
    words += [Word("data.train", str(tmp_path / "train.txt"))] if option == "letor" else []
    own = {"loss": "ltr.losses.MSE", "model": "ltr.models.Linear"}
    words += [Word(f"{group}._target_", own[group])] if option == "custom" else []
    composer = Composer("train", verb_function("train"))
    config = composer.compose(words)
    composer.check(config)
    assert problems(config, verb_function("train"), "train") == []

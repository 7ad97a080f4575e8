"""From the words of a command line to a resolved configuration.

Hydra composes the groups. Every ``key=value`` is then put in whether or not the key is there (`+` or not): what the
constructors do not know is found by check.problems, which can name the nearest key that they do. A value is quoted for
Hydra when the constructor's annotation says that it is text: str, a path, or a choice of words, or a list of those.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from ltr import options
from ltr.cli.annotations import is_path, members, text_rule
from ltr.cli.check import MISSING, annotation_at, nodes, problems
from ltr.cli.errors import ConfigError
from ltr.cli.help import defaults_of
from ltr.cli.words import Word, as_text, quoted, split

LIGHTNING = ("trainer", "callbacks", "scheduler")  # groups whose constructors take seconds to import
NOT_READ = ("cache",)  # folders of the data that are made when they are missing

Base = Callable[[dict[str, Any]], Mapping[str, Any] | None]


class Composer:
    """Composes the configurations of one verb.

    Args:
        verb: names conf/VERB.yaml.
        root: the function of the verb: its parameters are the top-level keys.
        config_dir: presets of the user's own.
        base: from a first look at the configuration to the saved one of a run that it starts from, if any.
    """

    def __init__(self, verb: str, root: Callable[..., Any], config_dir: Path | None = None, base: Base | None = None):
        self.verb, self.root, self.base = verb, root, base
        self.folders = [options.folder(), *([config_dir] if config_dir else [])]
        self.groups = options.groups(self.folders)
        self.chosen = defaults_of(self.folders[0] / f"{verb}.yaml")

    def compose(self, words: Sequence[Word]) -> dict[str, Any]:
        """The resolved configuration, with absolute paths.

        Raises:
            ConfigError: everything that is wrong with it, one line each.
        """
        config = self._config(words)
        try:
            plain: Any = OmegaConf.to_container(config, resolve=True)
        except OmegaConfBaseException as error:
            raise ConfigError(_first_line(error)) from error
        for path, node, known in nodes(plain, self.root, _as_shipped(plain)):
            for key, argument in known.arguments.items():
                if key in node and any(map(is_path, _deep_members(argument.annotation))):
                    (node if path else plain)[key] = _absolute(node[key])
        return dict(plain)

    def check(self, config: dict[str, Any], idle: Collection[str] = ()) -> None:
        """Compare with the constructors' signatures, and look whether the files that it names are there.

        Args:
            config: as compose gives it.
            idle: dotted keys that are not used, so that nothing is wrong with them.

        Raises:
            ConfigError: everything that is wrong with it, one line each.
        """
        found = problems(config, self.root, self.verb, _as_shipped(config))
        lines = [self._with_hint(line) for line in found]
        lines += _missing_files(config, self.root)
        lines = [line for line in lines if re.split("[: ]", line, maxsplit=1)[0] not in idle]
        if lines:
            raise ConfigError(lines)

    def jobs(self, words: Sequence[Word]) -> list[list[Word]]:
        """Every combination of the values of a sweep, the last key changing fastest.

        Raises:
            ConfigError: a value that cannot be read, or nothing to combine.
        """
        first = [word._replace(value=split(word.value or "")[0]) if self._is_group(word) else word for word in words]
        config = self._config([word for word in first if self._is_group(word)])
        combined: list[list[Word]] = [[]]
        for word in words:
            values = [word.value] if word.value is None else self._values(config, word)
            twice = [value for place, value in enumerate(values) if value in values[:place]]
            if twice:
                raise ConfigError(f"{word.typed}: a sweep wants different values, {twice[0]} stands there twice")
            combined = [[*done, word._replace(value=value)] for done in combined for value in values]
        if len(combined) < 2:
            raise ConfigError("a sweep (-m) wants several values for some key, such as seed=1,2,3")
        return combined

    # -- composing --------------------------------------------------------------------------------------------------

    def _is_group(self, word: Word) -> bool:
        return word.key.partition("@")[0] in self.groups

    def _config(self, words: Sequence[Word]) -> DictConfig:
        chosen = [word for word in words if self._is_group(word)]
        values = [word for word in words if not self._is_group(word)]
        values.sort(key=lambda word: not word.key.endswith("_target_"))
        self._check_options(chosen)
        config = self._compose_groups(chosen)
        if self.base:
            first = config.copy()
            self._put(first, [word for word in values if "." not in word.key])
            seen: Any = OmegaConf.to_container(first, resolve=False)
            saved = self.base(seen)
            if saved is not None:
                if any(word.key == "experiment" for word in chosen):
                    raise ConfigError("experiment: a run goes on with its own configuration; give single keys instead")
                replaced = {word.key for word in chosen}
                config.update({key: value for key, value in saved.items() if key not in replaced})
        self._put(config, values)
        return config

    def _check_options(self, words: Sequence[Word]) -> None:
        lines = []
        for word in words:
            group = word.key.partition("@")[0]
            if group not in self.chosen:
                lines.append(f"{word.key}: ltr {self.verb} has no such key{options.near(word.key, list(self.chosen))}")
            elif word.mark != "~" and word.value not in (*self.groups[group], "null"):
                known = list(self.groups[group])
                hint = options.near(word.value or "", known)
                several = "; several values are a sweep, which wants -m" if "," in (word.value or "") else ""
                every = ", ".join(known)
                lines.append(f"{word.key}={word.value}: no such option; wanted one of {every}{several or _did(hint)}")
        if lines:
            raise ConfigError(lines)

    def _compose_groups(self, words: Sequence[Word]) -> DictConfig:
        overrides = [f"{word.key}={word.value}" for word in words if word.mark != "~" and word.value != "null"]
        if len(self.folders) > 1:
            overrides.append(f"hydra.searchpath=[{quoted(f'file://{self.folders[1]}')}]")
        try:
            with initialize_config_dir(str(self.folders[0]), version_base="1.3"):
                config = hydra_compose(self.verb, overrides)
        except (HydraException, OmegaConfBaseException, YAMLError) as error:
            raise ConfigError(" ".join(str(error).split())) from error
        OmegaConf.set_struct(config, False)
        for word in words:
            if word.mark == "~" or word.value == "null":
                config[word.key] = None
        return config

    def _put(self, config: DictConfig, words: Sequence[Word]) -> None:
        lines: list[str] = []
        for word in words:
            try:
                self._put_one(config, word)
            except ConfigError as error:
                lines += error.lines
        if lines:
            raise ConfigError(lines)

    def _put_one(self, config: DictConfig, word: Word) -> None:
        if word.mark == "~":
            owner, _, last = word.key.rpartition(".")
            parent = OmegaConf.select(config, owner) if owner else config
            if not isinstance(parent, DictConfig) or last not in parent:
                raise ConfigError(f"{word.typed}: there is nothing of this name to take away")
            del parent[last]
            return
        override = _parsed(word, self._written(config, word))
        if override.is_sweep_override():
            raise ConfigError(f"{word.typed}: several values are a sweep, which wants -m; a list is [a,b]")
        value = override.value()
        node = isinstance(value, dict) and "_target_" in value  # of another constructor: no key of the old one stays
        try:
            OmegaConf.update(config, word.key, value, merge=not node, force_add=True)
        except (OmegaConfBaseException, AssertionError) as error:
            raise ConfigError(f"{word.typed}: {_first_line(error)}") from error

    def _written(self, config: DictConfig, word: Word) -> str:
        rule = self._rule(config, word)
        return as_text(word.value or "", *rule) if rule else word.value or ""

    def _rule(self, config: DictConfig, word: Word) -> Any:
        plain = OmegaConf.to_container(config, resolve=False)
        return text_rule(annotation_at(plain, word.key, self.root))

    def _values(self, config: DictConfig, word: Word) -> list[str]:
        value = word.value or ""
        if self._is_group(word):
            return split(value)
        if self._rule(config, word):
            return split(value)
        override = _parsed(word, value)
        return list(override.sweep_string_iterator()) if override.is_sweep_override() else [value]

    def _with_hint(self, line: str) -> str:
        """Add which other option of the group knows the key, when one does."""
        path, _, said = line.partition(": ")
        group, _, key = path.partition(".")
        if " has no such key" not in said or not key or group not in self.groups:
            return line
        having = [option for option, file in self.groups[group].items() if any(key == k for k in _top_level_keys(file))]
        return f"{line} ({group}={having[0]} has it)" if having else line


def _parsed(word: Word, written: str) -> Override:
    try:
        return OverridesParser.create().parse_override(f"{word.key}={written}")
    except HydraException as error:
        quotes = f"{word.key}=\"'{word.value}'\"" if word.value else f"{word.key}=''"
        raise ConfigError(f"{word.typed}: cannot be read as a value; text goes in quotes: {quotes}") from error


def _did(hint: str) -> str:
    return hint if "did you mean" in hint else ""


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _top_level_keys(path: Path) -> list[str]:
    loaded = OmegaConf.load(path)
    return [str(key) for key in loaded] if isinstance(loaded, DictConfig) else []


def _deep_members(annotation: Any) -> Iterator[Any]:
    for member in members(annotation):
        yield member
        for inner in get_args(member):
            yield from members(inner)


def _absolute(value: Any) -> Any:
    if isinstance(value, list):
        return [_absolute(each) for each in value]
    if not isinstance(value, str) or value in ("", MISSING):
        return value
    return os.path.abspath(value if os.path.lexists(value) else os.path.expanduser(value))


def _as_shipped(config: Mapping[str, Any]) -> set[str]:
    """Groups that hold one of our own presets unchanged: the test suite checks those, and Lightning need not load."""
    groups = options.groups([options.folder()])
    return {
        group
        for group in LIGHTNING
        if group in config
        for path in groups[group].values()
        if OmegaConf.create({**config, group: OmegaConf.load(path)})[group] == config[group]
    }


def _missing_files(config: dict[str, Any], root: Callable[..., Any]) -> list[str]:
    """Input files of the data, and the file of a verb, that are not there."""
    lines = []
    for path, node, known in nodes(config, root, LIGHTNING):
        if path.partition(".")[0] not in ("data", ""):
            continue
        for key, argument in known.arguments.items():
            reads = key not in NOT_READ if path else key == "file"
            if reads and any(map(is_path, _deep_members(argument.annotation))):
                named = node.get(key)
                for each in named if isinstance(named, list) else [named]:
                    if isinstance(each, str) and each != MISSING and not os.path.exists(each):
                        lines.append(f"{f'{path}.{key}' if path else key}: no such file or folder: {each}")
    return lines

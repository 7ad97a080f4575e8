"""From the words of a command line to inputs, options and ``key=value`` pairs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ltr.cli.errors import ConfigError
from ltr.options import near

MORE = "..."  # ends the name of an input that takes all the words that are left
NEGATIVE = re.compile(r"-\.?\d")  # the beginning of a negative number, which is no option
PAIR = re.compile(r"(?P<mark>~|\+{0,2})(?P<key>[A-Za-z_][\w./@:-]*)(?:=(?P<value>.*))?", re.DOTALL)
FLAGS = {"--help": "help", "-h": "help", "--cfg": "show", "--multirun": "multirun", "-m": "multirun"}


class Word(NamedTuple):
    """One ``key=value`` as it was typed; ``~key`` has the mark ``~`` and may have no value."""

    key: str
    value: str | None
    mark: str = ""

    @property
    def typed(self) -> str:
        return self.mark + self.key + ("" if self.value is None else f"={self.value}")


@dataclass
class Command:
    """A command line after its verb."""

    words: list[Word] = field(default_factory=list)
    config_dir: Path | None = None
    help: bool = False
    show: bool = False
    multirun: bool = False


def read(arguments: Sequence[str], verb: str, inputs: Sequence[str]) -> Command:
    """Read the arguments of a verb whose main inputs may be given in order, without a key.

    An argument is an input when it has not the form ``key=value``, or when a file or folder of exactly that name is
    there. A last input whose name ends in ``...`` takes all that are left, as one list.

    Raises:
        ConfigError: an unknown option, a key that stands twice, or more words without a key than the verb has inputs.

    Example:
        >>> command = read(["first", "new file.txt", "output=a=b.csv"], "predict", ["run", "file"])
        >>> [word.typed for word in command.words]
        ['run=first', 'file=new file.txt', 'output=a=b.csv']
        >>> command = read(["qrels.txt", "a.run", "metrics=[ap]", "b.run"], "evaluate", ["inputs..."])
        >>> [word.typed for word in command.words]
        ['metrics=[ap]', "inputs=['qrels.txt','a.run','b.run']"]
    """
    keyed = {match["key"] for match in map(_is_pair, arguments) if match and not os.path.exists(match.string)}
    command, left, wrong = Command(), [each for each in inputs if each.removesuffix(MORE) not in keyed], []
    many: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument in FLAGS:
            setattr(command, FLAGS[argument], True)
        elif name == "--config-dir":
            command.config_dir = _presets_folder(value if equals else next(rest, ""))
        elif argument.startswith("-") and not NEGATIVE.match(argument):
            wrong.append(f"{argument}: no such option{near(name, [*FLAGS, '--config-dir'])}")
        elif left and (not _is_pair(argument) or os.path.exists(argument)):
            if left[0].endswith(MORE):
                many.append(argument)
            else:
                command.words.append(Word(left.pop(0), argument))
        elif match := _is_pair(argument):
            command.words.append(Word(match["key"], match["value"], match["mark"]))
        else:
            usage = " ".join(
                ["usage: ltr", verb, *map(str.upper, inputs), *(["[key=value ...]"] if verb != "list" else [])]
            )
            wrong.append(f"{argument}: one word too many; {usage}")
    if many:
        command.words.append(Word(left[0].removesuffix(MORE), f"[{','.join(map(quoted, many))}]"))
    first: dict[str, Word] = {}  # a script that trains may append what overrides
    for word in command.words if verb != "train" else ():
        if first.setdefault(word.key, word) is not word:
            wrong.append(f"{word.key}: wanted once, came {first[word.key].typed} and {word.typed}")
    if wrong:
        raise ConfigError(wrong)
    return command


def _is_pair(argument: str) -> re.Match[str] | None:
    match = PAIR.fullmatch(argument)
    return match if match and (match["value"] is not None or match["mark"] == "~") else None


def _presets_folder(name: str) -> Path:
    path = Path(name).expanduser().absolute()
    if not name or not path.is_dir():
        raise ConfigError(f"--config-dir: wanted a folder of presets, such as {path}/loss/mine.yaml; came {name!r}")
    return path


def split(value: str) -> list[str]:
    """Cut at the commas that stand in no quotes and no brackets.

    Example:
        >>> split("a=1.txt,'b,c.txt',[d,e]")
        ['a=1.txt', "'b,c.txt'", '[d,e]']
    """
    parts, depth, quote, escaped = [""], 0, "", False
    for character in value:
        if character == "," and not depth and not quote:
            parts.append("")
            continue
        parts[-1] += character
        if quote:
            quote = "" if character == quote and not escaped else quote
        elif character in "'\"" and len(parts[-1].strip()) == 1:
            quote = character
        else:
            depth = max(0, depth + (character in "[{(") - (character in ")}]"))
        escaped = character == "\\" and not escaped
    return parts


def quoted(value: str) -> str:
    """The text in single quotes, as Hydra's grammar writes it.

    Example:
        >>> print(quoted("a=(1) it's.txt"))
        'a=(1) it\\'s.txt'
    """
    return "'" + re.sub(r"(\\*)('|$)", _escaped, value) + "'"


def _escaped(match: re.Match[str]) -> str:
    slashes = match[1] * 2
    return f"{slashes}\\'" if match[2] else slashes


def is_quoted(value: str) -> bool:
    return len(value) > 1 and value[0] == value[-1] and value[0] in "'\""


def as_text(value: str, lists: bool, nodes: bool, nothing: bool, alone: bool = True) -> str:
    """The value of a key that takes text, quoted for Hydra.

    Left as they are: what is in quotes already, ``null`` where nothing is allowed, ``{...}`` where a node is allowed,
    and the brackets of a list, whose members are quoted, where lists are allowed. Where nothing but lists is allowed
    (text cannot stand alone), their brackets may be left out.

    Example:
        >>> as_text("[a.txt,b=1.txt]", lists=True, nodes=False, nothing=False)
        "['a.txt','b=1.txt']"
        >>> as_text("ndcg@10,ap", lists=True, nodes=True, nothing=True, alone=False)
        "['ndcg@10','ap']"
    """
    if nothing and value == "null":
        return value
    if lists and (not alone or value[:1] + value[-1:] == "[]"):
        value = value[1:-1] if value[:1] + value[-1:] == "[]" else value
        inside = [part.strip() for part in split(value)] if value.strip() else []
        return "[" + ",".join(as_text(part, False, nodes, False) for part in inside) + "]"
    if is_quoted(value) or (nodes and value[:1] + value[-1:] == "{}"):
        return value
    return quoted(value)

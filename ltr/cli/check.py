"""A configuration against the signatures of the constructors that it calls, before anything heavy starts."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from ltr.cli.annotations import fits, members, shown, wanted
from ltr.cli.errors import ConfigError
from ltr.options import near

MISSING = "???"
HYDRA_KEYS = ("_target_", "_partial_", "_recursive_", "_convert_", "_args_")
BY_CODE = {  # arguments that the program passes itself
    "model": ("features",),
    "optimizer": ("params",),
    "scheduler": ("optimizer", "total_steps"),
    "trainer": ("logger", "callbacks", "default_root_dir", "enable_progress_bar", "use_distributed_sampler"),
}

LEAST = {"trainer.gradient_clip_val": 0}  # a smaller number would be taken for no limit at all, in silence


class Argument(NamedTuple):
    """A parameter of a constructor."""

    annotation: Any
    required: bool


class Signature(NamedTuple):
    """What a constructor takes; open = it takes any keyword."""

    arguments: Mapping[str, Argument]
    open: bool


def locate(target: str) -> Callable[..., Any]:
    """The class or function of a dotted name; a user's own module may lie in the working directory.

    Raises:
        ConfigError: there is no such module or name, or the module cannot be imported.
    """
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    module_name, _, name = target.rpartition(".")
    if not module_name:
        raise ConfigError(f"{target!r} names no class or function: wanted module.Name, such as my.MyLoss with my.py")
    try:
        owner: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise ConfigError(f"{module_name} cannot be imported: {error}") from error
        owner = _nested(module_name)
        if owner is None:
            raise ConfigError(f"there is no module {error.name} (looked in {here} and among the packages)") from error
    except (ImportError, SyntaxError) as error:
        raise ConfigError(f"{module_name} cannot be imported: {type(error).__name__}: {error}") from error
    found: Callable[..., Any] | None = getattr(owner, name, None)
    if found is None or not callable(found):
        known = [each for each in dir(owner) if callable(getattr(owner, each, None)) and each[0] != "_"]
        raise ConfigError(f"{module_name} has no class or function {name}{near(name, known)}")
    return found


def _nested(name: str) -> Any:
    """The class that holds a class method, as in module.Class.method."""
    module_name, _, inner = name.rpartition(".")
    try:
        return getattr(import_module(module_name), inner, None) if module_name else None
    except ModuleNotFoundError:
        return None


def signature(target: Callable[..., Any]) -> Signature:
    """The keyword arguments of a class or function; annotations that cannot be read are Any."""
    if isinstance(target, type) and _maker(target).__module__ == "torch.nn.modules.module":
        return Signature({}, False)  # a module that takes nothing: the base class only seems to take any keyword
    try:
        parameters = inspect.signature(target).parameters.values()
    except ValueError:  # built in C
        return Signature({}, True)
    try:
        called = vars(_maker(target))["__init__"] if isinstance(target, type) else target
        hints = get_type_hints(called, include_extras=True)
    except (NameError, TypeError, AttributeError):
        hints = {}
    named = [each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    return Signature(
        {each.name: Argument(hints.get(each.name, Any), each.default is each.empty) for each in named},
        any(each.kind is each.VAR_KEYWORD for each in parameters),
    )


def _maker(target: type) -> type:
    """The class whose __init__ is called."""
    return next(each for each in target.__mro__ if "__init__" in vars(each))


def annotation_at(config: Any, key: str, root: Callable[..., Any]) -> Any:
    """The annotation of the argument that a dotted key sets, or Any where none is known."""
    *path, last = key.split(".")
    if last == "_target_":
        return str
    owner: Callable[..., Any] | None = root
    for part in path:
        config = config.get(part) if isinstance(config, Mapping) else None
        target = config.get("_target_") if isinstance(config, Mapping) else None
        owner = _located(target)
    argument = signature(owner).arguments.get(last) if owner else None
    return argument.annotation if argument else Any


def _located(target: Any) -> Callable[..., Any] | None:
    try:
        return locate(target) if isinstance(target, str) and target != MISSING else None
    except ConfigError:
        return None


def nodes(
    config: Mapping[str, Any], root: Callable[..., Any], known: Collection[str] = ()
) -> Iterator[tuple[str, dict[str, Any], Signature]]:
    """(path, node, signature) of the root and of every ``_target_`` node below it whose constructor is found.

    Args:
        config: of a verb.
        root: the function of the verb.
        known: top-level keys that are passed over.
    """
    yield "", dict(config), signature(root)
    for path, node in _targets("", _without(config, known)):
        if target := _located(node["_target_"]):
            yield path, node, signature(target)


def _without(config: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in keys}


def _targets(path: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(path, node) of every mapping with a ``_target_`` in a configuration."""
    if isinstance(value, dict):
        if "_target_" in value:
            yield path, value
        for key, inner in value.items():
            yield from _targets(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _targets(f"{path}[{index}]", inner)


# -- problems ---------------------------------------------------------------------------------------------------------


def problems(config: dict[str, Any], root: Callable[..., Any], verb: str, known: Collection[str] = ()) -> list[str]:
    """One line for each key that the constructors do not know, lack, or cannot use.

    Args:
        config: resolved; ``???`` stands for a value that must be given.
        root: the function of the verb: its parameters are the top-level keys.
        verb: its name, for messages.
        known: top-level keys whose nodes are known to be right.
    """
    lines = _problems_of("", config, signature(root), f"ltr {verb}")
    for path, node in _targets("", _without(config, known)):
        target = node["_target_"]
        if target == MISSING:
            lines.append(f"{path}._target_ is required: the class to use, such as {path}._target_=my.My{path.title()}")
            continue
        try:
            lines += _problems_of(path, node, signature(locate(str(target))), str(target))
        except ConfigError as error:
            lines += [f"{path}._target_: {line}" for line in error.lines]
    return list(dict.fromkeys(lines))


def _strange_parts(value: Mapping[str, Any], annotation: Any) -> list[str]:
    """The names in a mapping of nodes that hold no node."""
    if "_target_" in value or fits(value, annotation):
        return []
    inside = [get_args(member) for member in members(annotation) if get_origin(member) is Mapping]
    return [part for part, each in value.items() if inside and not fits(each, inside[0][1])]


def _problems_of(path: str, node: dict[str, Any], known: Signature, owner: str) -> list[str]:
    lines = []
    by_code = BY_CODE.get(path, ())
    names = [name for name in known.arguments if name not in by_code]
    dot = f"{path}." if path else ""
    for key, value in node.items():
        if key in HYDRA_KEYS:
            continue
        argument = known.arguments.get(key)
        if key in by_code:
            lines.append(f"{dot}{key}: the program sets this itself, from the data and the run")
        elif argument is None:
            if not known.open:
                lines.append(f"{dot}{key}: {owner} has no such key{near(str(key), names)}")
        elif value == MISSING and isinstance(value, str):
            lines.append(f"{dot}{key} is required: {wanted(argument.annotation)}, as {dot}{key}=...")
        elif isinstance(value, Mapping) and (parts := _strange_parts(value, argument.annotation)):
            near_by = [str(name) for name in value if name not in parts]
            lines += [
                f"{dot}{key}.{part}: {dot}{key} has no such part{near(str(part), near_by)}; "
                f"a new one needs {dot}{key}.{part}._target_=..."
                for part in parts
            ]
        elif not fits(value, argument.annotation):
            lines.append(f"{dot}{key}: wanted {wanted(argument.annotation)}, got {shown(value)}")
        elif f"{dot}{key}" in LEAST and value is not None and not value >= LEAST[f"{dot}{key}"]:
            lines.append(f"{dot}{key}: wanted at least {LEAST[f'{dot}{key}']} or null, got {shown(value)}")
    if not node.get("_partial_"):
        lacking = [name for name in names if known.arguments[name].required and name not in node]
        lines += [f"{dot}{name} is required by {owner}: add {dot}{name}=..." for name in lacking]
    return lines

"""Annotations of constructors: does a value fit, is it text, and how to say it in words."""

from __future__ import annotations

import os
import types
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

Node = Annotated[Mapping[str, Any], "node"]  # a mapping with a _target_: the call of a constructor


def members(annotation: Any) -> list[Any]:
    """The alternatives of a union, nested ones too; one that is no union is alone."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [member for each in get_args(annotation) for member in members(each)]
    return [annotation]


def fits(value: Any, annotation: Any) -> bool:
    """Can the value be what the annotation says? True for whatever is not simple enough to tell.

    Example:
        >>> fits(3, int | None), fits("3", int | None), fits([1, 2.5], Sequence[int]), fits(True, int)
        (True, False, False, False)
    """
    return any(_fits(value, member) for member in members(annotation))


def _fits(value: Any, kind: Any) -> bool:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return isinstance(value, Mapping) and "_target_" in value
    if isinstance(value, Mapping) and "_target_" in value:
        return True  # what it builds is not known before it is built
    if kind is None or kind is type(None):
        return value is None
    if origin is Literal:
        return any(value == choice and type(value) is type(choice) for choice in inside)
    if kind is bool:
        return isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if _is_text(kind):
        return isinstance(value, str)
    container = origin or kind
    if not isinstance(container, type) or container in (Any, object):
        return True  # nothing is known, or a type variable
    if issubclass(container, Mapping):
        return isinstance(value, Mapping) and all(fits(each, inside[1] if inside else Any) for each in value.values())
    if container not in (list, tuple, set, frozenset, Sequence, Iterable):
        return False  # a class: only a node builds one
    if not isinstance(value, list):
        return False
    if container is tuple and inside and inside[-1] is not Ellipsis:
        return len(value) == len(inside) and all(map(fits, value, inside))
    return all(fits(each, inside[0] if inside else Any) for each in value)


def _is_text(kind: Any) -> bool:
    return kind is str or is_path(kind)


def is_path(kind: Any) -> bool:
    """Is this the annotation of a path, such as Path or os.PathLike[str]?"""
    origin = get_origin(kind) or kind
    return isinstance(origin, type) and issubclass(origin, (os.PathLike, Path))


class Text(NamedTuple):
    """How a key that takes text may be written besides plain text."""

    lists: bool
    nodes: bool
    nothing: bool
    alone: bool  # without the brackets of a list


def text_rule(annotation: Any) -> Text | None:
    """How to read a key of this annotation as text; None when it may be a number, a truth value, or is not known."""
    kinds = members(annotation)
    lists = [kind for kind in kinds if get_origin(kind) in (list, tuple, Sequence, Iterable)]
    texts = [kind for kind in kinds if _is_text(kind) or _is_choice(kind)]
    inner = [member for kind in lists for each in get_args(kind) for member in members(each)]
    if any(kind in (int, float, bool, Any) for kind in [*kinds, *inner]) or not (texts or any(map(_is_text, inner))):
        return None
    if lists and not all(_is_text(kind) or _is_node(kind) for kind in inner):
        return None
    return Text(bool(lists), any(map(_is_node, [*kinds, *inner])), type(None) in kinds, bool(texts))


def _is_choice(kind: Any) -> bool:
    return get_origin(kind) is Literal and all(isinstance(choice, str) for choice in get_args(kind))


def _is_node(kind: Any) -> bool:
    if get_origin(kind) in (Annotated, Mapping, dict):
        return True
    return isinstance(kind, type) and kind is not type(None) and not _is_text(kind)


NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text", type(None): "null"}


def wanted(annotation: Any) -> str:
    """The annotation in words.

    Example:
        >>> wanted(int | None), wanted(Literal["gather", "error"])
        ('a whole number or null', "'gather' or 'error'")
    """
    kinds = members(annotation)
    if any(map(is_path, kinds)):
        kinds = [kind for kind in kinds if kind is not str]
    return " or ".join(dict.fromkeys(_wanted(kind) for kind in kinds))


def _wanted(kind: Any) -> str:
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return "{_target_: ...}"
    if origin is Literal:
        return " or ".join(repr(choice) for choice in inside)
    if kind in NAMES:
        return NAMES[kind]
    if is_path(kind):
        return "a path"
    if origin in (list, tuple, Sequence, Iterable):
        return f"a list [{wanted(inside[0]) if inside else '...'}, ...]"
    if origin in (dict, Mapping) or kind is dict:
        return "a mapping {key: value}"
    return f"a {getattr(kind, '__name__', str(kind))} as {{_target_: ...}}"


def shown(value: Any) -> str:
    """A value of a configuration as a reader would write it, with its kind where that is the point.

    Example:
        >>> shown("9"), shown(9), shown(None), shown([1, True])
        ("the text '9'", '9', 'null', '[1, true]')
    """
    if isinstance(value, str):
        return f"the text {value!r}"
    if isinstance(value, list):
        return "[" + ", ".join(shown(each) for each in value) + "]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)

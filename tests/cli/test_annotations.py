"""Annotations: which values fit, which keys take text, and how that reads."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Optional, Union

import pytest
import torch

from ltr.cli.annotations import Node, Text, fits, shown, text_rule, wanted
from ltr.gains import Gain

PATHS = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        (3, int),
        (3, float),
        (None, int | None),
        (None, Optional[int]),  # noqa: UP045 - as other libraries write it
        ("x", Union[int, str]),  # noqa: UP007
        ("sum", Literal["sum", "mean"]),
        (16, Literal[16, "16"]),
        ([1, 2], Sequence[int]),
        ([0.9, 1], tuple[float, float]),
        ([1, 2, 3], tuple[int, ...]),
        (["a", "b"], PATHS),
        ("a", PATHS),
        ("a", Path),
        ({0: 1}, Mapping[float, float]),
        ({"_target_": "x.Y"}, Gain),
        ({"_target_": "x.Y"}, Node),
        ("anything", Any),
        (0.1, float | torch.Tensor),
    ],
)
def test_fits(value: object, annotation: object) -> None:
    assert fits(value, annotation)


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ("3", int),
        (True, int),
        (3.0, int),
        (1, bool),
        ("0.1", float),
        ("0.1", float | torch.Tensor),
        (None, int),
        ("max", Literal["sum", "mean"]),
        (True, Literal[1]),
        (5, Sequence[int]),
        ("12", Sequence[int]),
        ([1, "2"], list[int]),
        ([0.9], tuple[float, float]),
        (3, PATHS),
        ("linear", Gain),
        ({"a": 1}, Node),
        ("lambdarank", Node),
    ],
)
def test_does_not_fit(value: object, annotation: object) -> None:
    assert not fits(value, annotation)


@pytest.mark.parametrize(
    ("annotation", "rule"),
    [
        (str, Text(False, False, False, True)),
        (str | None, Text(False, False, True, True)),
        (Path, Text(False, False, False, True)),
        (PATHS | None, Text(True, False, True, True)),
        (Literal["a", "b"], Text(False, False, False, True)),
        (str | Node, Text(False, True, False, True)),
        (Sequence[str | Node] | None, Text(True, True, True, False)),
        (Gain | str, Text(False, True, False, True)),
    ],
)
def test_these_keys_take_text(annotation: object, rule: Text) -> None:
    assert text_rule(annotation) == rule


@pytest.mark.parametrize(
    "annotation",
    [int, float | None, bool, Any, str | int, Sequence[int], Mapping[str, str], list[int] | str | int, Node],
)
def test_these_keys_do_not(annotation: object) -> None:
    assert text_rule(annotation) is None


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int | None, "a whole number or null"),
        (float, "a number"),
        (bool, "true or false"),
        (str, "text"),
        (PATHS, "a path or a list [a path, ...]"),
        (Literal["a", "b"], "'a' or 'b'"),
        (Sequence[int], "a list [a whole number, ...]"),
        (dict[str, int], "a mapping {key: value}"),
        (Node, "{_target_: ...}"),
        (Gain, "a Gain as {_target_: ...}"),
    ],
)
def test_annotations_in_words(annotation: object, words: str) -> None:
    assert wanted(annotation) == words


def test_a_function_is_no_text() -> None:
    assert not fits("f", Callable[[int], int])
    assert fits({"_target_": "m.f", "_partial_": True}, Callable[[int], int])


@pytest.mark.parametrize(
    ("value", "words"),
    [("9", "the text '9'"), (9, "9"), (1.5, "1.5"), (None, "null"), (False, "false"), ([1, "a"], "[1, the text 'a']")],
)
def test_values_in_words(value: object, words: str) -> None:
    assert shown(value) == words

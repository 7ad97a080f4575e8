"""What is typed arrives as it was typed."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given
from hypothesis import strategies as st

from ltr.cli.compose import Composer
from ltr.cli.errors import ConfigError
from ltr.cli.words import Word, as_text, is_quoted, quoted, read, split


def typed(arguments: list[str], *inputs: str) -> list[str]:
    return [word.typed for word in read(arguments, "verb", inputs).words]


def test_inputs_come_in_order_without_a_key() -> None:
    assert typed(["a b.txt", "x=1", "runs/c"], "run", "file") == ["run=a b.txt", "x=1", "file=runs/c"]


def test_a_file_that_looks_like_a_pair_is_an_input_when_it_is_there(here: Path) -> None:
    (here / "a=b.txt").touch()
    assert typed(["a=b.txt", "c=d.txt"], "run", "file") == ["run=a=b.txt", "c=d.txt"]


def test_the_last_input_may_take_all_words_that_are_left(here: Path) -> None:
    (here / "b=1.run").touch()
    words = ["qrels.txt", "a.run", "metrics=[ndcg@10]", "b=1.run", "c d.run"]
    assert typed(words, "inputs...") == ["metrics=[ndcg@10]", "inputs=['qrels.txt','a.run','b=1.run','c d.run']"]
    assert typed(words, "run", "others...") == [
        *("run=qrels.txt", "metrics=[ndcg@10]"),
        "others=['a.run','b=1.run','c d.run']",
    ]
    assert typed(["k=1"], "inputs...") == ["k=1"]
    assert typed(["inputs=[a,b]"], "inputs...") == ["inputs=[a,b]"]


def test_a_file_named_like_the_key_of_an_input_is_an_input(here: Path) -> None:
    (here / "inputs=a").touch()
    assert typed(["x.run", "inputs=a"], "inputs...") == ["inputs=['x.run','inputs=a']"]


def test_words_are_refused_beside_the_key_that_takes_them() -> None:
    with pytest.raises(
        ConfigError, match=r"^c: one word too many; usage: ltr evaluate INPUTS\.\.\. \[key=value \.\.\.\]$"
    ):
        read(["inputs=[a,b]", "c"], "evaluate", ("inputs...",))


@pytest.mark.parametrize("number", ["-1", "-0.5", "-.5", "-1e3"])
def test_a_negative_number_is_no_option(number: str) -> None:
    assert typed(["3", number], "inputs...") == [f"inputs=['3','{number}']"]


def test_many_words_become_absolute_paths_where_the_verb_takes_paths(here: Path) -> None:
    def verb(*, inputs: Sequence[str | Path]) -> None: ...

    def names(*, inputs: Sequence[str]) -> None: ...

    words = read(["last", "a,b.run", "~x/it's.run"], "explain", ("inputs...",)).words
    found = Composer("explain", verb).compose(words)["inputs"]
    assert found == [f"{here}/last", f"{here}/a,b.run", f"{here}/~x/it's.run"]
    assert Composer("explain", names).compose(words)["inputs"] == ["last", "a,b.run", "~x/it's.run"]


@given(st.lists(st.text(st.characters(exclude_characters="\0$=~", exclude_categories=["Cs"])), min_size=1))
def test_many_words_arrive_as_they_were_typed(texts: list[str]) -> None:
    words = [text for text in texts if not text.startswith("-")]
    for word in read(words, "verb", ("inputs...",)).words:
        written = as_text(word.value or "", lists=True, nodes=False, nothing=False)
        assert OverridesParser.create().parse_override(f"key={written}").value() == words


@pytest.mark.parametrize("argument", ["~scheduler", "+a.b=1", "++a=", "a._target_=m.C", "~a=1"])
def test_marks_are_kept(argument: str) -> None:
    assert typed([argument]) == [argument]


def test_options(here: Path) -> None:
    (here / "mine").mkdir()
    command = read(["-m", "--cfg", "--config-dir", "mine", "seed=1,2"], "train", ())
    assert (command.multirun, command.show, command.config_dir, command.help) == (True, True, here / "mine", False)
    assert read(["--config-dir=mine", "-h"], "train", ()).config_dir == here / "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--mutlirun"], "--mutlirun: no such option; did you mean --multirun?"),
        (["lambdarank"], "lambdarank: one word too many; usage: ltr train [key=value ...]"),
    ],
)
def test_what_cannot_be_read_is_refused(arguments: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read(arguments, "train", ())
    assert str(refused.value) == message


def test_a_third_input_is_refused() -> None:
    usage = re.escape("usage: ltr compare FIRST SECOND [key=value ...]")
    with pytest.raises(ConfigError, match=f"^c: one word too many; {usage}$"):
        read(["a", "b", "c"], "compare", ("first", "second"))


def test_a_missing_folder_of_presets_is_named_in_full(here: Path) -> None:
    with pytest.raises(ConfigError, match=f"^--config-dir: wanted a folder of presets, such as {here}/no/loss"):
        read(["--config-dir", "no"], "train", ())


@given(st.text(st.characters(exclude_characters="\0$", exclude_categories=["Cs"])))
def test_hydra_reads_quoted_text_back(text: str) -> None:
    assert OverridesParser.create().parse_override(f"key={quoted(text)}").value() == text


@given(st.lists(st.text(st.characters(exclude_characters="\0$'\"[](){},", exclude_categories=["Cs"]), min_size=1)))
def test_hydra_reads_a_list_of_text_back(texts: list[str]) -> None:
    written = as_text("[" + ",".join(texts) + "]", lists=True, nodes=False, nothing=False)
    assert OverridesParser.create().parse_override(f"key={written}").value() == [text.strip() for text in texts]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("12e3", "'12e3'"),
        ("null", "null"),
        ("'null'", "'null'"),
        ("[a,b", "'[a,b'"),
        ("[]", "[]"),
        ("[a(1,2).txt,{x: 1}]", "['a(1,2).txt',{x: 1}]"),
        ("{_target_: m.C}", "{_target_: m.C}"),
    ],
)
def test_what_is_left_to_hydra(value: str, written: str) -> None:
    assert as_text(value, lists=True, nodes=True, nothing=True) == written


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0$'\"[](){},", exclude_categories=["Cs"]), min_size=1).filter(
            lambda text: text.strip() not in ("", "null")
        ),
        min_size=1,
    )
)
def test_a_list_needs_no_brackets_where_nothing_else_can_stand(texts: list[str]) -> None:
    for typed in (",".join(texts), "[" + ",".join(texts) + "]"):
        written = as_text(typed, lists=True, nodes=True, nothing=True, alone=False)
        assert OverridesParser.create().parse_override(f"key={written}").value() == [text.strip() for text in texts]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("null", "null"),
        ("", "[]"),
        ("[]", "[]"),
        ("'a,b'", "['a,b']"),
        ("{_target_: m.C, k: 1}", "[{_target_: m.C, k: 1}]"),
    ],
)
def test_other_values_of_a_key_that_takes_lists_alone(value: str, written: str) -> None:
    assert as_text(value, lists=True, nodes=True, nothing=True, alone=False) == written


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a=1", "b=2", "a=3"], "a: wanted once, came a=1 and a=3"),
        (["a=1", "a=1"], "a: wanted once, came a=1 and a=1"),
        (["+a=1", "~a"], "a: wanted once, came +a=1 and ~a"),
        (["a.b=1", "a=2", "a.b=3"], "a.b: wanted once, came a.b=1 and a.b=3"),
    ],
)
def test_a_key_stands_once_unless_it_overrides_in_a_training(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(words, "evaluate", ())
    assert str(caught.value) == message
    assert [word.typed for word in read(words, "train", ()).words] == words


@pytest.mark.parametrize("length", [255, 256, 5000])
def test_a_word_may_be_longer_than_the_name_of_a_file(length: int) -> None:
    assert typed(["x" * length, "k=" + "x" * length], "run", "file") == ["run=" + "x" * length, "k=" + "x" * length]


def test_nothing_else_is_left_to_hydra() -> None:
    assert [as_text(value, False, False, False) for value in ("null", "{a: 1}", "[a]")] == [
        "'null'",
        "'{a: 1}'",
        "'[a]'",
    ]


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("a,b", ["a", "b"]),
        ("'a,b',c", ["'a,b'", "c"]),
        (r"'it\'s,',c", [r"'it\'s,'", "c"]),
        ("[1,2],[3]", ["[1,2]", "[3]"]),
        ("it's,b", ["it's", "b"]),
        ("", [""]),
    ],
)
def test_commas_in_quotes_and_brackets_do_not_cut(value: str, parts: list[str]) -> None:
    assert split(value) == parts


def test_quotes_stand_at_both_ends() -> None:
    assert [is_quoted(text) for text in ("'a'", '"a"', "'a\"", "'", "a")] == [True, True, False, False, False]


def test_a_word_without_a_value() -> None:
    assert Word("a", None, "~").typed == "~a"

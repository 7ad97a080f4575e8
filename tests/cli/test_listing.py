"""ltr list: what can be named."""

import inspect

import pytest

from ltr.metrics import METRICS, parse
from ltr.metrics.presets import PRESETS
from tests.cli.conftest import Ltr


def test_without_a_word_it_says_what_can_be_listed(ltr: Ltr) -> None:
    status, out, _ = ltr("list")
    assert status == 0
    assert {"  metrics", "  presets", "  loss", "  data", "  model"} <= set(out.splitlines())


def entries(text: str) -> dict[str, str]:
    """What stands in the first column -> what stands beside it, on however many lines; the closing words left out."""
    found: dict[str, str] = {}
    for line in text.rpartition("\n\n")[0].splitlines():
        name, about = (line.strip().split(maxsplit=1)) if not line.startswith(" ") else (list(found)[-1], line.strip())
        found[name] = f"{found.get(name, '')} {about}".strip()
    return found


def test_every_metric_under_a_name_that_can_be_typed_with_what_it_assumes(ltr: Ltr) -> None:
    status, out, _ = ltr("list", "metrics")
    found = {type(parse(name)): (name, about) for name, about in entries(out).items()}
    assert status == 0
    assert list(found) == list(METRICS.values())
    for metric, (name, about) in found.items():
        words = " ".join((metric.__doc__ or "").split())
        title, assumes = about.split(": assumes ")
        assert words.startswith(f"{title}:")
        assert f" Assumes {assumes}." in words
        assert "." not in assumes  # one sentence
        assert ("@10" in name) == metric.cuts
    assert out.startswith("ndcg@10           Normalised discounted cumulative gain: assumes a reader who\n")
    assert "\ngradedap-max4@10  Graded average precision: assumes readers who" in out


@pytest.mark.parametrize("base", METRICS)
def test_one_metric_as_it_is_documented(ltr: Ltr, base: str) -> None:
    status, out, _ = ltr("list", base)
    documented = " ".join(
        (inspect.getdoc(METRICS[base]) or "").partition("\nArgs:")[0].partition("\nExample:")[0].split()
    )
    assert status == 0
    assert isinstance(parse(out.splitlines()[0]), METRICS[base])
    assert documented in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert not [word for word in ("Example:", ">>>", "Raises:", "Args:") if word in out]
    own = set(inspect.signature(METRICS[base]).parameters) - {"ties", "empty", "unjudged", "ideal", "k"}
    assert own <= {line.split()[0] for line in out.splitlines() if line}


@pytest.mark.parametrize("what", ["metrics", "presets"])
def test_lists_of_sentences_fit_a_terminal_of_80_columns(ltr: Ltr, what: str) -> None:
    _, out, _ = ltr("list", what)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("what", ["preset", "presets"])
def test_every_preset_with_its_program_and_its_metrics(ltr: Ltr, what: str) -> None:
    status, out, _ = ltr("list", what)
    assert status == 0
    assert entries(out) == {name: f"{preset.about} has {', '.join(preset.metrics)}" for name, preset in PRESETS.items()}


@pytest.mark.parametrize("name", PRESETS)
def test_one_preset(ltr: Ltr, name: str) -> None:
    status, out, _ = ltr("list", name)
    assert status == 0
    assert entries(out) == {name: f"{PRESETS[name].about} has {', '.join(PRESETS[name].metrics)}"}


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("losses", "lambdarank  pairs weighted by what swapping them does to the metric"),
        (
            "loss",
            "custom      a loss of your own: loss=custom loss._target_=my.MyLoss, with my.py in the working directory",
        ),
        ("models", "linear  score = w . x + b for each document, 0 where padded."),
        ("optimizers", "adamw    weight decay apart from the gradient"),
        ("data", "synthetic    made lists whose truth is known: see ltr.data.synthetic"),
    ],
)
def test_options_of_a_group(ltr: Ltr, what: str, line: str) -> None:
    status, out, _ = ltr("list", what)
    assert status == 0
    assert line in out.splitlines()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["metrics", "ndcg"], "ndcg: one word too many; usage: ltr list WHAT"),
        (["trec_evl"], "trec_evl: nothing of this name can be listed; did you mean trec_eval?"),
        (["lossy"], "lossy: nothing of this name can be listed; did you mean loss?"),
        (["loss", "x=1"], "ltr list takes one word, such as ltr list losses; got x=1"),
    ],
)
def test_what_cannot_be_listed(ltr: Ltr, words: list[str], message: str) -> None:
    assert ltr("list", *words) == (2, "", f"ltr: {message}\n")

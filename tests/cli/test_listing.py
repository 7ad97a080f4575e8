"""ltr list: what can be named."""

import inspect
import re

import pytest

from ltr import options
from ltr.losses.named import OWN, named
from ltr.metrics import METRICS, parse
from ltr.metrics.presets import PRESETS
from tests.cli.conftest import Ltr

LOSSES = sorted(set(options.groups([options.folder()])["loss"]) - {OWN})


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


@pytest.mark.parametrize("what", ["losses", "loss"])
def test_every_loss_with_its_remark_and_under_its_kind(ltr: Ltr, what: str) -> None:
    status, out, _ = ltr("list", what)
    assert status == 0
    words = " ".join(out.split())
    parts = dict(zip(("approximation", "bound", "neither"), out.split("\n\n"), strict=False))
    assert [part.partition(":")[0] for part in parts.values()] == ["approximations", "bounds", "neither"]
    for name in LOSSES:
        surrogate = named(name)
        about = options.remark(options.folder() / f"loss/{name}.yaml")
        aim = {"approximation": "approximates {}; ", "bound": "bounds {}; "}.get(surrogate.kind, "").format(
            surrogate.aim
        )
        facts = f"{aim}{surrogate.cost}; for {', '.join(surrogate.suits)}"
        assert f" {name} {about} {facts}" in words
        assert f"\n{name} " in parts[surrogate.kind]
    assert "\ncustom         a loss of your own: loss=custom loss._target_=my.MyLoss, with\n" in out


@pytest.mark.parametrize("name", [*LOSSES, "custom"])
def test_one_loss_as_it_is_documented(ltr: Ltr, name: str) -> None:
    status, out, _ = ltr("list", name)
    path = options.folder() / f"loss/{name}.yaml"
    assert status == 0
    assert f"loss={name}: {options.remark(path)}" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert not [word for word in ("Example:", ">>>", "Raises:", "Args:", "``") if word in out]
    if name != "custom":
        surrogate = named(name)
        summary = (inspect.getdoc(type(surrogate)) or "").partition("\n")[0].replace("``", "")
        assert " ".join(summary.split()) in " ".join(out.split())
        assert f"its loss is in {surrogate.unit}" in " ".join(out.split())
        told = {re.split("[= ]", line)[0] for line in out.splitlines()}
        assert set(inspect.signature(type(surrogate)).parameters) - {"args", "kwargs"} <= told


def test_a_loss_under_another_spelling(ltr: Ltr) -> None:
    assert ltr("list", "list_mle") == ltr("list", "ListMLE") == ltr("list", "listmle")
    assert "\nsigma=1.0 " in ltr("list", "lambdarank")[1]
    assert "\nscheme=loss2 " in ltr("list", "ndcgloss2")[1]


@pytest.mark.parametrize("what", ["metrics", "presets", "losses"])
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

"""ltr list: what can be named."""

import pytest

from ltr.metrics import METRICS
from tests.cli.conftest import Ltr


def test_without_a_word_it_says_what_can_be_listed(ltr: Ltr) -> None:
    status, out, _ = ltr("list")
    assert status == 0
    assert {"  metrics", "  loss", "  data", "  model"} <= set(out.splitlines())


def test_every_metric_with_the_first_line_of_its_docstring(ltr: Ltr) -> None:
    _, out, _ = ltr("list", "metrics")
    for name, metric in METRICS.items():
        assert f"{name}@10" in out
        assert (metric.__doc__ or "").splitlines()[0] in out


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
        (["lossy"], "lossy: nothing of this name can be listed; did you mean loss?"),
        (["loss", "x=1"], "ltr list takes one word, such as ltr list losses; got x=1"),
    ],
)
def test_what_cannot_be_listed(ltr: Ltr, words: list[str], message: str) -> None:
    assert ltr("list", *words) == (2, "", f"ltr: {message}\n")

"""Keys and values against the signatures of constructors."""

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch

from ltr.cli.check import annotation_at, locate, nodes, problems, signature
from ltr.cli.errors import ConfigError
from ltr.cli.run import verb_function

TRAIN = verb_function("train")


def trained_on(**parts: Any) -> list[str]:
    """The problems of these keys alone, without those that lack."""
    return [line for line in problems(parts, TRAIN, "train") if not line.endswith("=...") or "." in line.split()[0]]


def test_locates_classes_functions_and_methods_of_classes() -> None:
    assert locate("torch.optim.Adam") is torch.optim.Adam
    assert locate("ltr.data.RankingData.from_arrays").__name__ == "from_arrays"


def test_locates_a_module_of_the_working_directory(here: Path) -> None:
    (here / "mine_for_check.py").write_text("class MyLoss:\n    def __init__(self, sigma: float = 1.0): ...\n")
    assert list(signature(locate("mine_for_check.MyLoss")).arguments) == ["sigma"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("MyLoss", "'MyLoss' names no class or function: wanted module.Name, such as my.MyLoss with my.py"),
        ("no_such_module.X", "there is no module no_such_module (looked in "),
        ("ltr.losses.LambdaRanc", "ltr.losses has no class or function LambdaRanc; did you mean LambdaRank?"),
        ("ltr.losses.nope.X", "there is no module ltr.losses.nope"),
    ],
)
def test_what_is_not_there_is_said(target: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        locate(target)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import no_such_package\n", "broken_{0} cannot be imported: No module named 'no_such_package'"),
        ("def f(:\n", "broken_{0} cannot be imported: SyntaxError"),
    ],
)
def test_a_module_that_fails_to_import_says_why(source: str, message: str, here: Path) -> None:
    number = len(source)
    (here / f"broken_{number}.py").write_text(source)
    with pytest.raises(ConfigError) as refused:
        locate(f"broken_{number}.X")
    assert str(refused.value).startswith(message.format(number))


def test_every_unknown_key_names_the_nearest_one() -> None:
    trainer = {"_target_": "pytorch_lightning.Trainer", "_partial_": True, "max_epoch": 9}
    loss = {"_target_": "ltr.losses.LambdaRank", "metric": "ndcg", "sigmas": 1.0}
    assert trained_on(trainer=trainer, loss=loss, sead=1) == [
        "sead: ltr train has no such key; did you mean seed?",
        "trainer.max_epoch: pytorch_lightning.Trainer has no such key; did you mean max_epochs?",
        "loss.sigmas: ltr.losses.LambdaRank has no such key; did you mean sigma?",
    ]


def test_values_of_the_wrong_kind() -> None:
    trainer = {"_target_": "pytorch_lightning.Trainer", "_partial_": True, "max_epochs": "9", "precision": "33"}
    found = trained_on(seed="1", metric=10, trainer=trainer)
    assert found[:3] == [
        "seed: wanted a whole number, got the text '1'",
        "metric: wanted text or {_target_: ...}, got 10",
        "trainer.max_epochs: wanted a whole number or null, got the text '9'",
    ]
    assert found[3].startswith("trainer.precision: wanted 64 or 32 or 16")


def test_a_negative_limit_of_the_gradient_is_refused() -> None:
    trainer = {"_target_": "pytorch_lightning.Trainer", "_partial_": True}
    for value in (-1, -0.5, float("nan")):
        assert trained_on(trainer={**trainer, "gradient_clip_val": value}) == [
            f"trainer.gradient_clip_val: wanted at least 0 or null, got {value}"
        ]
    for value in (0, 1.5, None):
        assert trained_on(trainer={**trainer, "gradient_clip_val": value}) == []


def test_nodes_within_nodes_and_lists_are_checked() -> None:
    metric = {"_target_": "ltr.metrics.NDCG", "gain": {"_target_": "ltr.gains.Binary", "treshold": 2}}
    assert trained_on(metrics=["ap", metric]) == [
        "metrics[1].gain.treshold: ltr.gains.Binary has no such key; did you mean threshold?"
    ]


def test_required_arguments() -> None:
    data = {"_target_": "ltr.data.letor", "train": "???"}
    assert trained_on(data=data, loss={"_target_": "ltr.losses.Softmax"}) == [
        "data.train is required: a path or a list [a path, ...], as data.train=...",
        "loss.metric is required by ltr.losses.Softmax: add loss.metric=...",
    ]
    assert "seed is required by ltr train: add seed=..." in problems({}, TRAIN, "train")


def test_a_partial_node_may_lack_arguments() -> None:
    assert trained_on(optimizer={"_target_": "torch.optim.SGD", "_partial_": True, "lr": 0.1}) == []


def test_a_class_must_be_named() -> None:
    assert trained_on(loss={"_target_": "???"}) == [
        "loss._target_ is required: the class to use, such as loss._target_=my.MyLoss"
    ]


def test_arguments_that_the_program_passes_are_not_asked_for_nor_taken() -> None:
    assert trained_on(model={"_target_": "ltr.models.Linear"}) == []
    assert trained_on(model={"_target_": "ltr.models.Linear", "features": 3}) == [
        "model.features: the program sets this itself, from the data and the run"
    ]


def test_a_constructor_with_any_keywords_takes_any_key() -> None:
    assert trained_on(callbacks={"mine": {"_target_": "builtins.dict", "x": 1}}) == []


def test_annotations_by_dotted_key() -> None:
    config = {"loss": {"_target_": "ltr.losses.LambdaRank"}, "seed": 0}
    assert annotation_at(config, "seed", TRAIN) is int
    assert annotation_at(config, "loss.sigma", TRAIN) is float
    assert annotation_at(config, "loss._target_", TRAIN) is str
    assert annotation_at(config, "loss.x.y", TRAIN) is annotation_at(config, "nope.z", TRAIN) is Any


def test_signatures_that_cannot_be_read_take_anything() -> None:
    assert signature(locate("builtins.dict")).open
    with pytest.raises(ValueError, match="no signature"):
        inspect.signature(dict)


def test_nodes_whose_constructor_is_unknown_are_passed_over() -> None:
    config = {"a": {"_target_": "no.Such"}, "b": [{"_target_": "ltr.losses.MSE"}]}
    assert [path for path, _, _ in nodes(config, TRAIN)] == ["", "b[0]"]


@pytest.mark.parametrize(
    ("callbacks", "message"),
    [
        (
            {"checkpoint": None, "checkpont": {"keep": 2}},
            "callbacks.checkpont: callbacks has no such part; did you mean checkpoint?; "
            "a new one needs callbacks.checkpont._target_=...",
        ),
        (
            {"mine": {"patience": 2}},
            "callbacks.mine: callbacks has no such part; a new one needs callbacks.mine._target_=...",
        ),
    ],
)
def test_a_part_that_is_no_node_is_named(callbacks: dict[str, Any], message: str) -> None:
    assert trained_on(callbacks=callbacks) == [message]

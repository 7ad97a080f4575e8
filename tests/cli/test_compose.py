"""From words to a resolved configuration: text as typed, paths absolute, unknown keys kept for the check."""

from pathlib import Path
from typing import Any

import pytest

from ltr.cli.compose import Composer
from ltr.cli.errors import ConfigError
from ltr.cli.run import verb_function
from ltr.cli.words import Word, read


def words(*typed: str) -> list[Word]:
    return read(typed, "train", ()).words


def composer(config_dir: Path | None = None) -> Composer:
    return Composer("train", verb_function("train"), config_dir)


def compose(*typed: str) -> dict[str, Any]:
    return composer().compose(words(*typed))


def refused(*typed: str) -> list[str]:
    made = composer()
    with pytest.raises(ConfigError) as error:
        made.check(made.compose(words(*typed)))
    return list(error.value.lines)


def test_the_defaults_pass_the_check() -> None:
    made = composer()
    made.check(made.compose([]))


def test_the_metric_is_named_once() -> None:
    assert compose("loss=lambdarank", "metric=mrr@10")["loss"]["metric"] == "mrr@10"
    assert compose("loss.metric=ap")["metric"] == "ndcg@10"


def test_a_metric_may_be_a_node() -> None:
    found = compose("metric={_target_: ltr.metrics.NDCG, k: 10}")
    assert found["metric"] == found["loss"]["metric"] == {"_target_": "ltr.metrics.NDCG", "k": 10}


@pytest.mark.parametrize(
    "name", ["12e3", "007", "1e5", "a=b", "x(1)", "~x", "a#b", "a b", "true", "[x]", "{x}", "a,b", "é", "null "]
)
def test_text_arrives_as_it_was_typed(name: str) -> None:
    assert compose(f"name={name}")["name"] == name


def test_null_is_nothing_and_quotes_make_it_text() -> None:
    assert compose("name=null")["name"] is None
    assert compose("name='null'")["name"] == "null"


@pytest.mark.parametrize("file", ["a=1.txt", "b(2).txt", "~c.txt", "d#e.txt", "f g.txt", "12e3", "a,b.txt", "it's.txt"])
def test_paths_arrive_as_they_were_typed_and_absolute(file: str, here: Path) -> None:
    (here / file).touch()
    assert compose("data=letor", f"data.train={file}")["data"]["train"] == str(here / file)


def test_lists_of_paths(here: Path) -> None:
    assert compose("data=letor", "data.train=[a.txt,b=1.txt,/c(.txt]")["data"]["train"] == [
        f"{here}/a.txt",
        f"{here}/b=1.txt",
        "/c(.txt",
    ]


def test_home_is_expanded_where_no_file_has_that_name(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert compose("root=~/runs")["root"] == "/home/someone/runs"
    (here / "~").mkdir()
    (here / "~/runs").mkdir()
    assert compose("root=~/runs")["root"] == f"{here}/~/runs"


def test_lists_of_names_and_numbers() -> None:
    found = compose("metrics=[ndcg@5,ap]", "model.hidden=[32,16]", "optimizer.lr=1e-2")
    assert (found["metrics"], found["model"]["hidden"], found["optimizer"]["lr"]) == (["ndcg@5", "ap"], [32, 16], 0.01)


def test_text_of_a_class_that_is_named_on_the_same_line(here: Path) -> None:
    (here / "mine_for_compose.py").write_text("class MyLoss:\n    def __init__(self, tag: str, sigma: float): ...\n")
    found = compose("loss=custom", "+loss.tag=12e3", "+loss.sigma=1e1", "loss._target_=mine_for_compose.MyLoss")
    assert found["loss"] == {"_target_": "mine_for_compose.MyLoss", "tag": "12e3", "sigma": 10.0}


@pytest.mark.parametrize("mark", ["", "+", "++"])
def test_a_misspelt_key_is_an_error_with_and_without_plus(mark: str) -> None:
    assert refused(f"{mark}trainer.max_epoch=9") == [
        "trainer.max_epoch: pytorch_lightning.Trainer has no such key; did you mean max_epochs?"
    ]
    assert refused(f"{mark}sead=1") == ["sead: ltr train has no such key; did you mean seed?"]
    assert refused(f"{mark}los=approx") == ["los: ltr train has no such key; did you mean loss?"]


@pytest.mark.parametrize("mark", ["", "+"])
def test_a_misspelt_option_lists_the_options(mark: str) -> None:
    assert refused(f"{mark}model=mpl") == [
        "model=mpl: no such option; wanted one of custom, linear, mlp; did you mean mlp?"
    ]


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert refused("trainer.max_epochs='9'", "seed='1'", "model.hiden=[3]") == [
        "seed: wanted a whole number, got the text '1'",
        "model.hiden: ltr.models.MLP has no such key; did you mean hidden?",
        "trainer.max_epochs: wanted a whole number or null, got the text '9'",
    ]


def test_a_key_of_another_option_of_the_group_names_the_option(here: Path) -> None:
    (here / "train.txt").touch()
    (line,) = refused("data=synthetic", "data.train=train.txt")
    assert line.startswith("data.train: ltr.data.synthetic has no such key; known: queries, documents")
    assert line.endswith("(data=letor has it)")


def test_a_missing_file_is_named_by_its_absolute_path(here: Path) -> None:
    (here / "there.txt").touch()
    assert refused("data=letor", "data.train=[there.txt,sub/no.txt]", "data.test=gone.txt") == [
        f"data.train: no such file or folder: {here}/sub/no.txt",
        f"data.test: no such file or folder: {here}/gone.txt",
    ]


def test_a_cache_need_not_be_there(here: Path) -> None:
    made = composer()
    made.check(made.compose(words("data=mslr_sample", "data.cache=later")))


def test_several_values_want_a_sweep() -> None:
    (line,) = refused("seed=1,2")
    assert line == "seed=1,2: several values are a sweep, which wants -m; a list is [a,b]"
    (line,) = refused("loss=approx,mse")
    assert line.endswith("; several values are a sweep, which wants -m")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("seed=(", "seed=(: cannot be read as a value; text goes in quotes: seed=\"'('\""),
        ("seed.x=1", "seed: wanted a whole number, got {'x': 1}"),
        ("~loss.nope", "~loss.nope: there is nothing of this name to take away"),
        ("loss.metric=${nope}", "Interpolation key 'nope' not found"),
        ("transform.x=1", "transform"),
    ],
)
def test_values_that_make_no_sense(typed: str, message: str) -> None:
    assert refused(typed)[0].startswith(message)


def test_a_part_may_be_left_out() -> None:
    assert compose("scheduler=null")["scheduler"] is None
    assert compose("~scheduler")["scheduler"] is None
    assert "early_stopping" not in compose("~callbacks.early_stopping")["callbacks"]
    assert refused("loss=null") == ["loss: wanted {_target_: ...}, got null"]


def test_presets_of_ones_own_join(tmp_path: Path) -> None:
    tmp_path = tmp_path / "it's (mine) = #1"
    tmp_path.mkdir()
    (tmp_path / "loss").mkdir()
    (tmp_path / "loss/mine.yaml").write_text("_target_: ltr.losses.ApproxMetric\nmetric: ${metric}\ntemperature: 0.5\n")
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment/mine.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /loss: mine\nseed: 7\n"
    )
    found = composer(tmp_path).compose(words("loss=mine"))
    assert found["loss"] == {"_target_": "ltr.losses.ApproxMetric", "metric": "ndcg@10", "temperature": 0.5}
    found = composer(tmp_path).compose(words("experiment=mine", "metric=ap"))
    assert (found["loss"]["temperature"], found["seed"], found["loss"]["metric"]) == (0.5, 7, "ap")


def test_a_run_is_a_base_below_the_words() -> None:
    saved = {**compose("seed=5", "loss=mse", "name=old"), "root": "/there"}
    made = Composer("train", verb_function("train"), None, lambda first: saved if first["resume"] else None)
    found = made.compose(words("resume=old", "trainer.max_epochs=40", "model=linear"))
    assert (found["seed"], found["loss"]["_target_"], found["root"]) == (5, "ltr.losses.MSE", "/there")
    assert (found["trainer"]["max_epochs"], found["model"]) == (40, {"_target_": "ltr.models.Linear"})
    assert made.compose([])["seed"] == 0
    with pytest.raises(ConfigError, match=r"^experiment: a run goes on with its own configuration"):
        made.compose(words("resume=old", "experiment=demo"))


def jobs(*typed: str) -> list[list[str]]:
    return [[word.typed for word in job] for job in composer().jobs(words(*typed))]


def test_every_combination_the_last_key_fastest() -> None:
    assert jobs("loss=approx,mse", "metric=ap", "seed=1,2") == [
        ["loss=approx", "metric=ap", "seed=1"],
        ["loss=approx", "metric=ap", "seed=2"],
        ["loss=mse", "metric=ap", "seed=1"],
        ["loss=mse", "metric=ap", "seed=2"],
    ]


def test_ranges_texts_and_lists_in_a_sweep() -> None:
    assert jobs("seed=range(1,4)") == [["seed=1"], ["seed=2"], ["seed=3"]]
    assert jobs("data=letor", "data.train=a=1.txt,'b,c.txt'") == [
        ["data=letor", "data.train=a=1.txt"],
        ["data=letor", "data.train='b,c.txt'"],
    ]
    assert jobs("model.hidden=[8],[16,8]") == [["model.hidden=[8]"], ["model.hidden=[16,8]"]]


def test_a_sweep_over_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^a sweep \(-m\) wants several values for some key, such as seed=1,2,3$"):
        jobs("seed=1", "model.hidden=[16,8]")


def test_broken_presets_are_an_error_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "loss").mkdir()
    (tmp_path / "loss" / "bad.yaml").write_text("a: [\n")
    with pytest.raises(ConfigError, match=r"bad\.yaml"):
        composer(tmp_path).compose(words("loss=bad"))


def test_a_loss_inside_a_loss_is_changed_or_replaced() -> None:
    found = compose("loss=perturbed", "loss.loss.metric=ap", "metric=mrr")["loss"]
    assert (found["loss"]["metric"], found["loss"]["_target_"]) == ("ap", "ltr.losses.Softmax")
    found = compose("loss=perturbed", "loss.loss={_target_:ltr.losses.RankNet,sigma:2}")["loss"]
    assert found["loss"] == {"_target_": "ltr.losses.RankNet", "sigma": 2}
    found = compose("loss=sum", "metric=ap", "loss.losses.0.sigma=3", "loss.weights=[1,2]")["loss"]
    assert (found["losses"][0]["metric"], found["losses"][0]["sigma"], found["weights"]) == ("ap", 3, [1, 2])
    assert refused("loss=perturbed", "loss.loss.metrc=ap") == [
        "loss.loss.metrc: ltr.losses.Softmax has no such key; did you mean metric?"
    ]

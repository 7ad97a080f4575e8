"""ltr train -m: a folder for each job, one after another; what fails is said and does not stop the rest."""

import json
from pathlib import Path

import pytest
import yaml

from ltr.cli.sweep import _names
from ltr.cli.words import Word
from tests.cli.conftest import Ltr, write_letor

QUICK = ("data=synthetic", "data.queries=30", "data.documents=6", "trainer.max_epochs=1", "model=linear", "metrics=[]")


def test_every_combination_in_a_folder_of_its_own(ltr: Ltr, here: Path) -> None:
    status, out, err = ltr("train", "-m", *QUICK, "loss=approx,mse", "seed=1,2", "name=sweep")
    assert status == 0, err
    found = {path.name: yaml.safe_load((path / "config.yaml").read_text()) for path in (here / "runs/sweep").iterdir()}
    assert {name: (config["loss"]["_target_"], config["seed"]) for name, config in found.items()} == {
        f"loss-{loss}_seed-{seed}": (f"ltr.losses.{target}", seed)
        for loss, target in (("approx", "ApproxMetric"), ("mse", "MSE"))
        for seed in (1, 2)
    }
    assert all(name in out for name in found)
    assert ltr("evaluate", "sweep/loss-mse_seed-1")[0] == 0


def test_without_a_name_the_folder_is_the_date(ltr: Ltr, here: Path) -> None:
    assert ltr("train", "-m", *QUICK, "seed=1,2")[0] == 0
    (folder,) = (here / "runs").iterdir()
    assert folder.name.endswith("-sweep")
    assert sorted(path.name for path in folder.iterdir()) == ["seed-1", "seed-2"]


def test_a_job_that_fails_is_marked_and_the_rest_go_on(ltr: Ltr, here: Path) -> None:
    status, out, err = ltr("train", "-m", *QUICK, "loss=approx", "loss.temperature=0.2,-1,0.5", "name=sweep")
    assert status == 1
    states = {path.parent.name: json.loads(path.read_text()) for path in here.glob("runs/sweep/*/run.json")}
    assert {name: state["status"] for name, state in states.items()} == {
        "temperature-0.2": "finished",
        "temperature--1": "failed",
        "temperature-0.5": "finished",
    }
    assert "temperature" in states["temperature--1"]["error"]
    assert "ltr: 1 of 3 jobs failed\nltr: temperature--1: loss: " in err
    assert "temperature-0.5" in out


def test_a_misspelt_key_stops_the_sweep_before_its_first_job(ltr: Ltr, here: Path) -> None:
    status, _, err = ltr("train", "-m", *QUICK, "loss=approx,mse", "loss.temp=1")
    assert status == 2
    assert err.splitlines() == [
        "ltr: loss.temp: ltr.losses.ApproxMetric has no such key; did you mean temperature?",
        "ltr: loss.temp: ltr.losses.MSE has no such key; known: centred",
    ]
    assert list(here.iterdir()) == []


def test_a_taken_name_is_refused(ltr: Ltr, here: Path) -> None:
    (here / "runs/sweep").mkdir(parents=True)
    assert ltr("train", "-m", *QUICK, "seed=1,2", "name=sweep") == (
        1,
        "",
        f"ltr: {here}/runs/sweep exists, and a sweep never writes over another: choose a name\n",
    )


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["seed=1"], 2, "a sweep (-m) wants several values for some key"),
        (["seed=1,2", "resume=first"], 2, "resume: goes on with one run"),
        (["seed=-1,2"], 2, "seed: wanted 0 to 18446744073709551615, got -1"),
        (["seed=1,2", "name=a/b"], 1, "name: wanted one plain word for the sweep's folder, got 'a/b'"),
    ],
)
def test_sweeps_that_cannot_be(ltr: Ltr, here: Path, words: list[str], status: int, message: str) -> None:
    found, out, err = ltr("train", "-m", *QUICK, *words)
    assert (found, out) == (status, "")
    assert err.startswith(f"ltr: {message}")
    assert list(here.glob("runs/*/*")) == []


def test_only_train_sweeps(ltr: Ltr, here: Path) -> None:
    assert ltr("predict", "-m", "a,b", "x.txt")[::2] == (2, "ltr: -m: ltr predict runs once; only ltr train sweeps\n")


def test_the_configurations_can_be_looked_at(ltr: Ltr, here: Path) -> None:
    status, out, _ = ltr("train", "-m", "--cfg", *QUICK, "seed=1,2")
    assert status == 0
    assert [config["seed"] for config in yaml.safe_load_all(out)] == [1, 2]
    assert list(here.iterdir()) == []


def test_data_of_a_relative_path_are_found_from_anywhere(ltr: Ltr, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_letor(here / "w/data/train.txt", 12, seed=0)
    monkeypatch.chdir(here / "w")
    quick = ("trainer.max_epochs=1", "model=linear", "metrics=[]", "name=sweep", "seed=1,2")
    assert ltr("train", "-m", "data=letor", "data.train=data/train.txt", *quick)[0] == 0
    assert f"train: {here}/w/data/train.txt" in (here / "w/runs/sweep/seed-2/config.yaml").read_text()
    monkeypatch.chdir(here)
    assert ltr("train", "resume=w/runs/sweep/seed-1", "trainer.max_epochs=2")[0] == 0
    status, out, _ = ltr("predict", "w/runs/sweep/seed-2", "w/data/train.txt")
    assert (status, out.splitlines()[0]) == (0, "query,document,score,rank")


def test_names_of_jobs_are_plain_and_differ() -> None:
    jobs = [[Word("a.file", f"x/{letter}"), Word("seed", "1")] for letter in ("y y", "y/y", "z")]
    assert _names(jobs) == ["file-x-y-y", "file-x-y-y-2", "file-x-z"]

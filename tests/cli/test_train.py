"""ltr train: from words to a run folder, and everything that is refused before training."""

import json
import subprocess
import sysconfig
import time
from importlib import import_module
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Ltr, write_letor

QUICK = ("trainer.max_epochs=1", "model=linear", "metrics=[]")
SYNTHETIC = ("data=synthetic", "data.queries=30", "data.documents=6", *QUICK)

MY_LOSS = """\
from ltr.losses import Surrogate


class MyLoss(Surrogate):
    \"\"\"Squared error to sigma times the label.\"\"\"

    unit = "labels squared"

    def __init__(self, sigma: float = 1.0) -> None:
        super().__init__()
        self.sigma = sigma

    def forward(self, scores, relevance, mask=None):
        return (((scores - self.sigma * relevance) ** 2) * mask).sum(-1)
"""


def test_a_run_folder_with_the_resolved_configuration(ltr: Ltr, here: Path) -> None:
    for place, name in enumerate(("train", "vali", "test")):
        write_letor(here / f"data/{name}.txt", 12, seed=place)
    files = ("data.train=data/train.txt", "data.validation=data/vali.txt", "data.test=data/test.txt")
    status, out, err = ltr("train", "data=letor", *files, "loss=lambdarank", *QUICK, "name=first", "seed=3")
    assert status == 0, err
    config = yaml.safe_load((here / "runs/first/config.yaml").read_text())
    assert config["data"]["train"] == f"{here}/data/train.txt"
    assert config["root"] == f"{here}/runs"
    assert (config["seed"], config["loss"]["metric"]) == (3, "ndcg@10")
    assert json.loads((here / "runs/first/run.json").read_text())["status"] == "finished"
    assert "label 0:" in err
    assert f"run folder: {here}/runs/first" in out


def test_the_configuration_can_be_looked_at_without_a_run(ltr: Ltr, here: Path) -> None:
    status, out, _ = ltr("train", "--cfg", *SYNTHETIC, "metric=ap")
    assert status == 0
    assert yaml.safe_load(out)["loss"]["metric"] == "ap"
    assert list(here.iterdir()) == []


def test_one_word_aims_everything_at_another_metric(ltr: Ltr, here: Path) -> None:
    assert ltr("train", *SYNTHETIC, "metric=mrr@10", "loss=approx", "name=mrr")[0] == 0
    info = json.loads((here / "runs/mrr/run.json").read_text())
    assert (info["metric"], info["loss"]["aim"], info["best"]["metric"]) == ("mrr@10", "mrr", "mrr@10")
    assert "mrr@10" in info["test"]
    assert "mrr@10" in info["checkpoint"]


def test_a_loss_of_ones_own(ltr: Ltr, here: Path) -> None:
    (here / "my_loss_of_train.py").write_text(MY_LOSS)
    own = ("loss=custom", "loss._target_=my_loss_of_train.MyLoss", "+loss.sigma=2")
    status, _, err = ltr("train", *SYNTHETIC, *own, "name=own")
    assert status == 0, err
    rows = [json.loads(line) for line in (here / "runs/own/gap.jsonl").read_text().splitlines()]
    assert (rows[0]["surrogate"], rows[0]["kind"], rows[0]["loss_unit"]) == ("MyLoss", "neither", "labels squared")


def test_two_starts_have_two_folders(ltr: Ltr, here: Path) -> None:
    assert ltr("train", *SYNTHETIC, "seed=1")[0] == 0
    assert ltr("train", *SYNTHETIC, "seed=2")[0] == 0
    seeds = [yaml.safe_load(path.read_text())["seed"] for path in here.glob("runs/*/config.yaml")]
    assert sorted(seeds) == [1, 2]


def test_two_starts_at_once_have_two_folders(here: Path) -> None:
    program = Path(sysconfig.get_path("scripts"), "ltr")
    started = [subprocess.Popen([program, "train", *SYNTHETIC, f"seed={seed}"], cwd=here) for seed in (1, 2)]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    folders = sorted((here / "runs").iterdir())
    seeds = [yaml.safe_load((folder / "config.yaml").read_text())["seed"] for folder in folders]
    assert sorted(seeds) == [1, 2]
    for folder, seed in zip(folders, seeds, strict=True):
        assert json.loads((folder / "run.json").read_text())["seed"] == seed
        assert len((folder / "gap.jsonl").read_text().splitlines()) == 1


def test_a_taken_name_loses_nothing(ltr: Ltr, here: Path) -> None:
    (here / "runs/first").mkdir(parents=True)
    (here / "runs/first/run.json").write_text("{}")
    status, _, err = ltr("train", "name=first", "data=synthetic")
    assert status == 1
    assert err == f"ltr: {here}/runs/first exists, and a run never writes over another: choose another name\n"
    assert (here / "runs/first/run.json").read_text() == "{}"


def test_a_run_goes_on_in_its_folder_with_its_own_configuration(ltr: Ltr, here: Path) -> None:
    assert ltr("train", *SYNTHETIC, "name=first", "optimizer.lr=0.02")[0] == 0
    status, _, err = ltr("train", "resume=first", "trainer.max_epochs=3")
    assert status == 0, err
    config = yaml.safe_load((here / "runs/first/config.yaml").read_text())
    assert (config["optimizer"]["lr"], config["trainer"]["max_epochs"], config["resume"]) == (0.02, 3, None)
    assert len((here / "runs/first/gap.jsonl").read_text().splitlines()) == 3
    assert [path.name for path in (here / "runs").iterdir()] == ["first"]


def test_a_run_does_not_go_on_with_other_data(ltr: Ltr, here: Path) -> None:
    assert ltr("train", *SYNTHETIC, "name=first")[0] == 0
    config = (here / "runs/first/config.yaml").read_text()
    status, _, err = ltr("train", "resume=first", "data.queries=40", "trainer.max_epochs=2")
    assert status == 1
    assert "was trained on other data" in err
    assert (here / "runs/first/config.yaml").read_text() == config


def test_the_run_to_go_on_with_must_be_there(ltr: Ltr, here: Path) -> None:
    assert ltr("train", "resume=nope") == (1, "", f"ltr: no run 'nope': there are no runs below {here}/runs\n")


def test_the_same_seed_gives_the_same_values(ltr: Ltr, here: Path) -> None:
    for name in ("a", "b"):
        assert ltr("train", *SYNTHETIC, "model=mlp", "seed=5", f"name={name}")[0] == 0
    first, second = ((here / f"runs/{name}/per_query.test.csv").read_text() for name in ("a", "b"))
    assert first == second


# -- bad input: an error before training, in lines, without a traceback ----------------------------------------------

GOOD = "1 qid:1 1:0.5 2:0.1\n0 qid:1 1:0.25 2:1\n1 qid:2 1:0.5 2:0.1\n0 qid:2 1:0.25 2:1\n"

BAD_CONFIG = [
    (["trainer.max_epoch=9"], ["max_epoch:", "max_epochs"]),
    (["+trainer.max_epoch=9"], ["max_epoch:", "max_epochs"]),
    (["trainer.max_epochs='9'"], ["trainer.max_epochs: wanted a whole number or null, got the text '9'"]),
    (["metrik=ap"], ["metrik", "metric"]),
    (["lose=approx"], ["lose", "loss"]),
    (["loss=approximate"], ["loss=approximate", "approx, custom, lambdarank"]),
    (["metric=ndgc@10"], ["unknown metric 'ndgc@10'", "did you mean ndcg?"]),
    (["metrics=[ap@ten]"], ["ap@ten", "whole number"]),
    (["metric=ndcg@0"], ["metric 'ndcg@0': the cutoff after @ must be a whole number of at least 1, got '0'"]),
    (["data=letor"], ["data.train is required"]),
    (["data=letor", "data.train=gone.txt"], ["{here}/gone.txt"]),
    (["loss=custom"], ["loss._target_ is required", "loss._target_=my.MyLoss"]),
    (["loss=custom", "loss._target_=nowhere.MyLoss"], ["loss._target_: there is no module nowhere"]),
    (["loss.sigma=-1", "data=synthetic"], ["loss: ", "sigma", "-1"]),
    (["optimizer.lr=-1", "data=synthetic"], ["optimizer: ", "learning rate", "-1"]),
]

BAD_DATA = [
    ("", ["train.txt", "an empty file"]),
    ("1 1:0.5\n", ["train.txt, line 1", "qid"]),
    ("1 qid:1 1:0.5 2:0.1\n0 qid:1 1:0.25 2:abc\n", ["train.txt, line 2", "'abc'"]),
    ("nan qid:1 1:0.5\n", ["train.txt, line 1", "label", "nan"]),
    ("1 qid:1 1:nan\n", ["train.txt, line 1", "feature 1", "nan"]),
    ("1 qid:1 1:1\n1 qid:1 1:2\n2 qid:2 1:1\n2 qid:2 1:2\n", ["all equal within each", "trains on nothing"]),
    ("1 qid:1 1:1\n0 qid:1 1:2\n", ["leave a part without a query"]),
]


@pytest.fixture(scope="module", autouse=True)
def imported() -> None:
    """The clock below measures what a refusal does, not how fast a busy machine reads the libraries from its disk."""
    import_module("ltr.training")


def refused_early(ltr: Ltr, here: Path, arguments: list[str], said: list[str], wanted: int) -> None:
    clock = time.perf_counter()
    status, out, err = ltr("train", *arguments)
    assert time.perf_counter() - clock < 10
    assert (status, out) == (wanted, ""), err
    assert "Traceback" not in err
    complaint = [line for line in err.splitlines() if line.startswith("ltr: ")]
    assert [part for part in said if part.format(here=here) not in complaint[0]] == []
    assert len(complaint) <= 5
    assert list(here.glob("runs/*")) == []


@pytest.mark.parametrize(("arguments", "said"), BAD_CONFIG, ids=lambda value: "-".join(value)[:40])
def test_a_bad_configuration_is_refused_early(ltr: Ltr, here: Path, arguments: list[str], said: list[str]) -> None:
    refused_early(ltr, here, arguments, said, wanted=2)


@pytest.mark.parametrize(("text", "said"), BAD_DATA, ids=lambda value: str(value)[:20].replace("\n", " "))
def test_bad_training_data_is_refused_early(ltr: Ltr, here: Path, text: str, said: list[str]) -> None:
    (here / "train.txt").write_text(text)
    refused_early(ltr, here, ["data=letor", "data.train=train.txt"], said, wanted=1)


def test_a_validation_file_where_the_metric_has_no_answer(ltr: Ltr, here: Path) -> None:
    (here / "train.txt").write_text(GOOD)
    (here / "vali.txt").write_text("0 qid:1 1:0.5\n0 qid:1 1:0.25\n")
    said = ["validation data: ndcg@10 has no answer on any of its 1 lists", "vali.txt"]
    refused_early(ltr, here, ["data=letor", "data.train=train.txt", "data.validation=vali.txt"], said, wanted=1)


def test_a_table_of_gains_without_a_label_of_the_data(ltr: Ltr, here: Path) -> None:
    (here / "train.txt").write_text(GOOD.replace("1 qid:1", "4 qid:1"))
    said = ["train.txt: gain table: wanted whole labels 0 to 2, got 4"]
    refused_early(ltr, here, ["data=letor", "data.train=train.txt", "metric=ndcg-table0_1_3@10"], said, wanted=1)


def test_exponential_gains_of_large_labels_warn(ltr: Ltr, here: Path) -> None:
    (here / "train.txt").write_text(
        "".join(GOOD.replace("qid:", f"qid:{q}").replace("1 qid", "20 qid") for q in range(5))
    )
    status, _, err = ltr("train", "data=letor", "data.train=train.txt", *QUICK)
    assert status == 0, err
    warnings = [line for line in err.splitlines() if line.startswith("warning: ")]
    assert "2 different labels up to 20 under an exponential gain" in warnings[0]
    assert "metric=ndcg-linear@10" in warnings[0]


def test_data_of_the_wrong_kind(ltr: Ltr, here: Path) -> None:
    (here / "mine_of_train.py").write_text("def load():\n    return 3\n")
    said = ["data: wanted ltr.data.Splits (train, validation, test), got int"]
    refused_early(ltr, here, ["~data", "data._target_=mine_of_train.load"], said, wanted=2)

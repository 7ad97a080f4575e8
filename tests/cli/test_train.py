"""ltr train: from words to a run folder, and everything that is refused before training."""

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

from ltr.runs import Run
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


@pytest.mark.parametrize("monitor", ["val/ap", "val/loss", "null"])
def test_one_word_chooses_what_the_state_and_the_end_are_judged_by(ltr: Ltr, here: Path, monitor: str) -> None:
    words = (*SYNTHETIC[:3], "model=linear", "metrics=[ap]", "loss=mse", "optimizer.lr=1", f"monitor={monitor}")
    status, _, err = ltr("train", *words, "callbacks.early_stopping.patience=1", "trainer.max_epochs=12", "name=first")
    assert status == 0, err
    rows = [row for row in Run(here / "runs/first").metrics() if row["val/ap"] is not None]
    if monitor == "null":
        assert len(rows) == 12
        return
    values = [row[monitor] for row in rows if row[monitor] is not None]
    better = [value > max(values[:place]) for place, value in enumerate(values) if place]
    if monitor == "val/loss":
        better = [value < min(values[:place]) for place, value in enumerate(values) if place]
    assert all(better[:-1])
    assert len(values) == 12 or not better[-1]
    assert next(iter(Run(here / "runs/first").read_index()["best"])) == monitor


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


def test_two_starts_at_once_have_two_folders(ltr: Ltr, here: Path) -> None:
    # field report config-03. https://github.com/hydra-ecosystem/hydra/issues/1607
    program = Path(sysconfig.get_path("scripts"), "ltr")
    started = [subprocess.Popen([program, "train", *SYNTHETIC, f"seed={seed}"], cwd=here) for seed in (1, 2)]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    folders = sorted((here / "runs").iterdir())
    seeds = [yaml.safe_load((folder / "config.yaml").read_text())["seed"] for folder in folders]
    assert sorted(seeds) == [1, 2]
    for folder, seed in zip(folders, seeds, strict=True):
        assert json.loads((folder / "run.json").read_text())["seed"] == seed
        assert len((folder / "gap.jsonl").read_text().splitlines()) == 1
        assert len(list(folder.glob("events.out.tfevents.*"))) == 1
        assert ltr("train", *SYNTHETIC, f"seed={seed}", f"name=alone{seed}")[0] == 0
        for log in ("metrics.csv", "gap.jsonl"):  # line by line what a training alone writes
            assert (folder / log).read_text() == (here / "runs" / f"alone{seed}" / log).read_text()


def test_the_ddp_preset_makes_one_run(here: Path) -> None:
    # field report ddp-05, by the shipped preset: it must not start the whole command once for each process
    program = Path(sysconfig.get_path("scripts"), "ltr")
    done = subprocess.run(
        [program, "train", *SYNTHETIC, "trainer=ddp"], cwd=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (folder,) = (here / "runs").iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == "finished"
    assert len(list(folder.glob("events.out.tfevents.*"))) == 1
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
    assert (status, err) == (2, "ltr: data.queries: the run has 30, and goes on with that or not at all; got 40\n")
    assert (here / "runs/first/config.yaml").read_text() == config


def test_a_run_does_not_go_on_with_files_that_have_changed(ltr: Ltr, here: Path) -> None:
    for place, name in enumerate(("train", "vali", "test")):
        write_letor(here / f"data/{name}.txt", 12, seed=place)
    files = ("data.train=data/train.txt", "data.validation=data/vali.txt", "data.test=data/test.txt")
    assert ltr("train", "data=letor", *files, *QUICK, "name=first")[0] == 0
    write_letor(here / "data/vali.txt", 12, seed=9)
    before = everything(here / "runs")
    status, _, err = ltr("train", "resume=first", "trainer.max_epochs=2")
    assert status == 1
    assert "runs/first was trained on other data: its validation data had hash " in err
    assert everything(here / "runs") == before


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OTHERWISE = [
    (["model=mlp"], "model._target_: the run has ltr.models.Linear, and goes on with that or not at all; got ltr."),
    (["metric=mrr@10"], "metric: the run has ndcg@10, and goes on with that or not at all; got mrr@10"),
    (["metrics=[ap]"], "metrics: the run has [], and goes on with that or not at all; got ['ap']"),
    (["loss.sigma=2"], "loss.sigma: the run has 1.0, and goes on with that or not at all; got 2"),
    (["transform=none"], "transform.symlog: the run has True, and goes on with that or not at all; got no such key"),
    (["optimizer.lr=3"], "optimizer.lr: the run has 0.001, and goes on with that or not at all; got 3"),
    (["seed=7"], "seed: the run has 0, and goes on with that or not at all; got 7"),
    (["documents=99"], "documents: the run has 4096, and goes on with that or not at all; got 99"),
    (["lists=3"], "lists: the run has null, and goes on with that or not at all; got 3"),
    (["monitor=val/loss"], "monitor: the run has val/target, and goes on with that or not at all; got val/loss"),
]


def test_a_run_does_not_go_on_with_other_settings(ltr: Ltr, here: Path) -> None:
    assert ltr("train", *SYNTHETIC, "name=first")[0] == 0
    before = everything(here / "runs")
    for words, said in OTHERWISE:
        status, out, err = ltr("train", "resume=first", "trainer.max_epochs=2", *words)
        assert (status, out) == (2, ""), err
        assert f"ltr: {said}" in err
        assert "Traceback" not in err
        assert everything(here / "runs") == before
    assert ltr("train", "resume=first", "scheduler=none", "callbacks=none", "workers=1", "trainer.max_epochs=2")[0] == 0


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
    (["loss=approximate"], ["loss=approximate", "wanted one of", "did you mean approx?"]),
    (["metric=ndgc@10"], ["unknown metric 'ndgc@10'", "did you mean ndcg?"]),
    (["metrics=[ap@ten]"], ["ap@ten", "whole number"]),
    (["metric=ndcg@0"], ["metric 'ndcg@0': the cutoff after @ must be a whole number from 1 to 1000000000, got '0'"]),
    (["data=letor"], ["data.train is required"]),
    (["data=letor", "data.train=gone.txt"], ["{here}/gone.txt"]),
    (["loss=custom"], ["loss._target_ is required", "loss._target_=my.MyLoss"]),
    (["loss=custom", "loss._target_=nowhere.MyLoss"], ["loss._target_: there is no module nowhere"]),
    (["loss.sigma=-1", "data=synthetic"], ["loss: ", "sigma", "-1"]),
    (["workers=-1", "data=synthetic"], ["workers: wanted at least 0, got -1"]),
    (["documents=0", "data=synthetic"], ["documents: wanted at least 1, got 0"]),
    (["seed=-1", "data=synthetic"], ["seed: wanted 0 to 18446744073709551615, got -1"]),
    ([f"seed={2**64}", "data=synthetic"], ["seed: wanted 0 to 18446744073709551615, got 18446744073709551616"]),
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


def refused_early(ltr: Ltr, here: Path, arguments: list[str], said: list[str], wanted: int) -> None:
    status, out, err = ltr("train", *arguments)
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


@pytest.mark.parametrize("words", [["metric=ndcg-error@10"], ["metrics=[ap,ndcg-error@10]"]], ids=str)
def test_a_metric_that_refuses_lists_without_an_answer(ltr: Ltr, here: Path, words: list[str]) -> None:
    (here / "good.txt").write_text(GOOD)
    (here / "test.txt").write_text("1 qid:a 1:0.5\n0 qid:b 1:0.25\n0 qid:c 1:0.25\n")
    files = ["data.train=good.txt", "data.validation=good.txt", "data.test=test.txt"]
    said = ["test data: ndcg-error@10 refuses lists without an answer, and query b is one of 2", "test.txt"]
    refused_early(ltr, here, ["data=letor", *files, *words], said, wanted=1)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (
            "trainer.max_epochs=0",
            "trainer.max_epochs: wanted more than 0, got 0: nothing would be trained",
        ),
        ("trainer.max_steps=0", "trainer.max_steps: wanted more than 0, got 0: nothing would be trained"),
        ("trainer.check_val_every_n_epoch=99", "trainer.check_val_every_n_epoch: wanted at most the "),
        ("trainer.accelerator=foo", "trainer: You selected an invalid accelerator name"),
        ("trainer.strategy=foo", "trainer: You selected an invalid strategy name"),
    ],
)
def test_a_trainer_that_cannot_be_is_refused_in_one_line(ltr: Ltr, here: Path, word: str, message: str) -> None:
    status, _, err = ltr("train", *SYNTHETIC, word)
    assert status == 1
    assert f"ltr: {message}" in err
    assert "Traceback" not in err
    assert list(here.glob("runs/*")) == []


def test_a_loss_that_is_none_is_refused(ltr: Ltr, here: Path) -> None:
    status, _, err = ltr("train", *SYNTHETIC, "loss=custom", "loss._target_=torch.nn.Identity")
    assert status == 2
    assert "ltr: loss: wanted a ltr.losses.Surrogate, torch.nn.Identity gives a Identity\n" in err


def test_a_table_of_gains_without_a_label_of_the_data(ltr: Ltr, here: Path) -> None:
    (here / "train.txt").write_text(GOOD.replace("1 qid:1", "4 qid:1"))
    said = ["train.txt: ndcg-table0_1_3@10: gain table: wanted whole labels 0 to 2, got 4"]
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


FOLLOW = """\
from ltr.losses import Surrogate


class Follow(Surrogate):
    unit, needs_teacher, shift_invariant = "squared scores", True, False

    def forward(self, scores, relevance, mask=None, *, teacher=None):
        return (mask * (scores - teacher) ** 2).sum(-1)
"""
FROM = ("loss=custom", "loss._target_=follow.Follow")


def test_a_loss_learns_from_a_trained_run(ltr: Ltr, here: Path) -> None:
    (here / "follow.py").write_text(FOLLOW)
    assert ltr("train", *SYNTHETIC, "loss=mse", "name=first", "optimizer.lr=0.1")[0] == 0
    words = ("train", *SYNTHETIC, *FROM, "optimizer.lr=0.1")
    for teacher, name in (("first", "a"), (str(here / "runs/first"), "b"), ("first", "c")):
        status, _, err = ltr(*words, f"teacher={teacher}", f"name={name}")
        assert status == 0, err
    runs = [Run(here / f"runs/{name}") for name in "abc"]
    assert {run.read_config()["teacher"] for run in runs} == {f"{here}/runs/first"}  # wherever `last` is by then
    assert len({run.metrics_path.read_text() for run in runs}) == 1
    assert ltr("train", "resume=a", "trainer.max_epochs=2")[0] == 0
    assert len(runs[0].gap_rows()) == 2
    status, _, err = ltr("train", "resume=a", "teacher=b")
    assert (status, err) == (2, f"ltr: teacher: the run has {here}/runs/first, and goes on with that or not at all; "
                                f"got {here}/runs/b\n")  # fmt: skip
    assert ltr("evaluate", "a")[0] == 0  # without its teacher


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("loss=mse", "teacher=first"),
            "ltr: teacher: MSE learns from labels alone: leave it out, or choose a loss that",
        ),
        (FROM, "ltr: teacher: wanted a trained run, whose scores Follow learns from; got none"),
        ((*FROM, "teacher=frist"), "ltr: teacher: no run 'frist': neither a run folder nor a name below"),
        ((*FROM, "teacher=first", "data.features=9"), "ltr: teacher: {here}/runs/first was trained on 5 features, and"),
    ],
)
def test_a_teacher_that_does_not_fit_is_refused_early(ltr: Ltr, here: Path, words: tuple[str, ...], said: str) -> None:
    (here / "follow.py").write_text(FOLLOW)
    assert ltr("train", *SYNTHETIC, "loss=mse", "name=first", "data.features=5")[0] == 0
    status, _, err = ltr("train", *SYNTHETIC, *words)
    assert status == 2
    assert said.format(here=here) in err
    assert [each.name for each in (here / "runs").iterdir()] == ["first"]


def test_losses_inside_losses(ltr: Ltr, here: Path) -> None:
    for words in (
        ("loss=perturbed", "loss.loss.metric=ap"),
        ("loss=sum", "loss.losses.1.centred=true"),
        ("loss=expected",),
    ):
        status, _, err = ltr("train", *SYNTHETIC, *words)
        assert status == 0, err

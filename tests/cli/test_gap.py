"""ltr gap: of a trained run and of anybody's scores; what it prints, writes and refuses, and how it ends."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from ltr.gap.diagnose import Diagnosis, diagnose
from ltr.gap.figures import Figure
from ltr.gap.findings import Finding
from ltr.report.gap import FIGURES, LEDGER
from ltr.runs import Run
from tests.cli.conftest import BM25, Ltr

PAIR = ("qrels.txt", "bm25.run")
NAMED = ("loss=softmax", "metric=ndcg@3")
WANTED = "wanted a trained run; or QRELS RUN, or a table with labels and scores, with loss=NAME and metric=NAME"
NO_LOSS = "loss: wanted the loss to diagnose, such as loss=lambdarank (ltr list losses has them all)"
NO_METRIC = "metric: wanted the metric that is reported, such as metric=ndcg@10 (ltr list metrics)"


def report(ltr: Ltr, *words: str) -> dict[str, Any]:
    """What is written, of a diagnosis that may be an alarm."""
    status, out, err = ltr("gap", *words, "output=gap.json")
    assert status in (0, 3), err
    assert out.endswith("gap.json\n")
    return dict(json.loads(Path("gap.json").read_text()))


@pytest.fixture
def alarmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every diagnosis is an alarm."""
    alarm = Finding("against", "alarm", "The loss works against the metric.", Figure(0.1, "share", 0.0, 0.2, 9))

    def found(*given: Any, **options: Any) -> Diagnosis:
        made = diagnose(*given, **options)
        return Diagnosis(made.surrogate, made.target, made.belief, made.figures, made.ledger, made.history, [alarm])

    monkeypatch.setattr("ltr.cli.gap.diagnose", found)


# -- of a trained run -------------------------------------------------------------------------------------------------


def test_data_loss_metric_and_history_are_those_of_the_run(ltr: Ltr, at_work: Path) -> None:
    found, run = report(ltr, "first"), Run("runs/first")
    assert found["surrogate"] == "LambdaRank"
    assert found["target"].startswith("ndcg@5 gain=y ")
    assert [row["epoch"] for row in found["history"]] == [0, 1]
    (best,) = [row for row in run.gap_rows() if row["epoch"] == run.read_info()["best"]["epoch"]]
    for name in ("loss", "target_value", "floor", "ceiling", "belief"):
        assert found["belief"][name] == pytest.approx(best[name], abs=1e-5), name
    data = run.read_info()["data"]
    there, here = (f"{data[name]['documents']} documents" for name in ("train", "validation"))
    assert found["of"] == {
        "run": f"{at_work}/runs/first",
        "checkpoint": str(run.best_checkpoint()),
        "lists": f"validation: {at_work}/data/vali.txt, 10 queries, {here}",
        "trained on": f"{at_work}/data/train.txt, 24 queries, {there}",
    }


@pytest.mark.parametrize(
    "word", ["loss=softmax", "loss.sigma=2.0", "metric=ndcg@3", "split=test", "data.validation=data/test.txt"]
)
def test_the_history_of_other_values_is_left_out(ltr: Ltr, at_work: Path, word: str) -> None:
    found = report(ltr, "first", word)
    assert found["history"] == []
    assert found["of"]["history"].startswith("left out: ")


def test_another_loss_of_the_same_scores_is_made_for_the_metric_that_holds(ltr: Ltr, at_work: Path) -> None:
    own, other = report(ltr, "first"), report(ltr, "first", "loss=approx", "metric=mrr", "loss.truncate=true")
    assert (own["aim"], own["target"]) == (own["target"], own["aim"])
    assert other["surrogate"] == "ApproxMetric"
    assert other["aim"] == other["target"]
    assert other["target"].startswith("mrr ")
    changed = report(ltr, "first", "metric=ndcg-linear@3")
    assert (changed["surrogate"], changed["aim"]) == ("LambdaRank", own["aim"])  # as it was trained


def test_lists_that_it_was_trained_on_have_no_others_beside_them(ltr: Ltr, at_work: Path) -> None:
    assert "drop" in report(ltr, "first")["figures"]
    trained = report(ltr, "first", "split=train")
    assert "drop" not in trained["figures"]
    assert "trained on" not in trained["of"]


def test_training_lists_are_drawn_by_the_seed(ltr: Ltr, at_work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltr.cli.gap.TRAIN", 10)
    drawn = [report(ltr, "first", f"seed={seed}") for seed in (0, 0, 1)]
    assert [each["of"]["trained on"].split(", ")[1] for each in drawn] == ["10 queries"] * 3
    values = [each["figures"]["train_target"]["value"] for each in drawn]
    assert values[0] == values[1] != values[2]


def test_test_data_that_are_gone_are_missed_only_when_they_are_asked_for(ltr: Ltr, workplace: Path, here: Path) -> None:
    shutil.copytree(workplace / "runs/first", here / "runs/first")
    config = (here / "runs/first/config.yaml").read_text()
    (here / "runs/first/config.yaml").write_text(config.replace("data/test.txt", "data/gone.txt"))
    report(ltr, "first")
    status, _, err = ltr("gap", "first", "split=test")
    assert (status, err) == (2, f"ltr: data.test: no such file or folder: {workplace}/data/gone.txt\n")


def test_a_teacher_is_that_of_the_run(ltr: Ltr, at_work: Path) -> None:
    files = ["data=letor", "data.train=data/train.txt", "data.validation=data/vali.txt"]
    words = ["loss=distil", "teacher=first", "metric=ndcg@5", "trainer.max_epochs=1", "name=pupil"]
    assert ltr("train", *files, *words)[0] == 0
    found = report(ltr, "pupil")
    shutil.rmtree("runs/pupil")
    assert found["surrogate"] == "Distil"
    assert found["belief"]["loss"] == pytest.approx(found["history"][0]["loss"], abs=1e-5)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["nope"], 1, "no run 'nope': neither a run folder nor a name below {work}/runs; there are: "),
        (["first", "checkpoint=worst"], 2, "checkpoint: wanted 'best' or 'last' or null, got the text 'worst'\n"),
        (["first", "loss=distil"], 2, "loss: Distil learns from a teacher, and the run has none\n"),
        (["first", "loss=null"], 2, NO_LOSS + "\n"),
        (["first", "loss.sigmo=1"], 2, "loss.sigmo: ltr.losses.LambdaRank has no such key; did you mean sigma?\n"),
        (["first", "queries=strict"], 2, "queries: ltr gap has no such key; known: inputs, scores, metric, over, "),
        (["first", "assessors=max"], 2, "assessors: belongs to judgements in files, and first is a trained run\n"),
        (["first", "lists=0"], 2, "lists: wanted a whole number from 1 on, got 0\n"),
        (["first", "seed=-1"], 2, "seed: wanted a whole number from 0 on, got -1\n"),
        (["first", "second"], 2, "inputs: first is a trained run, which is diagnosed alone: ltr gap first\n"),
        (["first", "data=synthetic"], 1, "synthetic: first was trained on 4 features, came 20\n"),
        (["first", "loss=custom", "loss._target_=torch.nn.ReLU"], 2, "loss: wanted a ltr.losses.Surrogate, torch.nn.R"),
    ],
)
def test_what_is_refused_of_a_run(ltr: Ltr, at_work: Path, words: list[str], status: int, message: str) -> None:
    found, out, err = ltr("gap", *words)
    assert (found, out) == (status, ""), err
    assert err.startswith(f"ltr: {message.format(work=at_work)}")


def test_a_run_without_a_checkpoint_and_one_without_validation_data(ltr: Ltr, workplace: Path, here: Path) -> None:
    shutil.copytree(workplace / "runs/first", here / "runs/first")
    for path in (here / "runs/first/checkpoints").glob("*.ckpt"):
        path.unlink()
    status, out, err = ltr("gap", "first")
    assert (status, out) == (1, "")
    assert re.fullmatch(r"ltr: no checkpoint \S+: the run stopped before its first epoch was over, .*\n", err)
    (here / "mine.py").write_text(
        "from ltr.data import Splits, read_letor\n"
        "def parts(train: str, **rest: object) -> Splits:\n    return Splits(read_letor(train), None, None)\n"
    )
    words = ["data=letor", "data._target_=mine.parts", f"data.train={workplace}/data/train.txt", "monitor=null"]
    assert ltr("train", *words, "trainer.max_epochs=1", "name=alone", "metric=ndcg@5")[0] == 0
    status, out, err = ltr("gap", "alone")
    message = "split: the run's data have no validation lists; name a file: data.validation=FILE"
    assert (status, out, err.splitlines()[-1]) == (2, "", f"ltr: {message}")
    assert report(ltr, "alone", "split=train")["history"] == []


# -- of files ---------------------------------------------------------------------------------------------------------


def test_files_are_the_same_by_place_and_by_key(ltr: Ltr, files: Path) -> None:
    first, second = report(ltr, *PAIR, *NAMED), report(ltr, "scores=[qrels.txt,bm25.run]", *NAMED)
    assert first == second
    assert first["of"] == {"scores": "bm25.run: 5 queries, 10 documents", "judgements": "qrels.txt"}
    assert report(ltr, "both.csv", *NAMED) == report(ltr, "scores=both.csv", *NAMED)


def test_the_loss_is_what_evaluate_says_and_leaves_out_the_same(ltr: Ltr, files: Path) -> None:
    told = ltr("evaluate", *PAIR, "losses=softmax", "metrics=[ndcg@3]")[1]
    out = ltr("gap", *PAIR, *NAMED)[1]
    notes = [line for line in told.splitlines() if line.startswith(("no loss", "losses"))]
    assert len(notes) == 3
    assert [line for line in notes if f"\n{line}\n" not in out] == []
    assert "\nmetrics, here, leave them out too; ltr evaluate counts them in the ideal order\n" in out


def test_temperatures_are_in_the_page_and_in_the_file(ltr: Ltr, files: Path) -> None:
    words = [*PAIR, "loss=approx", "loss.temperature=0.5", "metric=ndcg@3", "over=temperature"]
    found = report(ltr, *words)["temperatures"]
    assert [each["softness"] for each in found] == pytest.approx([0.005, 0.015, 0.05, 0.15, 0.5, 1.5, 5, 15, 50])
    assert set(found[0]) == {"softness", "gap", "alignment", "yield"}
    out = ltr("gap", *words)[1]
    (table,) = [part for part in out.split("\n\n") if part.startswith("temperature  ")]
    rows = {line.split("  ")[0]: line.split() for line in table.splitlines()[1:]}
    assert rows["0.5 *"][2] == f"{found[4]['gap']['value']:+.4f}"
    best = max(found, key=lambda each: each["alignment"]["value"])
    assert f"points best towards ndcg@3 at {best['softness']:g}, " in out


def test_only_lists_that_count_are_looked_at(ltr: Ltr, files: Path) -> None:
    words = [*PAIR, "loss=approx", "metric=ndcg@3", "over=temperature"]
    looked_at = report(ltr, *words)
    assert looked_at["belief"]["lists"] == looked_at["temperatures"][0]["alignment"]["lists"] == 3  # not q4, not q5
    assert report(ltr, *words, "lists=2")["temperatures"][0]["alignment"]["lists"] == 2


def test_every_figure_and_line_is_explained(ltr: Ltr, files: Path) -> None:
    for loss in ("softmax", "approx", "mse"):
        found = report(ltr, *PAIR, f"loss={loss}", "metric=ndcg@3")
        assert {each for each in found["figures"] if not each.startswith("aim_")} <= FIGURES.keys()
        assert found["ledger"].keys() - LEDGER.keys() == {"total"}


def test_the_figures_of_a_file_are_those_of_the_page(ltr: Ltr, files: Path) -> None:
    found = report(ltr, *PAIR, *NAMED)
    out = ltr("gap", *PAIR, *NAMED)[1]
    assert re.search(rf"\nexact ndcg@3 +{found['figures']['target']['value']:.4f} ", out)
    assert re.search(rf"\ntotal +\{found['ledger']['total']['value']:+.4f} ", out)
    assert found["temperatures"] == []


def test_weights_are_those_of_a_table(ltr: Ltr, files: Path) -> None:
    (files / "weighted.csv").write_text(
        "query,document,label,score,weight\nq1,a,1,0.2,3\nq1,b,0,0.5,3\nq2,a,1,0.9,1\nq2,b,0,0.1,1\n"
    )
    found = report(ltr, "weighted.csv", "loss=mse", "metric=mrr")
    assert found["figures"]["target"]["value"] == pytest.approx((3 * 1 / 2 + 1 * 1) / 4)
    assert (
        "\nweights 1 to 3: every mean counts a list by its weight\n"
        in ltr("gap", "weighted.csv", "loss=mse", "metric=mrr")[1]
    )


def test_numbers_beyond_all_bounds_are_null_in_the_file(ltr: Ltr, files: Path) -> None:
    (files / "huge.csv").write_text("query,document,label,score\nq1,a,1,1e200\nq1,b,0,-1e200\n")
    assert report(ltr, "huge.csv", "loss=mse", "metric=mrr")["figures"]["loss"]["value"] is None  # 1e400
    assert "NaN" not in (files / "gap.json").read_text()
    assert "Infinity" not in (files / "gap.json").read_text()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ([], 2, f"inputs: {WANTED}"),
        ([*PAIR], 2, f"{NO_LOSS}\nltr: {NO_METRIC}"),
        ([*PAIR, "loss=softmax"], 2, NO_METRIC),
        ([*PAIR, "metric=ap"], 2, NO_LOSS),
        ([*PAIR, "metric=ap", "loss.sigma=2"], 2, NO_LOSS),
        ([*PAIR, "loss=mse", "metric=ndgc"], 2, "metric: unknown metric 'ndgc': "),
        ([*PAIR, "loss=expected", "metric=ap"], 2, "loss: ExpectedMetric: wants a metric that sums worth times place"),
        (
            [*PAIR, "loss=distil", "metric=ap"],
            2,
            "loss: Distil learns from another ranker's scores, and there are none",
        ),
        ([*PAIR, "dense.run", *NAMED], 2, "inputs: wanted one system, as QRELS RUN; came 3 files"),
        (["both.csv", "scores=both.csv", *NAMED], 2, "scores: stands for inputs, and there are both: both.csv"),
        ([*PAIR, *NAMED, "split=test"], 2, "split: belongs to a trained run, and the inputs are files"),
        ([*PAIR, *NAMED, "data=synthetic"], 2, "data: belongs to a trained run, and the inputs are files"),
        ([*PAIR, *NAMED, "over=k"], 2, "over: wanted 'temperature' or null, got the text 'k'"),
        ([*PAIR, "loss=mse", "metric=ap", "over=temperature"], 2, "over: MSE has no temperature, nor anything in its"),
        ([*PAIR, *NAMED, "outptu=x"], 2, "outptu: ltr gap has no such key; did you mean output?"),
        ([*PAIR, *NAMED, "output=x.csv"], 2, "output: wanted a file that ends in .json, got '{here}/x.csv'"),
        ([*PAIR, *NAMED, "output=no/x.json"], 2, "output: no such folder: {here}/no"),
        ([*PAIR, *NAMED, "plot=x.jpg"], 2, "plot: wanted a file that ends in .png, .svg or .pdf, got '{here}/x.jpg'"),
        ([*PAIR, *NAMED, "plot=no/x.png"], 2, "plot: no such folder: {here}/no"),
        (["gone.csv", *NAMED], 1, "{here}/gone.csv: no such file or folder"),
        (["scores=bm25.run", *NAMED], 2, "inputs: bm25.run alone is no evaluation: wanted QRELS RUN, or a .csv or "),
        (["qrels.txt", "infinite.run", *NAMED], 1, "infinite.run, query q2: a loss wants finite scores, came inf"),
        ([*PAIR, "loss=mse", "metric=err-max2"], 1, "qrels.txt, query q1: err-max2: the top grade is declared to be 2"),
        (["flat.csv", *NAMED], 1, "flat.csv: ndcg@3: no list counts: "),
    ],
)
def test_what_is_refused_of_files(ltr: Ltr, files: Path, words: list[str], status: int, message: str) -> None:
    (files / "infinite.run").write_text(BM25.replace(" 6.0 ", " inf "))
    (files / "flat.csv").write_text("query,document,label,score\nq1,a,1,0.2\nq1,b,1,0.5\n")
    found, out, err = ltr("gap", *words)
    assert (found, out) == (status, ""), err
    assert err.startswith(f"ltr: {message.format(here=files)}")


def test_a_picture_needs_matplotlib(ltr: Ltr, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltr.cli.gap.can_draw", lambda: False)
    message = "ltr: plot: drawing needs matplotlib: pip install 'ltr-toolkit[plot]'\n"
    assert ltr("gap", *PAIR, *NAMED, "plot=gap.png") == (2, "", message)


# -- how it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("alarmed")
def test_an_alarm_is_printed_and_written_once_and_is_the_exit_status(ltr: Ltr, files: Path) -> None:
    status, out, err = ltr("gap", *PAIR, *NAMED, "output=gap.json", "plot=gap.svg")
    assert (status, err) == (3, "")
    assert out.count("The loss works against the metric.") == 1
    assert out.index("\n\nalarm\nThe loss works against the metric.\n") < out.index("\nbelief against truth")
    assert out.endswith(f"\nplot in {files}/gap.svg\nfigures in {files}/gap.json\n")
    assert (files / "gap.svg").read_text().startswith("<?xml")
    assert [each["code"] for each in json.loads((files / "gap.json").read_text())["findings"]] == ["against"]


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_screen(ltr: Ltr, files: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for loss in ("softmax", "approx", "mse"):
        status, out, err = ltr("gap", *PAIR, f"loss={loss}", "metric=ndcg@3")
        assert status in (0, 3), err
        assert [line for line in out.splitlines() if len(line) > width] == []


def test_the_configuration_can_be_looked_at(ltr: Ltr, files: Path) -> None:
    status, out, _ = ltr("gap", *PAIR, *NAMED, "--cfg")
    assert status == 0
    assert "_target_: ltr.losses.Softmax\n  metric: ndcg@3\n" in out

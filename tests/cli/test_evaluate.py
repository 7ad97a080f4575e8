"""ltr evaluate: the run's own settings unless told otherwise, on any data."""

import csv
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from ltr.runs import Run
from tests.cli.conftest import Ltr, write_letor


def mean_of(out: str, metric: str) -> float:
    (row,) = [line for line in out.splitlines() if line.startswith(f"{metric} ") and "=" not in line]
    return float(re.findall(r"\d\.\d+", row)[0])


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_metric_and_its_convention_come_from_the_run(ltr: Ltr, at_work: Path) -> None:
    status, out, err = ltr("evaluate", "first", "split=validation", "output=v.csv")
    assert status == 0, err
    best = Run("runs/first").read_info()["best"]["value"]
    values = [
        float(row["value"]) for row in table(at_work / "v.csv") if row["metric"] == "ndcg-linear@5" and row["value"]
    ]
    assert np.mean(values) == pytest.approx(best, abs=1e-6)
    assert mean_of(out, "ndcg-linear@5") == pytest.approx(best, abs=5.1e-5)
    assert "ndcg@5 gain=y discount=1/log2(1+r) ideal=judged unjudged=zero ties=average empty=skip" in out.splitlines()
    assert f"checkpoint  {Run('runs/first').best_checkpoint()}" in out


def test_the_last_validation_and_the_test_are_reproduced(ltr: Ltr, at_work: Path) -> None:
    run = Run("runs/first")
    for split, checkpoint in (("validation", "last"), ("test", "best")):
        assert ltr("evaluate", "first", f"split={split}", f"checkpoint={checkpoint}", "output=v.csv")[0] == 0
        theirs = {(row["query"], row["metric"]): row for row in run.read_per_query(split)}
        ours = table(at_work / "v.csv")
        assert len(ours) == len(theirs) > 10
        for row in ours:
            other = theirs[row["query"], row["metric"]]
            assert (row["documents"], row["defined"]) == (str(other["documents"]), str(other["defined"]).lower())
            if other["value"] is None:
                assert row["value"] == ""
            else:
                assert float(row["value"]) == pytest.approx(other["value"], abs=1e-6)


def test_the_values_are_written_as_those_of_a_run(ltr: Ltr, at_work: Path) -> None:
    assert ltr("evaluate", "first", "output=same.csv")[0] == 0
    (at_work / "same.csv").rename(at_work / "per_query.same.csv")
    theirs = {(row["query"], row["metric"]): row for row in Run("runs/first").read_per_query("test")}
    rows = Run(at_work).read_per_query("same")
    assert len(rows) == len(theirs)
    for row in rows:
        other = theirs[row["query"], row["metric"]]
        assert {**{name: row[name] for name in other}, "value": None} == {**other, "value": None}


def test_other_data_and_other_metrics(ltr: Ltr, at_work: Path) -> None:
    write_letor(at_work / "other=1.txt", 7, seed=9)
    status, out, _ = ltr("evaluate", "first", "data.test=other=1.txt", "metrics=[ap,mrr@3]", "metric=recall@2")
    assert status == 0
    assert f"test: {at_work}/other=1.txt, 7 queries" in out
    assert all(mean_of(out, name) > 0 for name in ("ap", "mrr@3", "recall@2"))
    assert "ndcg" not in out.partition("data ")[2]


def test_another_reader_for_another_run(ltr: Ltr, at_work: Path) -> None:
    write_letor(at_work / "more.txt", 7, seed=9)
    assert ltr("evaluate", "first", "data=letor", "data.test=more.txt")[0] == 0


def test_only_the_file_that_is_asked_for_is_read(ltr: Ltr, workplace: Path, here: Path) -> None:
    shutil.copytree(workplace / "runs/first", here / "runs/first")
    config = (here / "runs/first/config.yaml").read_text()
    (here / "runs/first/config.yaml").write_text(config.replace("data/train.txt", "data/gone.txt"))
    assert ltr("evaluate", "first")[0] == 0
    status, _, err = ltr("evaluate", "first", "split=train")
    assert (status, err) == (2, f"ltr: data.train: no such file or folder: {workplace}/data/gone.txt\n")


def test_floor_ceiling_and_interval_stand_beside_the_mean(ltr: Ltr, at_work: Path) -> None:
    _, out, _ = ltr("evaluate", "first")
    (row,) = [line for line in out.splitlines() if line.startswith("ndcg-linear@5 ")]
    mean, low, high, floor, ceiling, sd, se = map(float, re.findall(r"\d\.\d+", row))
    assert sd > se > 0
    assert floor < mean < ceiling == 1
    assert low < mean < high
    assert "BCa bootstrap, 10000 resamples" in out


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ([], 2, "inputs: wanted QRELS RUN [RUN ...], a table with labels and scores, or a trained run\n"),
        (["nope"], 1, "no run 'nope': neither a run folder nor a name below"),
        (["first", "metric=ndgc"], 2, "metric: unknown metric 'ndgc': wanted one of ndcg, dcg, "),
        (["first", "split=tset"], 2, "split: wanted 'train' or 'validation' or 'test' or null, got the text 'tset'"),
        (["first", "data.tset=x.txt"], 2, "data.tset: ltr.data.letor has no such key; did you mean test?"),
        (["first", "loss=mse"], 2, "loss: ltr evaluate has no such key"),
        (["first", "output=no/v.csv"], 2, "output: no such folder: {work}/no"),
        (["first", "data.test=gone.txt"], 2, "data.test: no such file or folder: {work}/gone.txt"),
    ],
)
def test_what_is_refused(ltr: Ltr, at_work: Path, words: list[str], status: int, message: str) -> None:
    found, out, err = ltr("evaluate", *words)
    assert (found, out) == (status, ""), err
    assert err.startswith(f"ltr: {message.format(work=at_work)}")


def test_wider_data_than_the_model_names_the_feature(ltr: Ltr, at_work: Path) -> None:
    (at_work / "wide.txt").write_text("1 qid:1 9:1\n")
    status, _, err = ltr("evaluate", "first", "data.test=wide.txt")
    assert status == 1
    assert "wide.txt, line 1: feature 9 was not seen in training" in err


def test_queries_that_were_held_out_to_validate_on_are_no_training_queries(ltr: Ltr, here: Path) -> None:
    write_letor(here / "train.txt", 20, seed=3)
    quick = ("trainer.max_epochs=1", "model=linear", "metrics=[]")
    assert ltr("train", "data=letor", "data.train=train.txt", "data.holdout=5", *quick, "name=first")[0] == 0
    for split, queries in (("train", 15), ("validation", 5)):
        assert f"{split}: {here}/train.txt, {queries} queries" in ltr("evaluate", "first", f"split={split}")[1]


def test_ties_by_document_id_are_the_same_in_training_and_evaluation(ltr: Ltr, at_work: Path) -> None:
    rows = [f"{int(document == 'a')} qid:{query} 1:1 # docid = {document}\n" for query in "xy" for document in "abc"]
    (at_work / "tied.txt").write_text("".join(rows))
    (at_work / "other.txt").write_text("1 qid:x 1:1\n0 qid:x 1:2\n")
    files = ["data.train=other.txt", "data.validation=tied.txt", "data.test=tied.txt"]
    status, _, err = ltr("train", "data=letor", *files, "transform=none", "model=linear", "metric=mrr-docid",
                         "metrics=[mrr]", "loss=mse", "trainer.max_epochs=1", "name=by_id")  # fmt: skip
    assert status == 0, err
    info = Run(at_work / "runs" / "by_id").read_info()
    assert info["validation"]["mrr-docid"] == pytest.approx(1 / 3)  # c, b, a: the relevant one comes last
    assert info["test"] == pytest.approx(info["test"] | {"mrr-docid": 1 / 3, "mrr": (1 + 1 / 2 + 1 / 3) / 3})
    assert mean_of(ltr("evaluate", "by_id")[1], "mrr-docid") == 0.3333


def test_a_loss_beside_the_metrics_is_what_validation_had(ltr: Ltr, at_work: Path) -> None:
    words = ("split=validation", "losses=[lambdarank,list_net,approx]", "output=v.csv")
    status, out, err = ltr("evaluate", "first", *words)
    assert status == 0, err
    wanted = Run("runs/first").read_info()["validation"]["loss"]
    values = {row["query"]: float(row["value"]) for row in table(at_work / "v.csv") if row["metric"] == "lambdarank"}
    assert len(values) == 10
    assert np.mean(list(values.values())) == pytest.approx(wanted, rel=1e-5)
    assert mean_of(out, "lambdarank") == pytest.approx(wanted, abs=5.1e-5)
    assert "bounds ndcg-linear@5" in out
    assert {row["metric"] for row in table(at_work / "v.csv")} >= {"list_net", "approx", "mrr"}

"""ltr predict: one row for each row of the file, in its order."""

import csv
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ltr as package
from tests.cli.conftest import Ltr

ROWS = "2 qid:20 1:0.1\n0 qid:10 1:0.9\n1 qid:20 1:0.7 # docid = 007\n3 qid:10 1:0.2\n0 qid:20 1:0.4\n"


def parsed(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_rows_in_the_order_of_the_file(ltr: Ltr, at_work: Path) -> None:
    (at_work / "new=1.txt").write_text(ROWS)
    status, out, _ = ltr("predict", "first", "new=1.txt")
    rows = parsed(out)
    assert status == 0
    assert [row["query"] for row in rows] == ["20", "10", "20", "10", "20"]
    assert [row["document"] for row in rows] == ["", "", "007", "", ""]
    features = np.zeros((5, 4))
    features[:, 0] = [0.1, 0.9, 0.7, 0.2, 0.4]
    scores = package.load("first").predict(features, queries=[20, 10, 20, 10, 20])
    np.testing.assert_allclose([float(row["score"]) for row in rows], scores, atol=1e-6)
    for query in ("10", "20"):
        own = [row for row in rows if row["query"] == query]
        assert [row["rank"] for row in sorted(own, key=lambda row: -float(row["score"]))] == ["1", "2", "3"][: len(own)]


def test_labels_are_not_needed_and_not_read(ltr: Ltr, at_work: Path) -> None:
    texts = {"with": ROWS, "without": "\n".join(line[2:] for line in ROWS.splitlines()) + "\n"}
    found = []
    for name, text in texts.items():
        (at_work / f"{name}.txt").write_text(text)
        found.append(ltr("predict", "first", f"{name}.txt")[1])
    assert found[0] == found[1] != ""


def test_to_a_file(ltr: Ltr, at_work: Path) -> None:
    (at_work / "new.txt").write_text(ROWS)
    _, printed, _ = ltr("predict", "first", "new.txt")
    status, out, _ = ltr("predict", "first", "new.txt", "output=scores.csv")
    assert (status, (at_work / "scores.csv").read_text()) == (0, printed)
    assert out == f"5 scores by {next((at_work / 'runs/first/checkpoints').glob('epoch*'))} in {at_work}/scores.csv\n"
    assert list(at_work.glob("*.part")) == []


def test_no_column_of_documents_where_there_are_none(ltr: Ltr, at_work: Path) -> None:
    (at_work / "plain.txt").write_text("0 qid:1 1:1\n")
    assert ltr("predict", "first", "plain.txt")[1].splitlines()[0] == "query,score,rank"


def test_equal_scores_rank_in_the_order_of_the_file(ltr: Ltr, at_work: Path) -> None:
    (at_work / "tied.txt").write_text("0 qid:1 1:1\n0 qid:1 1:1\n0 qid:1 1:1\n")
    assert [row["rank"] for row in parsed(ltr("predict", "first", "tied.txt")[1])] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["first"], 2, "file is required: a path, as file=..."),
        (["first", "gone.txt"], 2, "file: no such file or folder: {work}/gone.txt"),
        (["first", "wide.txt"], 1, "{work}/wide.txt, line 2: feature 5 was not seen in training"),
        (["first", "wide.txt", "output=no/x.csv"], 2, "output: no such folder: {work}/no"),
        (["first", "wide.txt", "output=data"], 2, "output: wanted a file to write, {work}/data is a folder"),
        (["first", "wide.txt", "checkpoint=worst"], 2, "checkpoint: wanted 'best' or 'last', got the text 'worst'"),
    ],
)
def test_what_is_refused(ltr: Ltr, at_work: Path, words: list[str], status: int, message: str) -> None:
    (at_work / "wide.txt").write_text("0 qid:1 1:1\n0 qid:1 5:1\n")
    found, out, err = ltr("predict", *words)
    assert (found, out) == (status, "")
    assert message.format(work=at_work) in err
    assert not (at_work / "no").exists()


def test_the_input_is_never_the_output(ltr: Ltr, at_work: Path) -> None:
    (at_work / "own.txt").write_text(ROWS)
    status, _, err = ltr("predict", "first", "own.txt", "output=./own.txt")
    assert status == 2
    assert "own.txt is a file that is read here, and would be lost: choose another name" in err
    assert (at_work / "own.txt").read_text() == ROWS


def test_an_input_by_key_leaves_the_other_to_the_order(ltr: Ltr, at_work: Path) -> None:
    (at_work / "mixed.txt").write_text(ROWS)
    wanted = ltr("predict", "first", "mixed.txt")[1]
    assert ltr("predict", "run=first", "mixed.txt")[1] == wanted
    assert ltr("predict", "mixed.txt", "run=first")[1] == wanted


def test_a_model_of_ones_own_is_found_in_the_working_directory(at_work: Path) -> None:
    (at_work / "own_scorer.py").write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self, features: int) -> None:\n"
        "        super().__init__()\n        self.layer = torch.nn.Linear(features, 1)\n\n"
        "    def forward(self, features, mask):\n        return self.layer(features).squeeze(-1)\n"
    )
    (at_work / "rows.txt").write_text(ROWS)
    files = [f"data.{name}=data/{file}.txt" for name, file in (("train", "train"), ("validation", "vali"))]
    train = ["train", "data=letor", *files, "model=custom", "model._target_=own_scorer.Net", "trainer.max_epochs=1"]
    for words in ([*train, "name=own", "metrics=[]"], ["predict", "own", "rows.txt"]):
        code = f"import sys; from ltr.cli import main; sys.path.remove(''); sys.exit(main({words!r}))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert len(parsed(done.stdout)) == 5

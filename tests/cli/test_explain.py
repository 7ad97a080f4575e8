"""ltr explain: grades, judgements and a run, a table, a trained run; and what is refused, in whole lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import ltr as package
from ltr.metrics import METRICS, NDCG, parse
from ltr.runs import Run
from tests.cli.conftest import Ltr

DOCS = Path(__file__).parents[2] / "docs" / "conventions.md"


def positions(out: str) -> list[list[str]]:
    """The rows of the first table, as cells."""
    lines = out.partition("\nposition")[2].partition("\n\n")[0].splitlines()[1:]
    return [line.split() for line in lines if re.match(r"\d+=? ", line)]


def values(out: str) -> dict[str, float]:
    """The table of metrics."""
    lines = out.partition("\nmetric  ")[2].partition("\n\n")[0].splitlines()
    found = (re.match(r"(\S+) +(\d+\.\d{4})", line) for line in lines)
    return {match[1]: float(match[2]) for match in found if match}


@pytest.fixture
def files(here: Path) -> Path:
    """qrels.txt, a.run and table.csv in the working directory."""
    (here / "qrels.txt").write_text("7 0 a 3\n7 0 b 0\n7 0 m 2\n12e3 0 a 1\n12e3 0 b 0\n8 0 a 1\n9 0 a 0\n")
    (here / "a.run").write_text("7 Q0 x 1 3 t\n7 Q0 a 2 2 t\n7 Q0 b 3 2 t\n12e3 Q0 b 1 2 t\n12e3 Q0 a 2 1 t\n")
    (here / "table.csv").write_text("qid,item,grade,score\n7,a,2,0.5\n7,b,,1.5\n8,c,1,0.1\n8,d,0,0.2\n")
    return here


def test_grades_print_the_worked_example_of_the_documents(ltr: Ltr) -> None:
    documented = DOCS.read_text().partition("\n$ ltr explain 3 1 2 0 3\n")[2].partition("\n```")[0].splitlines()
    status, out, err = ltr("explain", 3, 1, 2, 0, 3, "swap=[1,2]")
    assert (status, err) == (0, "")
    table = [line for line in documented if re.match(r"\d  ", line)]
    assert len(table) == 5
    assert [line for line in out.splitlines() if line in table] == table
    assert [row[:5] for row in positions(out)] == [
        ["1", "3", "7", "1.000", "7.000"],
        ["2", "1", "1", "0.631", "0.631"],
        ["3", "2", "3", "0.500", "1.500"],
        ["4", "0", "0", "0.431", "0.000"],
        ["5", "3", "7", "0.387", "2.708"],
    ]
    for said in (
        "\nDCG = 7.000 + 0.631 + 1.500 + 0.000 + 2.708 = 11.839\n",
        "\nIDCG = 7.000 + 4.417 + 1.500 + 0.431 + 0.000 = 13.347\n",
        "\nndcg@5 = DCG / IDCG = 11.839 / 13.347 = 0.8870\n",
        "\nPosition 1 alone holds 59 % of it.\n",
        "\nndcg@5              0.8870   0.7211  -0.1659\n",
        "\nndcg@5 gain=2^y-1 discount=1/log2(1+r) ",
    ):
        assert said in out
    assert [parse(name).base for name in values(out)] == list(METRICS)
    few = {"ndcg@5": 0.8870, "dcg@5": 11.8389, "mrr@5": 1, "ap@5": 0.95, "precision@5": 0.8, "recall@5": 1}
    assert values(out).items() >= {**few, "err-max3@5": 0.9084, "rbp": 0.5699, "pairs": 0.5556}.items()
    assert "\nrbp: residual 0.3277, " in out


def test_the_output_has_no_colour_and_keeps_to_the_width(ltr: Ltr, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        out = ltr("explain", 3, 1, 2, 0, 3, "swap=[2,5]")[1]
        assert "\x1b" not in out
        assert [line for line in out.splitlines() if len(line) > columns or line != line.rstrip()] == []


def test_a_grade_above_the_scale_says_that_the_scale_rose(ltr: Ltr) -> None:
    said = "the highest grade is 2 before the change and 5 after it, so the scale goes up to 5 in both."
    assert said in " ".join(ltr("explain", 2, 1, "grade=[1,5]")[1].split())
    assert "before the change" not in ltr("explain", 2, 1, "grade=[1,0]")[1]
    assert "before the change" not in ltr("explain", 2, 1, "grade=[1,5]", "metrics=[err-max7]")[1]


@pytest.mark.parametrize("grades", [[3], [2, 2, 2], [0, 0]])
def test_a_metric_without_an_answer_says_why(ltr: Ltr, grades: list[int]) -> None:
    out = " ".join(ltr("explain", *grades)[1].split())
    assert "pairs, tau: undefined where no two labels differ." in out
    assert "auc: undefined where relevant or other documents are missing." in out
    assert ("for a list with nothing relevant" in out) == (not any(grades))


def test_grades_may_be_fractions_and_beyond_the_cutoff(ltr: Ltr) -> None:
    _, out, _ = ltr("explain", 1.5, 0, "0.25", 1, 0, 2, 0)
    assert [row[1] for row in positions(out)] == ["1.5", "0", "0.25", "1", "0", "2", "0"]
    assert "and few go far; only the first 5 positions count" in " ".join(out.split())
    assert list(values(out))[:2] == ["ndcg@5", "dcg@5"]
    assert list(values(ltr("explain", 1, 0, 2)[1]))[:2] == ["ndcg@3", "dcg@3"]
    assert list(values(ltr("explain", 1, 0, 2, "k=2")[1]))[:2] == ["ndcg@2", "dcg@2"]


def test_the_metrics_that_are_asked_for(ltr: Ltr) -> None:
    _, out, _ = ltr("explain", 3, 1, 2, 0, 3, "metrics=[ap-rel2,ndcg-linear@5]")
    assert values(out) == {"ap-rel2": 0.7556, "ndcg-linear@5": 0.9159}
    assert "\nndcg-linear@5 = DCG / IDCG = " in out
    _, out, _ = ltr("explain", 3, 1, 2, 0, 3, "metrics=[ap]")
    assert values(out) == {"ndcg@5": 0.8870, "ap": 0.95}
    _, out, _ = ltr("explain", 3, 1, 2, 0, 3, "metrics=[{_target_: ltr.metrics.NDCG, k: 3}]", "preset=trec_eval")
    assert list(values(out)) == ["ndcg-linear-docid-zero@3"]


def test_another_programs_rules(ltr: Ltr) -> None:
    _, out, _ = ltr("explain", 3, 1, 2, 0, 3, "preset=sklearn")
    assert "\nby the rules of scikit-learn " in out
    assert values(out)["ndcg-linear-retrieved-zero@5"] == 0.9159
    assert not [name for name in values(out) if name.startswith("mrr")]  # it has none
    _, out, _ = ltr("explain", 3, 1, 2, 0, 3, "preset=trec_eval", "metrics=[ndcg-exp2@5]")
    assert values(out) == {"ndcg-docid-zero@5": 0.8870}


def test_judgements_and_a_run(ltr: Ltr, files: Path) -> None:
    status, out, err = ltr("explain", "qrels.txt", "a.run", "query=7")
    assert (status, err) == (0, "")
    assert out.startswith("query 7 of qrels.txt and a.run\n")
    assert [row[:4] for row in positions(out)] == [
        ["1", "x", "-", "0"],
        ["2=", "a", "3", "7"],
        ["3=", "b", "0", "0"],
    ]
    assert "The list lacks 1 graded document, of grade 2; it counts here." in " ".join(out.split())
    by_id = ltr("explain", "qrels.txt", "a.run", "query=7", "preset=trec_eval")[1]
    assert [row[1] for row in positions(by_id)] == ["x", "b", "a"]
    assert values(by_id)["mrr-docid-zero@5"] == 0.3333


def test_a_query_id_is_text(ltr: Ltr, files: Path) -> None:
    assert ltr("explain", "qrels.txt", "a.run", "query=12e3")[1].startswith("query 12e3 of qrels.txt and a.run\n")


def test_a_table(ltr: Ltr, files: Path) -> None:
    _, out, _ = ltr("explain", "table.csv", "query=8")
    assert [row[:3] for row in positions(out)] == [["1", "d", "0"], ["2", "c", "1"]]
    assert values(out)["mrr@5"] == 0.5


def test_a_file_named_like_a_pair_is_an_input(ltr: Ltr, files: Path) -> None:
    (files / "a.run").rename(files / "depth=3.run")
    assert ltr("explain", "qrels.txt", "depth=3.run", "query=7")[0] == 0


def test_judgements_that_want_a_rule(ltr: Ltr, files: Path) -> None:
    (files / "qrels.txt").write_text("7 0 a 1\n7 1 a 3\n7 0 b -1\n")
    words = ("explain", "qrels.txt", "a.run")
    assert ltr(*words)[0] == 1
    status, out, err = ltr(*words, "assessors=max", "unjudged_label=-1")
    assert (status, err) == (0, "")
    assert [row[1:3] for row in positions(out)] == [["x", "-"], ["a", "3"], ["b", "-"]]


def test_a_trained_run(ltr: Ltr, at_work: Path) -> None:
    for split in ("test", "validation", "train"):
        rows = [row for row in Run("runs/first").read_per_query("test") if row["metric"] == "ndcg-linear@5"]
        row = next(row for row in rows if row["value"] is not None)
        query = {"test": row["query"], "validation": "s1q3", "train": "s0q5"}[split]
        status, out, err = ltr("explain", "first", f"query={query}", f"split={split}")
        assert status == 0, err
        assert list(values(out)) == ["ndcg-linear@5", "mrr"], "the metrics are the run's own"
        if split == "test":
            assert values(out)["ndcg-linear@5"] == pytest.approx(row["value"], abs=5.1e-5)
        trained = package.load("runs/first")
        lists = trained.read(at_work / f"data/{ {'validation': 'vali'}.get(split, split) }.txt", labelled=True)
        one = lists.select([lists.query_ids.index(query)])
        exact = NDCG(k=5)(trained.predict(one), one.relevance).item()
        asked = ltr("explain", "first", f"query={query}", f"split={split}", "metrics=[ndcg@5]")[1]
        assert values(asked)["ndcg@5"] == pytest.approx(exact, abs=5.1e-5)
        assert f"query {query} of {at_work}/data/" in asked
        assert {row[1] for row in positions(asked)} == set(one.document_ids or ())
    assert "ndcg@3" in values(ltr("explain", "first", "query=s2q1", "k=3")[1])


INPUTS = (
    "inputs: wanted grades from the top down (ltr explain 3 1 2 0 3), or qrels and a run, or a table with label and "
    "score, or a trained run"
)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], f"{INPUTS}; came nothing"),
        (["3", "x", "1"], "inputs: wanted grades from 0 to 1e30, got x at position 2"),
        (["nan", "1"], "inputs: wanted grades from 0 to 1e30, got nan at position 1"),
        *(
            (words, f"inputs: grades stand apart by blanks (ltr explain 3 1 2), got {' '.join(words)}")
            for words in (["3,1,2"], ["3,", "1,", "2"], ["[3;1;2]"], ["3 1 2"], ["[3,", "1,", "2]"])
        ),
        (["a", "b", "c"], f"{INPUTS}; came a b c"),
        (["3", "-1", "2"], "inputs: wanted grades from 0 to 1e30, got -1 at position 2"),
        (["3", "1e99"], "inputs: wanted grades from 0 to 1e30, got 1e99 at position 2"),
        (["3", "1", "query=7"], "query: grades are one list without a query id, got '7'"),
        (["3", "1", "swap=[1,3]"], "swap: wanted two positions from 1 to 2, such as [1,2]; got [1,3]"),
        (["3", "1", "swap=[0,1]"], "swap: wanted two positions from 1 to 2, such as [1,2]; got [0,1]"),
        (["3", "1", "swap=[2,2]"], "swap: wanted two different positions, got [2,2]"),
        (["3", "1", "swap=[1,x]"], "swap: wanted a list [a whole number, ...] or null, got [1, the text 'x']"),
        (["3", "1", "swap=1,2"], "swap=1,2: several values are a sweep, which wants -m; a list is [a,b]"),
        (["3", "1", "grade=[3,0]"], "grade: wanted a position from 1 to 2 and its grade, as [3,0]; got [3,0]"),
        (["3", "1", "grade=[1,-2]"], "grade: wanted a position and a grade of at least 0, got [1,-2]"),
        (["3", "1", "swap=[1,2]", "grade=[1,0]"], "swap and grade: wanted one change at a time, got both"),
        (["3", "1", "k=0"], "k: wanted a whole number from 1, got 0"),
        (["3", "1", "k=2", "metrics=[ap]"], "k: with metrics=[...] the cutoffs stand in the names, such as ndcg@10"),
        (["3", "1", "preset=trec"], "preset: no such preset 'trec'; did you mean trec_eval?"),
        (["3", "1", "preset=sklearn", "metrics=[mrr]"],
         "metrics: preset sklearn has no mrr; it has ndcg, dcg, ap, auc"),
        (["3", "1", "preset=sklearn", "metrics=[{_target_: ltr.metrics.Table, gains: [1]}]"],
         "metrics: wanted a RankingMetric, ltr.metrics.Table gives Table"),
        (["3", "5", "metrics=[err-max3]"], "err-max3: the top grade is declared to be 3, and a document has grade 5"),
        (["3", "1", "-m"], "-m: ltr explain runs once; only ltr train sweeps"),
        (["qrels.txt", "a.run"], "query: wanted one of the 4 queries of qrels.txt, such as query=7"),
        (["qrels.txt", "a.run", "query=12e4"],
         "query: there is no query 12e4 in qrels.txt; the nearest are 12e3, 9, 8"),
        (["qrels.txt"], "inputs: qrels.txt alone is no evaluation: wanted QRELS RUN, or a .csv or .parquet table"),
    ],
)  # fmt: skip
def test_what_is_refused(ltr: Ltr, files: Path, words: list[str], message: str) -> None:
    assert ltr("explain", *words) == (2, "", f"ltr: {message}\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["qrels.txt", "a.run", "query=8"], "a.run: returned no document for query 8, so every metric is 0 there"),
        (
            ["qrels.txt", "a.run", "query=9"],
            "a.run: returned no document for query 9, and no document that was judged for it has a grade above 0: no "
            "metric has an answer there",
        ),
        (["qrels.txt", "gone.run"], "{here}/gone.run: no such file or folder"),
        (["gone.csv"], "{here}/gone.csv: no such file or folder"),
        (["empty.csv"], "{here}/empty.csv: no rows: wanted column names and rows below, came an empty file"),
        (["nope"], "no run 'nope': there are no runs below {here}/runs"),
        (["table.csv", "query=7", "metrics=[ndcg-table0_1@3]"], None),
    ],
)
def test_data_that_cannot_be_explained(ltr: Ltr, files: Path, words: list[str], message: str | None) -> None:
    (files / "empty.csv").touch()
    status, out, err = ltr("explain", *words)
    if message is None:  # a gain table that knows no grade 2
        assert (status, err) == (2, "ltr: gain table: wanted whole labels 0 to 1, got 2\n")
    else:
        assert (status, out, err) == (1, "", f"ltr: {message.format(here=files)}\n")


def test_a_split_that_the_run_lacks(ltr: Ltr, here: Path) -> None:
    (here / "train.txt").write_text("".join(f"{at % 3} qid:{at // 4} 1:{at % 5}\n" for at in range(24)))
    quick = ("trainer.max_epochs=1", "model=linear", "metrics=[]", "loss=mse", "name=alone")
    assert ltr("train", "data=letor", "data.train=train.txt", "data.holdout=2", *quick)[0] == 0
    status, out, err = ltr("explain", "alone", "query=0")
    assert (status, out, err.splitlines()[-1]) == (2, "", "ltr: split: the run's data have no test lists")


def test_grades_need_nothing_that_is_slow_to_load_but_torch() -> None:
    heavy = "{'polars', 'pytorch_lightning', 'scipy', 'torchmetrics'}"
    code = f"import sys; from ltr.cli import main; main(['explain', '3', '1']); print({heavy} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"

"""What ltr evaluate refuses of files, each with its whole message: before anything is read, or once it shows."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Ltr

PAIR = ("qrels.txt", "bm25.run")
KNOWN = (
    "ndcg, dcg, mrr, ap, gradedap, precision, recall, f1, success, rprec, err, rbp, bpref, judged, pairs, tau, auc, arp"
)


def refused(ltr: Ltr, *words: str, status: int = 2) -> str:
    """The one line on stderr; nothing was printed before it."""
    found, out, err = ltr("evaluate", *words)
    assert (found, out) == (status, ""), err
    assert err.startswith("ltr: ")
    return err.removeprefix("ltr: ").removesuffix("\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["metrics=[ndgc@10]"],
            f"metrics: unknown metric 'ndgc@10': wanted one of {KNOWN}, such as ndcg@10; did you mean ndcg?",
        ),
        (
            ["metric=p@0"],
            "metric: metric 'p@0': the cutoff after @ must be a whole number from 1 to 1000000000, got '0'",
        ),
        (["preset=trec"], "preset: no such preset 'trec'; did you mean trec_eval?"),
        (["preset=lightgbm", "metrics=[mrr,ap]"], "metrics: preset lightgbm has no mrr; it has ndcg, ap"),
        (
            ["aggregate=micro", "metrics=[mrr]"],
            "aggregate: mrr: micro pools numerators and denominators over lists, which precision, recall, f1, ndcg, "
            "dcg have; take mean for other metrics",
        ),
        (["over=gain", "metrics=[mrr,ap]"], "over: wanted a metric that has a gain to vary (ndcg, dcg), got mrr, ap"),
        (["over=n"], "over: wanted 'k' or 'gain' or 'discount' or 'threshold' or null, got the text 'n'"),
        (["plot=k.png"], "plot: it draws what over= asks for, such as over=k; over is null"),
        (["plot=k.jpg", "over=k"], "plot: wanted a file that ends in .png, .svg or .pdf, got '{here}/k.jpg'"),
        (["plot=no/k.png", "over=k"], "plot: no such folder: {here}/no"),
        (["output=v.txt"], "output: wanted a file that ends in .csv, .parquet or .json, got '{here}/v.txt'"),
        (["output=no/v.csv"], "output: no such folder: {here}/no"),
        (
            ["output=about.csv", "attributes=about.csv"],
            "output: {here}/about.csv is a file that is read here, and would be lost: choose another name",
        ),
        (["by=date:week"], "by: wanted an attribute, or one with :year or :month behind it, got 'date:week'"),
        (["shown=0"], "shown: wanted a whole number from 1 on, got 0"),
        (["depth=0"], "depth: wanted a whole number from 1 on, got 0"),
        (["preset=all", "by=type"], "by: wants one preset, or none; got preset=all"),
        (["preset=all", "losses=[mse]"], "losses: wants one preset, or none; got preset=all"),
        (["losses=[mse,softmx]"], "losses: no loss 'softmx'; did you mean softmax? (ltr list losses has them all)"),
        (["losses=distil"], "losses: distil learns from another ranker's scores, and there are none here"),
        (
            ["losses=[expected]", "metrics=[ap,ndcg]"],
            "losses: expected: ExpectedMetric: wants a metric that sums worth times place (ndcg, dcg, precision, "
            "recall, f1, rbp), got ap",
        ),
        (["metrics=[]"], "metrics: wanted at least one metric, such as ndcg@10; came an empty list"),
        (["metrics="], "metrics: wanted at least one metric, such as ndcg@10; came an empty list"),
        (["metric=ap", "metric=mrr"], "metric: wanted once, came metric=ap and metric=mrr"),
    ],
)
def test_before_anything_is_read(ltr: Ltr, files: Path, words: list[str], message: str) -> None:
    (files / "bm25.run").write_text("this would be refused\n")
    assert refused(ltr, *PAIR, *words) == message.replace("{here}", str(files))


def test_a_picture_needs_matplotlib(ltr: Ltr, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltr.cli.evaluate.can_draw", lambda: False)
    message = "plot: drawing needs matplotlib: pip install 'ltr-toolkit[plot]'"
    assert refused(ltr, *PAIR, "over=k", "plot=k.png") == message


@pytest.mark.parametrize(
    ("inputs", "status", "message"),
    [
        ([], 2, "inputs: wanted QRELS RUN [RUN ...], a table with labels and scores, or a trained run"),
        (
            ["qrels.txt"],
            2,
            "inputs: qrels.txt alone is no evaluation: wanted QRELS RUN, or a .csv or .parquet table",
        ),
        (["gone.txt"], 2, "inputs: gone.txt is neither a file nor a trained run"),
        (["gone"], 1, "no run 'gone': neither a run folder nor a name below {here}/runs; there are: mine"),
        (
            ["mine", "mine"],
            2,
            "inputs: mine is a trained run, which is evaluated alone; ltr compare FIRST SECOND compares two",
        ),
        (["qrels.txt", "gone.run"], 1, "{here}/gone.run: no such file or folder"),
        (["qrels.txt", "x" * 300], 1, "{here}/" + "x" * 300 + ": no such file or folder"),
        (["x" * 300 + ".run"], 2, f"inputs: {'x' * 300}.run is neither a file nor a trained run"),
        (["qrels.txt", "bm25.run", "bm25.run"], 2, "inputs: bm25.run stands twice"),
        (
            ["qrels.txt", "empty.run"],
            1,
            "{here}/empty.run: no rows: wanted lines 'QUERY Q0 DOCUMENT RANK SCORE TAG', came an empty file",
        ),
        (
            ["qrels.txt", "other.run"],
            1,
            "other.run: no query in common: the judgements have q1, q2, q3 and 2 more, the run has zz",
        ),
        (["about.csv"], 1, "about.csv: wanted labels and scores in one table, came no column for the label"),
        (
            ["qrels.txt", "about.csv"],
            1,
            "about.csv: wanted columns query, document and score, came none for the document",
        ),
        (
            ["about.csv", "bm25.run"],
            1,
            "about.csv: wanted columns query, document and label, came none for the document",
        ),
    ],
)
def test_inputs_that_are_no_evaluation(ltr: Ltr, files: Path, inputs: list[str], status: int, message: str) -> None:
    (files / "runs/mine").mkdir(parents=True)
    (files / "runs/mine/run.json").write_text("{}")
    assert refused(ltr, *inputs, status=status) == message.replace("{here}", str(files))


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (
            ["queries=strict"],
            1,
            "bm25.run: wanted the same queries on both sides (queries=strict), came queries that the run lacks: q5; "
            "that nobody judged: q9",
        ),
        (
            ["metrics=[arp]"],
            1,
            "arp: less is better, so a query that the run lacks cannot count 0, and query q5 is one; take the queries "
            "that both sides have (queries=intersection)",
        ),
        (
            ["metrics=[mrr-error]"],
            1,
            "mrr-error: query q4 of bm25.run has no answer, and empty=error refuses such lists",
        ),
        (
            ["by=type"],
            2,
            "by: no attribute 'type' of the queries; there are none: attributes=FILE names a table of the queries",
        ),
        *(
            ([f"metrics=[{name}]"], 1, f"qrels.txt, query q1: {what}")
            for name, what in (
                ("err-max2@10", "err-max2@10: the top grade is declared to be 2, and a document has grade 3"),
                ("ndcg-table0_1_2@10", "gain table: wanted whole labels 0 to 2, got 3"),
            )
        ),
        (["by=tipe", "attributes=about.csv"], 2, "by: no attribute 'tipe' of the queries; did you mean type?"),
        (
            ["by=market", "attributes=about.csv"],
            2,
            "by: no attribute 'market' of the queries; known: type, date, price",
        ),
        (
            ["by=type:year", "attributes=about.csv"],
            1,
            "{here}/about.csv: by=type:year: wanted a date of each query, such as 2024-03-01, came 'navigation' for q1",
        ),
        (
            ["by=date:month", "attributes=varies.csv"],
            1,
            "{here}/varies.csv: by=date:month: wanted a date of each query, such as 2024-03-01, "
            "came '2024-13-01' for q2",
        ),
        (
            ["by=type", "attributes=varies.csv"],
            1,
            "{here}/varies.csv: wanted one value of type a query, came a and b in query q1",
        ),
    ],
)
def test_what_only_shows_in_the_lists(ltr: Ltr, files: Path, words: list[str], status: int, message: str) -> None:
    (files / "varies.csv").write_text("query,type,date\nq1,a,2024-01-01\nq1,b,\nq2,b,2024-13-01\n")
    assert refused(ltr, *PAIR, *words, status=status) == message.replace("{here}", str(files))
    assert not list(files.glob("*.part"))


@pytest.mark.parametrize(
    ("word", "key"),
    [("queries=judged", "queries"), ("assessors=max", "assessors"), ("unjudged_label=-1", "unjudged_label")],
)
def test_what_belongs_to_files_is_no_word_of_a_trained_run(ltr: Ltr, at_work: Path, word: str, key: str) -> None:
    assert refused(ltr, "first", word) == f"{key}: belongs to judgements in files, and first is a trained run"


@pytest.mark.parametrize("inputs", [PAIR, ("both.csv",)])
@pytest.mark.parametrize(
    "word", ["data=synthetic", "data.test=gone", "data.x=1", "split=test", "checkpoint=best", "root=runs"]
)
def test_what_belongs_to_a_trained_run_is_no_word_of_files(
    ltr: Ltr, files: Path, inputs: tuple[str, ...], word: str
) -> None:
    message = f"{re.split('[.=]', word)[0]}: belongs to a trained run, and the inputs are files"
    assert refused(ltr, *inputs, word) == message

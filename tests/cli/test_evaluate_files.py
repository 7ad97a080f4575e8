"""ltr evaluate without a model: TREC files and tables, one system and several, by any rule; whole pages."""

import gzip
import os
import threading
from math import log2
from pathlib import Path

import polars as pl
import pytest
import torch

from tests.cli.conftest import BM25, QRELS, Ltr


def test_one_system_as_it_is_printed(ltr: Ltr, files: Path) -> None:
    status, out, err = ltr("evaluate", "qrels.txt", "bm25.run", "metrics=[mrr,p@1]")
    assert (status, err) == (0, "")
    assert (
        out
        == """\
judgements  qrels.txt: 5 queries, 12 documents
run         bm25.run: 5 queries, 11 documents

metric         mean     95 % interval  n   floor  ceiling  unjudged     worst to best      sd      se
mrr          0.5000  0.1250 to 0.8750  4  0.5694   1.0000     8.3 %  0.5000 to 0.5000  0.4082  0.2041
precision@1  0.2500  0.0000 to 0.7500  4  0.4167   1.0000     0.0 %  0.2500 to 0.2500  0.5000  0.2500

lacks 1 query that somebody judged (each counts 0): q5
has 1 query that nobody judged (left out): q9
equal scores in 1 of 5 queries: q2
no answer by mrr and precision@1 in 1 of 5 queries (left out): q4; mrr would be 0.4000 as 0 and
  0.6000 as 1

95 % interval  BCa bootstrap, 10000 resamples
n              lists that count
floor          what a random order of the same documents is worth
ceiling        what the best list of as many documents is worth
unjudged       share of the documents up to the cutoff that nobody judged
worst to best  where the mean could lie if each document that nobody judged, below the cutoff too,
               had any label from 0 to the top one
sd             standard deviation over lists
se             standard error of the mean

mrr relevant=y>=1 ideal=judged unjudged=zero ties=average empty=skip
precision@1 relevant=y>=1 divisor=k ideal=judged unjudged=zero ties=average empty=skip
"""
    )


def test_two_systems_as_they_are_printed(ltr: Ltr, files: Path) -> None:
    _, out, _ = ltr("evaluate", "qrels.txt", "bm25.run", "dense.run", "metrics=[ndcg@3]", "shown=1")
    assert (
        out
        == """\
judgements  qrels.txt: 5 queries, 12 documents
run         bm25.run: 5 queries, 11 documents
run         dense.run: 5 queries, 8 documents

ndcg@3    mean     95 % interval  n   floor  ceiling  unjudged     worst to best      sd      se
bm25    0.5592  0.1557 to 0.8069  4  0.5594   1.0000     8.3 %  0.5592 to 0.5748  0.4088  0.2044
dense   0.8024  0.6048 to 1.0000  4  0.8655   1.0000    20.0 %  0.8024 to 0.9895  0.2291  0.1146

ndcg@3, dense minus  difference       95 % interval  won/tied/lost  if all were judged
bm25                    +0.2432  -0.2108 to +0.5040          3/0/1  +0.1309 to +0.5187
4 lists are too few to name a winner: below 50, such intervals cover less than they say, and another
  draw of queries could turn any of these orders around.

all systems
  no answer by ndcg@3 in 1 of 5 queries (left out): q4
bm25
  lacks 1 query that somebody judged (each counts 0): q5
  has 1 query that nobody judged (left out): q9
  equal scores in 1 of 5 queries: q2; by their order ndcg@3 is 0.5502 to 0.5682

lost by ndcg@3    lost  selection   order  perfect  wrong order  late  nothing  no answer
bm25            0.4408     0.2500  0.1908        -            1     2        1          1
dense           0.1976     0.0207  0.1769        2            -     2        -          1

ndcg@3: 53 % of its weight lies below position 1, where nobody looks; ndcg@1 scores what is shown

95 % interval       BCa bootstrap, 10000 resamples
n                   lists that count
floor               what a random order of the same documents is worth
ceiling             what the best list of as many documents is worth
unjudged            share of the documents up to the cutoff that nobody judged
worst to best       where the mean could lie if each document that nobody judged, below the cutoff
                    too, had any label from 0 to the top one
sd                  standard deviation over lists
se                  standard error of the mean
if all were judged  the differences that such labels leave room for
lost                selection + order, over lists with an answer
selection           better documents are not in the first 3
order               those that are stand in the wrong order
perfect             lists that lose nothing
wrong order         lists with the right set in the wrong order
late                lists whose first relevant document comes late
nothing             lists with nothing relevant in the first 3
no answer           lists that do not count

ndcg@3 gain=2^y-1 discount=1/log2(1+r) ideal=judged unjudged=zero ties=average empty=skip
"""
    )


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_screen(ltr: Ltr, files: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    words = ["by=date:year", "attributes=about.csv", "over=k", "shown=1", "metrics=[ndcg@3,ap]"]
    for more in (["bm25.run"], ["bm25.run", "dense.run"], ["bm25.run", "preset=letor"], ["bm25.run", "preset=mslr"]):
        status, out, err = ltr("evaluate", "qrels.txt", *more, *words)
        assert status == 0, err
        assert [line for line in out.splitlines() if len(line) > width] == []


def mean_of(out: str, metric: str) -> float:
    return next(float(row.split()[1]) for row in out.splitlines() if row.startswith(f"{metric} ") and "=" not in row)


def values(path: Path) -> dict[str, float]:
    rows = pl.read_csv(path).drop_nulls("value")
    return dict(zip(rows["query"], rows["value"], strict=True))


def test_gzipped_files_and_tables_are_the_same_runs(ltr: Ltr, files: Path) -> None:
    for name in ("qrels.txt", "bm25.run"):
        (files / f"{name}.gz").write_bytes(gzip.compress((files / name).read_bytes()))
    rows = [line.split() for line in QRELS.splitlines()]
    table = {"qid": [row[0] for row in rows], "docno": [row[2] for row in rows], "rel": [int(row[3]) for row in rows]}
    pl.DataFrame(table).write_parquet(files / "qrels.parquet")
    lines = [",".join([row[0], row[2], row[4]]) for row in map(str.split, BM25.splitlines())]
    (files / "bm25.csv").write_text("\n".join(["query,document,score", *lines, ""]))
    found = []
    for place, pair in enumerate(
        [("qrels.txt", "bm25.run"), ("qrels.txt.gz", "bm25.run.gz"), ("qrels.parquet", "bm25.csv")]
    ):
        assert ltr("evaluate", *pair, "metrics=[ndcg@3]", f"output={place}.csv")[0] == 0
        found.append(values(files / f"{place}.csv"))
    assert found[0] == found[1] == found[2]


def test_a_table_of_labels_and_scores(ltr: Ltr, files: Path) -> None:
    _, out, _ = ltr("evaluate", "both.csv", "metrics=[mrr,judged@3]")
    assert out.startswith("table       both.csv: 2 queries, 5 documents\n\nmetric      mean ")
    assert "\nmrr       0.7500  0.5000 to 1.0000 " in out
    assert "\njudged@3  0.8333  0.6667 to 1.0000 " in out


def test_a_preset_settles_names_queries_and_unjudged_labels(ltr: Ltr, files: Path) -> None:
    _, out, _ = ltr("evaluate", "qrels.txt", "bm25.run", "preset=trec_eval", "metrics=[ndcg@3]", "output=v.csv")
    assert "\npreset trec_eval: trec_eval 10.0 and 9.0.8 and pytrec_eval-terrier 0.5.11, scores in float32; " in out
    assert "\nlacks 1 query that somebody judged (left out): q5\n" in out
    first = (1 / log2(3) * 2 + 1 / log2(4)) / (2 + 1 / log2(3))  # q2: d5, d4, d1 with equal scores by falling id
    assert values(files / "v.csv") == {
        "q1": pytest.approx((3 + 1 / log2(4)) / (3 + 1 / log2(3))),
        "q2": pytest.approx(first),
        "q3": pytest.approx(1 / log2(3)),
        "q4": 0,
    }
    (files / "negative.run").write_text("q1 Q0 d3 1 3 x\nq1 Q0 d1 2 2 x\n")
    pair = ["evaluate", "negative.txt", "negative.run", "metrics=[mrr,bpref]"]
    assert ltr(*pair)[2] == (
        f"ltr: {files}/negative.txt, line 2: wanted a label that is a number from 0 to 1e+30 (query q1, document d2), "
        "came '-1'; say unjudged_label=-1 if a negative label marks documents that nobody judged\n"
    )
    for word in ("preset=trec_eval", "unjudged_label=negative"):
        assert "    50.0 %  0.5000 to 1.0000\n" in ltr(*pair, word)[1]
    assert "line 3: " in ltr(*pair, "unjudged_label=-1")[2]
    assert "line 2: " in ltr(*pair, "preset=trec_eval", "unjudged_label=-2")[2]


def test_one_ranking_under_every_preset(ltr: Ltr, files: Path) -> None:
    _, out, _ = ltr("evaluate", "qrels.txt", "bm25.run", "metrics=[mrr@2]", "preset=all")
    assert (
        out
        == """\
judgements  qrels.txt: 5 queries, 12 documents
run         bm25.run: 5 queries, 11 documents

mrr@2           mean  n  undefined  what it is here
ltr           0.5000  4          1  mrr@2
trec_eval     0.5000  4          1  mrr-docid-zero@2
letor              -  -          -  -
mslr               -  -          -  -
lightgbm           -  -          -  -
xgboost            -  -          -  -
catboost      0.5000  4          1  mrr-retrieved-worst-zero@2
sklearn            -  -          -  -
torchmetrics  0.5000  4          1  mrr-retrieved-stable-zero@2
ranx               -  -          -  refuses it: not the same queries on both sides
rax           0.5000  4          1  mrr-retrieved-stable-zero@2

what it is here: the name to ask for; -: the program has no such metric
"""
    )
    out = ltr("evaluate", "qrels.txt", "bm25.run", "dense.run", "metrics=[mrr@2]", "preset=all", "queries=judged")[1]
    assert "\nmrr@2, dense    mean  n  undefined  what it is here\n" in out
    assert "\nranx          0.4000  5          1  mrr-stable-zero@2\n" in out


def test_labels_below_0_are_what_each_program_takes_them_for(ltr: Ltr, files: Path) -> None:
    (files / "negative.run").write_text("q1 Q0 d3 1 3 x\nq1 Q0 d1 2 2 x\n")
    words = ["evaluate", "negative.txt", "negative.run", "metrics=mrr", "preset=all"]
    rows = {row.split()[0]: row for row in ltr(*words)[1].splitlines() if row}
    assert rows["trec_eval"].split()[1] == "0.5000"
    assert all(rows[name].endswith("not followed: labels below 0") for name in ("ltr", "rax"))
    told = {row.split()[0]: row for row in ltr(*words, "unjudged_label=negative")[1].splitlines() if row}
    assert [told[name].split()[1] for name in ("ltr", "trec_eval", "rax")] == 3 * ["0.5000"]
    labels = (files / "negative.txt").read_text()
    (files / "negative.csv").write_text("query,document,label\n" + labels.replace(" 0 ", ",").replace(" ", ","))
    words[1] = "negative.csv"
    assert (
        "line 3: wanted a label that is a number from 0 to 1e+30 (query q1, document d2), came '-1'" in ltr(*words)[2]
    )


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [("micro", 5 / 12), ("median", (1 / 3 + 2 / 3) / 2), ("min", 0), ("geometric", (2 / 3 * 2 / 3 / 3 * 1e-5) ** 0.25)],
)
def test_aggregates(ltr: Ltr, files: Path, aggregate: str, value: float) -> None:
    _, out, _ = ltr("evaluate", "qrels.txt", "bm25.run", "metrics=[p@3]", f"aggregate={aggregate}", "preset=trec_eval")
    head, row = out.split("\n\n")[1].splitlines()  # q1 to q4 have 2, 2, 1 and 0 relevant documents in the first 3
    assert head.split()[:2] == ["metric", aggregate]
    assert row.split()[1] == f"{value:.4f}"


def test_slices_by_an_attribute_and_by_time(ltr: Ltr, files: Path) -> None:
    words = ["evaluate", "qrels.txt", "bm25.run", "metrics=[mrr]", "attributes=about.csv"]
    assert [line.split()[:2] for line in ltr(*words, "by=type")[1].split("\n\n")[2].splitlines()] == [
        ["mrr,", "type"], ["navigation", "0.7500"], ["topic", "0.2500"],
    ]  # fmt: skip
    dates = ltr(*words, "by=date:month")[1].split("\n\n")[2].splitlines()
    assert [line.split()[0] for line in dates] == ["mrr,", "2024-03", "2024-11", "2025-01", "2025-02", "(missing)"]


def test_a_curve_and_its_picture(ltr: Ltr, files: Path) -> None:
    _, out, _ = ltr("evaluate", "qrels.txt", "bm25.run", "metrics=[mrr@2]", "over=k", "plot=k.svg")
    assert (
        out.split("\n\n")[3]
        == """\
mrr@2, over k    mean     95 % interval  n  undefined
1              0.2500  0.0000 to 0.7500  4          1  ############
2              0.5000  0.1250 to 0.8750  4          1  ########################
3              0.5000  0.1250 to 0.8750  4          1  ########################
mrr@2 lies between 0.2500 (k 1) and 0.5000 (k 2)."""
    )
    assert out.endswith(f"plot in {files}/k.svg\n")
    assert (files / "k.svg").read_text().startswith("<?xml")


def test_depth_cuts_and_threads_are_given_back(ltr: Ltr, files: Path) -> None:
    before = torch.get_num_threads()
    out = ltr("evaluate", "qrels.txt", "bm25.run", "metrics=[recall]", "depth=1", "queries=intersection")[1]
    assert "\nrecall  0.1667 " in out  # q1 finds one of two, q2 and q3 nothing
    assert "\ndepth       the first 1 documents of each query count, equal scores by falling id\n\n" in out
    assert torch.get_num_threads() == before


def test_weights_are_told(ltr: Ltr, files: Path) -> None:
    (files / "weights.csv").write_text("query,weight\nq1,3\nq2,1\nq3,0.5\nq4,1\nq5,1\n")
    for more in (["metrics=mrr"], ["metrics=mrr", "preset=all"], ["dense.run", "metrics=mrr"]):
        told = "\nweights     0.5 to 3: every mean counts a query by its weight\n"
        assert told in ltr("evaluate", "qrels.txt", "bm25.run", *more, "attributes=weights.csv")[1]
        assert "weights " not in ltr("evaluate", "qrels.txt", "bm25.run", *more)[1]
    out = ltr("evaluate", "qrels.txt", "bm25.run", "metrics=mrr", "attributes=weights.csv")[1]
    assert mean_of(out, "mrr") == round((3 * 1 + 1 * 0.5 + 0.5 * 0.5 + 1 * 0) / (3 + 1 + 0.5 + 1), 4)


@pytest.mark.parametrize("word", ["metrics=mrr,ap", "metrics=[mrr,ap]", "metrics='mrr','ap'"])
def test_several_metrics_with_brackets_or_without(ltr: Ltr, files: Path, word: str) -> None:
    _, out, _ = ltr("evaluate", "qrels.txt", "bm25.run", word)
    assert [line.split()[0] for line in out.split("\n\n")[1].splitlines()] == ["metric", "mrr", "ap"]


def test_scores_are_held_as_the_program_of_a_preset_holds_them(ltr: Ltr, files: Path) -> None:
    (files / "close.run").write_text("q3 Q0 d6 1 0.500000012 x\nq3 Q0 d2 2 0.500000011 x\n")
    words = ["evaluate", "qrels.txt", "close.run", "metrics=mrr", "queries=intersection"]
    assert mean_of(ltr(*words)[1], "mrr") == 1
    assert "equal scores" not in ltr(*words)[1]
    assert "equal scores in 1 of 1 query" in ltr(*words, "preset=torchmetrics")[1]


def test_a_pipe_stands_for_a_file(ltr: Ltr, files: Path) -> None:
    os.mkfifo(files / "pipe")
    writer = threading.Thread(target=(files / "pipe").write_text, args=(BM25,))
    writer.start()
    assert mean_of(ltr("evaluate", "qrels.txt", "pipe", "metrics=mrr")[1], "mrr") == 0.5
    writer.join()

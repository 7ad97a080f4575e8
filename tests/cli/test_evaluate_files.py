"""ltr evaluate without a model: TREC files and tables, one system and several, by any rule; whole pages."""

import gzip
import json
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

metric         mean     95 % interval      sd      se  n   floor  ceiling  unjudged     worst to best
mrr          0.5000  0.1250 to 0.8750  0.4082  0.2041  4  0.5694   1.0000     8.3 %  0.5000 to 0.5000
precision@1  0.2500  0.0000 to 0.7500  0.5000  0.2500  4  0.4167   1.0000     0.0 %  0.2500 to 0.2500

lacks 1 query that somebody judged (each counts 0): q5
has 1 query that nobody judged (left out): q9
equal scores in 1 of 5 queries: q2
no answer by mrr and precision@1 in 1 of 5 queries (left out): q4; mrr would be 0.4000 as 0 and
  0.6000 as 1

95 % interval: BCa bootstrap, 10000 resamples
sd: over lists; se: of the mean
floor: a random order of the same documents; ceiling: the ideal order
unjudged: share of the documents up to the cutoff that nobody judged
worst to best: where the mean could lie if each of those had label 0 or the top one
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

ndcg@3    mean     95 % interval      sd      se  n   floor  ceiling  unjudged     worst to best
bm25    0.5592  0.1557 to 0.8069  0.4088  0.2044  4  0.5594   1.0000     8.3 %  0.5592 to 0.5748
dense   0.8024  0.6048 to 1.0000  0.2291  0.1146  4  0.8655   1.0000    20.0 %  0.8024 to 0.9895

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

what ndcg@3 lacks to 1    lost  selection   order  perfect  wrong order  late  nothing  no answer
bm25                    0.4408     0.2500  0.1908        -            1     2        1          1
dense                   0.1976     0.0207  0.1769        2            -     2        -          1

ndcg@3: 53 % of its weight lies below position 1, where nobody looks; ndcg@1 scores what is shown

95 % interval: BCa bootstrap, 10000 resamples
sd: over lists; se: of the mean
floor: a random order of the same documents; ceiling: the ideal order
unjudged: share of the documents up to the cutoff that nobody judged
worst to best: where the mean could lie if each of those had label 0 or the top one
if all were judged: the differences that such labels leave room for
lost = selection (better documents are not in the first 3) + order (those that are stand in the
  wrong order), over lists with an answer
lists by what they lose; wrong order: right set in the wrong order; late: first relevant late;
  nothing: nothing relevant in the first 3
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
    left = "\nleft out for want of room: se, sd, n, ceiling, floor"
    assert (left in out) == (width == 80)


def test_values_of_each_query_in_every_form(ltr: Ltr, files: Path) -> None:
    alone = ["evaluate", "qrels.txt", "bm25.run", "metrics=[mrr]"]
    assert ltr(*alone, "output=v.csv")[1].endswith(f"values of each query in {files}/v.csv\n")
    assert (files / "v.csv").read_text() == (
        "query,metric,value,documents,defined,weight\n"
        "q1,mrr,1.0,3,true,1.0\nq2,mrr,0.5,3,true,1.0\nq3,mrr,0.5,3,true,1.0\nq4,mrr,,1,false,1.0\nq5,mrr,0.0,0,true,1.0\n"
    )
    ltr("evaluate", "qrels.txt", "bm25.run", "dense.run", "metrics=[mrr]", "output=v.parquet")
    rows = pl.read_parquet(files / "v.parquet")
    assert rows.columns == ["system", "query", "metric", "value", "documents", "defined", "weight"]
    assert rows["system"].to_list() == 5 * ["bm25"] + 5 * ["dense"]
    assert rows["value"].to_list() == [1, 0.5, 0.5, None, 0, 0.5, 1, 1, None, 0.5]
    ltr(*alone, "output=v.json")
    assert json.loads((files / "v.json").read_text())[1] == {
        "query": "q2", "metric": "mrr", "value": 0.5, "documents": 3, "defined": True, "weight": 1.0,
    }  # fmt: skip


def values(path: Path) -> dict[str, float]:
    rows = pl.read_csv(path)
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
    assert "\npreset trec_eval: trec_eval 10.0 and 9.0.8, and ir_measures 0.4.3 and " in out
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
        ["mrr,", "by"], ["navigation", "0.7500"], ["topic", "0.2500"],
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
    assert torch.get_num_threads() == before

"""ltr evaluate output=FILE: what it says of each query."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import Ltr


def test_values_of_each_query_in_every_form(ltr: Ltr, files: Path) -> None:
    alone = ["evaluate", "qrels.txt", "bm25.run", "metrics=[mrr]"]
    assert ltr(*alone, "output=v.csv")[1].endswith(f"values of each query in {files}/v.csv\n")
    assert (
        (files / "v.csv").read_text()
        == """\
query,metric,value,documents,defined,weight,missing,tied,unjudged,kind,selection,order
q1,mrr,1.0,3,true,1.0,,false,0.0,,,
q2,mrr,0.5,3,true,1.0,,true,0.0,,,
q3,mrr,0.5,3,true,1.0,,false,0.33333333333333337,,,
q4,mrr,,1,false,1.0,,false,0.0,,,
q5,mrr,0.0,0,true,1.0,run,false,,,,
q9,mrr,,,,,judgements,,,,,
"""
    )
    ltr("evaluate", "qrels.txt", "bm25.run", "dense.run", "metrics=[mrr]", "output=v.parquet")
    rows = pl.read_parquet(files / "v.parquet")
    assert rows.columns[:4] == ["system", "query", "metric", "value"]
    assert rows["system"].to_list() == 6 * ["bm25"] + 5 * ["dense"]
    assert rows["value"].to_list() == [1, 0.5, 0.5, None, 0, None, 0.5, 1, 1, None, 0.5]
    kinds = {"documents": pl.Int64, "defined": pl.Boolean, "tied": pl.Boolean, "kind": pl.String, "order": pl.Float64}
    assert dict(rows.select(*kinds).schema) == kinds
    ltr(*alone, "output=v.json")
    assert json.loads((files / "v.json").read_text())[1] == {
        "query": "q2", "metric": "mrr", "value": 0.5, "documents": 3, "defined": True, "weight": 1.0, "missing": None,
        "tied": True, "unjudged": 0.0, "kind": None, "selection": None, "order": None,
    }  # fmt: skip


def test_lists_are_classed_by_what_they_lose(ltr: Ltr, files: Path) -> None:
    status, out, err = ltr("evaluate", "qrels.txt", "bm25.run", "metrics=[ndcg@3]", "output=v.csv")
    assert status == 0, err
    rows = pl.read_csv(files / "v.csv")
    assert rows["kind"].to_list() == [
        "right set, wrong order", "first relevant late", "first relevant late", "no answer", "nothing found", None,
    ]  # fmt: skip
    answered = rows.filter(pl.col("defined"))
    assert answered.select(pl.sum_horizontal("value", "selection", "order"))["value"].to_list() == pytest.approx(
        [1] * 4
    )
    assert f"{answered['selection'].mean():.4f}" in out
    assert f"{answered['order'].mean():.4f}" in out


@pytest.mark.parametrize("queries", ["judged", "intersection"])
def test_every_query_of_either_side_is_there_however_many(ltr: Ltr, files: Path, queries: str) -> None:
    """The page names a few of them."""
    judged, returned = [f"j{at}" for at in range(60)], [f"r{at}" for at in range(70)]
    (files / "many.qrels").write_text("".join(f"{query} 0 d 1\n" for query in ["both", *judged]))
    (files / "many.run").write_text("".join(f"{query} Q0 d 1 1 x\n" for query in [*returned, "both"]))
    words = ["evaluate", "many.qrels", "many.run", "metrics=[mrr,ap]", f"queries={queries}", "output=v.csv"]
    status, out, err = ltr(*words)
    assert (status, err) == (0, "")
    assert "j0, j1, j2, j3, j4 and 55 more" in out
    rows = pl.read_csv(files / "v.csv")
    for metric in ("mrr", "ap"):
        mine = rows.filter(pl.col("metric") == metric)
        found = {side: mine.filter(pl.col("missing").eq_missing(side))["query"].to_list() for side in mine["missing"]}
        assert found == {None: ["both"], "run": judged, "judgements": returned}
        assert mine["value"].drop_nulls().mean() == (1 if queries == "intersection" else pytest.approx(1 / 61))


def test_losses_have_a_table_and_rows_of_their_own(ltr: Ltr, files: Path) -> None:
    words = ("evaluate", "qrels.txt", "bm25.run", "dense.run", "metrics=[ndcg]", "losses=[mse,softmax]")
    status, out, err = ltr(*words, "output=v.csv")
    assert status == 0, err
    rows = [line.split(",") for line in (files / "v.csv").read_text().splitlines()[1:]]
    found = {(row[0], row[1]): row[3] for row in rows if row[2] == "mse"}
    assert float(found["bm25", "q3"]) == pytest.approx((4.1**2 + (4.0 - 3) ** 2 + 3.0**2) / 3)  # d11: label 0
    assert found["bm25", "q5"] == ""
    assert len(found) == 10
    mean = sum(float(each) for (system, _), each in found.items() if system == "bm25" and each) / 4
    lines = out.splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith("mse "))
    assert [line.split() for line in lines[at : at + 2]] == [
        ["mse", "mean", "n", "unit", "what", "it", "is"],
        ["bm25", f"{mean:.4f}", "4", "squared", "label", "units", "-"],
    ]
    assert "bm25: no loss for 1 query without returned documents (left out): q5" in lines
    assert "bm25: losses give label 0 to 1 document that nobody judged" in lines

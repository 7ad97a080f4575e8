"""The table of one system: what it prints, what it finds out, and how presets, slices and names act on it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from ltr.data import DataError
from ltr.evaluation import Evaluation, RankedLists, evaluate_lists, join, per_query
from ltr.evaluation.aggregates import How
from ltr.evaluation.queries import query_rows
from ltr.metrics import parse
from ltr.metrics.presets import PRESETS

QRELS = pl.DataFrame(
    {
        "query": ["a", "a", "b", "b", "c", "d"],
        "document": ["1", "2", "1", "2", "1", "1"],
        "label": [1.0, 0.0, 2.0, 1.0, 1.0, 0.0],
        "market": ["de", "de", "fr", "fr", "de", "fr"],
        "date": ["2023-05-01", "2023-05-01", "2024-01-02", "2024-01-02", "2024-02-03", None],
    }
)
RUN = pl.DataFrame(
    {
        "query": ["a", "a", "b", "b", "b", "d", "x"],
        "document": ["1", "2", "9", "1", "2", "1", "1"],
        "score": [0.5, 0.5, 0.9, 0.8, 0.7, 0.1, 0.3],
    }
)


def table(*metrics: str, queries: str = "judged", **how: object) -> Evaluation:
    return evaluate_lists(join(QRELS, RUN, queries=queries), metrics, **how)  # type: ignore[arg-type]


def test_the_whole_table_as_text() -> None:
    assert str(table("mrr", "precision@2", by="market")) == "\n".join(
        (
            "metric         mean     95 % interval  n   floor  ceiling  unjudged      sd      se",
            "mrr          0.4167  0.0000 to 0.6667  3  0.5278   1.0000    11.1 %  0.3819  0.2205",
            "precision@2  0.3333  0.0000 to 0.5000  3  0.3889   0.6667    16.7 %  0.2887  0.1667",
            "",
            "market         mrr  precision@2",
            "de      0.3750 (2)   0.2500 (2)",
            "fr      0.5000 (1)   0.5000 (1)",
            "",
            "lacks 1 query that somebody judged (each counts 0): c",
            "has 1 query that nobody judged (left out): x",
            "equal scores in 1 of 4 queries: a; by their order mrr is 0.3333 to 0.5000",
            "no answer by mrr and precision@2 in 1 of 4 queries (left out): d; "
            "mrr would be 0.3125 as 0 and 0.5625 as 1",
            "",
            "mrr relevant=y>=1 ideal=judged unjudged=zero ties=average empty=skip",
            "precision@2 relevant=y>=1 divisor=k ideal=judged unjudged=zero ties=average empty=skip",
        )
    )


@pytest.mark.parametrize("how", ["mean", "micro", "median", "geometric", "min"])
def test_a_column_comes_to_what_the_table_prints(how: How) -> None:
    found = table("ndcg@2", "precision@2", aggregate=how, seed=3)
    assert found.aggregate == how
    for name, summary in zip(("ndcg@2", "precision@2"), found.summaries, strict=True):
        assert found[name].summary() == found[name].summary(how)
        assert found[name].summary()[:6] == summary[:6]
        assert f"{found[name].summary().value:.4f}" in str(found)


def test_no_number_is_a_dash_and_no_column_is_all_dashes() -> None:
    blank = evaluate_lists(RankedLists.from_arrays([0, 1, 0], [3, 2, 1], ["a", "b", "b"]), "mrr", aggregate="min")
    assert str(blank).splitlines()[0] == "metric     min  n   floor  ceiling"
    none = evaluate_lists(RankedLists.from_arrays([0], [3]), ["mrr", "mrr-zero"])
    assert "no answer by mrr in 1 of 1 query (left out): 0; mrr would be 0.0000 as 0 and 1.0000 as 1" in str(none)
    assert str(none).splitlines()[1] == "mrr            -  0       -        -"
    assert "nan" not in str(none)


def test_findings_hold_what_the_notes_say() -> None:
    found = table("mrr@2", "mrr-zero").findings
    assert (found.missing, found.extra, found.tied) == (("c",), ("x",), ("a",))
    assert found.blank == {"mrr@2": ("d",), "mrr-zero": ("d",)}
    assert found.unjudged == pytest.approx({2: (0 + 1 / 2 + 0) / 3, None: (0 + 1 / 3 + 0) / 3})


def test_where_all_is_well_there_is_nothing_to_note() -> None:
    full = evaluate_lists(RankedLists.from_arrays([1, 0], [0.2, 0.1]), "mrr")
    assert full.notes() == []
    assert str(full).count("\n\n") == 1
    assert table("mrr", queries="intersection").notes()[0] == "lacks 1 query that somebody judged (left out): c"


def test_a_column_is_found_by_either_name() -> None:
    found = table("ndcg@2", "map", preset="trec_eval")
    assert [each.metric.name for each in found.values] == ["ndcg-linear-docid-zero@2", "ap-docid-zero"]
    assert found.per_query("ndcg@2") == found.per_query("ndcg-linear-docid-zero@2")
    assert list(found.per_query(parse("ap-docid-zero"))) == ["a", "b", "c", "d"]
    assert found.per_query("map")["a"] == 1 / 2  # document 2 stands before document 1
    with pytest.raises(ValueError, match=r"^wanted a metric of this table \(ndcg-lin.*@2, ap-docid-zero\), got 'mrr'$"):
        found["mrr"]


def test_a_skipped_query_has_no_value() -> None:
    assert table("mrr").per_query("mrr") == {"a": 3 / 4, "b": 1 / 2, "c": 0.0, "d": None}


def test_a_preset_gives_the_programs_metric_and_a_word_wins() -> None:
    found = table("ndcg@2", "ndcg-exp2@2", preset="sklearn")
    assert [each.metric for each in found.values] == [PRESETS["sklearn"].parse(name) for name in found.asked]
    assert found.values[0].metric != found.values[1].metric
    given = evaluate_lists(join(QRELS, RUN), [parse("ndcg@2")], preset=PRESETS["sklearn"])
    assert given.values[0].metric == found.values[0].metric
    with pytest.raises(ValueError, match=r"^unknown preset 'trec': wanted one of trec_eval, letor, "):
        table("ap", preset="trec")
    with pytest.raises(ValueError, match=r"^preset lightgbm has no mrr; it has ndcg, ap$"):
        table("mrr", preset="lightgbm")


def test_scores_are_compared_as_the_preset_holds_them_before_ties_are_ordered() -> None:
    """a and b differ by 1e-9, which float32 does not show: b, the last in the order of ids, stands first there."""
    lists = RankedLists.from_arrays([1, 0], [0.500000012, 0.500000011], documents=["a", "b"])
    held = {name: evaluate_lists(lists, "ndcg-linear-docid", preset=name) for name in PRESETS}
    single = {name for name, found in held.items() if found.values[0].value[0] < 1}
    assert single == {"trec_eval", "xgboost", "torchmetrics", "rax"}
    assert {name for name, found in held.items() if found.findings.tied} == single
    assert evaluate_lists(lists, "ndcg-linear-docid").values[0].value[0] == 1
    assert lists.held_in(None) is lists
    assert RankedLists.from_arrays([1, 0], [1e300, -1e300]).held_in("float32").score.tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("metrics", [[], (), None, 5])
def test_a_table_of_no_metric_is_refused(metrics: Any) -> None:
    with pytest.raises(
        ValueError, match=rf"^metrics: wanted at least one name or metric, got {re.escape(str(metrics))}$"
    ):
        evaluate_lists(RankedLists.from_arrays([1, 0], [0.2, 0.1]), metrics)


def test_metrics_that_are_one_stand_once() -> None:
    found = table("ap", "map", "mrr")
    assert ([each.metric.name for each in found.values], found.asked) == (["ap", "mrr"], ("ap", "mrr"))
    assert found["MAP"] is found.values[0]


def test_the_aggregate_is_the_one_that_was_asked_for() -> None:
    found = table("precision@2", aggregate="micro")
    assert found.summaries[0].value == pytest.approx((1 + 1 + 0) / (2 + 2 + 2))
    assert str(found).splitlines()[0].split()[:2] == ["metric", "micro"]
    recall = table("recall@2", aggregate="micro").summaries[0]  # query c is missing in the run, and has R = 1
    assert (recall.value, recall.lists) == (pytest.approx((1 + 1 + 0) / (1 + 2 + 1)), 3)
    assert table("mrr", aggregate="median").summaries[0].value == 1 / 2
    with pytest.raises(ValueError, match=r"^mrr: micro pools .*, which precision, recall, f1, ndcg, dcg have; take"):
        table("precision@2", "mrr", aggregate="micro")
    with pytest.raises(ValueError, match=r"^mrr: wanted an aggregate that is one of mean, micro, .*; got 'max'$"):
        table("mrr", aggregate="max")


def test_slices_are_the_summaries_of_their_queries() -> None:
    found = table("mrr").slices("market")
    assert {value: (each.value, each.lists, each.undefined) for value, (each,) in found.items()} == {
        "de": (pytest.approx((3 / 4 + 0) / 2), 2, 0),
        "fr": (1 / 2, 1, 1),
    }
    years = table("mrr").slices("date", "year")
    assert {value: each.lists for value, (each,) in years.items()} == {"2023": 1, "2024": 2, "(missing)": 0}
    for wrong in ("colour", "label"):
        with pytest.raises(DataError, match=rf"^wanted an attribute of the queries \(.*\), came {wrong}$"):
            table("mrr").slices(wrong)
    with pytest.raises(DataError, match=r"came colour$"):
        table("mrr", by="colour")


def test_rows_are_written_in_the_order_of_metrics_and_queries(tmp_path: Path) -> None:
    found = table("mrr", "ap")
    found.write(tmp_path / "values.parquet")
    written = pl.read_parquet(tmp_path / "values.parquet")
    assert written.rows() == [tuple(row) for row in found.rows()]
    assert written["query"].to_list() == ["a", "b", "c", "d", "x"] * 2  # x: the run has it alone
    assert found.rows() == query_rows(per_query(found.lists, [parse("mrr"), parse("ap")]))


@pytest.mark.parametrize("name", ["nowhere/values.csv", "nowhere/values.parquet", "nowhere/values.json", "a.csv"])
def test_a_file_that_cannot_be_written_is_named_as_it_was(name: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(OSError, match=rf": '{re.escape(str(tmp_path / name))}'$"):
        table("mrr").write(tmp_path / name)
    assert [each.name for each in tmp_path.iterdir()] == ["a.csv"]

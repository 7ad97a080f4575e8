"""Per-query values in files: what is written is what was measured, and a file is whole or not there."""

import csv
import json
from pathlib import Path

import polars as pl
import pytest

from ltr.evaluation import QueryValue, write_rows
from ltr.evaluation.output import replaced
from ltr.evaluation.queries import QueryRow
from ltr.runs import per_query_text

ROWS = [
    QueryValue('q,"1"', "ndcg@10", 0.1 + 0.2, 3, True, 1.0),
    QueryValue("007", "ndcg@10", None, 0, False, 2.5),
    QueryValue("é", "ap", float("nan"), 2, True, 1.0),
]


def test_csv_is_that_of_a_run_folder(tmp_path: Path) -> None:
    write_rows({None: ROWS}, tmp_path / "values.csv")
    assert (tmp_path / "values.csv").read_bytes().decode() == per_query_text(row._asdict() for row in ROWS)


def test_parquet_keeps_types_and_every_digit(tmp_path: Path) -> None:
    write_rows({None: ROWS}, tmp_path / "values.parquet")
    table = pl.read_parquet(tmp_path / "values.parquet")
    kinds = [pl.String, pl.String, pl.Float64, pl.Int64, pl.Boolean, pl.Float64]
    assert table.schema == dict(zip(QueryValue._fields, kinds, strict=True))
    assert table.rows()[:2] == [tuple(row) for row in ROWS[:2]]
    assert table["value"].is_nan().to_list() == [False, None, True]


def test_json_has_no_word_for_nan(tmp_path: Path) -> None:
    write_rows({None: ROWS}, tmp_path / "values.JSON")
    text = (tmp_path / "values.JSON").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert json.loads(text) == [row._asdict() for row in ROWS[:2]] + [ROWS[2]._asdict() | {"value": None}]


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_several_systems_stand_in_one_file(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"values.{form}"
    write_rows({"bm25": ROWS[:1], "dense, new": ROWS[1:2]}, path)
    if form == "csv":
        with path.open(newline="", encoding="utf-8") as file:
            found = list(csv.DictReader(file))
    else:
        found = json.loads(path.read_text()) if form == "json" else pl.read_parquet(path).to_dicts()
    assert [(row["system"], row["query"]) for row in found] == [("bm25", 'q,"1"'), ("dense, new", "007")]
    assert list(found[0]) == ["system", *QueryValue._fields]


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_a_table_without_rows_has_its_columns(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"values.{form}"
    write_rows({None: []}, path)
    if form == "parquet":
        assert pl.read_parquet(path).columns == list(QueryValue._fields)
    else:
        assert path.read_text() == ("[]\n" if form == "json" else ",".join(QueryValue._fields) + "\n")


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_rows_of_queries_have_columns_of_their_own(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"values.{form}"
    rows = [
        QueryRow("q1", "ndcg@2", 0.5, 3, True, 1.0, None, True, 0.25, "nothing found", 0.5, 0.0),
        QueryRow("q2", "ndcg@2", missing="judgements"),
    ]
    write_rows({None: rows}, path)
    if form == "parquet":
        found = pl.read_parquet(path)
        assert [found.schema[name] for name in ("tied", "unjudged", "kind", "order")] == [
            pl.Boolean, pl.Float64, pl.String, pl.Float64,
        ]  # fmt: skip
        assert found.rows() == [tuple(row) for row in rows]
    elif form == "json":
        assert json.loads(path.read_text()) == [row._asdict() for row in rows]
    else:
        assert path.read_text() == (
            "query,metric,value,documents,defined,weight,missing,tied,unjudged,kind,selection,order\n"
            "q1,ndcg@2,0.5,3,true,1.0,,true,0.25,nothing found,0.5,0.0\nq2,ndcg@2,,,,,judgements,,,,,\n"
        )


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_a_file_that_cannot_be_written_is_named(form: str, tmp_path: Path) -> None:
    for path in (tmp_path / "no" / f"values.{form}", tmp_path / f"folder.{form}"):
        (tmp_path / f"folder.{form}").mkdir(exist_ok=True)
        with pytest.raises(OSError, match=rf": '{path}'$"):
            write_rows({None: ROWS}, path)
    assert [each.name for each in tmp_path.iterdir()] == [f"folder.{form}"]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    for name in ("values.xlsx", "values", "csv"):
        with pytest.raises(ValueError, match=r"^wanted a file that ends in \.csv, \.parquet or \.json, got '.*'$"):
            write_rows({None: ROWS}, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_what_fails_half_way_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "values.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replaced(path) as draft:
        draft.write_text("half, then \ud800", encoding="utf-8")
    assert [each.name for each in tmp_path.iterdir()] == ["values.csv"]
    assert path.read_text() == "old"
    with replaced(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"

"""One ranking under every preset."""

import pytest

from ltr.evaluation import RankedLists, join
from ltr.metrics.presets import PRESETS
from ltr.report.presets import print_presets

LISTS = RankedLists.from_arrays([0, 2, 1, 0, 0], [5, 4, 3, 2, 1], list("aaabb"))


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # readline sets it unseen


def printed(capsys: pytest.CaptureFixture[str], systems: dict[str, RankedLists], *metrics: str) -> str:
    print_presets(lambda rule: systems, metrics, "mean")
    return capsys.readouterr().out


def test_a_row_for_this_toolkit_and_for_every_program(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, {"x": LISTS}, "mrr").splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:-2]}
    assert lines[1].split() == ["mrr", "mean", "n", "undefined", "what", "it", "is", "here"]
    assert list(rows) == ["ltr", *PRESETS]
    assert rows["ltr"] == ["0.5000", "1", "1", "mrr"]
    assert rows["trec_eval"] == ["0.2500", "2", "1", "mrr-docid-zero"]
    assert rows["lightgbm"] == ["-", "-", "-", "-"]
    assert lines[-1] == "what it is here: the name to ask for; -: the program has no such metric"


def test_a_metric_and_a_system_each_have_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, {"x": LISTS, "y": LISTS}, "mrr", "ap", "mrr")
    titles = [line.split("  ")[0] for line in out.splitlines() if "undefined" in line]
    assert titles == ["mrr, x", "mrr, y", "ap, x", "ap, y"]


def test_which_queries_count_is_the_programs_own_rule(capsys: pytest.CaptureFixture[str]) -> None:
    import polars as pl

    qrels = pl.DataFrame({"query": ["a", "b"], "document": ["x", "x"], "label": [1, 1]})
    run = pl.DataFrame({"query": ["a"], "document": ["x"], "score": [1.0]})
    print_presets(lambda rule: {"x": join(qrels, run, queries=rule)}, ["mrr"], "mean")
    rows = {line.split()[0]: line.split(maxsplit=4)[1:] for line in capsys.readouterr().out.splitlines() if line}
    assert rows["ltr"][:3] == ["0.5000", "2", "0"]
    assert rows["trec_eval"][:3] == ["1.0000", "1", "0"]
    assert rows["ranx"] == ["-", "-", "-", "refuses it: not the same queries on both sides"]


def test_labels_below_0_are_followed_where_the_program_takes_them_for_unjudged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lists = RankedLists.from_arrays([9, 1, 0], [3, 2, 1], judged=[False, True, True])
    print_presets(lambda rule: {"x": lists}, ["mrr"], "mean", negative=True)
    rows = {line.split()[0]: line.split(maxsplit=4)[1:] for line in capsys.readouterr().out.splitlines() if line}
    assert rows.pop("trec_eval") == ["0.5000", "1", "0", "mrr-docid-zero"]
    assert {rows[name][-1] for name in ("ltr", "catboost", "torchmetrics", "ranx", "rax")} == {
        "not followed: labels below 0"
    }


def test_scores_are_compared_as_each_program_holds_them(capsys: pytest.CaptureFixture[str]) -> None:
    lists = RankedLists.from_arrays([1, 0], [0.500000012, 0.500000011], documents=["a", "b"])
    lines = printed(capsys, {"x": lists}, "mrr").splitlines()
    rows = {line.split()[0]: line.split()[1] for line in lines[2:-2]}
    assert (rows["ltr"], rows["trec_eval"], rows["ranx"], rows["rax"]) == ("1.0000", "0.5000", "1.0000", "1.0000")


def test_a_list_that_the_metric_refuses_is_told_in_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(printed(capsys, {"x": LISTS}, "err-max1").split())
    assert "the top grade is declared to be 1, and a document has grade 2" in out

"""The table of flat arrays, in any order of rows and of any kind."""

import re
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import ltr
from ltr.data import DataError
from ltr.evaluation import SwappedWarning, evaluate
from ltr.metrics import parse

RANDOM = np.random.default_rng(0)
QUERY = RANDOM.integers(0, 20, 300)
LABEL = RANDOM.integers(0, 5, 300)
SCORE = RANDOM.random(300)


def test_values_are_those_of_the_metric_on_each_query_alone() -> None:
    table = evaluate(LABEL, SCORE, QUERY, ["ndcg@10", "ap", "mrr@3"])
    for name in ("ndcg@10", "ap", "mrr@3"):
        values = table.per_query(name)
        assert list(values) == [str(query) for query in dict.fromkeys(QUERY.tolist())]
        for query, value in values.items():
            rows = int(query) == QUERY
            assert value == pytest.approx(parse(name)(SCORE[rows], LABEL[rows]).item(), abs=1e-12)


def test_it_has_its_name_at_the_top_of_the_package() -> None:
    assert ltr.evaluate is evaluate
    assert [each.metric for each in ltr.evaluate([1, 0], [0.2, 0.1]).summaries] == ["ndcg@10", "ap", "mrr"]


@pytest.mark.parametrize("kind", [list, torch.as_tensor, np.float32])
def test_any_kind_of_column_is_read(kind: type) -> None:
    table = evaluate(kind(LABEL), kind(SCORE.astype(np.float32)), QUERY.tolist(), "ndcg@10")
    same = evaluate(LABEL, SCORE.astype(np.float32), QUERY.astype(str), "ndcg@10")
    assert table.per_query("ndcg@10") == same.per_query("ndcg@10")


def test_without_query_ids_all_rows_are_one_list() -> None:
    assert evaluate([0, 1, 0], [3.0, 2.0, 1.0], metrics="mrr").per_query("mrr") == {"0": 1 / 2}


def test_weights_and_ids_and_unjudged_documents_arrive() -> None:
    table = evaluate(
        [0, 1, -1, 1], [0.5, 0.5, 0.9, 0.1], ["a", "a", "b", "b"], ["mrr-docid", "mrr-condensed"],
        weight=[1, 3], documents=["2", "1", "2", "1"], unjudged_label=-1,
    )  # fmt: skip
    assert table.per_query("mrr-docid") == {"a": 1 / 2, "b": 1 / 2}  # 2 stands before 1
    assert table.per_query("mrr-condensed") == {"a": 3 / 4, "b": 1.0}
    assert table.summaries[1].value == pytest.approx((1 * 3 / 4 + 3 * 1) / 4)
    flags = evaluate([0, 1, 9, 1], [0.5, 0.5, 0.9, 0.1], ["a", "a", "b", "b"], "mrr", judged=[True, True, False, True])
    assert flags.per_query("mrr")["b"] == 1 / 2


def test_preset_and_aggregate_arrive() -> None:
    table = evaluate(LABEL, SCORE, QUERY, "ndcg@10", preset="lightgbm", aggregate="median")
    assert table.summaries[0].metric == PRESET
    assert table.summaries[0].aggregate == "median"


def test_a_preset_says_which_labels_mark_what_nobody_judged() -> None:
    """trec_eval takes any label below 0 for none, and ranks the document; others give a number of their own."""
    arrays = {"y_true": [-2, 1, -1], "y_score": [3.0, 2.0, 1.0], "metrics": ["mrr@3"]}
    for found in (evaluate(**arrays, preset="trec_eval"), evaluate(**arrays, unjudged_label="negative")):
        assert (found.summaries[0].value, found.findings.unjudged) == (1 / 2, {3: pytest.approx(2 / 3)})
    for some in ({"preset": "sklearn", "metrics": "ap"}, {"preset": "trec_eval", "unjudged_label": -1}, {}):
        with pytest.raises(DataError, match=r"^arrays, row 0 .*: wanted a label that is a number from 0 .*, came -2"):
            evaluate(**{**arrays, **some})


PRESET = "ndcg-retrieved-stable-one@10"


def test_slices_by_a_column_of_rows_or_of_queries() -> None:
    query = ["a", "b", "a", "c"]
    for values in (["x", "y", "x", "x"], ["x", "y", "x"]):
        table = evaluate([1, 1, 0, 0], [4, 3, 2, 1], query, "mrr-zero", by={"kind": values})
        assert {name: found[0].value for name, found in table.slices("kind").items()} == {"x": 1 / 2, "y": 1.0}
        assert "kind" in str(table)
    assert evaluate([1], [1], metrics="mrr", by={"year": [2024]}).slices("year").keys() == {"2024"}
    with pytest.raises(DataError, match=r"^wanted one value of kind a query, came x and z in query a$"):
        evaluate([1, 1, 0, 0], [4, 3, 2, 1], query, "mrr", by={"kind": ["x", "y", "z", "x"]})
    with pytest.raises(DataError, match=r"^arrays: wanted kind for each of 4 rows or 3 queries, came shape \[2\]$"):
        evaluate([1, 1, 0, 0], [4, 3, 2, 1], query, "mrr", by={"kind": ["x", "y"]})


def test_labels_and_scores_that_changed_places_are_told() -> None:
    wanted = (
        r"^y_true has 300 different values, most of them fractions, and y_score a few whole numbers: the labels come"
    )
    with pytest.warns(SwappedWarning, match=wanted):
        evaluate(SCORE, LABEL, QUERY, "mrr")
    with pytest.warns(SwappedWarning), pytest.raises(DataError, match="wanted a label that is a number from 0"):
        evaluate(SCORE - 0.5, LABEL, QUERY, "mrr")


@pytest.mark.parametrize(
    ("labels", "scores"),
    [
        (LABEL, SCORE),
        (LABEL, LABEL[::-1]),  # a scorer of few values
        (LABEL / 2, np.rint(SCORE * 4)),  # half grades: no more of them than scores
        (SCORE, 100 * LABEL),  # clicks of a model on fractional labels
        (SCORE, -LABEL),
        (SCORE, np.arange(300)),
    ],
)
def test_what_need_not_be_swapped_is_not_called_so(labels: np.ndarray, scores: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(labels, scores, QUERY, "mrr")


def test_bad_columns_are_refused() -> None:
    with pytest.raises(DataError, match=r"^arrays: wanted as many scores as labels, at least one, came 1 and 2$"):
        evaluate([1, 0], [0.5])
    with pytest.raises(DataError, match=r"^arrays: wanted as many scores as labels, at least one, came 0 and 0$"):
        evaluate([], [])
    with pytest.raises(DataError, match=r"^arrays: wanted labels as flat numbers, came 'yes', 'no'$"):
        evaluate(["yes", "no"], [1, 2])
    with pytest.raises(ValueError, match=r"^unknown metric 'ndgc@10'"):
        evaluate([1, 0], [0.5, 0.4], metrics=["ndgc@10"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"judged": [1, 1]}, "wanted judged for each of 3 rows, came shape [2]"),
        ({"judged": [[1, 1, 1]]}, "wanted judged for each of 3 rows, came shape [1]"),
        ({"judged": np.array([1, 0.5, 1])}, "wanted judged as True or False, came 0.5"),
        ({"judged": [1, None, 1]}, "wanted judged as True or False, came None"),
        ({"judged": ["yes", "no", "yes"]}, "wanted judged as True or False, came 'yes'"),
        ({"unjudged_label": "x"}, "wanted unjudged_label as a number or 'negative', came 'x'"),
        ({"unjudged_label": True}, "wanted unjudged_label as a number or 'negative', came True"),
        ({"by": "t"}, "wanted by as a dictionary, name -> one value a row or a query, came 't'"),
        ({"by": ["t"]}, "wanted by as a dictionary, name -> one value a row or a query, came ['t']"),
        *(
            ({"by": {"t": values}}, f"wanted by as name -> one value a row or a query, in order, came 't': {values!r}")
            for values in ({"q": "x"}, {"x"}, "xyz")
        ),
        ({"by": {1: [1, 2, 3]}}, "wanted by as name -> one value a row or a query, in order, came 1: [1, 2, 3]"),
        ({"by": {"t": 5}}, "wanted t for each of 3 rows or 1 queries, came shape []"),
    ],
)  # fmt: skip
def test_an_argument_of_the_wrong_kind_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=f"^arrays: {re.escape(message)}$"):
        evaluate([1, 0, 0], [3.0, 2.0, 1.0], metrics="mrr", **wrong)


@pytest.mark.parametrize("mark", [-1, -1.0, np.int64(-1), np.float32(-1)])
def test_flags_and_a_label_of_unjudged_documents_add_up(mark: Any) -> None:
    for flags in ([1, 1, 0, 1], [True, True, False, True], np.array([1.0, 1, 0, 1])):
        found = evaluate([-1, 0, 9, 1], [4, 3, 2, 1], metrics=["judged@4", "mrr"], judged=flags, unjudged_label=mark)
        assert [each.value for each in found.summaries] == [2 / 4, 1 / 4]


def test_the_name_alone_does_not_load_torch() -> None:
    code = "import ltr, sys; assert 'evaluate' in dir(ltr); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

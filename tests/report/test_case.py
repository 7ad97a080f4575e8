"""ltr/report/case.py: a query as tensors, and its variants."""

import polars as pl
import pytest

from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists
from ltr.metrics import NDCG, parse
from ltr.report.case import Case
from ltr.report.explain import explain


def case() -> Case:
    """d, c, b and a from the top down, of which nobody judged c; m was judged and not returned."""
    qrels = pl.DataFrame({"query": ["p", *"qqqq"], "document": ["z", *"abdm"], "label": [1, 0, 1, 3, 2]})
    run = pl.DataFrame({"query": ["p", *"qqqq"], "document": ["z", *"dcba"], "score": [1.0, 4.0, 3.0, 2.0, 2.0]})
    return Case.of(join(qrels, run), "q")


def test_what_was_judged_and_not_returned_comes_last() -> None:
    one = case()
    assert one.documents == ("d", "c", "b", "a")
    assert one.grades.tolist() == [[3, 0, 1, 0, 2]]
    assert one.judged.tolist() == [[True, False, True, True, True]]
    assert one.returned.tolist() == [[True, True, True, True, False]]


def test_ties_by_id_are_in_descending_order() -> None:
    assert case().listed(parse("ap-docid")) == [0, 1, 2, 3, 4]
    lists = RankedLists.from_table(
        pl.DataFrame({"query": ["q"] * 2, "document": ["a", "b"], "score": [1.0, 1.0], "label": [1, 0]})
    )
    assert Case.of(lists, "q").listed(parse("ap-docid")) == [1, 0]
    assert Case.of(lists, "q").listed(parse("ap")) == [0, 1]


def test_a_replaced_document_was_judged_and_not_returned() -> None:
    variants = case().replaced([0, 2])
    assert variants.grades.tolist() == [[0, 0, 1, 0, 2, 3], [3, 0, 0, 0, 2, 1]]
    assert variants.returned.tolist() == [[True, True, True, True, False, False]] * 2
    metrics = [parse("recall"), parse("precision@1"), parse("mrr")]
    assert variants.values(metrics).flatten().tolist() == pytest.approx([1 / 3, 1 / 3, 0, 1, (1 / 3 + 1 / 4) / 2, 1])


def test_what_could_still_be_found_stands_beside_rbp_alone() -> None:
    qrels = pl.DataFrame({"query": ["q"] * 2, "document": [*"am"], "label": [1, 1]})
    run = pl.DataFrame({"query": ["q"] * 3, "document": [*"axb"], "score": [3, 2, 1]})
    found = explain(join(qrels, run), "q", NDCG(), [parse("rbp-p0.5"), parse("rbp-p0.5@2"), parse("ap")])
    unjudged, last = 0.5 * (0.5 + 0.25), 0.5**3
    assert [each.residual for each in found.values] == [unjudged + last, 0.5 * 0.5 + 0.5**2, None]

"""What a file of values says of each query beside its value."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltr.evaluation import RankedLists, join, per_query, regret_of
from ltr.evaluation.answers import answers
from ltr.evaluation.queries import QueryRow, query_rows, regrets
from ltr.metrics import NDCG, parse

QRELS = pl.DataFrame({"query": list("aabcd"), "document": list("xyxxx"), "label": [1, 2, 1, 0, 3]})
RUN = pl.DataFrame({"query": list("aaabeb"), "document": list("xyzzxx"), "score": [3, 2, 2, 1, 1, 0]})


def rows_of(queries: str, *metrics: str) -> list[QueryRow]:
    return query_rows(per_query(join(QRELS, RUN, queries=queries), [parse(metric) for metric in metrics]))


def test_queries_of_either_side_have_a_row_for_each_metric() -> None:
    for rule in ("judged", "intersection"):
        rows = rows_of(rule, "mrr", "ndcg@2")
        assert [(row.metric, row.query) for row in rows] == [(m, q) for m in ("mrr", "ndcg@2") for q in "abcde"]
        assert [row.missing for row in rows] == 2 * [None, None, "run", "run", "judgements"]
    values = {rule: [row.value for row in rows_of(rule, "mrr")] for rule in ("judged", "intersection")}
    assert values == {"judged": [1, 0.5, None, 0, None], "intersection": [1, 0.5, None, None, None]}


def test_what_is_known_of_a_query() -> None:
    a, b, c, d, e = rows_of("judged", "ndcg@2")
    assert (a.documents, a.defined, a.weight, a.tied, a.unjudged) == (3, True, 1, True, 1 / 4)  # y or z stands second
    assert (b.documents, b.tied, b.unjudged, b.kind) == (2, False, 1 / 2, "first relevant late")
    assert (c.documents, c.defined, c.value, c.tied, c.unjudged, c.kind) == (0, False, None, False, None, "no answer")
    assert (d.documents, d.defined, d.value, d.selection, d.kind) == (0, True, 0, 1, "nothing found")
    assert e == QueryRow("e", "ndcg@2", missing="judgements")
    assert all(row[-3:] == (None, None, None) for row in rows_of("judged", "mrr"))


LABELS = st.lists(st.integers(0, 3), min_size=1, max_size=5)


@given(lists=st.lists(LABELS, min_size=1, max_size=4), known=st.randoms(use_true_random=False))
@pytest.mark.parametrize("metric", ["ndcg", "ndcg@2", "ndcg-linear-docid@3", "ndcg-one@1"])
def test_rows_add_up_to_what_the_library_measures(metric: str, lists: list[list[int]], known) -> None:
    """Values are the table's, shares are counted by hand, and the classes those of ``regret_of``."""
    labels = [label for each in lists for label in each]
    judged = np.array([known.random() < 0.7 for _ in labels])
    score = [known.randrange(4) for _ in labels]
    group = [place for place, each in enumerate(lists) for _ in each]
    found = RankedLists.from_arrays(labels, score, group, judged=judged)
    (values,) = per_query(found, [parse(metric)])
    rows = query_rows([values])
    assert [row[:6] for row in rows] == [tuple(row) for row in values.rows()]
    wanted = regrets(values)
    assert wanted is not None
    assert isinstance(values.metric, NDCG)
    for queries, given_ in answers(values.lists, cells=1):
        alone = regret_of(values.metric, given_)
        for place, query in enumerate(queries.tolist()):
            row = rows[query]
            assert row.kind == alone.names()[place]
            assert (row.selection, row.order) == (alone.selection[place].item(), alone.order[place].item())
            if row.defined:
                assert row.value is not None
                assert row.value + (row.selection or 0) + (row.order or 0) == pytest.approx(1)
    for place, row in enumerate(rows):
        mine = np.array(group) == place
        share = shares(np.array(score)[mine], ~judged[mine], values.metric.k)
        assert row.unjudged == pytest.approx(share)


def shares(score: np.ndarray, unknown: np.ndarray, k: int | None) -> float:
    """The expected share of unjudged documents in the first k: a block of ties is there by the part that fits in."""
    k = min(k or len(score), len(score))
    above, total = 0, 0.0
    for level in sorted(set(score), reverse=True):
        block = unknown[score == level]
        total += block.mean() * min(max(k - above, 0), len(block))
        above += len(block)
    return total / k

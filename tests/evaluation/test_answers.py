"""What metrics read of ranked lists: every query once, and the pool of what was not returned."""

import numpy as np
import pytest
import torch

from ltr.evaluation.answers import answers
from ltr.evaluation.lists import RankedLists
from ltr.metrics import parse

LISTS = RankedLists(
    query_ids=("a", "b", "c"),
    offsets=np.array([0, 3, 4, 4]),
    score=np.array([3.0, 2.0, 1.0, 5.0]),
    relevance=np.array([1.0, 0.0, 2.0, 0.0]),
    weight=np.ones(3),
    source="made",
    judged=np.array([True, False, True, True]),
    pool=np.array([1.0, 2.0, 3.0, 0.0, 4.0]),
    pool_offsets=np.array([0, 3, 4, 5]),
)


@pytest.mark.parametrize("cells", [1, 6, 1000])
def test_every_query_comes_once_with_its_pool(cells: int) -> None:
    found = {}
    for queries, given in answers(LISTS, cells):
        pool, returned = given.pool("judged"), given.pool("retrieved")
        for row, query in enumerate(queries.tolist()):
            assert query not in found
            found[query] = (
                given.scores[row][given.mask[row]].tolist(),
                sorted(pool.relevance[row][pool.mask[row]].tolist()),
                returned.relevance[row][returned.mask[row]].tolist(),
            )
    assert found == {
        0: ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 2.0]),
        1: ([5.0], [0.0], [0.0]),
        2: ([], [4.0], []),
    }


def test_a_pool_counts_as_documents_that_were_not_retrieved_do() -> None:
    ((_, given),) = list(answers(LISTS, 1000))
    for name in ("ndcg@2", "ap", "recall@2", "bpref", "ndcg-retrieved", "ap-condensed", "f1@1"):
        metric = parse(name)
        (value, floor, ceiling) = (metric.measured(given).value, metric.floor_of(given), metric.ceiling_of(given))
        scores, labels = torch.tensor([[3.0, 2, 1, 0]]), torch.tensor([[1.0, 0, 2, 3]])
        judged, retrieved = torch.tensor([[True, False, True, True]]), torch.tensor([[True, True, True, False]])
        assert value[0] == metric(scores, labels, judged=judged, retrieved=retrieved)[0]
        assert floor[0] == pytest.approx(metric.floor(labels, judged=judged, retrieved=retrieved)[0].item())
        assert ceiling[0] == pytest.approx(metric.ceiling(labels, judged=judged, retrieved=retrieved)[0].item())


def test_arrays_that_may_not_be_written_to_are_read() -> None:
    score = LISTS.score.copy()
    score.flags.writeable = False
    lists = RankedLists(("a",), np.array([0, 4]), score, np.zeros(4), np.ones(1), "read-only")
    ((_, given),) = list(answers(lists))
    assert given.scores.tolist() == [[3.0, 2.0, 1.0, 5.0]]

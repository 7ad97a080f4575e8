"""Values under other labels are those of the metric called anew, and pools grow without another sort."""

import numpy as np
import pytest
import torch

from ltr.evaluation.answers import with_pool
from ltr.evaluation.relabelling import GrowingPool, Relabelled, chunks, in_reach, listed, top_label
from ltr.evaluation.tables import measured
from ltr.metrics import Answer, parse
from ltr.ranking import Pool

MASK = torch.arange(6) < torch.tensor([6, 4, 1])[:, None]


def lists(ties: bool) -> Answer:
    random = np.random.default_rng(1)
    scores = torch.from_numpy(random.integers(0, 3, (3, 6)).astype(float) if ties else random.random((3, 6)))
    labels = torch.from_numpy(random.integers(0, 3, (3, 6)).astype(float)) * MASK
    order = listed(Answer(scores, labels, MASK, MASK, None))
    return Answer(scores.gather(1, order), labels.gather(1, order), MASK, MASK, None)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    "name", ["ndcg@2", "ap", "mrr-worst", "ndcg-stable@3", "bpref", "ndcg-retrieved@2", "pairs-zero"]
)
def test_values_are_those_of_a_new_call(name: str, ties: bool) -> None:
    given, metric, at = lists(ties), parse(name), torch.tensor([1, 0, 0, 2])
    labels = torch.from_numpy(np.random.default_rng(2).integers(0, 3, (4, 6)).astype(float)) * MASK[at]
    pool = Pool(torch.cat([labels, torch.full((4, 1), 2.0)], 1), torch.cat([MASK[at], torch.ones(4, 1).bool()], 1))
    value, counts = Relabelled(metric, given).values(at, labels, pool)
    anew = with_pool(Answer(given.scores[at], labels, MASK[at], MASK[at], None), pool)
    wanted, wanted_counts = metric.settle(*measured([metric], anew)[0])
    assert counts.tolist() == wanted_counts.tolist()
    assert value.tolist() == pytest.approx(wanted.tolist(), abs=1e-15)


@pytest.mark.parametrize("label", [1.0, 5.0])  # below the highest that there is, and above
def test_a_pool_grows_by_marked_and_by_other_documents(label: float) -> None:
    growing = GrowingPool(
        Pool(torch.tensor([[0.0, 2.0, 9.0], [1.0, 0.0, 0.0]]), torch.tensor([[1, 1, 0], [1, 1, 1]]).bool())
    )
    labels = torch.full((3, 1), label, dtype=torch.float64)
    pool = growing.grown(torch.tensor([0, 1, 0]), labels, torch.tensor([1, 2, 0]), torch.tensor([3, 2, 1]))
    found = [row[places].tolist() for row, places in zip(*pool.ideal(None), strict=True)]
    assert found == [sorted(each, reverse=True) for each in ([label, 2, 0, 0, 0], [label, label, 1, 0, 0], [2, 0, 0])]
    assert pool.top[:, 0].tolist() == [max(label, 2), label, 2.0]


def test_the_top_label_makes_a_document_relevant() -> None:
    pool = Pool(torch.tensor([[3.0, 0.0], [0.0, 0.0]]), torch.tensor([[True, True], [True, False]]))
    for name, top, wanted in (
        ("ndcg", None, [3.0, 1.0]),
        ("ap", None, [3.0, 1.0]),
        ("ap-rel4", None, [4.0, 4.0]),
        ("ndcg-binary2", None, [3.0, 2.0]),
        ("ndcg", 0.5, [0.5, 0.5]),
        ("ap", 0.5, [1.0, 1.0]),
    ):
        assert top_label(parse(name), pool, top)[:, 0].tolist() == wanted


def test_what_stands_below_the_cutoff_in_every_order_is_out_of_reach() -> None:
    scores = torch.tensor([[5.0, 4.0, 4.0, 3.0], [5.0, 4.0, 0.0, 0.0]])
    mask = torch.tensor([[True, True, True, True], [True, False, False, False]])
    given = Answer(scores, torch.zeros(2, 4), mask, mask, None)
    assert in_reach(parse("ndcg@2"), given).tolist() == [[True, True, True, False], [True, False, False, False]]
    for name in ("ndcg", "ndcg@4", "rprec"):
        assert in_reach(parse(name), given).tolist() == mask.tolist()


def test_chunks_hold_every_list_once() -> None:
    parts = list(chunks(10, 100_000))
    assert [at for part in parts for at in range(10)[part]] == list(range(10))
    assert len(parts) == 5

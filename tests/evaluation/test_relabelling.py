"""Values under other labels are those of the metric called anew, and pools grow without another sort."""

import numpy as np
import pytest
import torch

from ltr.evaluation.answers import with_pool
from ltr.evaluation.relabelling import GrowingPool, Relabelled, Trials, chunks, in_reach, listed, ragged, top_label
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
    value, counts = Relabelled(metric, given, torch.zeros_like(MASK, dtype=torch.int64)).values(at, labels, pool)
    anew = with_pool(Answer(given.scores[at], labels, MASK[at], MASK[at], None), pool)
    wanted, wanted_counts = metric.settle(*measured([metric], anew)[0])
    assert counts.tolist() == wanted_counts.tolist()
    assert value.tolist() == pytest.approx(wanted.tolist(), abs=1e-15)


@pytest.mark.parametrize(
    "more",
    [
        [[5, 0, 0], [5, 5, 0], [0, 0, 0]],  # one label above all that there are
        [[2, 2, 2], [1, 0, 0], [2, 0, 0]],  # the highest there is
        [[1, 0, 0], [5, 5, 0], [0, 0, 0]],  # below it
        [[3, 5, 4], [0.5, 5, 0], [2, 0, 0]],  # several
    ],
)
def test_a_pool_grows_by_documents_of_any_labels(more: list[list[float]]) -> None:
    growing = GrowingPool(
        Pool(torch.tensor([[0.0, 2.0, 9.0], [1.0, 0.0, 0.0]]), torch.tensor([[1, 1, 0], [1, 1, 1]]).bool())
    )
    count, at = torch.tensor([3, 2]), torch.tensor([0, 1, 0])
    pool = growing.grown(at, torch.tensor(more, dtype=torch.float64), count)
    found = [row[places].tolist() for row, places in zip(*pool.ideal(None), strict=True)]
    old = [0, 2], [1, 0, 0]
    wanted = [sorted([*old[row], *labels[: count[row]]], reverse=True) for row, labels in zip(at, more, strict=True)]
    assert found == wanted
    assert pool.top[:, 0].tolist() == [labels[0] for labels in wanted]


def test_trials_keep_the_ends_of_one_system_or_of_two() -> None:
    mask = torch.ones(1, 3, dtype=torch.bool)
    scores = torch.tensor([[3.0, 2.0, 1.0]])
    labels = torch.tensor([[0.0, 0.0, 1.0]]).double()
    given = Answer(scores, labels, mask, mask, None)
    metric, pool = parse("mrr"), Pool(torch.tensor([[1.0]]), torch.tensor([[True]]))
    one, two = (Relabelled(metric, given, torch.tensor([slots])) for slots in ([1, 2, 0], [0, 1, 0]))
    tried = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).double()
    for systems, wanted in (([one], [1 / 3, 1 / 2, 1]), ([one, two], [0, 1 / 2 - 1 / 3, 1 - 1 / 2])):
        trials = Trials(metric, systems, pool, torch.tensor([2]), torch.ones(1, 1))
        value, counts = trials.tried(torch.zeros(3, dtype=torch.int64), tried.__getitem__)
        assert value.tolist() == pytest.approx(wanted)
        assert counts.all()
        low, high, ever, always = (each.item() for each in trials.found())
        assert (low, high, ever, always) == (pytest.approx(wanted[0]), pytest.approx(wanted[2]), True, True)
    assert one.in_slots(torch.tensor([[7.0, 8.0, 9.0]]), 2).tolist() == [[7, 8]]
    assert two.in_slots(torch.tensor([[7.0, 8.0, 9.0]]), 2).tolist() == [[8, 0]]


def test_what_comes_as_near_to_zero_as_one_likes_has_its_end_there() -> None:
    mask = torch.ones(1, 1, dtype=torch.bool)
    given = Answer(torch.zeros(1, 1), torch.zeros(1, 1).double(), mask, mask, None)
    for name, low in (("dcg", 0), ("err-max1", 0), ("ndcg", 1), ("mrr", 1)):  # nothing else is relevant
        metric, slot = parse(name), torch.ones(1, 1, dtype=torch.int64)
        trials = Trials(metric, [Relabelled(metric, given, slot)], Pool(mask * 0.0, ~mask), slot[0], mask * 1.0)
        trials.tried(torch.tensor([0, 0]), torch.tensor([[0.0], [1.0]]).double().__getitem__)
        assert trials.found()[0].tolist() == [low]


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


def test_ragged_numbers_what_each_list_has() -> None:
    at, number = ragged(torch.tensor([2, 0, 3]))
    assert at.tolist() == [0, 0, 2, 2, 2]
    assert number.tolist() == [0, 1, 0, 1, 2]

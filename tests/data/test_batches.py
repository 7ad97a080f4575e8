"""Batches of whole lists."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from ltr.data import BucketBatches, DataError, ListDataset, RankingData, synthetic
from ltr.lists import ListBatch

LENGTHS = st.lists(st.integers(1, 60), min_size=1, max_size=40)


def made(labels: list[list[float]], **options: object) -> RankingData:
    flat = [label for each in labels for label in each]
    return RankingData.from_arrays(
        np.arange(1, 2 * len(flat) + 1).reshape(-1, 2), flat, lengths=[len(each) for each in labels], **options
    )


def test_lists_are_padded_to_the_longest_of_their_batch() -> None:
    data = made([[1, 0], [2, 2.5, 0.5], [4]], weights={"0": 1, "1": 0.5, "2": 3})
    batch = ListDataset(data)[[2, 0]]
    assert isinstance(batch, ListBatch)
    assert batch.features.tolist() == [[[11, 12], [0, 0]], [[1, 2], [3, 4]]]
    assert batch.relevance.tolist() == [[4, 0], [1, 0]]
    assert batch.mask.tolist() == [[True, False], [True, True]]
    assert batch.query.tolist() == [2, 0]
    assert batch.weight.tolist() == [3, 1]
    assert [part.dtype for part in batch] == [torch.float32, torch.float32, torch.bool, torch.int64, torch.float32]
    assert ListDataset(data)[[1]].relevance.tolist() == [[2, 2.5, 0.5]]
    assert len(ListDataset(data)) == 3


def test_padding_stays_zero_beside_a_huge_first_row() -> None:
    data = RankingData.from_arrays([[1e30], [2.0], [3.0]], lengths=[1, 2])
    assert ListDataset(data)[[0, 1]].features[0, 1].item() == 0


@given(LENGTHS, st.integers(1, 200), st.sampled_from([None, 1, 3]), st.booleans(), st.integers(0, 5))
def test_every_list_once_within_the_budget(
    lengths: list[int], documents: int, lists: int | None, shuffle: bool, epoch: int
) -> None:
    batches = BucketBatches(lengths, documents=documents, lists=lists, shuffle=shuffle)
    batches.set_epoch(epoch)
    dealt = list(batches)
    assert len(dealt) == len(batches)
    assert sorted(query for batch in dealt for query in batch) == list(range(len(lengths)))
    for batch in dealt:
        assert len(batch) == 1 or len(batch) * max(lengths[query] for query in batch) <= documents
        assert lists is None or len(batch) <= lists


@given(LENGTHS, st.integers(1, 5), st.integers(0, 3))
def test_training_gives_every_process_as_many_batches(lengths: list[int], world: int, epoch: int) -> None:
    alone = BucketBatches(lengths, documents=100, shuffle=True)
    ranks = [BucketBatches(lengths, documents=100, shuffle=True, rank=rank, world=world) for rank in range(world)]
    for batches in (alone, *ranks):
        batches.set_epoch(epoch)
    dealt = [list(batches) for batches in ranks]
    assert {len(each) for each in dealt} == {len(ranks[0])}
    assert len(ranks[0]) == -(-len(alone) // world)
    whole = list(alone)
    together = [batch for step in zip(*dealt, strict=True) for batch in step]
    assert together[: len(whole)] == whole
    assert together[len(whole) :] == (whole * world)[: len(together) - len(whole)]


@given(LENGTHS, st.integers(1, 5))
def test_evaluation_gives_every_list_to_one_process(lengths: list[int], world: int) -> None:
    if len(lengths) < world:
        with pytest.raises(DataError, match=f"^batches: {len(lengths)} queries cannot be evaluated by {world} proc"):
            BucketBatches(lengths, world=world)
        return
    shards = [list(BucketBatches(lengths, documents=100, rank=rank, world=world)) for rank in range(world)]
    dealt = [query for shard in shards for batch in shard for query in batch]
    assert sorted(dealt) == list(range(len(lengths)))
    counts = [sum(map(len, shard)) for shard in shards]
    assert max(counts) - min(counts) <= 1


def test_order_comes_from_seed_and_epoch_alone() -> None:
    lengths = np.random.default_rng(0).integers(1, 30, size=200)

    def order(seed: int, epoch: int) -> list[list[int]]:
        torch.manual_seed(seed + 7 * epoch)
        batches = BucketBatches(lengths, documents=60, shuffle=True, seed=seed)
        batches.set_epoch(epoch)
        return list(batches)

    first = order(3, 0)
    torch.rand(5)
    assert order(3, 0) == first
    assert order(3, 1) != first
    assert order(4, 0) != first
    sets = [{frozenset(batch) for batch in order(3, epoch)} for epoch in (0, 1)]
    assert len(sets[0] & sets[1]) < len(sets[0]) / 2, "batches should mix from epoch to epoch"


def test_evaluation_order_is_fixed() -> None:
    batches = BucketBatches([2, 5, 5, 1], documents=10)
    first = list(batches)
    batches.set_epoch(3)
    assert list(batches) == first == [[1, 2], [0, 3]]


def test_padding_is_little() -> None:
    lengths = np.random.default_rng(1).integers(1, 200, size=2000)
    for shuffle in (True, False):
        dealt = list(BucketBatches(lengths, documents=4096, shuffle=shuffle))
        padded = sum(len(batch) * int(lengths[batch].max()) for batch in dealt)
        assert padded < 1.12 * lengths.sum()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_number_of_workers_changes_nothing() -> None:
    # train-20, github.com/Lightning-AI/pytorch-lightning/issues/20679
    data = synthetic(queries=20, documents=5, features=4).train

    def loaded(workers: int) -> list[list[int]]:
        batches = BucketBatches(data.lengths, documents=20, shuffle=True, seed=3)
        loader = DataLoader(ListDataset(data), sampler=batches, batch_size=None, num_workers=workers)
        dealt = []
        for epoch in range(2):
            batches.set_epoch(epoch)
            for batch in loader:
                assert isinstance(batch, ListBatch)
                dealt.append([*batch.query.tolist(), batch.features.sum().item()])
        return dealt

    assert loaded(0) == loaded(1) == loaded(2)


@pytest.mark.parametrize(
    "lengths, options, message",
    [
        ([3], {"documents": 0}, "batches: wanted documents and lists of at least 1, came 0 and None"),
        ([3], {"lists": 0}, "batches: wanted documents and lists of at least 1, came 4096 and 0"),
        ([3], {"rank": 2, "world": 2}, "batches: wanted a rank from 0 to world - 1, came rank 2 of 2"),
        ([], {}, "batches: wanted at least one query, came none"),
    ],
)
def test_what_batches_refuse(lengths: list[int], options: dict, message: str) -> None:
    with pytest.raises(DataError) as caught:
        BucketBatches(lengths, **options)
    assert str(caught.value) == message

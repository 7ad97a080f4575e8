"""What holds for every metric on any list."""

from itertools import permutations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr.metrics import parse

NAMES = ["ndcg", "ndcg@3", "ndcg-linear-zero@2", "mrr", "mrr@2", "ap", "ap-min@3", "precision@2", "recall@3", "dcg@3"]

documents = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=9)
lists = documents.map(
    lambda rows: tuple(torch.tensor(column, dtype=torch.float64) for column in zip(*rows, strict=True))
)
modest = settings(max_examples=40)


@pytest.mark.parametrize("name", NAMES)
@modest
@given(given_list=lists, seed=st.integers(0, 9))
def test_order_shift_scale_and_padding_change_nothing(name: str, given_list: tuple[Tensor, Tensor], seed: int) -> None:
    (scores, labels), metric = given_list, parse(name)
    value = metric(scores, labels)
    shuffle = torch.randperm(len(scores), generator=torch.Generator().manual_seed(seed))
    assert torch.allclose(metric(scores[shuffle], labels[shuffle]), value)
    assert torch.allclose(metric(scores * 3 - 7, labels), value)
    garbage = torch.tensor([5.0, 0.0, -9.0], dtype=torch.float64)
    mask = torch.arange(len(scores) + 3) < len(scores)
    assert torch.allclose(metric(torch.cat([scores, garbage]), torch.cat([labels, garbage]), mask), value)


@pytest.mark.parametrize("name", NAMES)
@modest
@given(given_list=lists)
def test_between_0_and_its_ceiling_and_the_ideal_reaches_it(name: str, given_list: tuple[Tensor, Tensor]) -> None:
    (scores, labels), metric = given_list, parse(name)
    ceiling = metric.ceiling(labels)
    assert 0 <= metric(scores, labels).item() <= ceiling.item() + 1e-12
    assert torch.allclose(metric(labels, labels), ceiling)
    assert metric.floor(labels).item() <= ceiling.item() + 1e-12
    if name.startswith("ndcg"):
        assert ceiling.item() == pytest.approx(float(labels.any()))


@modest
@given(lists)
def test_relations_between_metrics(given_list: tuple[Tensor, Tensor]) -> None:
    def value(name: str) -> float:
        return parse(name)(*given_list).item()

    assert value("mrr@2") <= value("mrr@3") + 1e-12
    assert value("mrr@3") <= value("mrr") + 1e-12
    assert value("recall@1") <= value("recall@2") + 1e-12
    assert value("precision@1") == pytest.approx(value("mrr@1"))
    assert value("precision@1") == pytest.approx(value("ap-min@1"))
    assert value("ndcg-binary1@1") == pytest.approx(value("precision@1"))
    assert value("precision@3") * 3 == pytest.approx(value("dcg-binary1-positions1_1_1@3"))
    if int((given_list[1] >= 1).sum()) == 1:
        assert value("ap") == pytest.approx(value("mrr"))


@modest
@given(lists)
def test_graded_labels_under_linear_and_exponential_gain_agree_where_they_are_binary(
    given_list: tuple[Tensor, Tensor],
) -> None:
    scores, labels = given_list[0], given_list[1].clamp(max=1)
    values = {name: parse(name)(scores, labels).item() for name in ("ndcg@5", "ndcg-linear@5", "ndcg-binary1@5")}
    assert len({round(value, 12) for value in values.values()}) == 1


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(labels=st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_floor_and_ceiling_are_the_mean_and_the_best_over_all_orders(name: str, labels: list[int]) -> None:
    metric = parse(name)
    every = torch.tensor(list(permutations(labels)), dtype=torch.float64)
    values = metric(torch.arange(len(labels), 0, -1).double().expand_as(every), every)
    assert metric.floor(labels).item() == pytest.approx(values.mean().item())
    assert metric.ceiling(labels).item() == pytest.approx(values.max().item())


@modest
@given(st.lists(lists, min_size=1, max_size=4))
def test_the_mean_is_that_of_the_lists_one_by_one(batch: list[tuple[Tensor, Tensor]]) -> None:
    metric, width = parse("ndcg@3"), max(len(scores) for scores, _ in batch)
    scores, labels, mask = (torch.zeros(len(batch), width, dtype=torch.float64) for _ in range(3))
    for i, (s, y) in enumerate(batch):
        scores[i, : len(s)], labels[i, : len(s)], mask[i, : len(s)] = s, y, 1
    values = [metric(s, y).item() for s, y in batch if y.any()]
    mean = metric.mean(scores, labels, mask).item()
    assert mean == pytest.approx(sum(values) / len(values), nan_ok=True) if values else mean != mean

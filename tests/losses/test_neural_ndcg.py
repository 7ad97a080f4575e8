"""ltr/losses/neural_ndcg.py: the vectors against the matrix."""

from math import log2

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr.losses import NeuralNDCG, neural_metric, neural_ndcg
from ltr.losses.neural_ndcg import sinkhorn
from ltr.losses.permutations import neural_sort, placed, read_places
from ltr.metrics import NDCG, parse
from ltr.metrics.base import SumMetric

DOUBLE = torch.float64


def dense(scores: Tensor, labels: Tensor, mask: Tensor, metric: SumMetric, temperature: float) -> Tensor:
    """By autograd through every step of the scaling."""
    scores, mask, worth, place = read_places(scores, labels, mask, metric, None)
    return placed(sinkhorn(neural_sort(scores, mask, temperature), mask)[:, : place.shape[1]], worth, place)


def both(scores: Tensor, labels: Tensor, mask: Tensor, metric: SumMetric, temperature: float) -> list[list[Tensor]]:
    found = []
    for value_of in (neural_metric, dense):
        leaf = scores.clone().requires_grad_()
        value = value_of(leaf, labels, mask, metric, temperature)
        up = torch.arange(1.0, len(scores) + 1, dtype=value.dtype)
        found.append([value.detach(), torch.autograd.grad(value, leaf, up)[0]])
    return found


def drawn(lists: int, documents: int, spread: float, step: float, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randn(lists, documents, generator=draw, dtype=DOUBLE)
    scores = ((scores / step).round() * step if step else scores) * spread  # tied, or not
    labels, mask = torch.rand(lists, documents, generator=draw) * 4, torch.rand(lists, documents, generator=draw) < 0.8
    return scores * mask, labels * mask, mask


def test_two_documents_are_doubly_stochastic_from_the_start() -> None:
    """Place 1 is the relevant one's with the chance p = 1 / (1 + e^(2/T)), 1 apart and behind; place 2 with 1 - p."""
    scores, labels = torch.tensor([[1.0, 0.0]], dtype=DOUBLE), torch.tensor([[0.0, 1.0]])
    first = torch.sigmoid(torch.tensor(-1 / 0.5)).item()
    loss = NeuralNDCG("ndcg", temperature=0.5)
    assert loss(scores, labels).item() == pytest.approx(1 - first - (1 - first) / log2(3))


def test_sinkhorn_makes_rows_and_columns_sum_to_1() -> None:
    scores, _, mask = drawn(20, 6, 1.0, 0.0, seed=0)
    matrix = sinkhorn(neural_sort(scores, mask, 3.0), mask)
    real = torch.arange(6) < mask.sum(1, keepdim=True)
    torch.testing.assert_close(matrix.sum(1), mask.double(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(matrix.sum(2), real.double())


@settings(max_examples=120)
@given(
    st.integers(1, 4),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.3, 1.0, 30.0]),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from(["ndcg", "ndcg@3", "dcg@2", "recall@2", "rbp"]),
    st.sampled_from([0.1, 1.0, 10.0]),
    st.integers(0, 999),
)
def test_value_and_gradient_are_those_of_the_matrix(
    lists: int, documents: int, spread: float, step: float, name: str, temperature: float, seed: int
) -> None:
    metric = parse(name)
    assert isinstance(metric, SumMetric)
    fast, slow = both(*drawn(lists, documents, spread, step, seed), metric, temperature)
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("step", [0.0, 0.1])
def test_blocks_with_windows_of_columns_are_the_whole(monkeypatch: pytest.MonkeyPatch, step: float) -> None:
    """One list at a time, in rows by 8, each with the columns that matter to it."""
    monkeypatch.setattr(neural_ndcg, "CELLS", 1)
    monkeypatch.setattr(neural_ndcg, "BLOCK", 8)
    lists = drawn(3, 60, 20.0, step, seed=1)
    lists[2][0], lists[2][1] = True, False  # full, and empty
    fast, slow = both(*lists, NDCG(), 0.1)
    torch.testing.assert_close(fast, slow, rtol=1e-9, atol=1e-12)
    scores, mask = lists[0][:1].sort(1, descending=True).values / 0.1, lists[2][:1]
    apart = (scores[:, :, None] - scores[:, None]).abs().sum(2)
    windows = list(neural_ndcg._windows(scores, apart, mask, 1e-150))
    assert [rows.stop - rows.start for rows, _ in windows] == [8] * 7 + [4]
    assert sum(columns.stop - columns.start for _, columns in windows) < 8 * 60


def test_a_list_stops_when_it_has_converged_whatever_its_batch_does() -> None:
    """allRank goes on until the whole batch has."""
    scores, labels, mask = drawn(8, 7, 1.0, 0.0, seed=2)
    loss = NeuralNDCG("ndcg")
    alone = torch.cat([loss(*(each[i : i + 1] for each in (scores, labels, mask))) for i in range(8)])
    torch.testing.assert_close(loss(scores, labels, mask), alone, rtol=1e-14, atol=1e-14)


def test_the_ideal_takes_the_gain_that_the_sum_takes() -> None:
    """allRank's transposed form divides linear gains by the ideal of 2^y - 1."""
    scores, labels = torch.tensor([[2.0, 1.0, 0.0]], dtype=DOUBLE), torch.tensor([[3.0, 2.0, 0.0]])
    assert NeuralNDCG("ndcg-linear", temperature=1e-3).estimate(scores, labels).item() == pytest.approx(1)


def test_each_gain_counts_once() -> None:
    """Without a discount the sum of gains does not depend on the scores, as it does in PiRank and SoftSort."""
    scores, labels, mask = drawn(10, 6, 1.0, 0.0, seed=3)
    table = parse("dcg-linear-positions1_1_1_1_1_1")
    assert isinstance(table, SumMetric)
    torch.testing.assert_close(neural_metric(scores, labels, mask, table), labels.double().sum(1), rtol=1e-3, atol=0)


def test_soft_becomes_hard_as_the_temperature_falls() -> None:
    draw = torch.Generator().manual_seed(0)
    scores = torch.rand(50, 12, generator=draw).argsort(1).double() * 0.1
    labels = torch.randint(0, 4, (50, 12), generator=draw).double()
    exact = NDCG()(scores, labels)
    errors = [
        (NeuralNDCG("ndcg", temperature).estimate(scores, labels) - exact).abs().max().item()
        for temperature in (1.0, 0.1, 0.001)
    ]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-9


def test_float32_is_as_good_as_float64_for_long_lists() -> None:
    """The logits of 700 documents are hundreds: they are formed in float64."""
    scores, labels, mask = drawn(1, 700, 1.0, 0.0, seed=4)
    (value, gradient), _ = both(scores.float(), labels, mask, NDCG(), 1.0)
    (wanted, slope), _ = both(scores.float().double(), labels.double(), mask, NDCG(), 1.0)
    torch.testing.assert_close(value.double(), wanted, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(gradient.double(), slope, rtol=1e-5, atol=1e-5 * slope.abs().max().item())


def test_a_temperature_above_0_is_wanted() -> None:
    with pytest.raises(ValueError, match=r"^temperature must be a number above 0"):
        NeuralNDCG("ndcg", temperature=0)

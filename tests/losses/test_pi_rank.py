"""ltr/losses/pi_rank.py: the rows in parts against the matrix."""

from math import log2

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ltr import softening
from ltr.losses import PiRank, pi_rank
from ltr.losses.permutations import neural_sort, placed, read_places
from ltr.metrics import NDCG, parse
from ltr.metrics.base import SumMetric
from tests.losses.test_neural_ndcg import drawn

DOUBLE = torch.float64


def dense(scores: Tensor, labels: Tensor, mask: Tensor, metric: SumMetric, temperature: float) -> Tensor:
    scores, mask, worth, place = read_places(scores, labels, mask, metric, None)
    return placed(neural_sort(scores, mask, temperature, place.shape[1]), worth, place)


def both(scores: Tensor, labels: Tensor, mask: Tensor, metric: SumMetric, temperature: float) -> list[list[Tensor]]:
    found = []
    for value_of in (pi_rank, dense):
        leaf = scores.clone().requires_grad_()
        value = value_of(leaf, labels, mask, metric, temperature)
        up = torch.arange(1.0, len(scores) + 1, dtype=value.dtype)
        found.append([value.detach(), torch.autograd.grad(value, leaf, up)[0]])
    return found


def test_two_documents() -> None:
    """Place 1 is the relevant one's with the chance p = 1 / (1 + e^(1/T)), 1 behind; place 2 with 1 - p."""
    scores, labels = torch.tensor([[1.0, 0.0]], dtype=DOUBLE), torch.tensor([[0.0, 1.0]])
    first = torch.sigmoid(torch.tensor(-1 / 0.5)).item()
    assert PiRank("ndcg", 0.5)(scores, labels).item() == pytest.approx(1 - first - (1 - first) / log2(3))


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


def test_rows_in_parts_are_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(softening, "CELLS", 60)  # two rows of 3 x 10
    fast, slow = both(*drawn(3, 10, 1.0, 0.0, seed=1), NDCG(k=7), 1.0)
    torch.testing.assert_close(fast, slow, rtol=1e-12, atol=1e-13)


def test_the_ratio_of_the_batch_is_that_of_the_authors() -> None:
    """1 - sum of DCG / sum of ideal DCG: a list weighs its ideal DCG."""
    scores, labels, mask = drawn(6, 8, 1.0, 0.0, seed=2)
    labels[0] = 0  # no answer, and no weight
    metric, dcg = parse("ndcg@5"), parse("dcg@5")
    assert isinstance(dcg, SumMetric)
    ideal = dcg.ceiling(labels, mask)
    wanted = 1 - pi_rank(scores, labels, mask, dcg).sum() / ideal.sum()
    assert PiRank(metric, ratio="batch").mean(scores, labels, mask).item() == pytest.approx(wanted.item(), rel=1e-6)
    assert PiRank(metric).mean(scores, labels, mask).item() != pytest.approx(wanted.item(), rel=1e-3)
    torch.testing.assert_close(
        PiRank(metric, ratio="batch")(scores, labels, mask), PiRank(metric)(scores, labels, mask)
    )


def test_ratio_batch_wants_an_ideal() -> None:
    with pytest.raises(ValueError, match=r"^PiRank: ratio=batch wants ndcg, which has an ideal; got dcg@3$"):
        PiRank("dcg@3", ratio="batch")
    with pytest.raises(ValueError, match=r"^ratio must be one of list, batch; got 'mean'$"):
        PiRank("ndcg", ratio="mean")  # type: ignore[arg-type]


def test_a_cut_metric_needs_few_rows_of_a_long_list() -> None:
    """All of them would be 3 GB."""
    scores = torch.linspace(-3, 3, 20_000)[None].requires_grad_()
    labels = torch.zeros(1, 20_000)
    labels[0, -1] = 1
    estimate = PiRank("ndcg@10", temperature=1e-5).estimate(scores, labels)
    assert estimate.item() == pytest.approx(1)
    assert torch.isfinite(torch.autograd.grad(estimate.sum(), scores)[0]).all()

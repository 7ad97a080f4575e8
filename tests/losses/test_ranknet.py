"""ltr/losses/ranknet.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import RankNet


def logistic(margin: float) -> float:
    return log(1 + exp(-margin))


@pytest.mark.parametrize("sigma", [1.0, 0.5])
def test_mean_logistic_loss_of_the_pairs(sigma: float) -> None:
    margins = [0.3 - 0.7, 0.3 - -0.2, -0.2 - 0.7]
    wanted = sum(logistic(sigma * margin) for margin in margins) / 3
    loss = RankNet(sigma)(torch.tensor([[0.3, 0.7, -0.2]]).double(), torch.tensor([[2.0, 0.0, 1.0]]))
    assert loss.item() == pytest.approx(wanted)


def test_loss_05_no_pair_is_zero_with_a_live_graph() -> None:
    """huggingface/sentence-transformers/pull/4032: NaN there."""
    scores = torch.tensor([[0.3, -0.2, 0.9], [0.1, 0.2, 0.0]], requires_grad=True)
    loss = RankNet()(scores, torch.tensor([[1.0, 1, 1], [0, 0, 0]]), torch.tensor([[True] * 3, [True, True, False]]))
    loss.mean().backward()
    assert loss.tolist() == [0.0, 0.0]
    assert scores.grad.abs().sum() == 0


def test_loss_07_how_unequal_the_labels_are_does_not_matter() -> None:  # tensorflow/ranking/issues/73
    scores = torch.tensor([[0.3, 0.7, -0.2]])
    for scale in (1, 100):
        loss = RankNet()(scores, torch.tensor([[2.0, 0.0, 1.0]]) * scale)
        assert loss.item() == pytest.approx(0.876082037104)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_loss_09_a_large_gap_is_linear(dtype: torch.dtype) -> None:  # jma127/pyltr/issues/23
    scores = torch.tensor([[-1000.0, 1000.0]], dtype=dtype, requires_grad=True)
    loss = RankNet()(scores, torch.tensor([[1.0, 0.0]]))
    loss.sum().backward()
    assert loss.item() == pytest.approx(2000.0)
    assert scores.grad.tolist() == [[-1.0, 1.0]]


def test_loss_19_two_reductions_over_the_batch() -> None:
    """lightgbm-org/LightGBM/pull/2331 and issues/1950: the mean over queries, and over pairs by their counts."""
    scores = torch.tensor([[0.0, 1.0, 0, 0, 0], [0.0, 0.2, 0.4, 0.1, 0.3]], dtype=torch.float64)
    labels = torch.tensor([[1.0, 0, 0, 0, 0], [1, 1, 1, 0, 0]])
    mask = torch.tensor([[True] * 2 + [False] * 3, [True] * 5])
    loss, pairs = RankNet()(scores, labels, mask), torch.tensor([1, 6])
    assert loss.mean().item() == pytest.approx(1.005488937862)
    assert ((loss * pairs).sum() / pairs.sum()).item() == pytest.approx(0.785651259536)


def test_natural_logarithms_bound_nothing() -> None:
    """Two tied documents in the worst order: a regret of a whole pair costs ln 2 < 1."""
    assert RankNet()(torch.zeros(1, 2), torch.tensor([[0.0, 1.0]])).item() == pytest.approx(log(2))

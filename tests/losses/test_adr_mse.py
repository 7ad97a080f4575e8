"""ltr/losses/adr_mse.py"""

from math import exp, log2

import pytest
import torch

from ltr.losses import ADRMSE, adr_mse

DOUBLE = torch.float64
SCORES = torch.tensor([[0.3, 0.7, -0.2]], dtype=DOUBLE)


def soft_ranks(temperature: float) -> list[float]:
    values = SCORES[0].tolist()
    return [1 + sum(1 / (1 + exp((s - t) / temperature)) for t in values if t != s) for s in values]


@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_the_squared_distance_to_the_rank_by_label(temperature: float) -> None:
    ranks = soft_ranks(temperature)
    wanted = [(rank - target) ** 2 / log2(1 + target) for rank, target in zip(ranks, (1, 3, 2), strict=True)]
    loss = adr_mse(SCORES, torch.tensor([[2.0, 0.0, 1.0]]), temperature=temperature)
    assert loss.item() == pytest.approx(sum(wanted) / 3)


def test_equal_labels_share_their_mean_rank() -> None:
    ranks = soft_ranks(1.0)
    wanted = [(rank - target) ** 2 / log2(1 + target) for rank, target in zip(ranks, (1, 2.5, 2.5), strict=True)]
    assert ADRMSE()(SCORES, torch.tensor([[2.0, 1.0, 1.0]])).item() == pytest.approx(sum(wanted) / 3)


def test_the_ideal_order_costs_nothing_in_the_limit_without_equal_labels() -> None:
    assert ADRMSE(1e-3)(SCORES, torch.tensor([[1.0, 2.0, 0.0]])).item() == pytest.approx(0)
    assert ADRMSE(1e-3)(SCORES, torch.tensor([[1.0, 1.0, 0.0]])).item() == pytest.approx(2 / 3 * 0.25 / log2(2.5))


def test_it_stands_in_no_relation_to_a_metric() -> None:
    loss = ADRMSE()
    assert (loss.kind, loss.aim, loss.estimate(SCORES, SCORES.abs())) == ("neither", None, None)


def test_a_weight_multiplies_the_documents_term_and_not_the_divisor() -> None:
    ranks, weight = soft_ranks(1.0), torch.tensor([[2.0, 0.0, 5.0]])
    wanted = (2 * (ranks[0] - 1) ** 2 / log2(2) + 5 * (ranks[2] - 2) ** 2 / log2(3)) / 3
    assert ADRMSE()(SCORES, torch.tensor([[2.0, 0.0, 1.0]]), weight=weight).item() == pytest.approx(wanted)


def test_a_temperature_above_0_is_wanted() -> None:
    with pytest.raises(ValueError, match=r"^temperature must be a number above 0"):
        ADRMSE(0)

"""ltr/losses/ordinal.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import Ordinal
from ltr.losses.ordinal import ordinal_cross_entropy
from ltr.testing import check_surrogate

SCORES, OFFSETS = [0.3, -1.2], [0.5, -0.3, -1.0]


def cost(score: float, reached: list[float]) -> float:
    chances = [1 / (1 + exp(-score - offset)) for offset in OFFSETS]
    return -sum(r * log(p) + (1 - r) * log(1 - p) for r, p in zip(reached, chances, strict=True))


@pytest.mark.parametrize(
    ("label", "reached"),
    [(0, [0, 0, 0]), (2, [1, 1, 0]), (3, [1, 1, 1]), (1.25, [1, 0.25, 0])],
)
def test_a_cross_entropy_a_level(label: float, reached: list[float]) -> None:
    lists = torch.tensor([SCORES]).double(), torch.tensor([[label, 1.0]]).double()
    first, second = cost(SCORES[0], reached), cost(SCORES[1], [1, 0, 0])
    offsets = torch.tensor(OFFSETS).double()
    assert ordinal_cross_entropy(*lists, None, offsets).item() == pytest.approx((first + second) / 2)
    weighted = ordinal_cross_entropy(*lists, None, offsets, weight=torch.tensor([[2.0, 0.5]]))
    assert weighted.item() == pytest.approx((2 * first + 0.5 * second) / 2)


def test_the_offsets_learn_how_common_a_level_is() -> None:
    """Equal scores: sig(b_k) is the share of documents that reach k."""
    loss = Ordinal(levels=2)
    labels = torch.tensor([[2.0, 1.0, 1.0, 0.0]])
    descent = torch.optim.LBFGS(loss.parameters(), max_iter=50)

    def step() -> torch.Tensor:
        descent.zero_grad()
        value = loss(torch.zeros(1, 4), labels).sum()
        value.backward()
        return value

    descent.step(step)
    assert torch.sigmoid(loss.offsets).tolist() == pytest.approx([3 / 4, 1 / 4], abs=1e-3)


def test_offsets_follow_the_scores_in_type_and_can_be_loaded() -> None:
    loss = Ordinal(levels=3, offsets=OFFSETS)
    assert loss(torch.zeros(1, 2).double(), torch.zeros(1, 2)).dtype == torch.float64
    other = Ordinal(levels=3)
    other.load_state_dict(loss.state_dict())
    assert other.offsets.tolist() == pytest.approx(OFFSETS)


def test_the_contract_with_other_levels() -> None:
    assert check_surrogate(Ordinal(levels=2, offsets=(0.5, -0.5)))


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"^labels must be at most levels=2: list 0, document 1 has the label 3$"):
        Ordinal(levels=2)(torch.zeros(1, 2), torch.tensor([[1.0, 3.0]]))
    with pytest.raises(ValueError, match=r"^offsets must be one a level, 4; got 2$"):
        Ordinal(offsets=[0.5, 0.1])
    with pytest.raises(ValueError, match=r"^levels must be a whole number of at least 1, got 0$"):
        Ordinal(levels=0)

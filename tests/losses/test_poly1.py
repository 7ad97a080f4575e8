"""ltr/losses/poly1.py"""

from math import exp, log

import pytest
import torch

from ltr.losses import PolyOne, Softmax
from ltr.testing import check_surrogate

SCORES, LABELS = [0.3, 0.7, -0.2], [2.0, 0.0, 1.0]
P = [exp(s) / sum(exp(t) for t in SCORES) for s in SCORES]
LISTS = torch.tensor([SCORES]).double(), torch.tensor([LABELS]).double()


@pytest.mark.parametrize(
    ("target", "share", "factor"),
    [("gains", [3 / 4, 0, 1 / 4], 1), ("labels", [2 / 3, 0, 1 / 3], 1), ("raw", [2 / 3, 0, 1 / 3], 3)],
)
def test_cross_entropy_and_what_the_target_misses(target: str, share: list[float], factor: float) -> None:
    cross_entropy = -sum(q * log(p) for q, p in zip(share, P, strict=True))
    missed = 1 - sum(q * p for q, p in zip(share, P, strict=True))
    found = PolyOne("ndcg@10", epsilon=2.5, target=target)(*LISTS).item()
    assert found == pytest.approx(factor * cross_entropy + 2.5 * missed)


def test_an_epsilon_of_0_is_softmax() -> None:
    assert PolyOne("ndcg", epsilon=0)(*LISTS).item() == Softmax("ndcg")(*LISTS).item()


def test_a_weight_multiplies_the_gain() -> None:
    share = [3 * 0.5 / 3.5, 0, 2 / 3.5]
    wanted = -sum(q * log(p) for q, p in zip(share, P, strict=True)) + 1
    wanted -= sum(q * p for q, p in zip(share, P, strict=True))
    found = PolyOne("ndcg")(*LISTS, weight=torch.tensor([[0.5, 4.0, 2.0]])).item()
    assert found == pytest.approx(wanted)


def test_nothing_relevant_is_zero() -> None:
    """Rax charges a constant there, epsilon (1 - 1 / n), which teaches nothing."""
    for target in ("gains", "labels", "raw"):
        assert PolyOne("ndcg", target=target)(LISTS[0], torch.zeros(1, 3)).item() == 0


def test_the_contract_with_a_negative_epsilon_and_raw_labels() -> None:
    assert check_surrogate(PolyOne("ndcg", epsilon=-0.5, target="raw"))


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"^target must be one of gains, labels, raw; got 'soft'$"):
        PolyOne("ndcg", target="soft")
    with pytest.raises(ValueError, match=r"^epsilon must be a number, got nan$"):
        PolyOne("ndcg", epsilon=float("nan"))

"""WeightedSum: several surrogates, each times its weight."""

from typing import Any

import pytest
import torch
from torch import Tensor

from ltr.losses import MSE, ExpectedMetric, LambdaRank, RankNet, Softmax, WeightedSum
from ltr.testing import check_surrogate
from tests.losses.test_perturbed import Follow, lists


def test_it_is_the_sum_of_weight_times_loss() -> None:
    parts, given = [LambdaRank("ndcg@10"), MSE(), RankNet()], lists()
    wanted = sum(w * part(*given) for w, part in zip((1, 0.1, 0), parts, strict=True))
    assert torch.allclose(WeightedSum(parts, [1, 0.1, 0])(*given), wanted)


def test_each_part_says_what_the_sum_is() -> None:
    loss = WeightedSum([Softmax("ndcg"), MSE()], [1, 0.1])
    assert (loss.unit, loss.kind, loss.aim) == ("weighted units", "neither", None)
    assert (loss.shift_invariant, loss.informative, loss.needs_teacher) == (False, True, False)
    assert loss.cost == "O(L)"
    assert "graded" in loss.suits
    assert "real" not in loss.suits
    assert not WeightedSum([LambdaRank("ndcg"), MSE()], [1, 1]).informative
    assert WeightedSum([LambdaRank("ndcg"), MSE(), RankNet()], [1, 1, 1]).cost == "O(R L + L)"
    assert WeightedSum([RankNet(), Follow()], [1, 1]).cost == "unknown"
    assert WeightedSum([RankNet(), Follow()], [1, 1]).needs_teacher
    assert WeightedSum([RankNet(), MSE(centred=True)], [1, 1]).shift_invariant


def test_a_teacher_goes_to_the_part_that_learns_from_it() -> None:
    scores, teacher = torch.tensor([[1.0, 2.0]]).double(), torch.tensor([[0.0, 4.0]]).double()
    loss = WeightedSum([MSE(), Follow()], [2, 10])
    assert loss(scores, scores, teacher=teacher).tolist() == [2 * 0 + 10 * (1 + 4)]
    weight = torch.tensor([[3.0, 1.0]]).double()
    assert loss(scores, 0 * scores, weight=weight, teacher=teacher).tolist() == [2 * (3 + 4) / 2 + 10 * (3 + 4)]


def test_parts_that_draw_do_so_by_their_own_seeds() -> None:
    first, second = ExpectedMetric("ndcg", samples=3, seed=1), ExpectedMetric("ndcg@2", samples=2, seed=2)
    loss, given = WeightedSum([first, MSE(), second], [1, 1, 1]).eval(), lists()
    assert loss.width == 3 + 2
    wanted = first(*given) + MSE()(*given) + second(*given)
    assert torch.equal(loss(*given), wanted)
    assert torch.equal(loss(*given, noise=loss.noise(given[0])), wanted)
    assert "seeded draws" in check_surrogate(loss)


def test_a_checkpoint_holds_the_draws_and_parameters_of_all_parts() -> None:
    class Scaled(MSE):
        def __init__(self) -> None:
            super().__init__()
            self.factor = torch.nn.Parameter(torch.ones(()))

        def forward(self, scores: Tensor, *rest: Any, **more: Any) -> Tensor:
            return super().forward(self.factor * scores, *rest, **more)

    loss = WeightedSum([ExpectedMetric("ndcg"), Scaled()], [1, 1])
    assert [name for name, _ in loss.named_parameters()] == ["losses.1.factor"]
    loss(*lists())
    other = WeightedSum([ExpectedMetric("ndcg"), Scaled()], [1, 1])
    other.load_state_dict(loss.state_dict())
    assert torch.equal(other(*lists()), loss(*lists()))


@pytest.mark.parametrize(
    ("losses", "weights", "message"),
    [
        ([MSE()], [1, 2], r"^weights: wanted one for each of 1 losses, got 2$"),
        ([], [], r"^losses: wanted at least one ltr.losses.Surrogate, got none$"),
        ([MSE(), 3], [1, 1], r"^losses: wanted a ltr.losses.Surrogate, got int$"),
        (
            [MSE(), RankNet(pairs="batch")],
            [1, 1],
            r"^losses: RankNet weighs lists in a way of its own, which a sum with others cannot keep; ",
        ),
        ([MSE()], [-1], r"^weights: each must be a number of at least 0[;,] got -1"),
        ([MSE()], [float("nan")], r"^weights: each must be a number of at least 0[;,] got nan"),
        ([MSE()], [float("inf")], r"^weights: each must be a number of at least 0[;,] got inf"),
    ],
)
def test_bad_arguments_are_refused(losses: list[Any], weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WeightedSum(losses, weights)

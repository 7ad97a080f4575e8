"""Perturbed: a surrogate's mean over noised scores."""

from collections.abc import Callable
from math import log

import pytest
import torch
from torch import Tensor

from ltr.losses import MSE, ApproxMetric, ExpectedMetric, ListNet, Perturbed, RankNet, Softmax, Surrogate, WeightedSum
from ltr.losses.draws import gumbel
from ltr.testing import check_surrogate


def lists() -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(4, 6, generator=generator, dtype=torch.float64)
    return scores, torch.randint(0, 3, (4, 6), generator=generator).double(), scores > -1.5


@pytest.mark.parametrize(("shape", "noised"), [("gumbel", gumbel), ("gaussian", torch.special.ndtri)])
def test_it_is_the_mean_of_the_loss_over_noised_scores(shape: str, noised: Callable[[Tensor], Tensor]) -> None:
    scores, labels, mask = lists()
    loss, inner = Perturbed(Softmax("ndcg"), shape, scale=0.7, samples=3), Softmax("ndcg")
    noise = loss.noise(scores)
    wanted = torch.stack([inner(scores + 0.7 * noised(noise[:, :, draw]), labels, mask) for draw in range(3)]).mean(0)
    assert torch.allclose(loss(scores, labels, mask, noise=noise), wanted)


def test_value_and_gradient_see_the_same_noise() -> None:
    scores, labels, mask = lists()
    loss = Perturbed(RankNet(), samples=2)
    noise = loss.noise(scores)
    assert torch.autograd.gradcheck(lambda s: loss(s, labels, mask, noise=noise), scores.clone().requires_grad_())


def test_hardly_any_noise_is_the_loss_itself() -> None:
    lists_ = lists()
    assert torch.allclose(Perturbed(ListNet(), scale=1e-9)(*lists_), ListNet()(*lists_))


def test_the_noise_adds_its_variance_to_a_squared_error() -> None:
    """mean (s + z - y)^2 = mean (s - y)^2 + scale^2, for Gaussian noise z."""
    scores, labels = torch.tensor([[1.0, 3.0]]).double(), torch.tensor([[0.0, 1.0]]).double()
    loss = Perturbed(MSE(), "gaussian", scale=0.5, samples=100_000)(scores, labels)
    assert loss.item() == pytest.approx((1 + 4) / 2 + 0.25, rel=0.01)


def test_gumbel_noise_makes_equal_scores_a_coin() -> None:
    """The difference of two Gumbel draws is logistic: mean of softplus(x) over it is 1 for equal scores."""
    loss = Perturbed(RankNet(), samples=200_000).eval()
    equal = loss(torch.zeros(1, 2, dtype=torch.float64), torch.tensor([[1.0, 0.0]]))
    assert equal.item() == pytest.approx(1, rel=0.01)
    assert RankNet()(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]])).item() == pytest.approx(log(2))


def test_it_says_of_itself_what_its_loss_says() -> None:
    loss = Perturbed(MSE())
    assert (loss.unit, loss.kind, loss.aim, loss.shift_invariant) == ("squared label units", "neither", None, False)
    assert (loss.cost, loss.suits) == ("O(samples L)", MSE.suits)
    assert Perturbed(WeightedSum([RankNet(), MSE()], [1, 1])).cost == "O(samples (R L + L))"
    assert Perturbed(ExpectedMetric("ndcg")).cost == "O(samples (samples' (L + k log k)))"  # the draws of each
    assert Perturbed(Perturbed(MSE())).cost == "O(samples samples' L)"
    assert Perturbed(Follow()).cost == "unknown"
    assert not Perturbed(Perturbed(MSE(centred=True))).needs_teacher
    assert Perturbed(ExpectedMetric("ndcg")).sampled_gradient


class Follow(Surrogate):
    """Squared distance to a teacher's scores, weighted."""

    unit, needs_teacher, shift_invariant = "squared scores", True, False

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        teacher: Tensor | None = None,
        weight: Tensor | None = None,
    ) -> Tensor:
        assert teacher is not None
        error = (scores - teacher).square()
        return (error if weight is None else error * weight).sum(-1)


def test_weights_and_teacher_go_on_to_the_loss() -> None:
    scores, teacher, weight = (torch.tensor([each]).double() for each in ([1.0, 2.0], [0.0, 4.0], [3.0, 0.5]))
    loss = Perturbed(Follow(), scale=1e-9, samples=3)
    assert loss.needs_teacher
    assert loss(scores, scores, teacher=teacher).tolist() == pytest.approx([1 + 4])
    assert loss(scores, scores, teacher=teacher, weight=weight).tolist() == pytest.approx([3 * 1 + 0.5 * 4])


def test_lists_weigh_what_its_loss_says() -> None:
    labels, mask = torch.tensor([[2.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), torch.ones(2, 3, dtype=torch.bool)
    assert Perturbed(RankNet(pairs="batch")).share(labels, mask).tolist() == [3, 2]
    assert Perturbed(RankNet()).share(labels, mask) is None


@pytest.mark.parametrize(
    "inner",
    [
        ExpectedMetric("ndcg", samples=3),
        Perturbed(RankNet(), samples=2),
        WeightedSum([ExpectedMetric("ndcg@2", samples=2), MSE(), Perturbed(MSE(), samples=2)], [1, 0.5, 0.1]),
        ApproxMetric("ndcg"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_loss_that_draws_does_so_for_each_draw(inner: Surrogate) -> None:
    loss = Perturbed(inner, samples=2)
    assert "seeded draws" in check_surrogate(loss)
    scores, labels, mask = lists()
    noise = loss.noise(scores)
    assert noise.shape[2] == loss.width
    assert torch.equal(loss(scores, labels, mask, noise=noise), loss(scores, labels, mask, noise=noise))


def test_a_checkpoint_holds_the_inner_draws_too() -> None:
    loss, other = (Perturbed(ExpectedMetric("ndcg", samples=2), samples=2) for _ in range(2))
    scores, labels, mask = lists()
    for _ in range(3):
        loss(scores, labels, mask)
    assert not torch.equal(loss(scores, labels, mask), other(scores, labels, mask))
    other.load_state_dict(loss.state_dict())
    assert torch.equal(loss(scores, labels, mask), other(scores, labels, mask))


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^noise must be one of gumbel, gaussian; got 'uniform'$"):
        Perturbed(MSE(), "uniform")
    with pytest.raises(ValueError, match=r"^scale must be a number above 0"):
        Perturbed(MSE(), scale=0)
    with pytest.raises(ValueError, match=r"^loss: wanted a ltr.losses.Surrogate, got Linear$"):
        Perturbed(torch.nn.Linear(1, 1))

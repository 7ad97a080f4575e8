"""ltr/testing/surrogates.py: each planted fault is named by the right check."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import logsigmoid

from ltr.lists import check_lists
from ltr.losses import MSE, ApproxMetric, LambdaRank, ListNet, RankNet, Softmax, Surrogate
from ltr.losses.base import read_lists
from ltr.losses.draws import Drawing
from ltr.losses.mse import mean_squared_error
from ltr.losses.softmax import log_softmax
from ltr.testing import check_surrogate


def pairwise(scores: Tensor, relevance: Tensor, mask: Tensor, loss: Tensor) -> Tensor:
    """[B] sum of loss [B, L, L] over the pairs of unequal label."""
    pair = (relevance[:, :, None] > relevance[:, None]) & mask[:, :, None] & mask[:, None]
    return torch.where(pair, loss, 0).sum((1, 2))


class SeesPadding(Surrogate):
    shift_invariant = False

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return (scores - relevance).square().sum(-1)


class DividesByWidth(MSE):
    """The mean over the padded width: halves when padding doubles."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(scores, relevance, mask) * mask.sum(-1) / mask.shape[-1]


class SeesBatchMates(ListNet):
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        loss = super().forward(scores, relevance, mask)
        return loss / loss.mean().clamp(min=1e-3)


class SeesOrder(MSE):
    """Weighs the documents by the place at which they are listed."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return (torch.where(mask, scores - relevance, 0).square() * mask.cumsum(-1)).sum(-1)


class Reduces(ListNet):
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(scores, relevance, mask).mean()


class ClaimsShiftInvariance(MSE):
    def __init__(self) -> None:
        super().__init__()
        self.shift_invariant = True


class Overflows(Surrogate):
    """log(1 + exp) as it stands."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return pairwise(scores, relevance, mask, torch.log1p(torch.exp(scores[:, None] - scores[:, :, None])))


class DividesByPairs(Surrogate):
    """A mean over no pair."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        loss = -logsigmoid(scores[:, :, None] - scores[:, None])
        return pairwise(scores, relevance, mask, loss) / pairwise(scores, relevance, mask, torch.ones_like(loss))


class ForgetsItsGraph(RankNet):
    """Gives a fresh zero where the batch has no pair."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        loss = super().forward(scores, relevance, mask)
        return loss if (loss > 0).any() else torch.zeros(len(loss))


class Detached(ListNet):
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(scores.detach(), relevance, mask)


class LeaksIntoPadding(MSE):
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        leak = torch.where(mask, 0, scores - scores.detach()).sum(-1)
        return super().forward(scores, relevance, mask) + leak


class HalfDetached(Surrogate):
    """Weights that move with the scores, hidden from the gradient."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        scores, relevance, mask = check_lists(scores, relevance, mask)
        logs = log_softmax(scores, mask)
        return -(relevance * torch.exp(logs).detach() * logs).sum(-1)


class PunishesBlankLists(ApproxMetric):
    """1 - 0 where nothing is relevant."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return 1 - self.estimate(scores, relevance, mask)


class LosesItsWayInLongLists(ListNet):
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(scores, relevance, mask) / (scores.shape[1] < 4000)


class WorksInHalfPrecision(Softmax):
    """Its gains are multiplied by a matrix product, which autocast rounds."""

    def __call__(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, **more: Tensor) -> Tensor:
        loss: Tensor = nn.Module.__call__(self, scores, relevance, mask, **more)
        return (loss[:, None] @ loss.new_ones(1, 1))[:, 0]


class StaysInHalfPrecision(ListNet):
    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(scores, relevance, mask).to(scores.dtype)


class WantsWholeLabels(MSE):
    """And does not say so."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        if (relevance % 1).any():
            raise ValueError("labels must be whole numbers")
        return super().forward(scores, relevance, mask)


class TakesTooLargeLabels(MSE):
    """In spite of what it says."""

    largest_label = 4


class TakesLabelsBetweenTheGrades(MSE):
    fractional = False


class AddsWeights(MSE):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        weight = torch.zeros_like(scores) if weight is None else weight
        return super().forward(scores, relevance, mask) + weight.sum(-1)


class IgnoresWeights(RankNet):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return super().forward(scores, relevance, mask)


class WeighsTheWorse(Surrogate):
    """Of a pair it takes the weight of the document that should stand below."""

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
        loss = -logsigmoid(scores[:, :, None] - scores[:, None]) * weight[:, None]
        return pairwise(scores, relevance, mask, loss)


class LosesItsWeights(Surrogate):
    """Sorts the documents and leaves their weights where they were."""

    shift_invariant = False

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
        order = scores.argsort(1)
        errors = (mask * (scores - relevance).square()).gather(1, order)
        return (torch.where(weight > 0, weight, 1) * errors).sum(1) if (weight != mask).any() else errors.sum(1)


class SharesWeights(MSE):
    """Divides them by their mean over all lists."""

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
        mean = weight.sum() / mask.sum().clamp(min=1)
        return super().forward(scores, relevance, mask, weight=weight / torch.where(mean > 0, mean, 1))


class GoesByWidth(LambdaRank):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        loss = super().forward(scores, relevance, mask, weight=weight)
        return loss if scores.shape[-1] <= 100 else 2 * loss + 3 * scores.sum(-1)


class GoesByLength(MSE):
    """Shifts count in long lists alone."""

    def __init__(self) -> None:
        super().__init__(centred=True)

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
        loss = super().forward(scores, relevance, mask, weight=weight)
        return torch.where(mask.sum(1) <= 100, loss, loss + 1e-3 * (mask * scores).sum(1))


class HasAnotherKernel(ListNet):
    """The value is right in long lists, its gradient half of what it should be."""

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        loss = super().forward(scores, relevance, mask, weight=weight)
        return loss if scores.shape[-1] <= 100 else (loss + loss.detach()) / 2


class WeighsEqualsByIndex(LambdaRank):
    """And does not say so."""

    def __init__(self) -> None:
        super().__init__("mrr")
        self.by_index = False


class ClampsLabelsInPlace(Softmax):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return super().forward(scores, relevance.clamp_(max=1), mask, weight=weight)


class RoundsLabels(MSE):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return super().forward(scores, relevance.round(), mask, weight=weight)


class TrainsOnMore(MSE):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        return super().forward(scores, relevance, mask, weight=weight) * (7 if self.training else 1)


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, loss: Tensor) -> Tensor:
        return loss.clone()

    @staticmethod
    def backward(ctx: object, upstream: Tensor) -> Tensor:
        return upstream.sign()


class Squares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, errors: Tensor) -> Tensor:
        ctx.save_for_backward(errors)
        return errors.square().sum(-1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> Tensor:
        return 2 * upstream[:, None] * ctx.saved_tensors[0]


class HasNoSecondDerivative(Surrogate):
    """PyTorch takes it for 0 wherever something else is differentiated twice."""

    shift_invariant = False

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        scores, relevance, mask = check_lists(scores, relevance, mask)
        loss: Tensor = Squares.apply(mask * (scores - relevance))
        return loss


class ForgetsTheUpstreamGradient(Softmax):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        loss: Tensor = Sign.apply(super().forward(scores, relevance, mask, weight=weight))
        return loss


class DrawsAnew(Drawing):
    """In evaluation too."""

    unit = "squared label units"
    shift_invariant = False

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, noise: Tensor | None = None
    ) -> Tensor:
        noise = self.noise(scores) if noise is None else noise
        return mean_squared_error(scores, relevance + noise[:, :, 0], mask)

    def noise(self, scores: Tensor) -> Tensor:
        self.calls += 1
        generator = torch.Generator().manual_seed(self.calls)
        return torch.rand((*scores.shape, 1), generator=generator).to(scores.dtype)


class ForgetsItsCalls(DrawsAnew):
    """A checkpoint does not say which draw comes next."""

    def noise(self, scores: Tensor) -> Tensor:
        return Drawing.noise(self, scores)

    def set_extra_state(self, state: object) -> None:
        pass


SURROGATE_FAULTS: list[tuple[Surrogate, str]] = [
    (Reduces(), "one loss a list"),
    (SeesPadding(), "padding changes nothing"),
    (DividesByWidth(), "padding changes nothing"),
    (SeesOrder(), "document order changes nothing"),
    (WeighsEqualsByIndex(), "document order changes nothing"),
    (ClampsLabelsInPlace("ndcg"), "what it is given stays as it was"),
    (GoesByWidth("ndcg"), "padding changes nothing"),
    (SeesBatchMates(), "batch mates change nothing"),
    (ClaimsShiftInvariance(), "a common score shift changes nothing"),
    (GoesByLength(), "a common score shift changes nothing"),
    (TrainsOnMore(), "training mode changes nothing"),
    (Overflows(), "finite for scores up to 1e4"),
    (Detached(), "finite for scores up to 1e4"),
    (DividesByPairs(), "zero with a live graph where there is nothing to learn"),
    (ForgetsItsGraph(), "zero with a live graph where there is nothing to learn"),
    (PunishesBlankLists("ndcg"), "zero with a live graph where there is nothing to learn"),
    (LeaksIntoPadding(), "padding gets no gradient"),
    (ForgetsTheUpstreamGradient("ndcg"), "twice the loss, twice the gradient"),
    (LosesItsWayInLongLists(), "finite for lists of 1 to 5,000"),
    (StaysInHalfPrecision(), "half precision is lifted"),
    (WorksInHalfPrecision("ndcg"), "autocast changes nothing"),
    (WantsWholeLabels(), "labels between the grades"),
    (TakesTooLargeLabels(), "labels between the grades"),
    (TakesLabelsBetweenTheGrades(), "labels between the grades"),
    (RoundsLabels(), "labels between the grades"),
    (AddsWeights(), "weights of 1 change nothing"),
    (IgnoresWeights(), "weights belong to their documents"),
    (WeighsTheWorse(), "weights belong to their documents"),
    (LosesItsWeights(), "weights belong to their documents"),
    (SharesWeights(), "weights belong to their documents"),
    (HasNoSecondDerivative(), "second derivatives are right or refused"),
    (DrawsAnew(), "seeded draws"),
    (ForgetsItsCalls(), "seeded draws"),
    (HalfDetached(), "gradients equal finite differences"),
    (HasAnotherKernel(), "gradients of long lists equal finite differences"),
]


@pytest.mark.parametrize(("surrogate", "check"), SURROGATE_FAULTS, ids=lambda each: type(each).__name__)
def test_a_faulty_surrogate_is_caught_by_the_right_check(surrogate: Surrogate, check: str) -> None:
    with pytest.raises(AssertionError, match=f"^{type(surrogate).__name__}: {re.escape(check)}: "):
        check_surrogate(surrogate)


class Draws(DrawsAnew):
    def noise(self, scores: Tensor) -> Tensor:
        return Drawing.noise(self, scores)


def test_the_names_of_all_checks() -> None:
    passed, drawn = check_surrogate(Softmax("ndcg")), check_surrogate(Draws())
    assert {check for _, check in SURROGATE_FAULTS} | {"belief keeps its promise"} == {*passed, *drawn}
    assert len(passed) == len(set(passed))


def test_a_check_leaves_the_mode_as_it_was() -> None:
    drawing = Draws()
    check_surrogate(drawing)
    assert drawing.training


def test_the_checks_hold_for_other_labels_and_seeds() -> None:
    for seed in (1, 2):
        assert check_surrogate(LambdaRank("ndcg-binary1@3"), labels=(0, 1), seed=seed)
        assert check_surrogate(ApproxMetric("ndcg-linear"), labels=(0, 0.5, 1.5), seed=seed)

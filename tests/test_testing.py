"""ltr/testing.py: each planted fault is named by the right check."""

import re
from dataclasses import replace
from typing import Literal

import pytest
import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from ltr.losses import MSE, ApproxMetric, LambdaRank, ListNet, RankNet, Softmax, Surrogate
from ltr.losses.softmax import log_softmax
from ltr.metrics import ARP, NDCG, RR, Answer, Measured, Precision, RankingMetric, Recall, RPrecision
from ltr.ranking import Ranking, soft_ranking
from ltr.testing import check_metric, check_surrogate

# -- surrogates -----------------------------------------------------------------------------------------------------


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
    shift_invariant = True


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
        logs = log_softmax(scores, mask)
        return -(relevance * mask * torch.exp(logs).detach() * logs).sum(-1)


class CertifiesTooMuch(Softmax):
    """Forgets that the ideal DCG is below the sum of the gains."""

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        certificate = super().certificate(scores, relevance, mask)
        return None if certificate is None else certificate * 1.05


class NaturalLogarithm(LambdaRank):
    """The classical LambdaRank, which bounds nothing."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().forward(scores, relevance, mask) * 0.6931471805599453


class CertifiesNothing(Softmax):
    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> None:
        return None


class OtherDiscount(ApproxMetric):
    """Trains on one discount and says that its aim has another."""

    def estimate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        ranking = soft_ranking(scores, mask, self.temperature)
        return NDCG(discount=lambda rank: 1 / rank).of(ranking, relevance)


class BelievesOtherwise(ApproxMetric):
    def estimate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().estimate(scores, relevance, mask).square()

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        estimate = ApproxMetric.estimate(self, scores, relevance, mask)
        return (1 - estimate) * self.metric.defined(relevance, mask)


class PunishesBlankLists(ApproxMetric):
    """1 - 0 where nothing is relevant."""

    def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return 1 - self.estimate(scores, relevance, mask)


SURROGATE_FAULTS: list[tuple[Surrogate, str]] = [
    (Reduces(), "one loss a list"),
    (SeesPadding(), "padding changes nothing"),
    (DividesByWidth(), "padding changes nothing"),
    (SeesOrder(), "document order changes nothing"),
    (SeesBatchMates(), "batch mates change nothing"),
    (ClaimsShiftInvariance(), "a common score shift changes nothing"),
    (Overflows(), "finite for scores up to 1e4"),
    (Detached(), "finite for scores up to 1e4"),
    (DividesByPairs(), "zero with a live graph where there is nothing to learn"),
    (ForgetsItsGraph(), "zero with a live graph where there is nothing to learn"),
    (PunishesBlankLists("ndcg"), "zero with a live graph where there is nothing to learn"),
    (LeaksIntoPadding(), "padding gets no gradient"),
    (HalfDetached(), "gradients equal finite differences"),
    (CertifiesTooMuch("ndcg"), "belief keeps its promise"),
    (CertifiesNothing("ndcg"), "belief keeps its promise"),
    (NaturalLogarithm("ndcg"), "belief keeps its promise"),
    (OtherDiscount("ndcg"), "belief keeps its promise"),
    (BelievesOtherwise("ndcg"), "belief keeps its promise"),
]


@pytest.mark.parametrize(("surrogate", "check"), SURROGATE_FAULTS, ids=lambda each: type(each).__name__)
def test_a_faulty_surrogate_is_caught_by_the_right_check(surrogate: Surrogate, check: str) -> None:
    with pytest.raises(AssertionError, match=f"^{type(surrogate).__name__}: {re.escape(check)}: "):
        check_surrogate(surrogate)


def test_the_names_of_all_checks() -> None:
    passed = check_surrogate(Softmax("ndcg"))
    assert {check for _, check in SURROGATE_FAULTS} <= set(passed)
    assert len(passed) == len(set(passed))


def test_the_checks_hold_for_other_labels_and_seeds() -> None:
    for seed in (1, 2):
        assert check_surrogate(LambdaRank("ndcg-binary1@3"), labels=(0, 1), seed=seed)
        assert check_surrogate(ApproxMetric("ndcg-linear"), labels=(0, 0.5, 1.5), seed=seed)


# -- metrics --------------------------------------------------------------------------------------------------------


class OtherWay(NDCG):
    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return -super().swap_deltas(ranking, relevance, rows)


class HalfADelta(RR):
    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        return super().swap_deltas(ranking, relevance, rows) / 2


class CannotStart(NDCG):
    """Weights that vanish where all scores are equal."""

    def swap_deltas(self, ranking: Ranking, relevance: Tensor, rows: Tensor | None = None) -> Tensor:
        deltas = super().swap_deltas(ranking, relevance, rows)
        return deltas * (ranking.block[:, None] == 1) * (ranking.block[:, :, None] == 1)


class CountsPadding(NDCG):
    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return super().of(ranking, relevance) * ranking.mask.sum(-1) / ranking.mask.shape[-1]


class PrefersTheFirst(NDCG):
    """Takes a little off where the document that is listed first does not have the highest score."""

    def measured(self, given: Answer) -> Measured:
        value, defined = super().measured(given)
        best = torch.where(given.mask, given.scores, -torch.inf).argmax(1)
        return Measured(value * (1 - 0.1 * (best > given.mask.int().argmax(1))), defined)


class Optimistic(NDCG):
    """All documents of a tie block stand at its first place."""

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        single = torch.ones_like(ranking.block)
        return super().of(Ranking(ranking.position, single, ranking.mask, pool=ranking.pool(relevance)), relevance)


class TooLarge(NDCG):
    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return super().of(ranking, relevance) * 1.5


class SinglePrecision(NDCG):
    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return super().of(ranking, relevance).float()


class LowFloor(NDCG):
    def floor(self, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return super().floor(relevance, mask) * 0.9


class AlwaysOne(Recall):
    def ceiling(self, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
        return torch.ones_like(super().ceiling(relevance, mask))


class ListedFirst(NDCG):
    """Under "worst" and "best", tied documents keep the order of the input."""

    def measured(self, given: Answer) -> Measured:
        nudge = torch.arange(given.scores.shape[1]) * 1e-9 * (self.ties in ("worst", "best"))
        return super().measured(given._replace(scores=given.scores - nudge))


class CeilingOfTheWholePool(Precision):
    """The ideal order of all judged documents, though fewer were returned."""

    def ceiling_of(self, given: Answer) -> Tensor:
        return super().ceiling_of(given._replace(retrieved=given.mask))


class SeesTheScale(NDCG):
    def measured(self, given: Answer) -> Measured:
        return super().measured(given._replace(scores=given.scores.clamp(min=-1)))


class HasAlwaysAnAnswer(NDCG):
    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return torch.ones(len(relevance), dtype=torch.bool)


class TakesNaN(NDCG):
    def __call__(self, scores: object, relevance: object, mask: object = None, **roles: object) -> Tensor:
        scores = torch.nan_to_num(torch.as_tensor(scores), nan=0.0, posinf=9, neginf=-9)
        return super().__call__(scores, relevance, mask, **roles)


class WholeLabels(NDCG):
    """Halves labels that come as integers."""

    def __call__(self, scores: object, relevance: object, mask: object = None, **roles: object) -> Tensor:
        labels = torch.as_tensor(relevance)
        return super().__call__(scores, labels if labels.is_floating_point() else labels // 2, mask, **roles)


class LooksBelow(NDCG):
    """Takes a little off where there is something below the window."""

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        below = ranking.mask & (ranking.position > (self.k or ranking.mask.shape[1]))
        return super().of(ranking, relevance) * (1 - 0.1 * below.any(1))


class AnsweredInTheWindow(RR):
    """A list has an answer where something relevant stands in the window."""

    def answered(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return super().answered(ranking, relevance) & self.relevant(ranking, relevance).any(1)


class LargerIsBetter(ARP):
    larger_is_better = True


class SeesTheMissed(ARP):
    """Says that it looks at ranked documents alone, and counts those that were not returned."""

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        missed = ranking.pool(relevance).size[:, 0] - (ranking.mask & (relevance >= 0)).sum(1)
        return super().of(ranking, relevance) + missed.clamp(min=0)


class ReadsUnjudgedLabels(Recall):
    def measured(self, given: Answer) -> Measured:
        return super().measured(given._replace(judged=None))


class TakesAnyCutoff(RPrecision):
    def __post_init__(self) -> None:
        pass


class KeepsItsCutoff(RR):
    def uncut(self) -> RR:
        return replace(self, k=1)


METRIC_FAULTS: list[tuple[RankingMetric, str]] = [
    (TooLarge(), "one value a list"),
    (SinglePrecision(), "one value a list"),
    (CountsPadding(), "padding changes nothing"),
    (PrefersTheFirst(), "document order changes nothing"),
    (SeesTheScale(), "shift and scale change nothing"),
    (Optimistic(), "ties are averaged over their orders"),
    (ListedFirst(k=2), "worst and best do not see how documents are listed"),
    (CeilingOfTheWholePool(), "floor and ceiling"),
    (LowFloor(), "floor and ceiling"),
    (AlwaysOne(k=1), "floor and ceiling"),
    (OtherWay(k=2), "swap deltas are what a swap does"),
    (HalfADelta(), "swap deltas are what a swap does"),
    (CannotStart(k=2), "a fresh model can start"),
    (CannotStart(), "a fresh model can start"),
    (HasAlwaysAnAnswer(), "nothing relevant, no answer"),
    (TakesNaN(), "NaN is refused, infinity is not"),
    (WholeLabels(), "any number type"),
    (LooksBelow(k=2), "the first k places are enough"),
    (AnsweredInTheWindow(k=2), "the first k places are enough"),
    (LargerIsBetter(), "floor and ceiling"),
    (SeesTheMissed(), "documents that were not returned or not judged"),
    (ReadsUnjudgedLabels(k=2, unjudged="ignored"), "documents that were not returned or not judged"),
    (TakesAnyCutoff(), "a cutoff is taken or refused"),
    (KeepsItsCutoff(k=3), "a cutoff is taken or refused"),
]


@pytest.mark.parametrize(("metric", "check"), METRIC_FAULTS, ids=lambda each: f"{type(each).__name__} {each}")
def test_a_faulty_metric_is_caught_by_the_right_check(metric: RankingMetric, check: str) -> None:
    with pytest.raises(AssertionError, match=f"^{re.escape(metric.name)}: {re.escape(check)}: "):
        check_metric(metric, labels=(0, 1, 2))


def test_the_names_of_all_metric_checks() -> None:
    passed = check_metric(NDCG(k=2))
    assert {check for _, check in METRIC_FAULTS} <= set(passed)
    assert len(passed) == len(set(passed))


@pytest.mark.parametrize("ties", ["docid", "stable", "worst", "best"])
def test_a_metric_with_another_tie_rule_passes(ties: Literal["docid", "stable", "worst", "best"]) -> None:
    assert check_metric(NDCG(k=3, ties=ties), labels=(0, 1, 2), seed=1)

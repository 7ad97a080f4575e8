"""ltr/testing/metrics.py: each planted fault is named by the right check."""

import re
from dataclasses import replace
from typing import Literal

import pytest
import torch
from torch import Tensor

from ltr.metrics import ARP, NDCG, RR, Answer, Measured, Precision, RankingMetric, Recall, RPrecision
from ltr.ranking import Ranking
from ltr.testing import check_metric


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

"""ltr/testing/beliefs.py: each planted fault in what a surrogate believes is found."""

import pytest
from torch import Tensor

from ltr.losses import ApproxMetric, Hinge, LambdaRank, Softmax, Surrogate
from ltr.metrics import NDCG
from ltr.ranking import soft_ranking
from ltr.testing import check_surrogate


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


class CertifiesTheObvious(Hinge):
    """Pairwise accuracy is above -1000."""

    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        return 0 * scores.sum(-1) - 1000


class CertifiesWholeLabels(LambdaRank):
    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        certificate = super().certificate(scores, relevance, mask)
        return None if certificate is None else certificate + 5 * (relevance % 1 > 0).any(-1)


class CertifiesUntiedScores(Softmax):
    def certificate(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor | None:
        certificate = super().certificate(scores, relevance, mask)
        return None if certificate is None else certificate + 5 * (scores.sort(-1).values.diff() == 0).any(-1)


@pytest.mark.parametrize(
    ("surrogate", "says"),
    [
        (CertifiesTooMuch("ndcg"), "a certificate is better than ndcg by 0.05"),
        (CertifiesNothing("ndcg"), "a bound gives a certificate"),
        (CertifiesTheObvious(), "a certificate is 1001 away from pairs where the only relevant document"),
        (CertifiesWholeLabels("ndcg"), "a certificate is better than ndcg by "),
        (CertifiesUntiedScores("ndcg"), "a certificate is better than ndcg by "),
        (NaturalLogarithm("ndcg"), "a certificate is better than ndcg by "),
        (OtherDiscount("ndcg"), "wanted "),
        (BelievesOtherwise("ndcg"), "wanted "),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_false_belief_is_caught(surrogate: Surrogate, says: str) -> None:
    with pytest.raises(AssertionError, match=f"^{type(surrogate).__name__}: belief keeps its promise: {says}"):
        check_surrogate(surrogate)

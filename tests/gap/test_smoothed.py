"""The smoothed metric and its gradient: against integrals over every step, sampled noise and finite differences."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import exp, pi, sqrt
from statistics import NormalDist

import pytest
import torch
from torch import Tensor

from ltr.gains import Gain
from ltr.gap.smoothed import default_sigma, smoothed_gradient, smoothed_metric
from ltr.metrics import (
    AP,
    ARP,
    AUC,
    DCG,
    ERR,
    NDCG,
    RBP,
    RR,
    KendallTau,
    PairAccuracy,
    Precision,
    RankingMetric,
    Recall,
    Success,
)
from ltr.ranking import Ranking

METRICS = [
    NDCG(k=10),
    NDCG(k=2),
    NDCG(ties="docid"),
    NDCG(k=3, ties="worst"),
    NDCG(k=4, short="zero"),
    DCG(),
    AP(),
    AP(k=2, divisor="min"),
    AP(k=3, divisor="hits"),
    AP(ties="best"),
    RR(),
    RR(k=2),
    ERR(top=3),
    ERR(top=3, k=2),
    Precision(k=3),
    Precision(k=3, divisor="min", ties="docid"),
    Recall(k=2),
    Success(k=2),
    RBP(),
    ARP(),
    AUC(),
    PairAccuracy(),
    KendallTau(),
]
named = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def lists() -> tuple[Tensor, Tensor, Tensor]:
    """Without ties, with ties inside and across the cutoffs, all tied, one document, none, nothing relevant."""
    scores = torch.tensor(
        [
            [0.3, -1.2, 0.9, 1.4, 0.1, -0.4],
            [0.5, 0.5, 0.5, -0.2, -0.2, 0.9],
            [0.2, 0.2, 0.2, 0.2, 9.0, 9.0],
            [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.4, 0.1, -0.7, 0.0, 0.2, 0.0],
        ],
        dtype=torch.float64,
    )
    labels = torch.tensor(
        [[0, 2, 1, 0, 3, 0], [1, 0, 2, 0, 3, 0], [0, 1, 3, 0, 2, 2], [1, 0, 0, 0, 0, 0], [0] * 6, [0] * 6],
        dtype=torch.float64,
    )
    sizes = torch.tensor([6, 6, 4, 1, 0, 5])
    return scores, labels, torch.arange(6) < sizes[:, None]


def over_all_steps(metric: RankingMetric, scores: Tensor, labels: Tensor, document: int, sigma: float) -> float:
    """The integral: the metric between any two neighbouring scores of the others, times the chance to land there."""
    others = sorted({score for place, score in enumerate(scores.tolist()) if place != document})
    edges = [-torch.inf, *others, torch.inf]
    noise, total = NormalDist(scores[document].item(), sigma), 0.0
    for low, high in pairwise(edges):
        inside = (max(low, min(others, default=0) - 2) + min(high, max(others, default=0) + 2)) / 2
        moved = scores.clone()
        moved[document] = inside
        chance = (noise.cdf(high) if high < torch.inf else 1) - (noise.cdf(low) if low > -torch.inf else 0)
        total += chance * metric(moved, labels).item()
    return total


@named
@pytest.mark.parametrize("size", [0.05, 0.7, 20.0])
def test_the_value_is_the_integral_over_every_step(metric: RankingMetric, size: float) -> None:
    scores, labels, mask = lists()
    value = smoothed_metric(metric, scores, labels, mask, torch.full((6,), size, dtype=torch.float64))
    for one, documents in enumerate(mask.sum(1).tolist()):
        wanted = [
            over_all_steps(metric, scores[one, :documents], labels[one, :documents], document, size)
            for document in range(documents)
        ]
        assert value[one].tolist() == pytest.approx(wanted + [0.0] * (6 - documents), abs=1e-12)


@named
@pytest.mark.parametrize("size", [0.05, 0.7, 20.0])
def test_the_gradient_is_the_slope_of_the_value(metric: RankingMetric, size: float) -> None:
    scores, labels, mask = lists()
    sigma = torch.full((6,), size, dtype=torch.float64)
    found = smoothed_gradient(metric, scores, labels, mask, sigma)
    reach = 1e-4 * size
    for document in range(6):
        far = torch.nn.functional.one_hot(torch.tensor(document), 6) * reach
        up, down = (smoothed_metric(metric, scores + side * far, labels, mask, sigma) for side in (1, -1))
        slope = (up - down)[:, document] / (2 * reach)
        assert found[:, document].tolist() == pytest.approx(slope.tolist(), abs=1e-6, rel=1e-6)


@pytest.mark.parametrize(
    "metric", [NDCG(k=10), DCG(), AP(), RR(), ERR(top=3), Precision(k=3)], ids=lambda metric: metric.name
)
def test_the_gradient_is_that_of_sampled_noise(metric: RankingMetric) -> None:
    """d/ds E M(s + sigma e) = E M e / sigma: within 4.5 standard errors of 20,000 antithetic pairs, 60 times."""
    drawn = torch.Generator().manual_seed(0)
    scores = torch.randn(1, 12, generator=drawn, dtype=torch.float64)
    scores[0, 3] = scores[0, 7]
    labels = torch.randint(4, (1, 12), generator=drawn).double()
    mask, pairs = torch.arange(12)[None] < 10, 20_000
    sigma = 2 * default_sigma(scores, mask)
    found, errors = smoothed_gradient(metric, scores, labels, mask, sigma)[0], []
    unseen = 1e-7  # of steps more than five standard deviations away, which no draw reaches
    for document in range(10):
        noise = torch.randn(pairs, generator=drawn, dtype=torch.float64)
        value = []
        for side in (1, -1):
            moved = scores.repeat(pairs, 1)
            moved[:, document] += side * sigma * noise
            value.append(metric(moved, labels.expand(pairs, -1), mask.expand(pairs, -1)))
        slopes = (value[0] - value[1]) / 2 * noise / sigma
        error = slopes.std().item() / sqrt(pairs)
        errors.append(error)
        assert found[document].item() == pytest.approx(slopes.mean().item(), abs=4.5 * error + unseen)
    assert sum(error > 0 for error in errors) > 1  # some have nothing to give


@dataclass(frozen=True)
class Plain(RankingMetric):
    """A metric of which nothing is known but its definition."""

    base = "plain"
    inner: RankingMetric = field(kw_only=True)

    def of(self, ranking: Ranking, relevance: Tensor) -> Tensor:
        return self.inner.of(ranking, relevance)

    @property
    def document_gain(self) -> Gain:
        return self.inner.document_gain


@pytest.mark.parametrize("metric", [NDCG(), NDCG(k=3), AP(), AP(k=4, divisor="min"), RR(k=3), RR(), RBP()])
@pytest.mark.parametrize("ties", ["average", "docid"])
def test_the_closed_forms_are_the_definition(metric: RankingMetric, ties: str) -> None:
    drawn = torch.Generator().manual_seed(1)
    scores = torch.randint(30, (5, 17), generator=drawn).double()
    labels = torch.randint(3, (5, 17), generator=drawn).double()
    mask = torch.rand(5, 17, generator=drawn) < 0.8
    metric = replace(metric, ties=ties)
    closed, plain = (
        smoothed_gradient(each, scores, labels, mask, torch.full((5,), 4.0))
        for each in (metric, Plain(inner=metric, ties=metric.ties))
    )
    assert closed.abs().amax() > 1e-3
    assert torch.allclose(closed, plain, rtol=0, atol=1e-14)


def test_of_two_documents() -> None:
    """phi((0.3 - 0) / 2) / 2 and its negative: they exchange the whole of precision@1."""
    found = smoothed_gradient(
        Precision(k=1), torch.tensor([[0.3, 0.0]]), torch.tensor([[1.0, 0.0]]), None, torch.tensor([2.0])
    )
    density = exp(-((0.3 / 2) ** 2) / 2) / sqrt(2 * pi) / 2
    assert found.tolist() == [pytest.approx([density, -density])]


@named
def test_neither_padding_nor_parts_change_anything(metric: RankingMetric, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, labels, mask = lists()
    sigma = torch.tensor([0.3, 0.5, 0.2, 0.4, 0.4, 0.4])
    whole = smoothed_gradient(metric, scores, labels, mask, sigma)
    assert (whole[~mask] == 0).all()
    monkeypatch.setattr("ltr.gap.smoothed.CELLS", 1)
    assert smoothed_gradient(metric, scores, labels, mask, sigma).tolist() == [
        pytest.approx(row, abs=1e-14) for row in whole.tolist()
    ]
    for one, documents in enumerate(mask.sum(1).tolist()):
        row = [each[one : one + 1, :documents] for each in (scores, labels, mask)]
        alone = smoothed_gradient(metric, *row, sigma[one : one + 1])
        assert alone[0, :documents].tolist() == pytest.approx(whole[one, :documents].tolist(), abs=1e-14)


def test_documents_may_be_listed_in_any_order() -> None:
    scores, labels, mask = (each[:2] for each in lists())
    shuffled = torch.tensor([3, 5, 0, 1, 4, 2])
    sigma = torch.tensor([0.3, 0.5])
    whole = smoothed_gradient(AP(), scores, labels, mask, sigma)
    found = smoothed_gradient(AP(), scores[:, shuffled], labels[:, shuffled], mask[:, shuffled], sigma)
    assert torch.allclose(found, whole[:, shuffled], rtol=0, atol=1e-15)


def test_documents_of_one_worth_have_exactly_no_gradient() -> None:
    scores = torch.tensor([[0.1, 0.1, 0.1, 0.4, 0.7, 0.7]])
    labels = torch.tensor([[1.0, 2.0, 1.0, 3.0, 1.0, 1.0]])
    for metric in (Precision(k=3), AP(), RR()):
        assert smoothed_gradient(metric, scores, labels, None, torch.tensor([0.2])).tolist() == [[0.0] * 6]


def test_a_long_list_fits() -> None:
    """The first of 5,000: sum over the others of their jump times the density of their distance."""
    scores = torch.linspace(1, -1, 5000, dtype=torch.float64)[None]
    labels = (torch.arange(5000) % 7 == 0).double()[None]
    found = smoothed_gradient(NDCG(), scores, labels, None, torch.tensor([0.5]))
    place = torch.arange(1, 5001, dtype=torch.float64)
    discount = 1 / torch.log2(1 + place)
    ideal = discount[: int(labels.sum())].sum()
    jumps = (1 - labels[0, 1:]) * (discount[:-1] - discount[1:]) / ideal
    density = torch.exp(-(((scores[0, 1:] - 1) / 0.5) ** 2) / 2) / sqrt(2 * pi) / 0.5
    assert found[0, 0].item() == pytest.approx((jumps * density).sum().item(), rel=1e-9)


@pytest.mark.parametrize("metric", [NDCG(k=2), AUC()])
def test_no_answer_where_the_noise_or_a_score_is_no_answer(metric: RankingMetric) -> None:
    scores = torch.tensor([[0.1, 0.2], [torch.inf, 0.2], [torch.nan, 0.2], [0.1, 0.2], [0.1, 0.2]])
    labels, mask = torch.tensor([[1.0, 0.0]] * 5), torch.tensor([[1, 1], [1, 1], [1, 1], [1, 1], [1, 0]]).bool()
    for of in (smoothed_gradient, smoothed_metric):
        found = of(metric, scores, labels, mask, torch.tensor([0.0, 1.0, 1.0, torch.nan, 1.0]))
        assert torch.isnan(found[:4]).all()
        assert found[4].isfinite().all()


def test_noise_is_a_quarter_of_the_spread_of_the_scores() -> None:
    scores = torch.tensor([[1.0, 4.0, 100.0], [2.0, 2.0, 2.0], [7.0, 7.0, 7.0]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 1], [0, 0, 0]]).bool()
    assert default_sigma(scores, mask).tolist() == [1.5 / 4, 0.0, 0.0]  # 1 and 4 lie 1.5 from their mean

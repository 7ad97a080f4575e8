"""Alignment: by hand, at its ends, and with losses that are wrong in a known way."""

from importlib import import_module
from math import sqrt

import pytest
import torch
from torch import Tensor

from ltr.gap.alignment import alignment, default_sigma, exchanges, step_yield, swap_coherence, vanished
from ltr.gap.scored import ScoredLists, descent, scored
from ltr.gap.smoothed import smoothed_gradient
from ltr.losses import MSE, LambdaRank
from ltr.metrics import AP, ARP, ERR, NDCG, RR, KendallTau, Precision, RankingMetric

METRICS = [NDCG(k=10), NDCG(), AP(), AP(k=5), RR(), ERR(top=4, k=5), Precision(k=3), ARP(), KendallTau()]
named = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def drawn(lists: int = 100, length: int = 20, seed: int = 0) -> ScoredLists:
    """Lists of 2 to so many documents, scored at random."""
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.randint(2, length + 1, (lists, 1), generator=generator)
    labels = torch.randint(5, (lists, length), generator=generator).double()
    scores = torch.randn(lists, length, generator=generator, dtype=torch.float64)
    return scored(scores, labels, torch.arange(length) < sizes)


def mean(values: Tensor) -> float:
    return values[~torch.isnan(values)].mean().item()


def test_coherence_by_hand() -> None:
    """DCG, linear in place: exchanges are worth |g_i - g_j| (1/log2(r + 1) - 1/log2(r + 2)); the first and third pair
    are favoured, the second is not; the last two documents are alike."""
    scores = torch.tensor([[5.0, 4.0, 3.0, 2.0, 1.0]])
    labels = torch.tensor([[0.0, 1.0, 3.0, 2.0, 2.0]])
    gradient = torch.tensor([[0.3, -0.2, 0.1, 0.2, -9.0]])
    falls = [1 - 1 / torch.log2(torch.tensor(3.0)).item(), 1 / torch.log2(torch.tensor(3.0)).item() - 1 / 2]
    falls.append(1 / 2 - 1 / torch.log2(torch.tensor(5.0)).item())
    weight = [1 * falls[0], 6 * falls[1], 4 * falls[2]]  # gains 0, 1, 7, 3
    found = swap_coherence(NDCG(), scores, labels, gradient)
    assert found.tolist() == pytest.approx([(weight[0] + weight[2]) / sum(weight)], abs=1e-6)


def test_equal_gradients_count_half() -> None:
    scores, labels = torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 1.0]])
    assert swap_coherence(NDCG(), scores, labels, torch.tensor([[0.7, 0.7]])).tolist() == [0.5]


def test_no_coherence_without_a_pair_that_matters() -> None:
    scores = torch.tensor([[3.0, 2.0, 1.0]] * 3)
    labels = torch.tensor([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 0.0]])
    gradient = torch.tensor([[0.1, 0.2, 0.3]] * 3)
    found = swap_coherence(Precision(k=2), scores, labels, gradient)
    assert torch.isnan(found[:2]).all()  # all labels equal; all relevant
    assert found[2].item() == 1.0


def closest(metric: RankingMetric, lists: ScoredLists) -> Tensor:
    """Minus the exact gradient: what a loss would have that served the metric alone."""
    sigma = default_sigma(lists.scores, lists.mask)
    best = smoothed_gradient(metric, lists.scores, lists.relevance, lists.mask, sigma)
    return -best if metric.larger_is_better else best


@named
def test_alignment_is_one_with_the_exact_gradient_and_minus_one_against_it(metric: RankingMetric) -> None:
    lists = drawn()
    gradient = closest(metric, lists)
    for side in (1, -1):
        for moved in (side * gradient, side * 1e-200 * gradient, side * gradient + 0.3):  # a shift is no step
            found = alignment(metric, lists.scores, lists.relevance, moved, lists.mask)
            known = ~torch.isnan(found)
            assert known.sum() > 60
            assert found[known].tolist() == pytest.approx([side] * int(known.sum()), abs=1e-9)


@named
def test_a_step_along_the_exact_gradient_is_worth_something(metric: RankingMetric) -> None:
    lists = drawn()
    gradient = closest(metric, lists)
    assert mean(step_yield(metric, lists.scores, lists.relevance, gradient, lists.mask, 0.3)) > 0.01
    assert mean(step_yield(metric, lists.scores, lists.relevance, -gradient, lists.mask, 0.3)) < -0.01


@named
def test_a_loss_whose_sign_is_flipped_is_told(metric: RankingMetric) -> None:
    """LambdaRank lifts the better of every pair that it weighs; minus it does the contrary."""
    lists = drawn()
    gradient = descent(LambdaRank(metric), lists)
    ways = [
        [of(metric, lists.scores, lists.relevance, side * gradient, lists.mask) for of in (swap_coherence, alignment)]
        for side in (1, -1)
    ]
    (right, along), (wrong, against) = ([mean(each) for each in way] for way in ways)
    assert right > 0.8
    assert wrong == pytest.approx(1 - right)  # so at most 0.2
    assert along > 0.4
    assert against == pytest.approx(-along)


def test_a_random_direction_is_told_by_half_the_pairs_and_no_cosine() -> None:
    """The shares of 300 lists have a standard deviation of at most 1/2: their mean, of at most 0.03."""
    lists = drawn(300)
    gradient = torch.randn(300, 20, generator=torch.Generator().manual_seed(1))
    documents = (NDCG(k=10), lists.scores, lists.relevance, gradient, lists.mask)
    assert mean(swap_coherence(*documents)) == pytest.approx(0.5, abs=0.09)
    assert mean(alignment(*documents)) == pytest.approx(0.0, abs=0.12)  # of lists of two documents it is 1 or -1


def test_of_metrics_of_which_less_is_better_the_sign_is_turned() -> None:
    scores, labels = torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 1.0]])
    lift = torch.tensor([[1.0, -1.0]])  # descent lifts the relevant second document: its rank goes from 2 to 1
    assert swap_coherence(ARP(), scores, labels, lift).tolist() == [1.0]
    assert alignment(ARP(), scores, labels, lift).tolist() == pytest.approx([1.0])
    assert step_yield(ARP(), scores, labels, lift, step=1.5).tolist() == [1.0]


def test_the_length_of_a_step_is_that_of_the_centred_scores() -> None:
    """Scores 12 and 11 meet after a step as long as (1/2, -1/2), and change places in a longer one."""
    scores, labels = torch.tensor([[12.0, 11.0]]), torch.tensor([[0.0, 1.0]])
    for step, change in ((0.99, 0.0), (1.01, 1.0)):
        found = step_yield(Precision(k=1), scores, labels, torch.tensor([[1e-9, -3e-9]]), step=step)
        assert found.tolist() == [change]


def test_no_answer_where_there_is_no_direction() -> None:
    scores = torch.tensor([[0.1, 0.2], [0.1, 0.2], [0.1, 0.2], [0.3, 0.3], [0.1, 0.2], [0.1, 0.2], [0.1, torch.nan]])
    labels = torch.tensor([[1.0, 0.0]] * 4 + [[0.0, 0.0]] + [[1.0, 0.0]] * 2)
    gradient = torch.tensor(
        [[-1.0, 1.0], [0.0, 0.0], [1 / 3, 1 / 3], [-1.0, 1.0], [-1.0, 1.0], [torch.nan, 1.0], [-1.0, 1.0]]
    )
    for of in (alignment, step_yield):
        found = of(NDCG(), scores, labels, gradient)
        assert torch.isnan(found).tolist() == [False, True, True, True, True, True, True]
    assert torch.isnan(swap_coherence(NDCG(), scores, labels, gradient)).tolist() == [False] * 4 + [True] * 3


def test_a_gradient_vanishes_where_it_is_nothing_or_a_shift() -> None:
    gradient = torch.tensor([[0.1, 0.1, 0.1], [0.0, 0.0, 7.0], [1e-30, -1e-30, 0.0], [0.1, 0.1, 0.2]])
    mask = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 1, 1], [1, 1, 1]]).bool()
    assert vanished(gradient, mask).tolist() == [True, True, False, False]


@named
def test_each_list_stands_alone(metric: RankingMetric) -> None:
    lists = drawn(20)
    gradient = descent(MSE(), lists)
    for of in (swap_coherence, alignment, step_yield):
        whole = of(metric, lists.scores, lists.relevance, gradient, lists.mask)
        assert (~torch.isnan(whole)).sum() > 5
        for one, size in enumerate(lists.mask.sum(1).tolist()):
            row = [each[one : one + 1, :size] for each in (lists.scores, lists.relevance, gradient, lists.mask)]
            assert of(metric, *row).tolist() == pytest.approx([whole[one].item()], abs=1e-12, nan_ok=True)


@named
def test_exchanges_are_the_metric_after_less_that_before(metric: RankingMetric) -> None:
    lists = drawn(5, 7)
    order, swaps = exchanges(metric, lists.scores, lists.relevance, lists.mask)
    scores, labels, mask = (each.gather(1, order) for each in (lists.scores, lists.relevance, lists.mask))
    assert ((scores[:, :-1] > scores[:, 1:]) | ~mask[:, 1:]).all()
    before, sign = metric(scores, labels, mask), 1 if metric.larger_is_better else -1
    for place, delta in swaps:
        for row, upper in enumerate(place.tolist()):
            for lower in range(7):
                moved = scores.clone()
                moved[:, [upper, lower]] = scores[:, [lower, upper]]
                wanted = sign * (metric(moved, labels, mask) - before) * (mask[:, upper] & mask[:, lower])
                assert delta[:, row, lower].tolist() == pytest.approx(wanted.tolist(), abs=1e-12)


def test_in_parts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = drawn(10)
    gradient = descent(MSE(), lists)
    whole = swap_coherence(AP(), lists.scores, lists.relevance, gradient, lists.mask)
    monkeypatch.setattr(import_module("ltr.gap.alignment"), "CELLS", 1)  # not the function of that name
    parts = swap_coherence(AP(), lists.scores, lists.relevance, gradient, lists.mask)
    assert parts.tolist() == pytest.approx(whole.tolist(), abs=1e-14, nan_ok=True)


def test_cosine_by_hand() -> None:
    """Three documents one apart, the noise so small that only neighbours meet: precision@1 has the gradient (1, -1, 0)
    for relevance (1, 0, 0), and the cosine of a descent direction (1, 0, -1) with it is 1/2."""
    scores, labels = torch.tensor([[2.0, 1.0, 0.0]]), torch.tensor([[1.0, 0.0, 0.0]])
    found = alignment(Precision(k=1), scores, labels, torch.tensor([[-1.0, 0.0, 1.0]]), sigma=torch.tensor([0.25]))
    assert found.item() == pytest.approx(1 / (sqrt(2) * sqrt(2)), abs=1e-6)

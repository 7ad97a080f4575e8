"""The scale split: the best factor on all scores against dense search, and the same whatever the scores are times."""

from functools import cache
from math import inf, isfinite, log, nan

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

import ltr.gap.scale
from ltr.gap.scale import ScaleSplit, scale_share, scale_split
from ltr.gap.scored import ScoredLists, losses, scored
from ltr.losses import MSE, ApproxMetric, ListMLE, MarginMSE, RankNet, Softmax, Surrogate
from ltr.losses.base import mean_over_lists
from ltr.losses.named import OWN, named
from ltr.metrics import NDCG
from ltr.options import folder, groups

NAMES = sorted(set(groups([folder()])["loss"]) - {OWN})
WAVY = {"expected", "yeti"}  # draws make steps of theirs: as c grows, samples of an order change one by one
CURVED = {  # not convex in c: saturating sigmoids, soft ranks and products of them
    *("adrmse", "approx", "bound", "dcghinge", "neuralndcg", "pirank", "rcr"),
    *("smoothi", "softrank", "softsort", "zeroone", *WAVY),
}
SURE, GOOD, ROUGH = 1e-3, 1e-2, 5e-2  # of l(0 s) - l*: convex losses, others, those of WAVY


def drawn(surrogate: Surrogate, *, lists: int = 30, longest: int = 12, seed: int = 0) -> ScoredLists:
    """Lists whose scores tell something of the labels."""
    generator = torch.Generator().manual_seed(seed)
    relevance = torch.randint(0, 5, (lists, longest), generator=generator).clamp(max=surrogate.largest_label).double()
    noise = torch.randn(lists, longest, generator=generator, dtype=torch.float64)
    teacher = torch.randn(lists, longest, generator=generator, dtype=torch.float64) + relevance
    mask = torch.rand(lists, longest, generator=generator) < 0.8
    mask[:, :2], relevance[:, 0], relevance[:, 1] = True, 0, 1
    weight = torch.rand(lists, generator=generator, dtype=torch.float64)
    return scored(0.5 * relevance + noise, relevance, mask, weight, teacher)


def times(lists: ScoredLists, factor: float) -> ScoredLists:
    return lists.with_scores(factor * lists.scores)


def mean_loss(surrogate: Surrogate, lists: ScoredLists, factor: float) -> float:
    weight = surrogate.shares(lists.scores, lists.relevance, lists.mask, lists.weight)
    return mean_over_lists(losses(surrogate, times(lists, factor)), weight).item()


@cache
def split_of(name: str) -> tuple[Surrogate, ScoredLists, ScaleSplit]:
    surrogate = named(name, "ndcg@5")
    lists = drawn(surrogate)
    return surrogate, lists, scale_split(surrogate, lists)


def tolerance(name: str, split: ScaleSplit) -> float:
    share = ROUGH if name in WAVY else GOOD if name in CURVED else SURE
    return share * max(split.constant - split.best, 0.01 * abs(split.constant))


@pytest.mark.parametrize("name", NAMES)
def test_one_factor_makes_the_loss_no_worse_and_is_as_good_as_any(name: str) -> None:
    surrogate, lists, found = split_of(name)
    assert found.loss == mean_loss(surrogate, lists, 1)
    assert found.constant == mean_loss(surrogate, lists, 0)
    assert found.best <= found.loss
    assert found.best == pytest.approx(mean_loss(surrogate, lists, found.factor), abs=1e-12)
    grid = np.linspace(-3, 3, 61)
    values = [mean_loss(surrogate, lists, 10**place) for place in grid]
    at = int(np.argmin(values))
    around = float(grid[max(0, at - 1)]), float(grid[min(len(grid) - 1, at + 1)])
    judged = minimize_scalar(lambda place: mean_loss(surrogate, lists, 10**place), bounds=around, method="bounded")
    assert found.best <= min(judged.fun, values[at]) + tolerance(name, found)


@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("name", NAMES)
def test_the_best_loss_is_the_same_whatever_the_scores_are_times(name: str, factor: float) -> None:
    surrogate, lists, found = split_of(name)
    scaled = scale_split(surrogate, times(lists, factor))
    assert scaled.constant == found.constant
    assert scaled.best == pytest.approx(found.best, abs=tolerance(name, found))
    if found.factor != 1 and scaled.factor != 1:  # the search begins at the size of the scores, and goes the same way
        assert scaled.best == pytest.approx(found.best, rel=1e-9)
        assert scaled.factor * factor == pytest.approx(found.factor, rel=1e-9)


@pytest.mark.parametrize("name", sorted(set(NAMES) - CURVED))
def test_losses_that_pass_for_convex_in_the_factor_are(name: str) -> None:
    surrogate, lists, _ = split_of(name)
    places = np.logspace(-2, 2, 33)
    slopes = np.diff([mean_loss(surrogate, lists, place) for place in places]) / np.diff(places)
    assert (np.diff(slopes) >= -1e-9 * np.abs(slopes).max()).all()


@pytest.mark.parametrize("name", ["softmax", "approx", "mse"])
def test_it_takes_thirteen_evaluations_of_the_loss(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    surrogate = named(name, "ndcg")
    calls = []

    def counting(*given: object) -> torch.Tensor:
        calls.append(1)
        return losses(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(ltr.gap.scale, "losses", counting)
    scale_split(surrogate, drawn(surrogate))
    assert len(calls) == 13


def test_a_regression_is_scaled_by_least_squares() -> None:
    lists = scored(torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[2.0, 3.0], [1.0, 0.0]]))
    factor = (1 * 2 + 2 * 3 + 3 * 1 - 1 * 0) / (1 + 4 + 9 + 1)
    found = scale_split(MSE(), lists)
    assert found.factor == pytest.approx(factor, rel=1e-3)
    assert found.r2 == pytest.approx(1 - found.best / found.constant)
    assert found.best == pytest.approx(mean_loss(MSE(), lists, factor), rel=1e-6)


def test_two_kinds_of_pairs_have_a_best_scale_in_closed_form() -> None:
    """Three lists of one pair in order, one of a pair the wrong way round: sigmoid(c) = 3/4, c = log 3."""
    scores = torch.tensor([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = scale_split(RankNet(), scored(5 * scores, torch.tensor([[1.0, 0.0]]).expand(4, 2)))
    assert found.factor == pytest.approx(log(3) / 5, rel=1e-2)
    assert found.best == pytest.approx(-0.75 * log(0.75) - 0.25 * log(0.25), rel=1e-4)
    assert found.constant == pytest.approx(log(2))


def test_a_perfect_order_has_no_end_and_a_wrong_one_no_beginning() -> None:
    labels = torch.tensor([[2.0, 1.0, 0.0]])
    right = scale_split(ListMLE(), scored(labels - 1, labels))
    wrong = scale_split(ListMLE(), scored(1 - labels, labels))
    size = 2 / 3  # the mean of |1|, |0| and |-1|
    assert right.factor >= 1e2 / size  # from about there on, the loss is 0 to the last digit
    assert right.best == pytest.approx(0, abs=1e-12)
    assert wrong.factor == pytest.approx(1e-3 / size)
    assert wrong.best == pytest.approx(wrong.constant, rel=1e-2)


def test_a_list_counts_by_its_weight_and_none_without() -> None:
    surrogate = Softmax("ndcg")
    lists = drawn(surrogate, lists=6)
    weight = torch.tensor([0.0, 1.0, 2.0, 1.0, 1.0, 1.0], dtype=torch.float64)
    broken = lists.scores.clone()
    broken[0, 0] = nan
    some = ScoredLists(broken, lists.relevance, lists.mask, weight, None)
    repeated = some.pick(torch.tensor([1, 2, 2, 3, 4, 5]))
    alike = ScoredLists(repeated.scores, repeated.relevance, repeated.mask, torch.ones(6).double(), None)
    first, second = scale_split(surrogate, some), scale_split(surrogate, alike)
    assert first.loss == pytest.approx(second.loss)
    assert first.best == pytest.approx(second.best, abs=SURE * (second.constant - second.best))


def test_padding_changes_nothing() -> None:
    surrogate = ApproxMetric(NDCG())
    lists = drawn(surrogate, lists=6)
    wide = scored(*(torch.nn.functional.pad(each, (0, 3)) for each in (lists.scores, lists.relevance, lists.mask)))
    narrow = scored(lists.scores, lists.relevance, lists.mask)
    assert scale_split(surrogate, wide) == pytest.approx(scale_split(surrogate, narrow), rel=1e-9)


@pytest.mark.parametrize("scores", [[0.1, 0.1, 0.1], [nan, 1.0, 2.0], [inf, 1.0, 2.0]])
def test_without_an_order_there_is_no_best_scale(scores: list[float]) -> None:
    found = scale_split(RankNet(), scored(torch.tensor([scores]), torch.tensor([[1.0, 0.0, 2.0]])))
    assert found.factor == 1
    assert found.best == found.loss or not isfinite(found.loss)
    assert found.r2 == pytest.approx(0) if scores[0] == 0.1 else found.r2 is None


def test_a_loss_that_is_too_large_for_a_number_still_has_a_best_scale() -> None:
    scores = torch.tensor([[1e200, 0.0], [0.0, 1e200], [1e200, 0.0]], dtype=torch.float64)
    lists = scored(scores, torch.tensor([[1.0, 0.0]] * 3))
    assert scale_split(MSE(), lists).loss == inf
    found = scale_split(RankNet(), lists)
    assert found.factor == pytest.approx(log(2) / 1e200, rel=1e-2)
    assert isfinite(scale_split(MSE(), lists).best)


def test_a_teacher_is_not_scaled() -> None:
    scores = torch.tensor([[1.0, 0.0, -1.0]])
    lists = scored(scores, torch.tensor([[2.0, 1.0, 0.0]]), teacher=3 * scores)
    found = scale_split(MarginMSE(), lists)
    assert found.factor == pytest.approx(3, rel=1e-3)


@pytest.mark.parametrize(
    ("before", "after", "share"),
    [
        ((3.0, 2.0), (2.5, 2.0), 1.0),  # the order did not change
        ((3.0, 2.0), (2.5, 1.5), 0.0),
        ((3.0, 2.0), (2.0, 1.5), (1.0 - 0.5) / 1.0),
        ((3.0, 2.0), (2.5, 2.25), (0.5 + 0.25) / 0.5),  # the loss fell, the order got worse
        ((3.0, 2.0), (3.0, 1.0), None),
        ((3.0, None), (2.0, 1.0), None),
        ((3.0, 2.0), (inf, 1.0), None),
        ((nan, 2.0), (2.0, 1.0), None),
    ],
)
def test_the_share_of_a_change_that_is_scale(
    before: tuple[float, ...], after: tuple[float, ...], share: float | None
) -> None:
    assert scale_share(before, after) == (None if share is None else pytest.approx(share))


def test_scaling_alone_is_all_scale() -> None:
    surrogate = RankNet()
    lists = drawn(surrogate)
    share = scale_share(scale_split(surrogate, times(lists, 10)), scale_split(surrogate, times(lists, 5)))
    assert share == pytest.approx(1, abs=1e-6)

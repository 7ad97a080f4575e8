"""ltr/losses/ranknet.py"""

from collections.abc import Callable
from itertools import combinations, permutations
from math import exp, log, log2

import pytest
import torch

from ltr.losses import RankNet
from ltr.metrics import parse

SCORES, LABELS = [0.3, 0.7, -0.2, 1.5], [2.0, 0.0, 1.0, 1.0]
PAIRS = [(i, j) for i, j in permutations(range(4), 2) if LABELS[i] > LABELS[j]]
FIRST = (3, 1)  # the first two documents


def logistic(margin: float) -> float:
    return log(1 + exp(-margin))


def margin(i: int, j: int) -> float:
    return SCORES[i] - SCORES[j]


def loss(**options: object) -> float:
    weight = options.pop("weight", None)
    return RankNet(**options)(torch.tensor([SCORES]).double(), torch.tensor([LABELS]), weight=weight).item()


@pytest.mark.parametrize("sigma", [1.0, 0.5])
def test_mean_logistic_loss_of_the_pairs(sigma: float) -> None:
    costs = [logistic(sigma * margin(*pair)) for pair in PAIRS]
    assert len(PAIRS) == 5
    assert loss(sigma=sigma) == pytest.approx(sum(costs) / 5)
    assert loss(sigma=sigma, pairs="sum") == pytest.approx(sum(costs))
    assert loss(sigma=sigma, log="binary") == pytest.approx(sum(costs) / log(2) / 5)


def test_a_pair_weighs_what_its_better_document_does() -> None:
    weight = torch.tensor([[2.0, 7.0, 3.0, 0.0]])
    wanted = sum([2, 7, 3, 0][i] * logistic(margin(i, j)) for i, j in PAIRS) / 5
    assert loss(weight=weight) == pytest.approx(wanted)
    assert loss(weight=weight, k=4) == pytest.approx(wanted)  # by the other way


def test_equal_labels_at_probability_one_half() -> None:
    """Cross entropy of a coin: the mean of both directions. PTRanking sums over all unordered pairs."""
    tied = [(i, j) for i, j in combinations(range(4), 2) if LABELS[i] == LABELS[j]]
    halves = sum((logistic(margin(*pair)) + logistic(-margin(*pair))) / 2 for pair in tied)
    wanted = sum(logistic(margin(*pair)) for pair in PAIRS) + halves
    assert loss(ties="half", pairs="sum") == pytest.approx(wanted)
    assert loss(ties="half") == pytest.approx(wanted / 6)
    scores, mask = torch.zeros(2, 4), torch.tensor([[True] * 4, [True] * 3 + [False]])
    surrogate = RankNet(ties="half", pairs="batch")
    assert surrogate.share(torch.zeros(2, 4), mask).tolist() == [6, 3]
    assert surrogate(scores, torch.zeros(2, 4), mask).tolist() == pytest.approx([log(2)] * 2)


@pytest.mark.parametrize(("cutoff", "enough"), [("any", any), ("both", all)])
def test_pairs_among_the_first_k(cutoff: str, enough: Callable[[list[bool]], bool]) -> None:
    counted = [logistic(margin(*pair)) for pair in PAIRS if enough([each in FIRST for each in pair])]
    assert 0 < len(counted) < 5
    assert loss(k=2, cutoff=cutoff, pairs="sum") == pytest.approx(sum(counted))
    assert loss(k=2, cutoff=cutoff) == pytest.approx(sum(counted) / 5)


def test_xgboosts_normalisations() -> None:
    near = {pair: 0.01 + abs(margin(*pair)) for pair in PAIRS}
    by_score = sum(logistic(margin(*pair)) / near[pair] for pair in PAIRS)
    assert loss(norm="score", pairs="sum") == pytest.approx(by_score)
    for norm, divisor in (("list", dict.fromkeys(PAIRS, 1.0)), ("both", near)):
        force = 2 * sum(1 / (1 + exp(margin(*pair))) / divisor[pair] for pair in PAIRS)
        plain = sum(logistic(margin(*pair)) / divisor[pair] for pair in PAIRS)
        assert loss(norm=norm, pairs="sum") == pytest.approx(plain * log2(1 + force) / force)
    tied = RankNet(norm="score")(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    assert tied.item() == pytest.approx(log(2))  # where all scores are equal nothing is divided


def test_loss_05_no_pair_is_zero_with_a_live_graph() -> None:
    """huggingface/sentence-transformers/pull/4032: NaN there."""
    scores = torch.tensor([[0.3, -0.2, 0.9], [0.1, 0.2, 0.0]], requires_grad=True)
    value = RankNet()(scores, torch.tensor([[1.0, 1, 1], [0, 0, 0]]), torch.tensor([[True] * 3, [True, True, False]]))
    value.mean().backward()
    assert value.tolist() == [0.0, 0.0]
    assert scores.grad.abs().sum() == 0


def test_loss_07_how_unequal_the_labels_are_does_not_matter() -> None:  # tensorflow/ranking/issues/73
    scores = torch.tensor([[0.3, 0.7, -0.2]])
    for scale in (1, 100):
        value = RankNet()(scores, torch.tensor([[2.0, 0.0, 1.0]]) * scale)
        assert value.item() == pytest.approx(0.876082037104)


@pytest.mark.parametrize(("log", "unit"), [("natural", 1.0), ("binary", log(2))])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_loss_09_a_large_gap_is_linear(log: str, unit: float, dtype: torch.dtype) -> None:  # jma127/pyltr/issues/23
    """pytorchltr is infinite there, and allRank has no slope beyond 23."""
    scores = torch.tensor([[-1000.0, 1000.0]], dtype=dtype, requires_grad=True)
    value = RankNet(log=log)(scores, torch.tensor([[1.0, 0.0]]))
    value.sum().backward()
    assert value.item() == pytest.approx(2000.0 / unit)
    assert scores.grad.tolist()[0] == pytest.approx([-1.0 / unit, 1.0 / unit])


def test_loss_19_two_reductions_over_the_batch() -> None:
    """lightgbm-org/LightGBM/pull/2331 and issues/1950: the mean over queries, and over all pairs."""
    scores = torch.tensor([[0.0, 1.0, 0, 0, 0], [0.0, 0.2, 0.4, 0.1, 0.3]], dtype=torch.float64)
    labels = torch.tensor([[1.0, 0, 0, 0, 0], [1, 1, 1, 0, 0]])
    mask = torch.tensor([[True] * 2 + [False] * 3, [True] * 5])
    assert RankNet().mean(scores, labels, mask).item() == pytest.approx(1.005488937862)
    assert RankNet(pairs="batch").mean(scores, labels, mask).item() == pytest.approx(0.785651259536)
    assert RankNet(pairs="batch").share(labels, mask).tolist() == [1, 6]


def test_what_it_certifies() -> None:
    scores, labels = torch.tensor([[3.0, 1.0, 2.0]]).double(), torch.tensor([[2.0, 0.0, 1.0]])
    surrogate = RankNet(log="binary")
    assert (surrogate.kind, surrogate.aim) == ("bound", parse("pairs"))
    bits = (log2(1 + exp(-2)) + 2 * log2(1 + exp(-1))) / 3
    assert surrogate.certificate(scores, labels).item() == pytest.approx(1 - bits)
    for options in ({}, {"pairs": "sum"}, {"ties": "half"}, {"k": 2}, {"norm": "list"}):
        other = RankNet(**{"log": "binary", **options} if options else {})
        assert (other.kind, other.aim, other.certificate(scores, labels)) == ("neither", None, None)


def test_natural_logarithms_bound_nothing() -> None:
    """The wrong document barely ahead: one wrong pair costs little more than ln 2 < 1."""
    scores, labels = torch.tensor([[0.0, 0.001]]), torch.tensor([[1.0, 0.0]])
    assert parse("pairs")(scores, labels).item() == 0
    assert RankNet()(scores, labels).item() < 0.7
    assert RankNet(log="binary")(scores, labels).item() >= 1


def test_unknown_options() -> None:
    with pytest.raises(ValueError, match=r"^sigma must be a number above 0, got -1$"):
        RankNet(-1)
    with pytest.raises(ValueError, match=r"^k must be a whole number of at least 1, got 0$"):
        RankNet(k=0)
    with pytest.raises(ValueError, match=r"^cutoff=both: wants a k$"):
        RankNet(cutoff="both")
    for name, words in {
        "log": "binary, natural",
        "pairs": "mean, sum, batch",
        "ties": "skip, half",
        "cutoff": "any, both",
        "norm": "none, list, score, both",
    }.items():
        with pytest.raises(ValueError, match=rf"^{name} must be one of {words}; got 'x'$"):
            RankNet(**{name: "x"})

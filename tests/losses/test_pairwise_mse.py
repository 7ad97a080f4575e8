"""ltr/losses/pairwise_mse.py"""

from itertools import combinations

import pytest
import torch
from torch import Tensor

from ltr.losses import MSE, PairwiseMSE
from ltr.losses.base import mean_over_lists


def lists(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(seed)
    scores = torch.randn(4, 7, generator=draw).double() * 30
    labels = torch.randint(4, (4, 7), generator=draw).double()
    mask = torch.rand(4, 7, generator=draw) < 0.7
    mask[:, :2] = True
    return scores, labels, mask, torch.rand(4, 7, generator=draw).double()


def defined(scores: Tensor, labels: Tensor, mask: Tensor, weight: Tensor) -> float:
    """The sum over pairs of one list, a pair weighing the mean of its documents' weights."""
    real = mask.nonzero()[:, 0].tolist()
    return sum(
        (weight[i] + weight[j]).item() / 2 * ((scores[i] - scores[j]) - (labels[i] - labels[j])).item() ** 2
        for i, j in combinations(real, 2)
    )


def test_the_squared_error_of_every_pair() -> None:
    scores, labels, mask, weight = lists()
    size = mask.sum(1)
    for given in (None, weight):
        each = torch.ones_like(weight) if given is None else weight
        sums = [defined(*one) for one in zip(scores, labels, mask, each, strict=True)]
        wanted = torch.tensor(sums, dtype=torch.float64)
        summed = PairwiseMSE("sum")(scores, labels, mask, weight=given)
        torch.testing.assert_close(summed, wanted, rtol=1e-12, atol=1e-12)
        mean = PairwiseMSE()(scores, labels, mask, weight=given)
        torch.testing.assert_close(mean, wanted / (size * (size - 1) / 2), rtol=1e-12, atol=1e-12)


def test_equal_labels_count_and_one_document_has_no_pair() -> None:
    assert PairwiseMSE()(torch.tensor([[3.0, 1.0]]), torch.tensor([[1.0, 1.0]])).item() == 4
    assert PairwiseMSE()(torch.tensor([[3.0]]), torch.tensor([[1.0]])).item() == 0


def test_it_is_centred_mse() -> None:
    scores, labels, mask, _ = lists(1)
    size = mask.sum(1)
    wanted = 2 * size / (size - 1) * MSE(centred=True)(scores, labels, mask)
    torch.testing.assert_close(PairwiseMSE()(scores, labels, mask), wanted)


def test_the_mean_over_the_pairs_of_the_batch() -> None:
    scores, labels, mask, _ = lists(2)
    surrogate = PairwiseMSE("batch")
    pairs = mask.sum(1) * (mask.sum(1) - 1) / 2
    wanted = PairwiseMSE("sum")(scores, labels, mask).sum() / pairs.sum()
    torch.testing.assert_close(surrogate.mean(scores, labels, mask), wanted)
    assert torch.equal(mean_over_lists(surrogate(scores, labels, mask), pairs), surrogate.mean(scores, labels, mask))
    assert PairwiseMSE().share(labels, mask) is None


def test_an_offset_costs_no_digits_in_single_precision() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(2, 30) + 1e4, torch.rand(2, 30)
    exact = PairwiseMSE()(scores.double(), labels.double()).float()
    torch.testing.assert_close(PairwiseMSE()(scores, labels), exact, rtol=3e-6, atol=0)


def test_unknown_options() -> None:
    with pytest.raises(ValueError, match=r"^pairs must be one of mean, sum, batch; got 'all'$"):
        PairwiseMSE("all")

"""ltr/losses/yeti.py"""

from itertools import pairwise
from math import exp, log
from typing import Any

import pytest
import torch
from torch import Tensor

from ltr.losses import LambdaRank, Yeti
from ltr.metrics import parse
from ltr.ranking import exact_ranking

DOUBLE = torch.float64


def by_definition(
    metric: str, scores: Tensor, labels: Tensor, noise: Tensor, sigma: float, scale: float, weight: Tensor
) -> float:
    """Draw by draw and neighbour by neighbour, by the swap deltas of the noised order."""
    total = 0.0
    for draw in noise.unbind(1):
        noised = scores + scale * torch.log(draw / (1 - draw))
        deltas = parse(metric).swap_deltas(exact_ranking(noised[None]), labels[None])[0]
        order = noised.argsort(descending=True).tolist()
        for one, other in pairwise(order):
            i, j = (one, other) if labels[one] > labels[other] else (other, one)
            if labels[i] > labels[j]:
                pair = log(1 + exp(-sigma * (scores[i] - scores[j]).item()))
                total += weight[i].item() * abs(deltas[i, j].item()) * pair
    return total / noise.shape[1]


@pytest.mark.parametrize(
    "metric", ["ndcg", "ndcg@3", "ndcg-linear@2", "dcg@4", "rbp", "arp", "precision@2", "recall@3"]
)
def test_lambda_rank_between_neighbours_of_noised_orders(metric: str) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(12, 7, dtype=DOUBLE), torch.randint(0, 4, (12, 7)).double()
    mask, noise = torch.rand(12, 7) < 0.8, torch.rand(12, 7, 3, dtype=DOUBLE)
    weight = torch.rand(12, 7, dtype=DOUBLE)
    loss = Yeti(metric, sigma=1.5, scale=0.7, samples=3)
    for given in (None, weight):
        found = loss(scores, labels, mask, noise=noise, weight=given)
        for row, real in enumerate(mask):
            own = torch.ones(int(real.sum())) if given is None else given[row, real]
            lists = scores[row, real], labels[row, real], noise[row, real]
            assert found[row].item() == pytest.approx(by_definition(metric, *lists, 1.5, 0.7, own))


def test_without_noise_it_is_lambda_rank_on_neighbours() -> None:
    """Two documents are always neighbours."""
    scores, labels = torch.tensor([[0.3, 0.9]], dtype=DOUBLE), torch.tensor([[1.0, 0.0]], dtype=DOUBLE)
    for noise in (torch.full((1, 2, 1), 0.5), torch.rand(1, 2, 5, generator=torch.Generator().manual_seed(0))):
        same = LambdaRank("ndcg", log="natural")(scores, labels)
        assert torch.allclose(Yeti("ndcg")(scores, labels, noise=noise), same)


def test_noise_lets_documents_of_like_scores_meet() -> None:
    """The last document meets the one before it; with more noise, the first one too."""
    labels, pushed = torch.tensor([[0.0, 0.0, 1.0]], dtype=DOUBLE), []
    for scale in (0.1, 1.0):
        scores = torch.tensor([[2.0, 1.0, 0.0]], dtype=DOUBLE, requires_grad=True)
        Yeti("arp", scale=scale, samples=500).eval()(scores, labels).sum().backward()
        pushed.append(scores.grad[0].tolist())
    assert pushed[0][0] < 1e-3 < 0.7 < pushed[0][1]
    assert pushed[1][0] > 0.1


def test_a_common_offset_costs_no_digits() -> None:
    """In float32 the noise would be rounded away beside scores of 1e7, and all orders be those of the scores."""
    scores, labels = torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[0.0, 0.0, 1.0]])
    loss = Yeti("ndcg", samples=50).eval()
    assert torch.equal(loss(scores + 1e7, labels), loss(scores, labels))


def test_a_fresh_model_with_equal_scores_has_a_gradient() -> None:
    scores = torch.zeros(1, 3, dtype=DOUBLE, requires_grad=True)
    Yeti("ndcg").eval()(scores, torch.tensor([[0.0, 0.0, 1.0]])).sum().backward()
    assert scores.grad[0, 2] < 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "mrr"}, "Yeti: wants a metric that sums worth times place .*, got mrr"),
        ({"sigma": 0}, "sigma must be a number above 0, got 0"),
        ({"scale": 0}, "scale must be a number above 0, got 0"),
        ({"samples": 0}, "samples must be a whole number of at least 1, got 0"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Yeti(**{"metric": "ndcg", **options})

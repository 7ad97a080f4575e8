"""Does a surrogate keep what it promises of its aim?"""

from __future__ import annotations

from itertools import product

import torch
from torch import Tensor

from ltr.losses import Surrogate
from ltr.metrics import RankingMetric
from ltr.testing.drawn import random_lists, same

TIGHT = 1e-3  # how near to its aim a certificate comes where all stands right, relative to it


def keeps_its_promise(
    surrogate: Surrogate, labels: tuple[float, ...], sharpen: float, generator: torch.Generator
) -> None:
    """An approximation is its aim once scores are sharpened, and its loss is 1 - estimate; a certificate is never
    better than its aim, and near to it where the only relevant document stands far above all others."""
    aim = surrogate.aim
    assert aim is not None, f"kind {surrogate.kind} needs an aim"
    long = 300 if surrogate.kind == "bound" else 60  # so far the factor on the scores takes every approximation
    for spread, longest in [*product((1e-3, 0.1, 1.0, 5.0), (2, 8)), (1.0, long)]:
        scores, relevance, mask = random_lists(generator, labels, lists=200 if longest < long else 3, longest=longest)
        scores = scores * spread
        if surrogate.fractional:
            relevance[::2] *= torch.rand(relevance[::2].shape, generator=generator, dtype=relevance.dtype)
        if surrogate.kind == "bound":
            scores[::3] = scores[::3].round()
            single = torch.zeros_like(relevance)
            single[:, 0] = max(labels)
            _below(surrogate, aim, scores, relevance, mask)
            _below(surrogate, aim, 20 * single, single, mask)
            _tight(surrogate, aim, 1e4 * single, single, mask)
            continue
        defined, estimate = aim.defined(relevance, mask), surrogate.estimate(scores, relevance, mask)
        assert estimate is not None, "an approximation gives an estimate"
        same(surrogate(scores, relevance, mask), (1 - estimate) * defined)
        scores = scores.argsort(1).argsort(1).to(scores.dtype)  # without near ties, which no factor tears apart
        limit = surrogate.estimate(scores * sharpen, relevance, mask)
        assert limit is not None
        same(limit * defined, aim(scores, relevance, mask) * defined)


def _below(surrogate: Surrogate, aim: RankingMetric, scores: Tensor, relevance: Tensor, mask: Tensor) -> None:
    certificate = surrogate.certificate(scores, relevance, mask)
    assert certificate is not None, "a bound gives a certificate"
    better = (certificate - aim(scores, relevance, mask)) * (1 if aim.larger_is_better else -1)
    excess = (better * aim.defined(relevance, mask)).max().item()
    assert excess <= 1e-9, f"a certificate is better than {aim.name} by {excess:g}"


def _tight(surrogate: Surrogate, aim: RankingMetric, scores: Tensor, relevance: Tensor, mask: Tensor) -> None:
    certificate, value = surrogate.certificate(scores, relevance, mask), aim(scores, relevance, mask)
    assert certificate is not None
    apart = ((certificate - value).abs() * aim.defined(relevance, mask)).max().item()
    assert apart <= TIGHT * value.abs().max().item(), (
        f"a certificate is {apart:g} away from {aim.name} where the only relevant document stands far above all others"
    )

"""Does a surrogate hold for the longest lists, whatever their labels and scores?"""

from __future__ import annotations

import torch
from torch import Tensor

from ltr.losses import Surrogate
from ltr.testing.drawn import documents

LONGEST = 5000
CUBIC = "O(R L K)"  # the cost of which a list of many relevant documents would take minutes: 30 of it are real
# labels, spread of the scores, offset: each of them somewhere but not each with each, for slow losses pay by the list
TRIED = {
    torch.float32: [
        ("nothing relevant", 1e4, 0.0),
        ("all of the highest label", 1e-6, 0.0),
        ("five relevant", 1.0, 1e4),
    ],
    torch.float64: [
        ("graded labels, fractional where it takes them", 1e4, 0.0),
        ("nothing relevant", 0.0, -1e4),
    ],
}


def holds_for_the_longest(surrogate: Surrogate, labels: tuple[float, ...], generator: torch.Generator) -> None:
    """Finite values and gradients for lists of 5,000, some of them with pads anywhere, in float32 and float64; nothing
    flows into padding, and a list without an answer has the loss 0 where the surrogate aims at a metric."""
    for dtype, tried in TRIED.items():
        shape = len(tried), LONGEST
        relevance = torch.stack([_labels(pattern, labels, surrogate.fractional, generator) for pattern, _, _ in tried])
        spread, offset = (torch.tensor(each)[:, None] for each in zip(*(each[1:] for each in tried), strict=True))
        mask = torch.rand(shape, generator=generator) < 0.9
        mask[1::2] = True
        if surrogate.cost == CUBIC:
            mask[:, 30:] &= torch.tensor([[pattern.startswith(("nothing", "five")) for pattern, _, _ in tried]]).T
        scores = (spread * torch.randn(shape, generator=generator) + offset).to(dtype).requires_grad_()
        given = documents(surrogate, scores.detach(), generator)
        losses = surrogate(scores, relevance.to(dtype), mask, **given)
        assert losses.requires_grad, f"the loss of lists of {LONGEST} in {dtype} has lost its graph"
        (gradients,) = torch.autograd.grad(losses.sum(), scores)
        for i, (pattern, size, constant) in enumerate(tried):
            where = f"a list of {LONGEST} in {dtype}, {pattern}, scores of spread {size:g} around {constant:g}"
            loss, gradient, nothing = losses[i].item(), gradients[i], "nothing" in pattern
            assert losses[i].isfinite(), f"wanted a finite loss for {where}, got {loss}"
            bad = int((~gradient.isfinite()).sum())
            assert not bad, f"wanted a finite gradient for {where}, got {bad} numbers that are not"
            assert not gradient[~mask[i]].any(), f"wanted no gradient in the padding of {where}"
            if nothing and surrogate.kind != "neither":
                assert loss == 0, f"wanted 0 for {where}, got {loss:g}"


def _labels(pattern: str, labels: tuple[float, ...], fractional: bool, generator: torch.Generator) -> Tensor:
    """[5000] the labels of one list; of the graded ones one in fifty is drawn, and the others are the lowest."""
    if pattern == "nothing relevant":
        return torch.zeros(LONGEST)
    if pattern == "all of the highest label":
        return torch.full((LONGEST,), float(max(labels)))
    if pattern == "five relevant":
        return torch.zeros(LONGEST).index_fill(0, torch.arange(0, LONGEST, LONGEST // 5), max(labels))
    drawn = torch.tensor(labels, dtype=torch.float)[torch.randint(len(labels), (LONGEST,), generator=generator)]
    if fractional:
        drawn = torch.where(torch.rand(LONGEST, generator=generator) < 0.5, drawn, 0.7 * drawn)
    return torch.where(torch.rand(LONGEST, generator=generator) < 0.02, drawn, min(labels))

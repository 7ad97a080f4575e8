"""WeightedSum: several surrogates at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from ltr.gains import real
from ltr.lists import check_lists
from ltr.losses.base import Surrogate, one_of_them
from ltr.losses.draws import Drawing, read_noise


class WeightedSum(Drawing):
    """The sum of some surrogates' losses, each times its weight: a ranking loss with a little regression, say.

    ``loss = sum_k w_k loss_k``, list by list. It approximates and bounds nothing, whatever its parts do.

    Args:
        losses: the surrogates; those that draw do so by their own seeds.
        weights: >= 0, one for each.

    Raises:
        ValueError: no surrogates, one that weighs lists by itself (``share``), another number of weights, or a weight
            that is negative or no number.

    Example:
        >>> from ltr.losses import MSE, LambdaRank
        >>> loss = WeightedSum([LambdaRank("ndcg@10"), MSE()], [1, 0.1])
        >>> scores, labels = torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 0.0]])
        >>> parts = [part(scores, labels).item() for part in loss.losses]
        >>> [round(each, 3) for each in parts], round(loss(scores, labels).item(), 3)
        ([1.132, 2.5], 1.382)
    """

    unit = "weighted units"

    def __init__(self, losses: Sequence[Surrogate], weights: Sequence[float]) -> None:
        super().__init__()
        losses = [one_of_them("losses", each) for each in (losses if isinstance(losses, Iterable) else [losses])]
        weights = list(weights) if isinstance(weights, Iterable) else [weights]
        if not losses:
            raise ValueError("losses: wanted at least one ltr.losses.Surrogate, got none")
        pair = torch.tensor([[1.0, 0.0]])
        own = [type(each).__name__ for each in losses if each.share(pair, pair >= 0) is not None]
        if own:
            raise ValueError(
                f"losses: {own[0]} weighs lists in a way of its own, which a sum with others cannot keep; take a mean "
                "over lists"
            )
        if len(weights) != len(losses):
            raise ValueError(f"weights: wanted one for each of {len(losses)} losses, got {len(weights)}")
        self.losses = nn.ModuleList(losses)
        self.weights = tuple(real(each, "weights: each must be a number of at least 0", 0) for each in weights)
        if not any(self.weights):
            raise ValueError("weights: wanted one above 0, got 0 for every loss")
        terms = dict.fromkeys(each.cost.removeprefix("O(").removesuffix(")") for each in losses)
        self.cost = "unknown" if "unknown" in terms else f"O({' + '.join(terms)})"
        self.suits = tuple(each for each in losses[0].suits if all(each in other.suits for other in losses))
        self.shift_invariant = all(each.shift_invariant for each in losses)
        self.informative = all(each.informative for each in losses)
        self.fractional = all(each.fractional for each in losses)
        self.largest_label = min(each.largest_label for each in losses)
        self.needs_teacher = any(each.needs_teacher for each in losses)
        self.sampled_gradient = any(each.sampled_gradient for each in losses)
        self.constant_parts = any(each.constant_parts for each in losses)
        self.by_index = any(each.by_index for each in losses)

    @property
    def parts(self) -> tuple[Surrogate, ...]:
        return tuple(each for each in self.losses if isinstance(each, Surrogate))

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts if isinstance(part, Drawing)) or 1

    def noise(self, scores: Tensor) -> Tensor:
        drawn = [part.noise(scores) for part in self.parts if isinstance(part, Drawing)]
        return torch.cat(drawn, 2) if drawn else super().noise(scores)

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        weight: Tensor | None = None,
        teacher: Tensor | None = None,
        noise: Tensor | None = None,
    ) -> Tensor:
        scores, relevance, mask = check_lists(scores, relevance, mask)
        used, draws = 0, None if noise is None else read_noise(noise, mask, self.width)
        total = scores.new_zeros(len(scores))
        for factor, part in zip(self.weights, self.parts, strict=True):
            given = {} if weight is None else {"weight": weight}
            if part.needs_teacher and teacher is not None:
                given["teacher"] = teacher
            if isinstance(part, Drawing) and draws is not None:
                given["noise"] = draws[:, :, used : used + part.width]
                used += part.width
            total = total + factor * part(scores, relevance, mask, **given)
        return total

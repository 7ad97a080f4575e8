"""Perturbed: any surrogate, averaged over noise on the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor

from ltr.lists import check_lists
from ltr.losses.base import Surrogate, check_word, like_documents, one_of_them, positive
from ltr.losses.draws import Drawing, gumbel, over_samples, perturbed, read_noise, repeated
from ltr.softening import centred

Noise = Literal["gumbel", "gaussian"]
SHAPES: dict[str, Callable[[Tensor], Tensor]] = {"gumbel": gumbel, "gaussian": torch.special.ndtri}


class Perturbed(Drawing):
    """The mean loss of a surrogate over noised scores, by which near ties are seen in both orders.

    ``loss = mean over draws of l(s + scale z)``, the same draws z for value and gradient. Source: Bruch et al. (2020),
    A stochastic treatment of learning to rank scoring functions.

    NOTE[DIFF] TensorFlow Ranking puts log softmax(s + z) in place of s + z; here the inner loss sees the noised scores,
    so that scale 0+ is the loss itself, whichever it is.

    Args:
        loss: the surrogate; what its labels, weights and teacher must be stays as it is. One that draws does so for
            each draw of the noise.
        noise: "gumbel" (the orders are Plackett-Luce rankings) or "gaussian".
        scale: > 0, of the noise, in units of the scores.
        samples: draws of each list.
        seed: of the draws.

    Raises:
        ValueError: no surrogate, another kind of noise, or a number out of range.

    Example:
        >>> from ltr.losses import RankNet
        >>> loss = Perturbed(RankNet(), scale=0.5, samples=1000).eval()
        >>> scores, labels = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]])
        >>> round(RankNet()(scores, labels).item(), 2), round(loss(scores, labels).item(), 2)
        (0.31, 0.37)
    """

    def __init__(
        self, loss: Surrogate, noise: Noise = "gumbel", scale: float = 1.0, samples: int = 8, seed: int = 0
    ) -> None:
        super().__init__(seed, samples)
        check_word("noise", noise, Noise)
        loss = one_of_them("loss", loss)
        self.loss, self.shape, self.scale = loss, noise, positive("scale", scale)
        self.metric, self.unit, self.suits = loss.metric, loss.unit, loss.suits
        inside = loss.cost.removeprefix("O(").removesuffix(")").replace("samples", "samples'")  # those of its own
        self.cost = "unknown" if inside == "unknown" else f"O(samples {f'({inside})' if ' + ' in inside else inside})"
        self.shift_invariant, self.informative = loss.shift_invariant, loss.informative
        self.fractional, self.largest_label = loss.fractional, loss.largest_label
        self.needs_teacher, self.sampled_gradient = loss.needs_teacher, loss.sampled_gradient
        self.constant_parts = loss.constant_parts  # its noise leaves no scores equal

    @property
    def width(self) -> int:
        return self.samples * (1 + (self.loss.width if isinstance(self.loss, Drawing) else 0))

    def noise(self, scores: Tensor) -> Tensor:
        own: Tensor = super().noise(scores)[:, :, : self.samples]
        if not isinstance(self.loss, Drawing):
            return own
        inner = self.loss.noise(repeated(scores if scores.dim() == 2 else scores[None], self.samples))
        return torch.cat(
            [own, inner.view(self.samples, *own.shape[:2], self.loss.width).permute(1, 2, 0, 3).flatten(2)], 2
        )

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
        draws = read_noise(self.noise(scores) if noise is None else noise, mask, self.width).to(scores.dtype)
        own, inner = draws.tensor_split([self.samples], 2)
        more = {"weight": weight, "teacher": teacher}
        given = {
            name: repeated(like_documents(name, each, mask), self.samples)
            for name, each in more.items()
            if each is not None
        }
        if isinstance(self.loss, Drawing):
            each_draw = inner.reshape(*mask.shape, self.samples, self.loss.width)
            given["noise"] = each_draw.permute(2, 0, 1, 3).flatten(0, 1)
        centre = centred(scores, mask) if self.loss.shift_invariant else scores  # so that no digits are lost
        noised = perturbed(centre, self.scale * SHAPES[self.shape](own))
        losses = self.loss(noised, repeated(relevance, self.samples), repeated(mask, self.samples), **given)
        return over_samples(losses, self.samples)

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor | None:
        return self.loss.share(relevance, mask)

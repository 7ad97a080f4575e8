"""p-ListMLE: ListMLE with the first places weighing the most."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from ltr.lists import exact_dtype
from ltr.losses.base import check_word, flag, read_lists
from ltr.losses.draws import Drawing
from ltr.losses.levels import Levels
from ltr.losses.list_mle import LabelTies, place_costs


def p_list_mle(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    noise: Tensor | None,
    ties: LabelTies = "shuffle",
    inclusive: bool = False,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] sum over places t of a_t [ln(sum over t and all after it of exp(s)) - s_t], a_t = (2^(n-t) - 1) / sum.

    The arguments are those of ``list_mle``.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    costs, levels = place_costs(scores, relevance, mask, noise, ties)
    worth = place_weights(levels, inclusive)
    if ties == "likelihood":  # equals share their places
        total = pad(worth.cumsum(1), (1, 0))
        shared = total.gather(1, levels.through) - total.gather(1, levels.below)
        worth = torch.where(levels.mask, shared / (levels.through - levels.below), 0)
    return (weight.gather(1, levels.order) * worth * costs).sum(-1).to(scores.dtype)


def place_weights(levels: Levels, inclusive: bool = False) -> Tensor:
    """[B, L] a_t for places t from the end of the levels; over 2^n, so finite for any n, before they are summed."""
    size = levels.mask.sum(1, keepdim=True).to(exact_dtype(levels.mask.device))
    place = size - torch.arange(levels.mask.shape[1], device=size.device)
    first = 2.0 if inclusive else 1.0
    worth = torch.where(levels.mask, first * torch.exp2(-place) - torch.exp2(-size), 0)
    total = first - (size + first) * torch.exp2(-size)
    return worth / torch.where(total > 0, total, 1)


class PListMLE(Drawing):
    """ListMLE in which a place weighs about twice as much as the next.

    ``loss = sum_t a_t [ln(sum over u >= t of exp(s_u)) - s_t], a_t = (2^(n-t) - 1) / sum_u (2^(n-u) - 1)``. Source: Lan
    et al. (2014), Position-aware ListMLE.

    NOTE[DIFF] The paper does not divide by the sum, which overflows at some hundreds of documents. Divided, the weights
    of a list sum to 1, whatever its length.

    Args:
        seed: >= 0, of the shuffles; the other rules for ties draw nothing.
        ties: of labels, as ``ListMLE`` has it; under "likelihood" equals weigh the mean of their places.
        inclusive: count the document itself too, 2^(n-t+1) - 1, as sentence-transformers does.

    Raises:
        ValueError: a seed that is no such number, or unknown ties.

    Example:
        >>> import torch
        >>> scores, labels = torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[2.0, 1.0, 0.0]])
        >>> round(PListMLE()(scores, labels).item(), 4)  # (3 ln 3 + ln 2) / 4
        0.9972
    """

    unit = "nats a place"
    cost = "O(L log L)"
    suits = ("graded", "real")

    def __init__(self, seed: int = 0, ties: LabelTies = "shuffle", inclusive: bool = False) -> None:
        super().__init__(seed)
        self.ties, self.inclusive = ties, flag("inclusive", inclusive)
        check_word("ties", ties, LabelTies)

    def forward(
        self,
        scores: Tensor,
        relevance: Tensor,
        mask: Tensor | None = None,
        *,
        weight: Tensor | None = None,
        noise: Tensor | None = None,
    ) -> Tensor:
        if noise is None and self.ties == "shuffle":
            noise = self.noise(scores)
        return p_list_mle(scores, relevance, mask, noise, self.ties, self.inclusive, weight=weight)

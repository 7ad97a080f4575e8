"""ListMLE: how unlikely the order by label is, if documents are drawn one after the other by their scores."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from ltr.lists import exact_dtype
from ltr.losses.base import check_word, flag, read_lists
from ltr.losses.draws import Drawing, read_noise
from ltr.losses.levels import Levels, levels_of, running_logsumexp

LabelTies = Literal["shuffle", "index", "likelihood"]


def list_mle(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None,
    noise: Tensor | None,
    ties: LabelTies = "shuffle",
    stop: bool = False,
    *,
    weight: Tensor | None = None,
) -> Tensor:
    """[B] sum over documents t by falling label of ln(sum over t and all after it of exp(s)) - s_t. See ``ListMLE``.

    Args:
        scores, relevance, mask, weight: [B, L].
        noise: [B, L, 1] draws from (0, 1) that order equal labels, the largest first; for ties="shuffle" alone.
        ties, stop: as ``ListMLE`` takes them.
    """
    scores, relevance, mask, weight = read_lists(scores, relevance, mask, weight)
    costs, levels = place_costs(scores, relevance, mask, noise, ties)
    weight = weight * (relevance > 0) if stop else weight
    return (weight.gather(1, levels.order) * costs).sum(-1).to(scores.dtype)


def place_costs(
    scores: Tensor, relevance: Tensor, mask: Tensor, noise: Tensor | None, ties: LabelTies
) -> tuple[Tensor, Levels]:
    """[B, L] the cost of each document's place in float64, and the levels in whose order they are."""
    exact, among = exact_dtype(scores.device), None
    if ties == "shuffle":
        if noise is None:
            raise ValueError("noise: wanted draws from (0, 1), [lists, documents, 1], to shuffle equal labels by")
        among = read_noise(noise, mask, 1)[:, :, 0].to(exact)
    elif ties == "index":
        among = torch.linspace(1, 0, scores.shape[1] + 1, device=scores.device, dtype=exact)[1:].expand(scores.shape)
    levels = levels_of(relevance, mask, among)
    values = scores.to(exact).gather(1, levels.order)
    pools = running_logsumexp(values, levels.mask)
    if among is None:  # the pool of a document is its own level and all below
        pools = pools.gather(1, levels.through - 1)
    return pools - values, levels


class ListMLE(Drawing):
    """The negative log likelihood of the order by label under Plackett-Luce, summed over places.

    ``loss = sum_t [ln(sum over u >= t of exp(s_u)) - s_t]``, t and u running by falling label. Source: Xia et al.
    (2008), Listwise approach to learning to rank: theory and algorithm. No list is known for which it is below
    1 - NDCG, but it grows as ln n! with the list, so only its trend says something.

    Args:
        seed: >= 0, of the shuffles; the other rules for ties draw nothing.
        ties: of labels, which leave the order open. "shuffle": at random, afresh in each call and for each list.
            "index": as they are listed; the only rule by which the order of the input matters. "likelihood": each
            document of a level is drawn from that level and all below, sum_t ln(sum over y_u <= y_t of exp(s_u)) - s_t
            (Breslow's likelihood of ties, 1974), which is no less than the loss of any order of the equals.
        stop: after the last relevant document (label above 0), where labels no longer say what comes first.

    Raises:
        ValueError: a seed that is no such number, or unknown ties.

    Example:
        >>> import torch
        >>> loss = ListMLE(ties="likelihood", stop=True)
        >>> round(loss(torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[1.0, 1.0, 0.0]])).item(), 4)  # 2 ln 3
        2.1972
    """

    unit = "nats over places"
    cost = "O(L log L)"
    suits = ("graded", "real")

    def __init__(self, seed: int = 0, ties: LabelTies = "shuffle", stop: bool = False) -> None:
        super().__init__(seed)
        self.ties, self.stop = ties, flag("stop", stop)
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
        return list_mle(scores, relevance, mask, noise, self.ties, self.stop, weight=weight)

"""What a diagnosis looks at: lists with labels and scores, whatever gave the scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ltr.lists import check_lists, exact_dtype
from ltr.losses import Surrogate
from ltr.losses.base import like_documents

CELLS = 1 << 16  # padded documents whose loss is worked out at once: some losses hold a matrix of each list


@dataclass(frozen=True, eq=False)
class ScoredLists:
    """Padded lists, in float64 where the device has it; made by ``scored``."""

    scores: Tensor  # [B, L]
    relevance: Tensor  # [B, L]
    mask: Tensor  # [B, L] bool
    weight: Tensor  # [B] of each list in all means
    teacher: Tensor | None = None  # [B, L] scores of another ranker, for a loss that needs them

    def __len__(self) -> int:
        return len(self.scores)

    def pick(self, index: Tensor) -> ScoredLists:
        """Some of the lists, in the order of the index, as wide as the longest of them."""
        mask = self.mask[index]
        columns = torch.arange(mask.shape[1], device=mask.device)[None]
        width = int(torch.where(mask, columns + 1, 0).amax()) if mask.numel() else 0
        some = {
            name: getattr(self, name)[index][:, :width]
            for name in ("scores", "relevance", "mask", "teacher")
            if getattr(self, name) is not None
        }
        return ScoredLists(weight=self.weight[index], **some)

    def sample(self, counted: Tensor, most: int, seed: int = 0) -> ScoredLists:
        """At most so many of the lists that count [B] and have a weight, drawn without replacement, in their order."""
        among = (counted.bool() & (self.weight > 0)).nonzero()[:, 0]
        if len(among) > most:
            drawn = torch.randperm(len(among), generator=torch.Generator().manual_seed(seed))[:most]
            among = among[drawn.sort().values.to(among.device)]
        return self.pick(among)

    def with_scores(self, scores: Tensor) -> ScoredLists:
        return replace(self, scores=scores)


def scored(
    scores: Tensor,
    relevance: Tensor,
    mask: Tensor | None = None,
    weight: Tensor | None = None,
    teacher: Tensor | None = None,
) -> ScoredLists:
    """Lists to be diagnosed.

    Args:
        scores: [B, L], any real unit.
        relevance: [B, L], labels >= 0.
        mask: [B, L], True for a real document; all when None.
        weight: [B] >= 0, of each list in all means; 1 when None.
        teacher: [B, L] scores of another ranker, for a loss that needs them.

    Raises:
        ValueError: shapes differ, a label is negative or no number.

    Example:
        >>> lists = scored(torch.tensor([[0.3, 0.1, 0.2]]), torch.tensor([[1.0, 0.0, 2.0]]))
        >>> len(lists), lists.scores.dtype
        (1, torch.float64)
    """
    scores, relevance, mask = check_lists(scores, relevance, mask)
    kind = exact_dtype(scores.device)
    given = scores.new_ones(len(scores), dtype=kind) if weight is None else weight.to(scores.device, kind)
    taught = None if teacher is None else like_documents("teacher", teacher, mask).to(kind)
    return ScoredLists(scores.detach().to(kind), relevance.to(kind), mask, given, taught)


def losses(surrogate: Surrogate, lists: ScoredLists) -> Tensor:
    """[B] the loss of each list; the same draws each time, where the surrogate draws."""
    return _in_parts(surrogate, lists, lambda scores, loss: loss)


def descent(surrogate: Surrogate, lists: ScoredLists) -> Tensor:
    """[B, L] the gradient of each list's own loss by its scores, 0 where padded: what a ranker of any kind learns
    from. A step down the loss moves the scores by minus this."""

    def gradient(scores: Tensor, loss: Tensor) -> Tensor:
        if not loss.requires_grad:
            return torch.zeros_like(scores)
        return torch.autograd.grad(loss.sum(), scores)[0]

    return _in_parts(surrogate, lists, gradient)


def _in_parts(surrogate: Surrogate, lists: ScoredLists, of: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    step = max(1, CELLS // max(1, lists.scores.shape[1]))
    found = []
    with surrogate.evaluating(), torch.enable_grad():
        for part in torch.split(torch.arange(len(lists), device=lists.scores.device), step):
            scores = lists.scores[part].detach().requires_grad_()
            given = lists.teacher if surrogate.needs_teacher else None
            taught = {} if given is None else {"teacher": given[part]}
            loss = surrogate(scores, lists.relevance[part], lists.mask[part], **taught)
            found.append(of(scores, loss).detach().to(lists.scores.dtype))
    return torch.cat(found)

"""Teacher: a trained ranker that another learns from."""

from __future__ import annotations

from torch import Tensor, nn

from ltr.losses import Surrogate


class Teacher(nn.Module):
    """A trained ranker as one module on raw features: its transform, then its model.

    Args:
        model: [B, L, F], mask [B, L] -> scores [B, L].
        transform: of the features, fitted; [B, L, F], mask -> [B, L, F].

    Example:
        >>> import torch
        >>> from ltr.models import Linear
        >>> Teacher(Linear(2))(torch.zeros(1, 3, 2), torch.ones(1, 3, dtype=torch.bool)).shape
        torch.Size([1, 3])
    """

    def __init__(self, model: nn.Module, transform: nn.Module | None = None) -> None:
        super().__init__()
        self.model, self.transform = model, transform

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        features = features if self.transform is None else self.transform(features, mask)
        scores: Tensor = self.model(features, mask)
        return scores


def check_teacher(loss: Surrogate, given: bool) -> None:
    """Refuse a teacher that the loss has no use for, and none where it needs one.

    Args:
        loss: the surrogate to train on.
        given: is there a teacher?

    Raises:
        ValueError: they do not fit.
    """
    name = type(loss).__name__
    if loss.needs_teacher and not given:
        raise ValueError(f"teacher: wanted a trained run, whose scores {name} learns from; got none")
    if given and not loss.needs_teacher:
        raise ValueError(f"teacher: {name} learns from labels alone: leave it out, or choose a loss that takes one")

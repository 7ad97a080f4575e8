"""A linear scorer."""

from __future__ import annotations

from torch import Tensor, nn


class Linear(nn.Module):
    """score = w . x + b for each document, 0 where padded.

    Args:
        features: F, the width of the data.

    Example:
        >>> import torch
        >>> Linear(3)(torch.ones(2, 5, 3), torch.ones(2, 5, dtype=torch.bool)).shape
        torch.Size([2, 5])
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.output = nn.Linear(features, 1)

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """[B, L, F], [B, L] -> [B, L]."""
        scores: Tensor = self.output(features).squeeze(-1)
        return scores.masked_fill(~mask, 0.0)

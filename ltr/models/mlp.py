"""A multilayer perceptron that scores each document by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from ltr.models.masked_batch_norm import MaskedBatchNorm

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
    "elu": nn.ELU,
    "tanh": nn.Tanh,
}


class MLP(nn.Module):
    """Linear, batch normalisation, activation, dropout, for each hidden size; then one linear output. 0 where padded.

    Batch normalisation sees real documents only, so padding never moves a score.

    Args:
        features: F, the width of the data.
        hidden: sizes of the hidden layers; none makes a linear scorer.
        activation: relu, gelu, silu, elu or tanh.
        dropout: share of hidden units dropped in training, from 0 to below 1.
        batch_norm: normalise before each activation.

    Raises:
        ValueError: an unknown activation, a size below 1, or a dropout outside [0, 1).

    Example:
        >>> model = MLP(3, hidden=[8]).eval()
        >>> scores = model(torch.ones(1, 2, 3), torch.tensor([[True, False]]))
        >>> scores.shape, scores[0, 1].item()
        (torch.Size([1, 2]), 0.0)
    """

    def __init__(
        self,
        features: int,
        hidden: Sequence[int] = (128, 64),
        activation: str = "relu",
        dropout: float = 0.4,
        batch_norm: bool = True,
    ) -> None:
        super().__init__()
        sizes = [features, *hidden]
        if min(sizes) < 1:
            raise ValueError(f"mlp: wanted features and hidden sizes of at least 1, got {sizes}")
        if activation not in ACTIVATIONS:
            raise ValueError(f"mlp: wanted an activation among {', '.join(ACTIVATIONS)}, got {activation!r}")
        if not 0 <= dropout < 1:
            raise ValueError(f"mlp: wanted a dropout from 0 to below 1, got {dropout}")
        self.layers = nn.ModuleList(nn.Linear(wide, narrow) for wide, narrow in pairwise(sizes))
        self.norms = nn.ModuleList(MaskedBatchNorm(size) for size in hidden) if batch_norm else None
        self.activation = ACTIVATIONS[activation]()
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(sizes[-1], 1)

    def forward(self, features: Tensor, mask: Tensor) -> Tensor:
        """[B, L, F], [B, L] -> [B, L]."""
        x = features
        for place, layer in enumerate(self.layers):
            x = layer(x)  # [B, L, H]
            if self.norms is not None:
                x = self.norms[place](x, mask)
            x = self.dropout(self.activation(x))
        scores: Tensor = self.output(x).squeeze(-1)
        return torch.where(mask, scores, 0.0)

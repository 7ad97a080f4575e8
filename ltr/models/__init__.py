"""Scorers: features [B, L, F] and mask [B, L] -> scores [B, L]."""

from ltr.models.linear import Linear
from ltr.models.masked_batch_norm import MaskedBatchNorm
from ltr.models.mlp import MLP

__all__ = ["MLP", "Linear", "MaskedBatchNorm"]

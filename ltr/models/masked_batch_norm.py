"""Batch normalisation whose statistics see real documents only."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class MaskedBatchNorm(nn.Module):
    """(x - mean) / sqrt(variance + eps) * scale + shift, per feature, with the statistics of unmasked documents.

    As in torch.nn.BatchNorm1d, training uses the batch's own mean and population variance and moves the running ones
    by ``momentum`` towards the batch's mean and sample variance; evaluation uses the running ones, so that a score
    never depends on batch mates. Padded places come out 0.

    NOTE[DIFF] A batch of one document, which BatchNorm1d refuses, comes out as ``shift``; its sample variance does not
    exist, so the running variance stays. A batch without any real document changes nothing.

    Args:
        features: F, at least 1.
        momentum: weight of the newest batch in the running statistics.
        eps: added to the variance.

    Example:
        >>> norm = MaskedBatchNorm(1)
        >>> x, mask = torch.tensor([[[1.0], [3.0]], [[5.0], [0.0]]]), torch.tensor([[True, True], [True, False]])
        >>> norm(x, mask).flatten().tolist()
        [-1.2247, 0.0, 1.2247, 0.0]
    """

    mean: Tensor  # [F] running mean
    variance: Tensor  # [F] running sample variance

    def __init__(self, features: int, momentum: float = 0.1, eps: float = 1e-5) -> None:
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.scale = nn.Parameter(torch.ones(features))
        self.shift = nn.Parameter(torch.zeros(features))
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("variance", torch.ones(features))

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """[B, L, F] -> [B, L, F], for a mask [B, L]."""
        real = mask[..., None]
        x = torch.where(real, x.to(self.mean.dtype), 0.0)  # half precision is too coarse for sums over documents
        if self.training:
            mean, variance = self._batch_statistics(x, real)
        else:
            mean, variance = self.mean, self.variance
        normal = (x - mean) * torch.rsqrt(variance + self.eps) * self.scale + self.shift
        return torch.where(real, normal, 0.0)

    def _batch_statistics(self, x: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        count = real.sum().to(x.dtype)
        mean = x.sum((0, 1)) / count.clamp(min=1)
        squares = torch.where(real, x - mean, 0.0).square().sum((0, 1))
        with torch.no_grad():
            sample = squares / (count - 1).clamp(min=1)
            self.mean += self.momentum * (count > 0) * (mean - self.mean)
            self.variance += self.momentum * (count > 1) * (sample - self.variance)
        return mean, squares / count.clamp(min=1)

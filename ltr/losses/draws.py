"""Seeded noise for the surrogates that draw: the same for value and gradient, for a run and the run resumed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ltr.lists import as_tensor, may_look
from ltr.losses.base import Surrogate, whole


class Drawing(Surrogate):
    """A surrogate over random draws.

    In training each call draws anew, by the seed and the number of the call, which a checkpoint holds. In evaluation
    the draws are the same at every call and for every list, so that no list's loss depends on the others of its batch.
    ``forward`` takes ``noise`` where the caller has drawn it.

    Args:
        seed: >= 0, of the draws.
        samples: >= 1, draws of each list.

    Raises:
        ValueError: seed or samples is no such number.
    """

    def __init__(self, seed: int = 0, samples: int = 1) -> None:
        super().__init__()
        self.seed, self.samples = whole("seed", seed), whole("samples", samples, 1)
        self.calls = 0

    @property
    def width(self) -> int:
        """Draws of each document: ``samples``, unless more is drawn for each of them."""
        return self.samples

    @torch.compiler.disable  # type: ignore[untyped-decorator]  # no compiler can follow a generator
    def noise(self, scores: Tensor) -> Tensor:
        """[B, L, width] uniform draws from (0, 1) for the documents of scores [B, L] (or [L]), for the next call."""
        shape = scores.shape if scores.dim() == 2 else scores[None].shape
        if not self.training:  # on the CPU, where longer lists begin with the draws of shorter ones
            drawn = self._drawn(0, (shape[1], self.samples), torch.device("cpu"))
            return drawn.to(scores.device, _dtype(scores)).expand(*shape, self.samples)
        self.calls += 1
        return self._drawn(self.calls, (*shape, self.samples), scores.device).to(_dtype(scores))

    def _drawn(self, call: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """The same numbers in whatever precision they are used."""
        generator = torch.Generator(device)
        mixed = np.random.SeedSequence((self.seed, call)).generate_state(1, np.uint64)
        generator.manual_seed(int(mixed[0]))  # of which PyTorch takes 32 bits on a CPU
        drawn = torch.rand(shape, generator=generator, device=device)
        return drawn.clamp_(min=torch.finfo(drawn.dtype).tiny)

    def get_extra_state(self) -> dict[str, int]:
        return {"calls": self.calls}

    def set_extra_state(self, state: Any) -> None:
        self.calls = state["calls"]


def _dtype(scores: Tensor) -> torch.dtype:
    return scores.dtype if scores.dtype in (torch.float32, torch.float64) else torch.float32


def read_noise(noise: Tensor, mask: Tensor, width: int | None = None) -> Tensor:
    """[B, L, samples] the draws for documents [B, L] as ``read_lists`` gives them.

    Raises:
        ValueError: they are of another shape, or do not lie between 0 and 1.
    """
    noise = as_tensor(noise, "noise").to(mask.device)
    noise = noise[None] if noise.dim() == 2 else noise
    if noise.dim() == 3 and not noise.shape[1] and not mask.any():
        noise = noise.new_full((*mask.shape, noise.shape[2]), 0.5)  # lists without documents
    samples = noise.shape[2] if noise.dim() == 3 else 0
    if noise.shape[:2] != mask.shape or not samples or samples != (width or samples):
        raise ValueError(
            f"noise must be [lists, documents, samples] = [{mask.shape[0]}, {mask.shape[1]}, {width or 'at least 1'}]; "
            f"got {list(noise.shape)}"
        )
    if may_look(noise) and not ((noise > 0) & (noise < 1))[mask].all():
        wrong = noise[mask][~((noise[mask] > 0) & (noise[mask] < 1))][0]
        raise ValueError(f"noise must be draws from (0, 1), got {wrong.item():g}")
    return noise


def gumbel(uniform: Tensor) -> Tensor:
    """Standard Gumbel noise of uniform draws from (0, 1)."""
    return -torch.log(-torch.log(uniform))


def repeated(values: Tensor, samples: int) -> Tensor:
    """[samples B, L] the lists once for each sample, sample by sample."""
    return values.repeat(samples, 1)


def perturbed(scores: Tensor, noise: Tensor) -> Tensor:
    """[samples B, L] scores [B, L] plus noise [B, L, samples], sample by sample, as of ``repeated``."""
    return (scores[:, :, None] + noise).permute(2, 0, 1).flatten(0, 1)


def over_samples(losses: Tensor, samples: int) -> Tensor:
    """[B] the mean over samples of the losses [samples B] of repeated lists."""
    return losses.view(samples, -1).mean(0)

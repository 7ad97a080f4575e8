"""What a validation of a training looks at closely: the same few lists every time, with their gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from ltr.data import BucketBatches, ListDataset, RankingData, Splits
from ltr.gap.belief import counted
from ltr.gap.diagnose import Measured, measure
from ltr.gap.scored import ScoredLists, scored
from ltr.lists import ListBatch
from ltr.training.module import RankingModule

DOCUMENTS = 4096  # padded, scored at once: whatever the batches of the training are, the scores are the same


class Diagnostics:
    """The figures of a training's state over some validation and some training lists.

    They are drawn once, by the seed, among the lists that count in the gap and have a weight: each validation, on any
    number of processes, sees the same ones. The training itself is left as it is: its random numbers, its modes.

    Args:
        module: whose loss and target say which lists count.
        data: the splits.
        lists: the most lists of either.
        seed: of the draw.
    """

    def __init__(self, module: RankingModule, data: Splits, lists: int, seed: int) -> None:
        self.lists, self.seed = lists, seed
        self.validation, self.train = (drawn(module, part, lists, seed) for part in (data.validation, data.train))

    def measure(self, trainer: pl.Trainer, module: RankingModule, history: Sequence[Mapping[str, Any]]) -> Measured:
        """``ltr.gap.measure`` of the module as it is now, inside a validation; of nothing where no list counts, or a
        score is no finite number.

        Args:
            trainer, module: of the training; nothing is asked of other processes.
            history: the rows of gap.jsonl so far, that of this validation last.
        """
        validation, train = (scored_lists(trainer, module, each) for each in (self.validation, self.train))
        if validation is None or not all(torch.isfinite(each.scores).all() for each in (validation, train) if each):
            return Measured({}, {}, None)
        options: dict[str, Any] = {"lists": self.lists, "history": history, "sure": False, "seed": self.seed}
        return measure(module.loss, module.metric, validation, train, **options)


def drawn(module: RankingModule, data: RankingData | None, most: int, seed: int) -> list[ListBatch]:
    """Batches of at most so many lists that count, drawn without replacement."""
    if data is None:
        return []
    order = np.random.default_rng(seed).permutation(len(data.query_ids))
    order = order[data.weight[order] > 0]
    labels = ListDataset(replace(data, features=data.features[:, :0]))
    found: list[int] = []
    for start in range(0, len(order), most):
        if len(found) >= most:
            break
        some = order[start : start + most]
        batch = labels[some.tolist()]
        kept = counted(module.loss, module.metric, batch.relevance, batch.mask)
        found += some[kept.numpy()].tolist()
    if not found:
        return []
    chosen = ListDataset(data.select(sorted(found[:most])))
    return [chosen[queries] for queries in BucketBatches(chosen.data.lengths, documents=DOCUMENTS)]


def scored_lists(trainer: pl.Trainer, module: RankingModule, batches: Sequence[ListBatch]) -> ScoredLists | None:
    """The lists with the module's scores, as a validation gets them; None without lists. No random number is spent."""
    if not batches:
        return None
    parts, device = [], module.device
    with torch.random.fork_rng([device] if device.type == "cuda" else []), torch.no_grad():
        for batch in batches:
            given = module.transfer_batch_to_device(trainer.precision_plugin.convert_input(batch), device, 0)
            with trainer.precision_plugin.forward_context():
                scores, taught = module(given.features, given.mask), module.taught(given)
            parts.append((scores, batch.relevance, batch.mask, taught.get("teacher", scores)))
    scores, relevance, mask, teacher = (_joined(each) for each in zip(*parts, strict=True))
    weight = torch.cat([batch.weight for batch in batches])
    return scored(scores, relevance, mask.to(scores.device), weight, teacher if module.loss.needs_teacher else None)


def _joined(parts: Sequence[Tensor]) -> Tensor:
    """Lists one after the other, as wide as the longest."""
    width = max(each.shape[1] for each in parts)
    return torch.cat([nn.functional.pad(each, (0, width - each.shape[1])) for each in parts])

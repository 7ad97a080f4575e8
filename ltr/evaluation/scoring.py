"""Scores for every document of a data set, whatever gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ltr.data import BucketBatches, DataError, ListDataset, RankingData
from ltr.lists import ListBatch

Scorer = Callable[[Tensor, Tensor], Tensor]


def score(scorer: Scorer, data: RankingData, documents: int = 4096) -> NDArray[np.float32]:
    """Score whole lists in padded batches, none cut.

    Args:
        scorer: features [B, L, F] and mask [B, L] -> scores [B, L]; a model with its transform, in evaluation mode.
        data: what to score, labelled or not.
        documents: padded documents of a batch; a longer list is a batch of its own.

    Returns:
        [N] scores in the order of the data's rows (``data.row`` is their place in the source).

    Raises:
        DataError: a score is not a number; the first query with one is named.

    Example:
        >>> data = RankingData.from_arrays([[3.0], [1.0], [2.0]], queries=["a", "b", "a"])
        >>> score(lambda features, mask: features.sum(-1), data).tolist()
        [3.0, 2.0, 1.0]
    """
    scores = np.zeros(len(data.relevance), dtype=np.float32)
    with torch.inference_mode():
        for batch, rows in batches_of(data, documents):
            given = scorer(batch.features, batch.mask)
            scores[rows] = given[batch.mask].to("cpu", torch.float32).numpy()
    if np.isnan(scores).any():
        first = int(np.argmax(np.isnan(scores)))
        query = data.query_ids[int(np.searchsorted(data.offsets, first, side="right")) - 1]
        raise DataError(f"{data.source}, row {data.row[first]} (query {query}): the model's score is not a number")
    return scores


def batches_of(data: RankingData, documents: int) -> Iterator[tuple[ListBatch, NDArray[np.int64]]]:
    """Padded batches in a fixed order, each with the rows of its real documents in the order of batch[mask]."""
    lists = ListDataset(data)
    for queries in BucketBatches(data.lengths, documents=documents):
        rows = [np.arange(data.offsets[query], data.offsets[query + 1]) for query in queries]
        yield lists[queries], np.concatenate(rows)

"""Scores come back in the order of the rows, whatever the batches."""

import numpy as np
import pytest
import torch
from torch import Tensor

from ltr.data import DataError, RankingData, synthetic
from ltr.evaluation import score


def total(features: Tensor, mask: Tensor) -> Tensor:
    return features.sum(-1).masked_fill(~mask, torch.nan)  # what a padded place gets is nobody's business


@pytest.mark.parametrize("documents", [1, 30, 10_000])
def test_every_row_gets_its_own_score(documents: int) -> None:
    data = synthetic(queries=20, documents=8, features=5).train
    np.testing.assert_allclose(score(total, data, documents), data.features.sum(1), rtol=1e-5)


def test_lists_are_never_cut() -> None:
    seen: list[int] = []

    def lengths(features: Tensor, mask: Tensor) -> Tensor:
        seen.extend(mask.sum(1).tolist())
        return features[..., 0]

    data = synthetic(queries=20, documents=8, features=5).train
    score(lengths, data, documents=3)
    assert sorted(seen) == sorted(data.lengths.tolist())


def test_a_score_that_is_no_number_names_its_query() -> None:
    data = RankingData.from_arrays([[1.0], [2.0], [3.0]], queries=["a", "b", "a"], source="new.txt")
    with pytest.raises(DataError, match=r"^new\.txt, row 2 \(query a\): the model's score is not a number$"):
        score(lambda features, mask: torch.where(features[..., 0] > 2.5, torch.nan, features[..., 0]), data)

"""One ranking of real data."""

from pathlib import Path

import pytest
from torch import Tensor

from ltr.data import ListDataset, read_letor


@pytest.fixture(scope="session")
def ranking(shared: Path) -> tuple[Tensor, Tensor, Tensor]:
    """Part S5 of MQ2008, scored by feature 38."""
    data = read_letor(shared / "data" / "mq2008" / "S5.txt")
    batch = ListDataset(data)[list(range(len(data.lengths)))]
    return batch.features[:, :, 37], batch.relevance, batch.mask

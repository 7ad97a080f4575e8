"""How far systems differ from query to query on real data: the table of docs/choosing.md."""

import re
from pathlib import Path

import numpy as np
import pytest

from ltr.data import ListDataset, read_letor
from ltr.metrics import answer, measure, parse

pytestmark = pytest.mark.shared
PAGE = (Path(__file__).parents[2] / "docs" / "choosing.md").read_text()
SEEN = re.findall(r"^\| (\d+) \| (0\.\d+) \| (0\.\d+) \| (0\.\d+) \|$", PAGE, re.MULTILINE)


def test_the_spread_of_differences_against_feature_38(shared: Path) -> None:
    metrics = [parse("ndcg@10"), parse("mrr@10")]
    parts: dict[int, list[list[list[float]]]] = {}
    for part in range(1, 6):
        data = read_letor(shared / "data" / "mq2008" / f"S{part}.txt")
        batch = ListDataset(data)[list(range(len(data.lengths)))]
        for feature in (38, *(int(row[0]) for row in SEEN)):
            given = answer(batch.features[:, :, feature - 1], batch.relevance, batch.mask)
            found = measure(metrics, given)
            parts.setdefault(feature, []).append([each.value[each.defined].tolist() for each in found])
    values = {feature: np.concatenate(each, axis=1) for feature, each in parts.items()}  # [2, 564]
    assert values[38].shape == (2, 564)
    assert len(SEEN) == 4
    for feature, correlation, ndcg, mrr in SEEN:
        other = values[int(feature)]
        spread = (values[38] - other).std(axis=1, ddof=1)
        measured = (np.corrcoef(values[38][0], other[0])[0, 1], *spread)
        assert [f"{each:.2f}" for each in measured] == [correlation, ndcg, mrr]

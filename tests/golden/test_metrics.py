"""Our metrics, under the convention of each library, against the values that it gave (metrics.json), and under every
convention of ours against brute force over all orders (edges.json)."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from ltr.metrics import parse

HERE = Path(__file__).parent
FIXTURES = json.loads((HERE / "losses.json").read_text())["fixtures"]
PEERS = json.loads((HERE / "metrics.json").read_text())["cases"]
EDGES = json.loads((HERE / "edges.json").read_text())["cases"]


@pytest.mark.parametrize("case", PEERS, ids=lambda case: f"{case['peer']} {case['metric']}")
def test_the_value_of_a_peer(case: dict[str, Any]) -> None:
    for fixture, value in case["values"].items():
        lists = FIXTURES[fixture]
        mean = parse(case["ours"]).mean(lists["scores"], lists["labels"], lists["mask"])
        assert mean.item() == pytest.approx(value, rel=1e-5, abs=1e-6), fixture


@pytest.mark.parametrize("case", EDGES, ids=lambda case: case["id"])
def test_the_value_by_brute_force(case: dict[str, Any]) -> None:
    """What is undefined counts 0 there, as here."""
    scores = torch.tensor([float(score) for score in case["scores"]], dtype=torch.float64)
    found = {name: parse(name)(scores, case["labels"]).item() for name in case["values"]}
    assert found == pytest.approx(case["values"], rel=1e-6, abs=1e-6)

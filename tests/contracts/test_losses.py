"""Every loss of conf/loss against every metric, held to the one contract."""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from ltr.losses import Surrogate
from ltr.testing import check_surrogate

CONF = Path(__file__).parents[2] / "conf" / "loss"
METRICS = ["ndcg@10", "ndcg@3", "ndcg-linear", "dcg@5", "mrr@10", "ap", "precision@3", "recall@3"]
METRICS += ["ap-hits@3", "gradedap-max4@3", "f1@3", "success@3", "rprec", "err-max4@10", "rbp@5", "bpref", "pairs"]
METRICS += ["tau", "auc"]
EVERY = [
    "one loss a list",
    "padding changes nothing",
    "document order changes nothing",
    "batch mates change nothing",
    "a common score shift changes nothing",
    "finite for scores up to 1e4",
    "zero with a live graph where there is nothing to learn",
    "padding gets no gradient",
    "gradients equal finite differences",
]


def nodes() -> dict[str, dict[str, Any]]:
    """What each file of conf/loss says, but for the one whose target the user names."""
    read = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(CONF.glob("*.yaml"))}
    return {name: node for name, node in read.items() if node["_target_"] != "???"}


def build(node: dict[str, Any], metric: str) -> Surrogate:
    module, _, name = node["_target_"].rpartition(".")
    arguments = {key: metric if value == "${metric}" else value for key, value in node.items() if key != "_target_"}
    surrogate = getattr(import_module(module), name)(**arguments)
    assert isinstance(surrogate, Surrogate)
    return surrogate


CASES = [(name, metric) for name, node in nodes().items() for metric in (METRICS if "metric" in node else METRICS[:1])]


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_every_loss_keeps_the_contract(name: str, metric: str) -> None:
    surrogate = build(nodes()[name], metric)
    passed = check_surrogate(surrogate)
    assert set(EVERY) <= set(passed)
    assert ("belief keeps its promise" in passed) == (surrogate.kind != "neither")


def test_the_losses_that_this_toolkit_ships() -> None:
    assert {"approx", "lambdarank", "listnet", "mse", "ranknet", "softmax"} <= set(nodes())


def test_the_metric_is_named_once() -> None:
    """A loss takes the run's metric, so that naming another re-aims it too."""
    for name, node in nodes().items():
        assert node.get("metric", "${metric}") == "${metric}", name

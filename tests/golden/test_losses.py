"""Our losses against the values and gradients of ten public libraries; losses.json says which, and which version.

Left out, because the definitions differ: Rax's cutoffs and AP on soft ranks (it softens the ranks alone), and weights
of tied scores (its ties stand in the order of the input, ours are averaged).
"""

import json
from math import log
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ltr import losses

GOLDEN = json.loads(Path(__file__).with_name("losses.json").read_text())
FACTORS = {"1": 1.0, "-1": -1.0, "ln2": log(2), "1/ln2": 1 / log(2)}
SINGLE = ("LightGBM", "XGBoost", "ptranking", "sentence-transformers", "tensorflow-ranking")  # computed in float32


def lists(fixture: str) -> tuple[Tensor, Tensor, Tensor]:
    each = GOLDEN["fixtures"][fixture]
    scores, labels = (torch.tensor(each[name], dtype=torch.float64) for name in ("scores", "labels"))
    return scores.requires_grad_(), labels, torch.tensor(each["mask"]).bool()


def reduced(per_list: Tensor, over: list[str], labels: Tensor, mask: Tensor) -> Tensor:
    """The per-list values as that library reduces them over the batch."""
    pairs = ((labels[:, :, None] > labels[:, None]) & mask[:, :, None] & mask[:, None]).sum((1, 2))
    amounts = {
        "one": torch.ones(len(labels)),
        "pairs": pairs,
        "documents": mask.sum(1),
        "labels": labels.sum(1),
        "slots": torch.full((len(labels),), labels.shape[1]),
    }
    totals = {name: amount.sum() for name, amount in amounts.items()}
    totals |= {"one": torch.tensor(1.0), "lists": totals["one"], "batch slots": totals["slots"]}
    weight, divisor, factor = over
    return FACTORS[factor] * (per_list * amounts[weight]).sum() / totals[divisor]


def tolerance(case: dict[str, Any]) -> float:
    if case["peer"].startswith("LightGBM"):
        return 5e-5  # its sigmoid is a table
    return 1e-5 if case["peer"].startswith(SINGLE) else 2e-6  # allRank: discounts in float32, 1e-10 in the logarithm


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: f"{case['peer']} {case['loss']} {case['fixture']}")
def test_value_and_gradient(case: dict[str, Any]) -> None:
    scores, labels, mask = lists(case["fixture"])
    surrogate = getattr(losses, case["ours"])(**case["arguments"])
    value = reduced(getattr(surrogate, case.get("of", "forward"))(scores, labels, mask), case["over"], labels, mask)
    if case["value"] is not None:
        assert value.item() == pytest.approx(case["value"], rel=tolerance(case), abs=tolerance(case))
    if "gradient" in case:
        value.backward()
        given = torch.tensor([[float("nan") if each is None else each for each in row] for row in case["gradient"]])
        known = ~torch.isnan(given)
        difference = (scores.grad - given)[known].abs().max()
        assert difference <= tolerance(case) * max(1.0, scores.grad.abs().max().item())


def test_every_loss_has_a_peer() -> None:
    assert {case["ours"] for case in GOLDEN["cases"]} == {
        *("ApproxMetric", "LambdaRank", "ListNet", "Softmax", "RankNet", "MSE")
    }
    assert len({case["peer"].split()[0] for case in GOLDEN["cases"]}) == 9


@pytest.mark.parametrize("fixture", ["graded5", "masked3x6", "batch4x15"])
def test_one_lambda_rank_under_two_names(fixture: str) -> None:
    """c = sum of |G_i - G_j| |d_i - d_j| ln(1 + exp(-s_ij)): allRank sums c / ln 2, Rax sums c L."""
    scores, labels, mask = lists(fixture)
    bits = losses.LambdaRank("ndcg")(scores, labels, mask).sum()
    peers = {
        (case["peer"].split()[0], *case["over"]): case["value"]
        for case in GOLDEN["cases"]
        if case["fixture"] == fixture and case["ours"] == "LambdaRank" and case["arguments"].get("metric") == "ndcg"
    }
    assert peers[("allRank", "one", "one", "1")] == pytest.approx(bits.item(), rel=1e-5)
    assert peers[("rax", "slots", "one", "ln2")] == pytest.approx(bits.item() * log(2) * labels.shape[1], rel=1e-5)

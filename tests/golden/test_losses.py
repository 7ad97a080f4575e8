"""Our losses against the values and gradients of public libraries, a file for each loss.

Met by way of what we return: Rax divides precision by the sum of its soft cutoffs, which is ours of a list of relevant
documents alone; the authors of SmoothI take the gain 2^y, which ours is given, and 1 for a list without an answer.

Left out: padded lists under Rax's soft cutoff, to which each padded place has rank 1 (a batch that holds one counts by
the gradients of its other lists); LightGBM's wide scores, of which its trees tell no document's gradient; TensorFlow
Ranking's sigmoid cross entropy of labels above 1, which is below 0; the gradients of Rax's and its at a score of
exactly 0, which are of one side; the gradients of allRank's neuralNDCG in a batch of unlike lists, which go on until
the last has converged; allRank's root mean squared error, of five times the scores; and CatBoost's QuerySoftMax where
it underflows.
"""

import json
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ltr import losses
from ltr.metrics import NDCG, parse

FOLDER = Path(__file__).with_name("losses")
FIXTURES = json.loads((FOLDER / "fixtures.json").read_text())["fixtures"]
CASES = [
    case for path in sorted(FOLDER.glob("*.json")) if path.stem != "fixtures" for case in json.loads(path.read_text())
]
FACTORS = {"1": 1.0, "2": 2.0, "-1": -1.0, "ln2": log(2), "1/ln2": 1 / log(2)}
SINGLE = ("LightGBM", "XGBoost", "ptranking", "sentence-transformers", "tensorflow-ranking")  # computed in float32


@dataclass(frozen=True)
class Power:
    """2^y: what a gain is to the authors of SmoothI."""

    word = "power"
    formula = "2^y"

    def __call__(self, relevance: Tensor) -> Tensor:
        return torch.exp2(relevance)

    def relative(self, relevance: Tensor, top: Tensor) -> Tensor:
        return torch.exp2(relevance - top)


NAMELESS = {"ndcg-power@3": NDCG(k=3, gain=Power())}  # metrics of gains of one's own


def surrogate(case: dict[str, Any]) -> losses.Surrogate:
    arguments = dict(case["arguments"])
    if arguments.get("metric") in NAMELESS:
        arguments["metric"] = NAMELESS[arguments["metric"]]
    made: losses.Surrogate = getattr(losses, case["ours"])(**arguments)
    return made


def lists(fixture: str, read: str = "graded") -> tuple[Tensor, Tensor, Tensor]:
    """Scores, labels as that library reads them (its "places": the order of the input is the ideal), and mask."""
    each = FIXTURES[fixture]
    scores, labels = (torch.tensor(each[name], dtype=torch.float64) for name in ("scores", "labels"))
    mask = torch.tensor(each["mask"]).bool()
    read_as = {"graded": labels, "binary": (labels > 0).double(), "squares": labels.square()}
    read_as["places"] = mask * torch.arange(labels.shape[1], 0, -1).double()
    return scores.requires_grad_(), read_as[read], mask


def pairs_of(labels: Tensor, mask: Tensor) -> Tensor:
    return ((labels[:, :, None] > labels[:, None]) & mask[:, :, None] & mask[:, None]).sum((1, 2))


def reduced(per_list: Tensor, over: list[str], scores: Tensor, labels: Tensor, mask: Tensor) -> Tensor:
    """The per-list values as that library reduces them over the batch."""
    first = mask & (scores.detach().masked_fill(~mask, -torch.inf).argsort(1, descending=True).argsort(1) < 3)
    amounts = {
        "one": torch.ones(len(labels)),
        "pairs": pairs_of(labels, mask),
        "pairs among 3": pairs_of(labels, first),
        "squares": mask.sum(1) ** 2,
        "squares among 3": first.sum(1) ** 2,
        "documents": mask.sum(1),
        "answered": (labels > 0).any(1),
        "labels": labels.sum(1),
        "per label": 1 / labels.sum(1).clamp(min=1),
        "gains": (2**labels - 1).sum(1),
        "slots": torch.full((len(labels),), labels.shape[1]),
    }
    totals = {name: amount.sum() for name, amount in amounts.items()}
    totals |= {"one": torch.tensor(1.0), "lists": totals["one"], "batch slots": totals["slots"]}
    weight, divisor, factor = over
    value = (per_list * amounts[weight]).sum() / totals[divisor]
    return value.sqrt() if factor == "root" else FACTORS[factor] * value


def tolerance(case: dict[str, Any]) -> float:
    if case["peer"].startswith("LightGBM"):
        return 5e-5  # its sigmoid is a table
    if case["loss"] == "LambdaNDCGLoss1":
        return 1e-5  # its discounts are in float32
    return 1e-5 if case["peer"].startswith(SINGLE) else 2e-6  # allRank: discounts in float32, 1e-10 in the logarithm


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['peer']} {case['loss']} {case['fixture']}")
def test_value_and_gradient(case: dict[str, Any]) -> None:
    scores, labels, mask = lists(case["fixture"], case.get("labels", "graded"))
    ours, of = surrogate(case), case.get("of", "forward")
    more = {
        name: torch.tensor(case[name], dtype=torch.float64) for name in ("noise", "weight", "teacher") if name in case
    }
    per_list = getattr(ours, of.removeprefix("1 - "))(scores, labels, mask, **more)
    if of.startswith("1 - "):  # for a list without an answer too
        per_list = 1 - per_list
    if case.get("per") == "its cutoffs":
        per_list = per_list / ours.estimate(scores, torch.ones_like(labels), mask)
    if "plus" in case:  # a constant of that library's: the metric of the scores
        per_list = per_list + parse(case["plus"])(scores, labels, mask)
    value = reduced(per_list, case["over"], scores, labels, mask)
    if case["value"] is not None:
        assert value.item() == pytest.approx(case["value"], rel=tolerance(case), abs=tolerance(case))
    if "gradient" in case:
        value.backward()
        given = torch.tensor([[float("nan") if each is None else each for each in row] for row in case["gradient"]])
        known = ~torch.isnan(given)
        difference = (scores.grad - given)[known].abs().max()
        assert difference <= tolerance(case) * max(1.0, scores.grad.abs().max().item())


def test_the_peers_are_nine_libraries_and_the_code_of_two_papers() -> None:
    assert {case["peer"].split()[0] for case in CASES} == {
        *("CatBoost", "LightGBM", "XGBoost", "allRank", "ptranking", "pytorchltr", "rax", "sentence-transformers"),
        *("tensorflow-ranking", "PL-Rank", "SmoothI"),
    }


@pytest.mark.parametrize("fixture", ["graded5", "masked3x6", "batch4x15"])
def test_one_lambda_rank_under_three_names(fixture: str) -> None:
    """c = sum of |G_i - G_j| |d_i - d_j| ln(1 + exp(-s_ij)): allRank sums c / ln 2, Rax c L, and TensorFlow Ranking
    divides that by B L."""
    scores, labels, mask = lists(fixture)
    bits = losses.LambdaRank("ndcg")(scores, labels, mask).sum()
    peers = {
        (case["peer"].split()[0], *case["over"]): case["value"]
        for case in CASES
        if case["fixture"] == fixture and case["ours"] == "LambdaRank" and case["arguments"].get("metric") == "ndcg"
    }
    assert peers[("allRank", "one", "one", "1")] == pytest.approx(bits.item(), rel=1e-5)
    assert peers[("rax", "slots", "one", "ln2")] == pytest.approx(bits.item() * log(2) * labels.shape[1], rel=1e-5)
    assert peers[("tensorflow-ranking", "slots", "batch slots", "ln2")] == pytest.approx(
        bits.item() * log(2) / len(labels), rel=1e-5
    )

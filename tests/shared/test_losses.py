"""Every reference value of a loss that the reference file calls reproducible is in tests/golden, or is named here with
the reason why not."""

import json
from collections import Counter, defaultdict
from math import isclose
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.shared

GOLDEN = Path(__file__).parents[1] / "golden" / "losses"
NONE = "no surrogate of this package"
ELSEWHERE = "in tests/golden/permutations.json, as matrices"
LEFT_OUT = {
    ("CatBoost", "QuerySoftMax"): (1, "where it underflows"),
    ("CatBoost", "QuerySoftMax:beta=0.5"): (1, "where it underflows"),
    ("PL-Rank", "PL_rank_1"): (4, "an estimator of higher variance; the second and third are one, and ours"),
    ("PL-Rank", "expected DCG@K under Plackett-Luce (exact, by enumeration)"): (4, "in tests/losses/test_expected.py"),
    ("allRank", "pointwise_rmse"): (3, NONE),
    ("ptranking", "RankCosine"): (6, NONE),
    ("soft-sort family", "NeuralSort"): (6, ELSEWHERE),
    ("soft-sort family", "SoftSort"): (12, ELSEWHERE),
    ("soft-sort family", "diffsort.odd_even"): (4, NONE),
    ("soft-sort family", "torchsort.soft_rank"): (10, NONE),
    ("tensorflow-ranking", "NeuralSortCrossEntropyLoss"): (4, NONE),
    ("tensorflow-ranking", "SigmoidCrossEntropyLoss"): (3, "labels above 1, which ours refuses"),
}


def key(case: dict[str, Any], lists: dict[str, Any]) -> str:
    numbers = [[[float(each) for each in row] for row in lists[name]] for name in ("scores", "labels", "mask")]
    return json.dumps([case["peer"].split()[0], case["loss"], numbers])


def number(value: Any) -> float:
    """Not there: no value is recorded, or none that is a number."""
    return value if isinstance(value, int | float) else float("nan")


def test_every_reproducible_case_is_a_golden_case_or_has_a_reason(shared: Path) -> None:
    fixtures = json.loads((GOLDEN / "fixtures.json").read_text())["fixtures"]
    ours = defaultdict(list)
    for path in GOLDEN.glob("*.json"):
        for case in json.loads(path.read_text()) if path.stem != "fixtures" else ():
            ours[key(case, fixtures[case["fixture"]])].append(number(case["value"]))
    missing = Counter(
        (case["peer"], case["loss"])
        for case in json.loads((shared / "cases" / "losses_golden.json").read_text())["cases"]
        if case["parity"] and case["kind"] != "metric"
        if not any(
            isclose(each, number(case["value"]), rel_tol=1e-6, abs_tol=1e-9) or each != each
            for each in ours[key(case, case)]
        )
    )
    assert dict(missing) == {name: count for name, (count, _) in LEFT_OUT.items()}

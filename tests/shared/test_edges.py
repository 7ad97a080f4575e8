"""Every reference value of the edge cases, under every rule that they list."""

import json
from dataclasses import replace
from functools import cache
from math import isfinite, isnan, log2
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest

from ltr.gains import Exp2
from ltr.metrics import RankingMetric, parse

pytestmark = pytest.mark.shared

METRICS = {
    "nDCG@5": "ndcg-linear@5",
    "nDCG": "ndcg-linear",
    "DCG@5": "dcg-linear@5",
    "AP": "ap",
    "AP@5 /R": "ap@5",
    "AP@5 /min(R,k)": "ap-min@5",
    "AP@5 /hits": "ap-hits@5",
    "RR": "mrr",
    "RR@5": "mrr@5",
    "P@5": "precision@5",
    "P@5 /min(k,n)": "precision-min@5",
    "R@5": "recall@5",
    "Success@5": "success@5",
    "PairAcc": "pairs",
    "Judged@5": "judged@5",
}
RULES: dict[str, dict[str, Any]] = {
    "default: ties=expected, linear gain, IDCG over the pool, unjudged=non-relevant": {},
    "ties=input order": {"ties": "stable"},
    "ties=docid desc (trec_eval)": {"ties": "docid"},
    "ties=best": {"ties": "best"},
    "ties=worst": {"ties": "worst"},
    "gain=exp": {"gain": Exp2()},
    "IDCG over retrieved": {"ideal": "retrieved"},
    "unjudged=ignored (condensed)": {"unjudged": "ignored"},
    "rel threshold 2": {"threshold": 2.0},
}
OVERFLOWS = ("nDCG@5", "nDCG", "DCG@5")
Rows = list[tuple[float, float, bool, bool]]  # score, label, returned, judged


@cache
def cases(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["cases"]
    return found


def rows(case: dict[str, Any], query: str, by_id: bool) -> Rows:
    """The documents of a query as the run lists them, or by descending id; then the judged ones that it lacks."""
    labels = {name: float(label) for name, label in case["input"]["qrels"].get(query, [])}
    run = [(name, float(score)) for name, score in case["input"]["run"].get(query, [])]
    judged = {name for name, label in labels.items() if not label < 0}
    listed = sorted(run, reverse=True, key=itemgetter(0)) if by_id else run
    known = [(score, labels.get(name, 0), True, name in judged) for name, score in listed]
    returned = {name for name, _ in run}
    return known + [(0, label, False, name in judged) for name, label in labels.items() if name not in returned]


def with_rule(metric: RankingMetric, rule: dict[str, Any]) -> RankingMetric:
    known = {option.name for option in metric.options()}
    return replace(metric, **{name: value for name, value in rule.items() if name in known})


def measured(metric: RankingMetric, given: Rows) -> float | None:
    scores, labels, returned, judged = (list(column) for column in zip(*given, strict=True))
    labels = [label if known else 0 for label, known in zip(labels, judged, strict=True)]
    parts = {"retrieved": returned, "judged": judged}
    defined = metric.defined(labels, **parts).item()
    return metric(scores, labels, **parts).item() if defined else None


@pytest.mark.parametrize("rule", RULES)
def test_reference_values(shared: Path, rule: str) -> None:
    """What is undefined here is null there, or 0 where the reference counts it so."""
    by_id, compared, refused, beyond = RULES[rule].get("ties") == "docid", 0, set(), set()
    for case in cases(shared / "cases" / "metric_edges.json"):
        for query, values in case["values"]["reference"][rule]["per_query"].items():
            given, run = rows(case, query, by_id), case["input"]["run"].get(query, [])
            if len({name for name, _ in run}) < len(run) or isinstance(values, str):
                refused.add(case["id"])  # a document that is named twice, or an error of the reference too
                continue
            for name, wanted in values.items():
                metric, where = with_rule(parse(METRICS[name]), RULES[rule]), f"{case['id']} {query} {name}"
                if any(isnan(score) or isnan(label) for score, label, *_ in given):
                    with pytest.raises(ValueError, match="must be"):
                        measured(metric, given)
                    refused.add(case["id"])
                elif wanted is not None and not isfinite(float(wanted)):
                    beyond.add(where)
                else:
                    found = measured(metric, given) if given else None
                    if found is None:
                        assert wanted in (None, 0), where
                    else:
                        assert found == pytest.approx(float(wanted), rel=1e-6, abs=1e-6), where
                    compared += 1
    assert refused == {"nan_score_nonrel", "nan_score_rel", "nan_label", "dup_doc_in_run"}
    assert beyond == ({f"label_1100 q1 {name}" for name in OVERFLOWS} if rule == "gain=exp" else set())
    assert compared == 825 - len(beyond)


def test_a_gain_beyond_float64(shared: Path) -> None:
    """2^1100 - 1: the reference has no number; NDCG needs none, and DCG says so."""
    (case,) = (case for case in cases(shared / "cases" / "metric_edges.json") if case["id"] == "label_1100")
    assert measured(parse("ndcg@5"), rows(case, "q1", False)) == pytest.approx(1 / log2(3))
    with pytest.raises(ValueError, match="dcg: the gain of label 1100 is beyond float64"):
        measured(parse("dcg@5"), rows(case, "q1", False))

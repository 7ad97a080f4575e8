"""Presets: the options under which a metric gives another program's number."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ltr.discounts import Letor
from ltr.gains import Linear
from ltr.metrics.base import RankingMetric, spell
from ltr.metrics.parse import parse, plain

Queries = Literal["judged", "intersection", "strict"]


@dataclass(frozen=True)
class Preset:
    """Another program's conventions, as options of this toolkit's metrics.

    An option that the metric already has at another value than its default stays, and so does the cutoff: what
    somebody asked for wins over the preset.

    Args:
        name: what one types.
        about: the program, the version whose output was reproduced, and what is its own about it.
        metrics: base -> the options that differ from the default there; a base that is absent is refused.
        every: options of all these metrics, where they have them and ``metrics`` says nothing else.
        queries: which queries count: "judged" (those of the judgements; one missing in the run counts 0),
            "intersection" (those on both sides) or "strict" (both sides must have the same ones).
        unjudged_label: what it takes for the label of documents that nobody judged; "negative": any below 0.
        scores: the precision in which it compares scores, "float32" or that of the input (None); two that are one
            number there are equal, so the lists are brought to it (``RankedLists.held_in``) before ties are ordered.

    Example:
        >>> PRESETS["trec_eval"].parse("ndcg@10").name
        'ndcg-linear-docid-zero@10'
        >>> PRESETS["trec_eval"].parse("ndcg-exp2@10").name
        'ndcg-docid-zero@10'
    """

    name: str
    about: str
    metrics: Mapping[str, Mapping[str, Any]]
    every: Mapping[str, Any] = field(default_factory=dict)
    queries: Queries = "intersection"
    unjudged_label: Literal["negative"] | None = None
    scores: Literal["float32"] | None = None

    def apply(self, metric: RankingMetric, keep: Collection[str] = ()) -> RankingMetric:
        """The metric as the program computes it.

        Args:
            metric: any; its options that are not at their default stay.
            keep: names of options that stay although they are at their default.

        Raises:
            ValueError: the program has no such metric.
        """
        if metric.base not in self.metrics:
            raise ValueError(f"preset {self.name} has no {metric.base}; it has {', '.join(self.metrics)}")
        wanted = {**self.every, **self.metrics[metric.base]}
        free = [
            each for each in metric.options() if each.name not in keep and getattr(metric, each.name) == each.default
        ]
        return replace(metric, **{each.name: wanted[each.name] for each in free if each.name in wanted})

    def parse(self, name: str) -> RankingMetric:
        """The metric that a name means to the program: each word of the name wins, even where it is a default.

        Raises:
            ValueError: the name is none, or the program has no such metric.
        """
        metric = parse(name)
        words = plain(name).partition("@")[0].split("-")[1:]
        spelled = [each.name for each in metric.options() if spell(each, getattr(metric, each.name), "word") in words]
        return self.apply(metric, spelled)


_BINARY: dict[str, dict[str, Any]] = {base: {} for base in ("mrr", "ap", "precision", "recall", "success", "rprec")}
_LINEAR = {"gain": Linear()}
_ARRAYS = {"ideal": "retrieved", "empty": "zero"}  # such programs see only the documents that were returned
_SCRIPT = {"ndcg": {"discount": Letor(), "short": "zero"}, "precision": {}, "ap": {}}

PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "trec_eval",
            "trec_eval 10.0 and 9.0.8 and pytrec_eval-terrier 0.5.11, scores in float32; "
            "not followed: labels cut to whole numbers, rbp of labels above 1",
            {"ndcg": _LINEAR, **_BINARY, "f1": {}, "rbp": {"p": 0.9}, "bpref": {}},
            {"ties": "docid", "empty": "zero"},
            unjudged_label="negative",
            scores="float32",
        ),
        Preset(
            "letor",
            "the Perl script of LETOR 4.0; a list shorter than k has NDCG@k = 0",
            _SCRIPT,
            {**_ARRAYS, "ties": "stable"},
        ),
        Preset(
            "mslr",
            "the Perl script of MSLR-WEB10K and 30K; as letor, and relevant from label 2 on",
            _SCRIPT,
            {**_ARRAYS, "ties": "stable", "threshold": 2.0},
        ),
        Preset(
            "lightgbm",
            "LightGBM 4.7.0; a list with nothing relevant counts 1",
            {"ndcg": {}, "ap": {"divisor": "min"}},
            {**_ARRAYS, "ties": "stable", "empty": "one"},
        ),
        Preset(
            "xgboost",
            "XGBoost 3.2.0; a list with nothing relevant counts 1 (0 in its ndcg@k-), scores in float32",
            {"ndcg": {"empty": "one"}, "ap": {"divisor": "min", "empty": "one"}, "precision": {"divisor": "min"}},
            {**_ARRAYS, "ties": "stable"},
            scores="float32",
        ),
        Preset(
            "catboost",
            "CatBoost 1.2.10; equal scores in the worst order; pairs is its QueryAUC of type Ranking",
            {
                "ndcg": {**_LINEAR, "empty": "one"},
                "dcg": _LINEAR,
                "mrr": {},
                "ap": {"divisor": "min"},
                "precision": {"divisor": "min"},
                "recall": {"empty": "one"},
                "pairs": {"ties": "average"},
            },
            {**_ARRAYS, "ties": "worst"},
        ),
        Preset(
            "sklearn",
            "scikit-learn 1.9.1: ndcg_score, dcg_score, average_precision_score, roc_auc_score; "
            "not followed: ap where two relevant documents have equal scores",
            {"ndcg": _LINEAR, "dcg": _LINEAR, "ap": {"ties": "worst"}, "auc": {"empty": "skip"}},
            _ARRAYS,
        ),
        Preset(
            "torchmetrics",
            "torchmetrics 1.9.0; ties are averaged by nDCG and AUROC alone, scores in float32; "
            "not followed: its unstable order of other ties, scores of 0 or less, which are no hits there",
            {
                "ndcg": {**_LINEAR, "ties": "average"},
                **_BINARY,
                "ap": {"divisor": "hits"},
                "auc": {"ties": "average"},
            },
            {**_ARRAYS, "ties": "stable"},
            scores="float32",
        ),
        Preset(
            "ranx",
            "ranx 0.3.21 on Qrels and Run; not followed: its unstable order of equal scores in lists of more than 15, "
            "labels cut to whole numbers, rbp of labels above 1, bpref, which a query with nothing relevant spoils for "
            "others",
            {"ndcg": _LINEAR, "dcg": _LINEAR, **_BINARY, "f1": {}, "rbp": {}},
            {"ties": "stable", "empty": "zero"},
            "strict",
        ),
        Preset(
            "rax",
            "Rax 0.4.0; pairs is its opa_metric, where a tied pair is a wrong one; scores in float32; "
            "not followed: scores of -inf, which are not ranked there",
            {
                "ndcg": {},
                "dcg": {},
                "mrr": {},
                "ap": {},
                "precision": {"divisor": "min"},
                "recall": {},
                "pairs": {"ties": "worst"},
            },
            {**_ARRAYS, "ties": "stable"},
            scores="float32",
        ),
    )
}

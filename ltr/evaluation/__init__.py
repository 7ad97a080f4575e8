"""Evaluation: scores to per-query values, means with intervals, and paired comparisons."""

from ltr.evaluation.intervals import Interval, interval
from ltr.evaluation.paired import Comparison, PValue, compare, counted_lists, differing, paired_t, sign_flip
from ltr.evaluation.scoring import score
from ltr.evaluation.tables import MetricValues, QueryValue, Summary, per_query

__all__ = [
    "Comparison",
    "Interval",
    "MetricValues",
    "PValue",
    "QueryValue",
    "Summary",
    "compare",
    "counted_lists",
    "differing",
    "interval",
    "paired_t",
    "per_query",
    "score",
    "sign_flip",
]

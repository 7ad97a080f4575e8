"""Evaluation: ranked lists to per-query values, means with intervals, worst and best cases, and paired comparisons."""

from ltr.evaluation.aggregates import Aggregate, aggregate
from ltr.evaluation.arrays import SwappedWarning, evaluate
from ltr.evaluation.curves import Setting, curve
from ltr.evaluation.extremes import Bounds, Range, bounds
from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.output import write_rows
from ltr.evaluation.paired import Comparison, PValue, compare, differing, paired_t, sign_flip
from ltr.evaluation.regret import Regret, regret_classes, regret_of, split_regret
from ltr.evaluation.results import Evaluation, Findings, evaluate_lists
from ltr.evaluation.scoring import score
from ltr.evaluation.tables import MetricValues, QueryValue, Summary, lists_of, per_query
from ltr.evaluation.turning import Turn, could_turn
from ltr.intervals import Interval, interval

__all__ = [
    "Aggregate",
    "Bounds",
    "Comparison",
    "Evaluation",
    "Findings",
    "Interval",
    "MetricValues",
    "PValue",
    "QueryValue",
    "Range",
    "RankedLists",
    "Regret",
    "Setting",
    "Summary",
    "SwappedWarning",
    "Turn",
    "aggregate",
    "bounds",
    "compare",
    "could_turn",
    "curve",
    "differing",
    "evaluate",
    "evaluate_lists",
    "interval",
    "join",
    "lists_of",
    "paired_t",
    "per_query",
    "regret_classes",
    "regret_of",
    "score",
    "sign_flip",
    "split_regret",
    "write_rows",
]

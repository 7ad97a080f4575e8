"""Exact metrics, each a value: ``parse("ndcg@10")(scores, relevance)``."""

from ltr.discounts import Geometric, Letor, Log2, Reciprocal
from ltr.gains import Binary, Exp2, Linear, Table
from ltr.metrics.ap import AP
from ltr.metrics.base import BinaryMetric, RankingMetric
from ltr.metrics.dcg import DCG
from ltr.metrics.ndcg import NDCG
from ltr.metrics.parse import METRICS, parse
from ltr.metrics.precision import Precision
from ltr.metrics.recall import Recall
from ltr.metrics.rr import RR

__all__ = [
    "AP",
    "DCG",
    "METRICS",
    "NDCG",
    "RR",
    "Binary",
    "BinaryMetric",
    "Exp2",
    "Geometric",
    "Letor",
    "Linear",
    "Log2",
    "Precision",
    "RankingMetric",
    "Recall",
    "Reciprocal",
    "Table",
    "parse",
]

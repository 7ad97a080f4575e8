"""Exact metrics, each a value: ``parse("ndcg@10")(scores, relevance)``."""

from ltr.discounts import Geometric, Letor, Log2, Reciprocal
from ltr.gains import Binary, Exp2, Linear, Table
from ltr.metrics.ap import AP
from ltr.metrics.arp import ARP
from ltr.metrics.auc import AUC
from ltr.metrics.base import BinaryMetric, RankingMetric
from ltr.metrics.bpref import Bpref
from ltr.metrics.dcg import DCG
from ltr.metrics.err import ERR
from ltr.metrics.f1 import F1
from ltr.metrics.gradedap import GradedAP
from ltr.metrics.judged import Judged
from ltr.metrics.measure import Answer, Measured, answer, measure
from ltr.metrics.ndcg import NDCG
from ltr.metrics.pairs import PairAccuracy
from ltr.metrics.parse import METRICS, parse
from ltr.metrics.precision import Precision
from ltr.metrics.presets import PRESETS, Preset
from ltr.metrics.rbp import RBP
from ltr.metrics.recall import Recall
from ltr.metrics.rprec import RPrecision
from ltr.metrics.rr import RR
from ltr.metrics.success import Success
from ltr.metrics.tau import KendallTau

__all__ = [
    "AP",
    "ARP",
    "AUC",
    "DCG",
    "ERR",
    "F1",
    "METRICS",
    "NDCG",
    "PRESETS",
    "RBP",
    "RR",
    "Answer",
    "Binary",
    "BinaryMetric",
    "Bpref",
    "Exp2",
    "Geometric",
    "GradedAP",
    "Judged",
    "KendallTau",
    "Letor",
    "Linear",
    "Log2",
    "Measured",
    "PairAccuracy",
    "Precision",
    "Preset",
    "RPrecision",
    "RankingMetric",
    "Recall",
    "Reciprocal",
    "Success",
    "Table",
    "answer",
    "measure",
    "parse",
]

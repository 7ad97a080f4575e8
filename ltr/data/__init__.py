"""Data: from files to padded batches of whole lists."""

from ltr.data.batches import BucketBatches, ListDataset
from ltr.data.formats.letor import read_letor
from ltr.data.formats.tables import read_table
from ltr.data.formats.trec import Run, read_qrels, read_run
from ltr.data.labels import LabelReport, check_trainable, describe_labels, map_labels
from ltr.data.ranking_data import DataError, RankingData, Splits
from ltr.data.sets.letor import letor
from ltr.data.sets.mslr_sample import mslr_sample
from ltr.data.sets.synthetic import synthetic
from ltr.data.splits import split_by_query
from ltr.data.transforms import Identity, Quantile, Standardise, Symlog
from ltr.data.weights import apply_weights

__all__ = [
    "BucketBatches",
    "DataError",
    "Identity",
    "LabelReport",
    "ListDataset",
    "Quantile",
    "RankingData",
    "Run",
    "Splits",
    "Standardise",
    "Symlog",
    "apply_weights",
    "check_trainable",
    "describe_labels",
    "letor",
    "map_labels",
    "mslr_sample",
    "read_letor",
    "read_qrels",
    "read_run",
    "read_table",
    "split_by_query",
    "synthetic",
]

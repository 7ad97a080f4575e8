"""Data: from files to padded batches of whole lists."""

from ltr.data.batches import BucketBatches, ListDataset
from ltr.data.formats.letor import read_letor
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
    "split_by_query",
    "synthetic",
]

"""Training on a surrogate, validating on the exact metric: the only room with Lightning in it."""

from ltr.training.checkpoint import Checkpoint
from ltr.training.fitting import fit
from ltr.training.loaders import RankingDataModule
from ltr.training.module import RankingModule
from ltr.training.randomness import Randomness, seed_everything
from ltr.training.recorder import Recorder
from ltr.training.schedules import constant, cosine
from ltr.training.stopping import EarlyStopping
from ltr.training.tables import MetricMean, QueryTable

__all__ = [
    "Checkpoint",
    "EarlyStopping",
    "MetricMean",
    "QueryTable",
    "Randomness",
    "RankingDataModule",
    "RankingModule",
    "Recorder",
    "constant",
    "cosine",
    "fit",
    "seed_everything",
]

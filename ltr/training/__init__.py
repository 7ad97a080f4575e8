"""Training on a surrogate, validating on the exact metric: the only room with Lightning in it.

Each name is imported when it is first used, so that ``MetricMean`` and ``QueryTable`` come without Lightning.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "Anneal",
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

if TYPE_CHECKING:
    from ltr.training.anneal import Anneal
    from ltr.training.checkpoint import Checkpoint
    from ltr.training.fitting import fit
    from ltr.training.loaders import RankingDataModule
    from ltr.training.means import MetricMean
    from ltr.training.module import RankingModule
    from ltr.training.randomness import Randomness, seed_everything
    from ltr.training.recorder import Recorder
    from ltr.training.schedules import constant, cosine
    from ltr.training.stopping import EarlyStopping
    from ltr.training.tables import QueryTable
else:
    _HOMES = {
        "anneal": ("Anneal",),
        "checkpoint": ("Checkpoint",),
        "fitting": ("fit",),
        "loaders": ("RankingDataModule",),
        "means": ("MetricMean",),
        "module": ("RankingModule",),
        "randomness": ("Randomness", "seed_everything"),
        "recorder": ("Recorder",),
        "schedules": ("constant", "cosine"),
        "stopping": ("EarlyStopping",),
        "tables": ("QueryTable",),
    }
    _HOME = {name: home for home, names in _HOMES.items() for name in names}

    def __getattr__(name: str) -> object:
        if name in _HOME:
            return getattr(import_module(f"ltr.training.{_HOME[name]}"), name)
        raise AttributeError(f"module 'ltr.training' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return __all__

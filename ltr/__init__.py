"""Learning to rank: train on a surrogate, validate on the exact metric, and know the gap between them.

`import ltr` is light: each room (`ltr.metrics`, `ltr.losses`, ...) is imported when it is first named.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "__version__",
    "data",
    "discounts",
    "evaluate",
    "evaluation",
    "gains",
    "gap",
    "lists",
    "load",
    "losses",
    "metrics",
    "models",
    "ranking",
    "runs",
    "testing",
    "training",
]

if TYPE_CHECKING:
    from ltr import data, discounts, evaluation, gains, gap, lists, losses, metrics, models, ranking, runs, testing
    from ltr import training as training
    from ltr.cli.load import load
    from ltr.evaluation import evaluate
else:

    def __getattr__(name: str) -> object:
        if name == "load":
            return import_module("ltr.cli.load").load
        if name == "evaluate":
            return import_module("ltr.evaluation").evaluate
        if name in __all__:
            return import_module(f"ltr.{name}")
        raise AttributeError(f"module 'ltr' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return __all__

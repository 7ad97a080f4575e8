"""The contracts that metrics and surrogates are held to, yours included."""

from ltr.testing.metrics import check_metric
from ltr.testing.surrogates import check_surrogate

__all__ = ["check_metric", "check_surrogate"]

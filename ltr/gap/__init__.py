"""The gap between a surrogate and its metric, as values: from scores, labels and losses alone."""

from ltr.gap.belief import columns, summarise
from ltr.gap.concordance import concordance

__all__ = ["columns", "concordance", "summarise"]

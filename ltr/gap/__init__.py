"""The gap between a surrogate and its metric, as values: from scores, labels and losses alone."""

from ltr.gap.alignment import alignment, step_yield, swap_coherence
from ltr.gap.belief import columns, summarise
from ltr.gap.budget import blind, budget_distance, reach
from ltr.gap.concordance import concordance
from ltr.gap.smoothed import smoothed_gradient

__all__ = [
    "alignment",
    "blind",
    "budget_distance",
    "columns",
    "concordance",
    "reach",
    "smoothed_gradient",
    "step_yield",
    "summarise",
    "swap_coherence",
]

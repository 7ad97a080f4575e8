"""One file per format; each yields a RankingData."""

from ltr.data.formats.letor import read_letor

__all__ = ["read_letor"]

"""One file per format: lists to train on as RankingData, judgements and runs as tables."""

from ltr.data.formats.letor import read_letor
from ltr.data.formats.tables import read_table
from ltr.data.formats.trec import Run, read_qrels, read_run

__all__ = ["Run", "read_letor", "read_qrels", "read_run", "read_table"]

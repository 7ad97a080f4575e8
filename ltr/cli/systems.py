"""Systems in files: TREC judgements with runs, or tables, as evaluation reads them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from ltr import runs
from ltr.cli.errors import ConfigError
from ltr.data import DataError
from ltr.data.formats.tables import read_table
from ltr.data.formats.trec import read_qrels, read_run
from ltr.data.judgements import Unjudged
from ltr.evaluation.joining import join
from ltr.evaluation.lists import RankedLists

if TYPE_CHECKING:
    import polars as pl

TABLES = (".csv", ".csv.gz", ".parquet")
ENDINGS = (".gz", ".csv", ".parquet", ".run", ".txt", ".trec")  # what a system's name does without


def check_foreign(given: Mapping[str, object], why: str) -> None:
    """Refuse keys that the inputs have no use for.

    Raises:
        ConfigError: one line for each that is neither null nor "error", which assessors are unless said otherwise.
    """
    told = [key for key, value in given.items() if value not in (None, "error")]
    if told:
        raise ConfigError([f"{key}: {why}" for key in told])


def are_files(inputs: Sequence[str]) -> bool:
    """Do the inputs name files, and not a trained run (a folder, its name, or ``last``)?"""
    return len(inputs) > 1 or os.path.isfile(os.path.expanduser(inputs[0])) or is_table(inputs[0])


def is_table(path: str) -> bool:
    return path.lower().endswith(TABLES)


def find_run(inputs: Sequence[str], root: str | Path) -> runs.Run:
    """The one trained run that the inputs name.

    Raises:
        ConfigError: the name is that of a file which is not there.
        RunError: there is no such run.
    """
    try:
        return runs.find(inputs[0], root)
    except runs.RunError as error:
        if "." in PurePath(inputs[0]).name.strip("."):
            raise ConfigError(f"inputs: {inputs[0]} is neither a file nor a trained run") from error
        raise


@dataclass(frozen=True, eq=False)
class Systems:
    """Judgements and what systems returned, before it is said which queries count."""

    judgements: pl.DataFrame | None  # None: a table that is both
    answers: Mapping[str, tuple[str, pl.DataFrame]]  # name -> path, table
    depth: int | None
    attributes: tuple[str, pl.DataFrame] | None  # path, table
    judged_in: str  # path of the judgements
    _joined: dict[str, dict[str, RankedLists]] = field(default_factory=dict)

    @property
    def unjudged(self) -> bool:
        """Do the judgements have documents that nobody judged?"""
        tables = [table for _, table in self.answers.values()] if self.judgements is None else [self.judgements]
        return any(table["label"].null_count() for table in tables)

    def lists(self, queries: str) -> dict[str, RankedLists]:
        """Name -> what a system returned beside what the judges say.

        Args:
            queries: as ``ltr.evaluation.join`` takes it.

        Raises:
            DataError: as ``join`` says, or the attributes do not fit.
        """
        if queries not in self._joined:
            self._joined[queries] = {
                name: self._lists(path, table, queries) for name, (path, table) in self.answers.items()
            }
        return self._joined[queries]

    def _lists(self, path: str, table: pl.DataFrame, queries: str) -> RankedLists:
        if self.judgements is None:
            lists = RankedLists.from_table(table, path)
            lists = lists if self.depth is None else lists.top(self.depth)
        else:
            lists = join(
                self.judgements, table, queries=queries, depth=self.depth, source=path, judgements=self.judged_in
            )
        return lists if self.attributes is None else lists.described_by(self.attributes[1], self.attributes[0])


def read_systems(
    paths: Sequence[str],
    depth: int | None = None,
    assessors: str = "error",
    unjudged_label: Unjudged = None,
    attributes: str | None = None,
) -> Systems:
    """Judgements with one or more runs, or one table with labels and scores.

    Args:
        paths: TREC files, gzipped or not, or .csv, .csv.gz and .parquet tables.
        depth: as ``ltr.evaluation.join`` takes it.
        assessors, unjudged_label: as ``ltr.data.formats.trec.read_qrels`` takes them.
        attributes: a table of queries: their weights, dates, types.

    Raises:
        DataError: a file cannot be read, or does not hold what is wanted of it.
        ConfigError: one file that is not a whole evaluation, or a run that stands twice.
    """
    if len(paths) == 1:
        judgements, answers = None, {named(paths)[0]: (paths[0], _whole(paths[0], unjudged_label))}
    else:
        if twice := [path for place, path in enumerate(paths) if path in paths[:place]]:
            raise ConfigError(f"inputs: {twice[0]} stands twice")
        judgements = _judgements(paths[0], assessors, unjudged_label)
        answers = {name: (path, _run(path)) for name, path in zip(named(paths[1:]), paths[1:], strict=True)}
    about = None if attributes is None else (attributes, read_table(attributes))
    return Systems(judgements, answers, depth, about, paths[0])


def named(paths: Sequence[str]) -> list[str]:
    """A name for each system: its file's, less endings where that tells them apart, else with folders before it.

    Example:
        >>> named(["runs/bm25.run.gz", "dense.txt"]), named(["bm25.run", "bm25.csv"]), named(["a/x.run", "b/x.run"])
        (['bm25', 'dense'], ['bm25.run', 'bm25.csv'], ['a/x', 'b/x'])
    """
    whole = [PurePath(path) for path in paths]
    for parts in range(1, max(len(path.parts) for path in whole) + 1):
        for short in (True, False):
            found = ["/".join(path.parts[-parts:]) for path in whole]
            found = [_less(name) for name in found] if short else found
            if len(set(found)) == len(found):
                return found
    return list(paths)


def _less(name: str) -> str:
    for ending in ENDINGS:
        shorter = name.removesuffix(ending)
        name = shorter if PurePath(shorter).name else name
    return name


def _whole(path: str, unjudged_label: Unjudged) -> pl.DataFrame:
    if not is_table(path):
        raise ConfigError(f"inputs: {path} alone is no evaluation: wanted QRELS RUN, or a .csv or .parquet table")
    table = read_table(path, unjudged_label=unjudged_label)
    lacking = [name for name in ("label", "score") if name not in table.columns]
    if lacking:
        raise DataError(f"{path}: wanted labels and scores in one table, came no column for the {lacking[0]}")
    return table


def _judgements(path: str, assessors: str, unjudged_label: Unjudged) -> pl.DataFrame:
    if not is_table(path):
        return read_qrels(path, assessors=assessors, unjudged_label=unjudged_label)
    return _with(read_table(path, assessors=assessors, unjudged_label=unjudged_label), path, "document", "label")


def _run(path: str) -> pl.DataFrame:
    return _with(read_table(path), path, "document", "score") if is_table(path) else read_run(path).table


def _with(table: pl.DataFrame, path: str, *columns: str) -> pl.DataFrame:
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise DataError(f"{path}: wanted columns query, {' and '.join(columns)}, came none for the {lacking[0]}")
    return table.drop([name for name in ("label", "score") if name in table.columns and name not in columns])

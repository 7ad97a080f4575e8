"""A run folder: what lies where, written and read in one place.

config.yaml (resolved), run.json, metrics.csv, gap.jsonl, per_query.validation.csv, per_query.test.csv, checkpoints/
with index.json, and TensorBoard's event files (those of the record of settings and results in best/).
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

PER_QUERY = ("query", "metric", "value", "documents", "defined", "weight")


class RunError(ValueError):
    """A run folder or a training that cannot be used as asked, in one sentence."""


class Run:
    """One run folder.

    Example:
        >>> import tempfile
        >>> run = claim(Path(tempfile.mkdtemp()), "first", "")
        >>> run.append_metrics({"step": 0, "train/loss": 0.5})
        >>> run.append_metrics({"step": 1, "val/ndcg@10": 0.4})
        >>> print(run.metrics_path.read_text().strip())
        step,train/loss,val/ndcg@10
        0,0.5,
        1,,0.4
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    # -- what lies where ------------------------------------------------------------------------------------------

    @property
    def config_path(self) -> Path:
        return self.path / "config.yaml"

    @property
    def info_path(self) -> Path:
        return self.path / "run.json"

    @property
    def metrics_path(self) -> Path:
        return self.path / "metrics.csv"

    @property
    def gap_path(self) -> Path:
        return self.path / "gap.jsonl"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def events(self) -> Path:
        """Where TensorBoard looks: the folder itself."""
        return self.path

    def per_query(self, split: str) -> Path:
        return self.path / f"per_query.{split}.csv"

    # -- configuration and facts ----------------------------------------------------------------------------------

    def read_config(self) -> dict[str, Any]:
        """The resolved configuration that the run was started with."""
        return dict(yaml.safe_load(self._read(self.config_path)) or {})

    def write_config(self, text: str) -> None:
        """Keep the resolved configuration, as YAML text."""
        _write(self.config_path, text)

    def read_info(self) -> dict[str, Any]:
        """The facts of run.json."""
        return dict(json.loads(self._read(self.info_path)))

    def write_info(self, **facts: Any) -> None:
        """Add facts to run.json, or replace them; a number that is not finite becomes null."""
        known = self.read_info() if self.info_path.exists() else {}
        _write(self.info_path, json.dumps(_plain(known | facts), indent=2) + "\n")

    # -- the curves -----------------------------------------------------------------------------------------------

    def append_metrics(self, row: Mapping[str, Any]) -> None:
        """Add a row to metrics.csv: one header for all keys ever given, step first, then the names in order."""
        header, rows = self._metrics_table()
        if set(row) <= set(header):
            with self.metrics_path.open("a", newline="") as file:
                csv.DictWriter(file, header, lineterminator="\n").writerow(_cells(row))
            return
        _write(self.metrics_path, _table(_header({*header, *row}), [*rows(), _cells(row)]))

    def metrics(self) -> list[dict[str, float | None]]:
        """The rows of metrics.csv, None where a cell is empty."""
        _, rows = self._metrics_table()
        return [{name: float(cell) if cell else None for name, cell in row.items()} for row in rows()]

    def append_gap(self, row: Mapping[str, Any]) -> None:
        """Add a row to gap.jsonl; a number that is not finite becomes null."""
        with self.gap_path.open("a") as file:
            file.write(json.dumps(_plain(row)) + "\n")

    def gap_rows(self) -> list[dict[str, Any]]:
        """The rows of gap.jsonl, one a validation; none before the first."""
        if not self.gap_path.exists():
            return []
        return [json.loads(line) for line in self.gap_path.read_text().splitlines()]

    def rewind(self, epoch: int) -> None:
        """Forget what the curves say after this epoch, and about the test: a resumed run writes it anew."""
        if self.metrics_path.exists():
            header, rows = self._metrics_table()
            kept = [row for row in rows() if float(row["epoch"] or 0) <= epoch and not _is_test(row)]
            names = {name for name in header if not name.startswith("test/")}
            _write(self.metrics_path, _table(_header(names), kept))
        if self.gap_path.exists():
            lines = [json.dumps(row) + "\n" for row in self.gap_rows() if row["epoch"] <= epoch]
            _write(self.gap_path, "".join(lines))

    # -- values list by list --------------------------------------------------------------------------------------

    def write_per_query(self, split: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write the values of each list: query, metric, value (None: the mean skips it), documents, defined, weight."""
        _write(self.per_query(split), per_query_text(rows))

    def read_per_query(self, split: str) -> list[dict[str, Any]]:
        """Those rows: query and metric are text, value is a float or None, documents an int, defined a bool."""
        rows = csv.DictReader(StringIO(self._read(self.per_query(split)), newline=""))
        return [
            row
            | {
                "value": float(row["value"]) if row["value"] else None,
                "documents": int(row["documents"]),
                "defined": row["defined"] == "true",
                "weight": float(row["weight"]),
            }
            for row in rows
        ]

    # -- checkpoints ----------------------------------------------------------------------------------------------

    def write_index(self, index: Mapping[str, Any]) -> None:
        """Write checkpoints/index.json: the best file of each monitor, all files kept, the last one."""
        self.checkpoints.mkdir(parents=True, exist_ok=True)
        _write(self.checkpoints / "index.json", json.dumps(_plain(index), indent=2) + "\n")

    def read_index(self) -> dict[str, Any]:
        """What checkpoints/index.json says; empty before the first checkpoint."""
        index = self.checkpoints / "index.json"
        return dict(json.loads(index.read_text())) if index.exists() else {}

    def best(self, monitor: str | None = None) -> dict[str, Any]:
        """The best state by this monitor (the first one when None): file, metric, epoch, step, value, values.

        Raises:
            RunError: nothing was kept for it.
        """
        best = self.read_index().get("best", {})
        if monitor is None and best:
            return dict(next(iter(best.values())))
        if monitor not in best:
            wanted = f" by {monitor}; there are: {', '.join(best)}" if best else ": the run has not validated yet"
            raise RunError(f"{self.path} has no best checkpoint{wanted}")
        return dict(best[monitor])

    def best_checkpoint(self, monitor: str | None = None) -> Path:
        """The file of the best state; the last one where nothing was monitored.

        Raises:
            RunError: there is none, or the file is gone.
        """
        if monitor is None and self.read_index().get("monitors") == []:
            return self.last_checkpoint()
        return self._checkpoint(str(self.best(monitor)["file"]))

    def last_checkpoint(self) -> Path:
        """The file from which a run goes on.

        Raises:
            RunError: there is none.
        """
        return self._checkpoint("last.ckpt")

    def discard_unused(self) -> None:
        """Remove the folder of a start that was refused before it logged or kept anything: its name is free again."""
        if not (self.metrics_path.exists() or self.checkpoints.exists() or self.gap_path.exists()):
            shutil.rmtree(self.path)

    def _checkpoint(self, name: str) -> Path:
        path = self.checkpoints / name
        if not path.is_file():
            raise RunError(f"no checkpoint {path}: the run stopped before its first epoch was over, or it was removed")
        return path

    def _metrics_table(self) -> tuple[list[str], Any]:
        """The header, and a function that reads the rows: most callers need the header alone."""
        if not self.metrics_path.exists():
            return [], list
        with self.metrics_path.open(newline="") as file:
            header = next(csv.reader(file), [])
        return header, lambda: list(csv.DictReader(StringIO(self.metrics_path.read_text(), newline="")))

    def _read(self, path: Path) -> str:
        try:
            return path.read_text()
        except FileNotFoundError:
            raise RunError(
                f"{self.path} holds no {path.name}: it is no run folder, or the run did not get that far"
            ) from None


def per_query_text(rows: Iterable[Mapping[str, Any]]) -> str:
    """The CSV text of values list by list; a row holds the columns query, metric, value, documents, defined, weight.

    Example:
        >>> row = {"query": "a", "metric": "ap", "value": None, "documents": 3, "defined": False, "weight": 1.0}
        >>> print(per_query_text([row]), end="")
        query,metric,value,documents,defined,weight
        a,ap,,3,false,1.0
    """
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(PER_QUERY)
    for row in rows:
        writer.writerow([_cell(row[name]) for name in PER_QUERY])
    return text.getvalue()


def claim(root: str | os.PathLike[str], name: str | None, hint: str) -> Run:
    """Make a run folder that nobody else has, in one atomic step.

    Args:
        root: where run folders lie; made when missing.
        name: the folder's name, with at most one "/" for the runs of a sweep. None: date, time and hint, with -2, -3,
            ... when another start in the same second has that.
        hint: what the run is about, such as "lambdarank-ndcg@10".

    Raises:
        RunError: a run of that name exists (it is left as it is), or the name cannot be one.

    Example:
        >>> import tempfile
        >>> root = Path(tempfile.mkdtemp())
        >>> [claim(root, None, "mse-ndcg@10").path.name[19:] for _ in range(2)]
        ['-mse-ndcg@10', '-mse-ndcg@10-2']
    """
    now = datetime.now().astimezone()
    root = Path(root).absolute()
    if name is not None:
        path = root.joinpath(*_parts(name))
        if path.parent != root and (path.parent / "run.json").exists():
            raise RunError(f"{path.parent} is a run, so it cannot hold the run {name!r}: choose another name")
        if not _make(path):
            raise RunError(f"{path} exists, and a run never writes over another: choose another name")
        return _started(path, name, now)
    stem = re.sub(r"[^A-Za-z0-9._@+=-]+", "_", f"{now:%Y-%m-%d_%H-%M-%S}-{hint}".strip("-"))
    copies = 1
    while not _make(path := root / (stem if copies == 1 else f"{stem}-{copies}")):
        copies += 1
    return _started(path, path.name, now)


def find(what: str, root: str | os.PathLike[str]) -> Run:
    """The run of that description.

    Args:
        what: a run folder's path, the name of one below root, or "last" for the one that was started last.
        root: where run folders lie.

    Raises:
        RunError: there is no such run; the message lists the nearest names.
    """
    root = Path(root).absolute()
    if what != "last":
        for path in (root / what, Path(what).absolute()):
            if os.path.isfile(path / "run.json"):  # of words too long for a path as well
                return Run(path)
    runs = {path.parent.relative_to(root).as_posix(): path.parent for path in _run_files(root)}
    if not runs:
        raise RunError(f"no run {what!r}: there are no runs below {root}")
    if what == "last":
        return max(map(Run, runs.values()), key=lambda run: (run.read_info().get("started", ""), run.path.name))
    inside = [name for name in runs if name.startswith(what.rstrip("/") + "/")]
    if inside:
        raise RunError(f"{what!r} is not one run but holds {len(inside)}: {', '.join(sorted(inside)[:5])}")
    near = get_close_matches(what, runs, 3, cutoff=0.4) or sorted(runs)[-3:]
    raise RunError(f"no run {what!r}: neither a run folder nor a name below {root}; there are: {', '.join(near)}")


def _run_files(root: Path) -> list[Path]:
    return [*root.glob("*/run.json"), *root.glob("*/*/run.json")]


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    strange = [part for part in parts if not part.strip() or part.startswith((".", "-", "~")) or "\\" in part]
    if len(parts) > 2 or strange or name == "last" or not name.isprintable():
        raise RunError(
            f"wanted a run name of one or two parts with one '/' between them, none empty or starting with '.', '-' "
            f"or '~', and not 'last'; got {name!r}"
        )
    return parts


def _make(path: Path) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        path.mkdir()
        return True
    return False


def _started(path: Path, name: str, now: datetime) -> Run:
    run = Run(path)
    run.write_info(name=name, status="started", started=now.isoformat())
    return run


def _write(path: Path, text: str) -> None:
    """Replace a file in one step: a reader, or a crash, sees the old text or the new."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(text)
    draft.replace(path)


def _header(names: Iterable[str]) -> list[str]:
    return ["step", *sorted(set(names) - {"step"})]


def _table(header: list[str], rows: Iterable[Mapping[str, Any]]) -> str:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, header, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _is_test(row: Mapping[str, Any]) -> bool:
    return any(cell for name, cell in row.items() if name.startswith("test/"))


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    return {name: _cell(value) for name, value in row.items()}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _plain(value: Any) -> Any:
    """The same with null for numbers that JSON has no word for."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""``ltr evaluate RUN``: the exact metrics of a trained run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from ltr import runs
from ltr.cli.annotations import Node
from ltr.cli.build import build, metric_of, metrics_of
from ltr.cli.check import MISSING
from ltr.cli.errors import ConfigError
from ltr.cli.load import LETOR, READING, load
from ltr.cli.output import check_writable, write
from ltr.cli.screen import show, span
from ltr.data import RankingData, Splits, read_letor

FROM_RUN = ("data", "metric", "metrics")


def base(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Data and metrics of the run, which hold unless the command line says otherwise."""
    if config["run"] == MISSING:
        return None
    saved = runs.find(config["run"], config["root"]).read_config()
    return {key: saved[key] for key in FROM_RUN}


def idle(config: Mapping[str, Any]) -> set[str]:
    """Keys that need not make sense: of data in LETOR files, the splits that are not asked for."""
    split = config["split"]
    if _one_file(config.get("data"), split) is None:
        return set()
    return {f"data.{name}" for name in Splits._fields if name != split}


def _one_file(data: Mapping[str, Any] | None, split: str) -> Any:
    """The path of the split in data of LETOR files that can be read alone, else None."""
    if not data or data.get("_target_") != LETOR:
        return None
    held_out = split == "train" and data.get("validation") is None  # the file holds validation queries too
    return None if held_out or data.get(split) == MISSING else data.get(split)


def evaluate(
    *,
    run: str,
    data: Node | None = None,
    split: Literal["train", "validation", "test"],
    metric: str | Node | None,
    metrics: Sequence[str | Node] | None,
    output: str | Path | None,
    checkpoint: Literal["best", "last"],
    root: str | Path,
) -> None:
    """Print each metric's mean with its interval, and write the values of every list where output says so."""
    if data is None or metric is None:
        raise ConfigError("data and metric: wanted some, or those of the run; got null")
    check_writable(output, *(each for each in data.values() if isinstance(each, str)))
    wanted = list(dict.fromkeys([metric_of(metric), *metrics_of(metrics)]))
    trained = load(run, root, checkpoint)
    lists = _split(data, split, trained.features)
    values = trained.evaluate(lists, wanted)
    print(f"run         {trained.run.path}")
    print(f"checkpoint  {trained.checkpoint}")
    print(f"data        {split}: {lists.source}, {len(lists.query_ids)} queries")
    summaries = [each.summary() for each in values]
    show(
        ("metric", "mean", "95 % interval", "n", "undefined", "floor", "ceiling"),
        (
            (
                each.metric,
                f"{each.mean:.4f}",
                span(each.interval.low, each.interval.high),
                str(each.lists),
                str(each.undefined),
                f"{each.floor:.4f}",
                f"{each.ceiling:.4f}",
            )
            for each in summaries
        ),
    )
    methods = "; ".join(dict.fromkeys(each.interval.method for each in summaries))
    print(f"floor: a random order; ceiling: the ideal one; interval: {methods}")
    for each in summaries:
        print(each.convention)
    if output is not None:
        write(runs.per_query_text(row._asdict() for each in values for row in each.rows()), output)
        print(f"values of each query in {output}")


def _split(data: Mapping[str, Any], split: str, width: int) -> RankingData:
    """The lists of one split; where it lies in a LETOR file, the others, which may be large or gone, are not read."""
    path = _one_file(data, split)
    if path is not None:
        reading = {key: data[key] for key in READING if key in data}
        return read_letor(path, width=width, **reading)
    lists = getattr(build(data, "data"), split)
    if lists is None:
        raise ConfigError(f"data.{split}: the run's data have no such split; name a file: data.{split}=FILE")
    assert isinstance(lists, RankingData)
    return lists

"""``ltr evaluate``: the exact metrics of a trained run, or of runs in files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

from ltr.cli.annotations import Node
from ltr.cli.build import build, metric_of
from ltr.cli.check import MISSING
from ltr.cli.errors import ConfigError
from ltr.cli.load import LETOR, READING, load
from ltr.cli.output import check_writable
from ltr.cli.systems import Systems, are_files, check_foreign, find_run, is_table, read_systems
from ltr.data import DataError, RankingData, Splits, read_letor
from ltr.data.formats.tables import read_table
from ltr.evaluation import Evaluation, RankedLists, evaluate_lists, lists_of, score, write_rows
from ltr.evaluation.aggregates import How, check_how, slices
from ltr.evaluation.curves import Over, has_option
from ltr.evaluation.output import FORMS
from ltr.evaluation.results import USUAL
from ltr.evaluation.surrogates import surrogates_of
from ltr.gap.numbers import counted
from ltr.metrics import METRICS, RankingMetric
from ltr.metrics.presets import PRESETS, Preset
from ltr.options import near
from ltr.report.curves import PICTURES, can_draw, curves, plot_curves
from ltr.report.evaluation import print_evaluations
from ltr.report.presets import print_presets

if TYPE_CHECKING:
    import polars as pl

FROM_RUN = ("data", "metric", "metrics")
ALL = "all"
DOCUMENTS = 16384  # padded documents scored at once
PERIODS = ("year", "month")
SPLIT, ROOT = "test", "runs"  # of a trained run, where nothing else is said


def base(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Data and metrics of a trained run, which hold unless the command line says otherwise."""
    if not config["inputs"] or are_files(config["inputs"]):
        return None
    saved = find_run(config["inputs"], config["root"] or ROOT).read_config()
    return {key: saved[key] for key in FROM_RUN}


def idle(config: Mapping[str, Any]) -> set[str]:
    """Keys that need not make sense: of data in LETOR files, the splits that are not asked for; all beside files."""
    if config["inputs"] and are_files(config["inputs"]):
        return {"data", *(f"data.{name}" for name in config.get("data") or ())}  # refused as foreign
    split = config["split"] or SPLIT
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
    inputs: Sequence[str],
    metric: str | Node | None,
    metrics: Sequence[str | Node] | None,
    losses: Sequence[str] | None,
    preset: str | None,
    aggregate: Literal["mean", "micro", "median", "geometric", "min"],
    by: str | None,
    over: Literal["k", "gain", "discount", "threshold"] | None,
    plot: str | Path | None,
    shown: int | None,
    output: str | Path | None,
    queries: Literal["judged", "intersection", "strict"] | None,
    depth: int | None,
    assessors: Literal["error", "max", "majority", "majority_higher", "mean", "median", "last"],
    unjudged_label: float | Literal["negative"] | None,
    attributes: str | Path | None,
    data: Node | None = None,
    split: Literal["train", "validation", "test"] | None,
    checkpoint: Literal["best", "last"] | None,
    root: str | Path | None,
) -> None:
    """Print what each metric comes to and what lies behind it, and write the values of every list where asked."""
    names = [str(each) for each in inputs]
    _check(names, preset, by, over, plot, shown, depth, output, losses)
    files, rules, negative = are_files(names), PRESETS.get(preset or ""), False
    typed = [(key, each) for key, some in (("metric", [metric]), ("metrics", metrics or ())) for each in some if each]
    if not typed and metrics is not None:
        raise ConfigError("metrics: wanted at least one metric, such as ndcg@10; came an empty list")
    typed = typed or [("metrics", name) for name in USUAL if files]
    asked = _asked(typed, rules, aggregate, over)
    if losses:
        _check_losses(losses, asked[0])
    table = None if attributes is None else str(attributes)
    _check_written({"output": output, "plot": plot}, [*names, table, *(data or {}).values()])
    if files:
        _check_files(names, root or ROOT)
        check_foreign(
            {"data": data, "split": split, "checkpoint": checkpoint, "root": root},
            "belongs to a trained run, and the inputs are files",
        )
        by_program = preset == ALL and unjudged_label is None and not is_table(names[0])
        if unjudged_label is None and (rules is not None or by_program):
            unjudged_label = rules.unjudged_label if rules else "negative"
        read = read_systems(names, depth, assessors, unjudged_label, table)
        systems, about = read.lists, _about_files(names, read)
        negative = by_program and read.unjudged
    else:
        check_foreign(
            {"queries": queries, "assessors": assessors, "unjudged_label": unjudged_label},
            f"belongs to judgements in files, and {names[0]} is a trained run",
        )
        if data is None or metric is None:
            raise ConfigError("data and metric: wanted some, or those of the run; got null")
        name, lists, about = _trained(names[0], data, split or SPLIT, checkpoint or "best", root or ROOT)
        lists = lists if depth is None else lists.top(depth)
        lists = lists if table is None else lists.described_by(read_table(table), table)
        systems = partial(_alone, name, lists)
    with _one_thread():
        listed = systems(queries or (rules.queries if rules else "judged"))
        about += _about_reading(listed, depth)
        if preset == ALL:
            print("\n".join(about))
            named = [each if isinstance(each, str) else metric_of(each) for _, each in typed]
            print_presets(lambda rule: systems(queries or rule), named, aggregate, negative=negative)
            return
        if by is not None:
            _check_attribute(by, next(iter(listed.values())), table or names[0])
        held = rules.scores if rules else None
        tables = {name: _table(lists.held_in(held), asked, aggregate, losses or ()) for name, lists in listed.items()}
        drawn = curves(tables, over) if over else None
        note = f"preset {rules.name}: {rules.about}" if rules else ""
        print_evaluations(tables, about, note, shown=shown, by=by, curves=drawn)
    if drawn and plot is not None:
        plot_curves(drawn, plot)
        print(f"plot in {plot}")
    if output is not None:
        rows = {name if len(tables) > 1 else None: table.rows() for name, table in tables.items()}
        write_rows(rows, output)
        print(f"values of each query in {output}")


# -- what is refused, before anything is read -------------------------------------------------------------------------


def _check(
    names: Sequence[str],
    preset: str | None,
    by: str | None,
    over: str | None,
    plot: str | Path | None,
    shown: int | None,
    depth: int | None,
    output: str | Path | None,
    losses: Sequence[str] | None,
) -> None:
    wrong = []
    if not names:
        wrong.append("inputs: wanted QRELS RUN [RUN ...], a table with labels and scores, or a trained run")
    if preset not in (None, ALL, *PRESETS):
        wrong.append(f"preset: no such preset {preset!r}{near(str(preset), [*PRESETS, ALL])}")
    if preset == ALL:
        given = {"by": by, "over": over, "shown": shown, "output": output, "losses": losses}
        wrong += [f"{key}: wants one preset, or none; got preset=all" for key, value in given.items() if value]
    if by is not None and (by.count(":") > 1 or by.partition(":")[2] not in ("", *PERIODS) or by[:1] == ":"):
        wrong.append(f"by: wanted an attribute, or one with :year or :month behind it, got {by!r}")
    if plot is not None and over is None:
        wrong.append("plot: it draws what over= asks for, such as over=k; over is null")
    elif plot is not None and not can_draw():
        wrong.append("plot: drawing needs matplotlib: pip install 'ltr-toolkit[plot]'")
    for name, value in (("shown", shown), ("depth", depth)):
        if value is not None and value < 1:
            wrong.append(f"{name}: wanted a whole number from 1 on, got {value}")
    if wrong:
        raise ConfigError(wrong)


def _asked(
    typed: Sequence[tuple[str, str | Node]], rules: Preset | None, aggregate: str, over: Over | None
) -> list[RankingMetric]:
    """The metrics, by the rules of the preset; a word of a name wins over these.

    Args:
        typed: key and metric, as they were typed.
        rules, aggregate, over: what they must have a place in.
    """
    found: list[RankingMetric] = []
    wrong: list[str] = []
    for key, each in typed:
        try:
            if rules is None:
                found.append(metric_of(each, key))
            elif isinstance(each, str):
                found.append(rules.parse(each))
            else:
                found.append(rules.apply(metric_of(each, key)))
        except ConfigError as error:
            wrong += error.lines
        except ValueError as error:
            wrong.append(f"{key}: {error}")
    found = list(dict.fromkeys(found))
    for asked in found:
        try:
            check_how(aggregate, asked.name, hasattr(asked, "fraction"))
        except ValueError as error:
            wrong.append(f"aggregate: {error}")
    if over and found and not any(has_option(type(each), over) for each in found):
        able = ", ".join(base for base, each in METRICS.items() if has_option(each, over))
        came = ", ".join(each.name for each in found)
        wrong.append(f"over: wanted a metric that has a {over} to vary ({able}), got {came}")
    if wrong:
        raise ConfigError(wrong)
    return found


def _check_losses(losses: Sequence[str], metric: RankingMetric) -> None:
    try:
        surrogates_of(losses, metric)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _check_written(written: Mapping[str, str | Path | None], read: Sequence[Any]) -> None:
    """Refuse files that cannot be written, before the work is done."""
    endings = {"output": FORMS, "plot": PICTURES}
    for key, path in written.items():
        if path is not None and Path(path).suffix.lower() not in endings[key]:
            *most, last = endings[key]
            raise ConfigError(f"{key}: wanted a file that ends in {', '.join(most)} or {last}, got {str(path)!r}")
        try:
            check_writable(path, *(each for each in read if isinstance(each, str)))
        except ConfigError as error:
            raise ConfigError([line.replace("output:", f"{key}:", 1) for line in error.lines]) from error


def _check_files(names: Sequence[str], root: str | Path) -> None:
    for name in names:
        there = [os.path.join(each, name, "run.json") for each in (root, "")]
        if not os.path.isfile(os.path.expanduser(name)) and any(map(os.path.isfile, there)):
            raise ConfigError(
                f"inputs: {name} is a trained run, which is evaluated alone; ltr compare FIRST SECOND compares two"
            )


def _check_attribute(by: str, lists: RankedLists, source: str) -> None:
    (attribute, _, part), known = by.partition(":"), lists.attributes
    if attribute not in known and attribute not in getattr(known, "varying", {}):
        there = near(attribute, list(known)) or "; there are none: attributes=FILE names a table of the queries"
        raise ConfigError(f"by: no attribute {attribute!r} of the queries{there}")
    try:
        values = known[attribute]
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    for query, value in zip(lists.query_ids, values if part else (), strict=bool(part)):
        try:
            slices([value], part or None)  # type: ignore[arg-type]
        except ValueError:
            raise DataError(
                f"{source}: by={by}: wanted a date of each query, such as 2024-03-01, came {value!r} for {query}"
            ) from None


@contextmanager
def _one_thread() -> Iterator[None]:
    """Lists come in batches that stay in a core's cache: threads of PyTorch would mostly wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# -- what is measured -------------------------------------------------------------------------------------------------


def _table(lists: RankedLists, metrics: Sequence[RankingMetric], aggregate: How, losses: Sequence[str]) -> Evaluation:
    try:
        return evaluate_lists(lists, metrics, aggregate=aggregate, losses=losses)
    except DataError:
        raise
    except ValueError as error:  # a list that a metric refuses
        raise DataError(str(error)) from error


def _alone(name: str, lists: RankedLists, queries: str) -> dict[str, RankedLists]:
    """One system whose lists are whole: every rule which queries count comes to the same."""
    return {name: lists}


def _about_files(names: Sequence[str], read: Systems) -> list[str]:
    lines = []
    if read.judgements is not None:
        lines.append(f"judgements  {names[0]}: {_many(read.judgements)}")
    kind = "table" if read.judgements is None else "run"
    return [*lines, *(f"{kind:<12}{path}: {_many(table)}" for path, table in read.answers.values())]


def _about_reading(listed: Mapping[str, RankedLists], depth: int | None) -> list[str]:
    """What changes the numbers and stands in no name of a metric."""
    lines = []
    if depth is not None:
        lines.append(f"depth       the first {depth} documents of each query count, equal scores by falling id")
    weight = np.concatenate([lists.weight for lists in listed.values()])
    if (weight != 1).any():
        lines.append(f"weights     {weight.min():g} to {weight.max():g}: every mean counts a query by its weight")
    return lines


def _many(table: pl.DataFrame) -> str:
    queries = table["query"].n_unique()
    return f"{counted(queries, 'query')}, {counted(len(table), 'document')}"


def _trained(
    name: str, data: Mapping[str, Any], split: str, checkpoint: str, root: str | Path
) -> tuple[str, RankedLists, list[str]]:
    trained = load(name, root, checkpoint)
    lists = _split(data, split, trained.features)
    about = [
        f"run         {trained.run.path}",
        f"checkpoint  {trained.checkpoint}",
        f"data        {split}: {lists.source}, {counted(len(lists.query_ids), 'query')}",
    ]
    return trained.run.path.name, lists_of(score(trained, lists, DOCUMENTS), lists), about


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

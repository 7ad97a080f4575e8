"""``ltr gap``: does the loss serve the metric, and why not? Of a trained run, or of anybody's scores."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ltr.cli.annotations import Node
from ltr.cli.build import build, metric_of
from ltr.cli.errors import Alarmed, ConfigError
from ltr.cli.load import DOCUMENTS, LETOR, Trained, load
from ltr.cli.output import check_writable
from ltr.cli.systems import are_files, check_foreign, find_run, read_systems
from ltr.data import DataError, RankingData
from ltr.data.judgements import Unjudged
from ltr.evaluation import RankedLists, lists_of, per_query, score
from ltr.evaluation.answers import tensor_of
from ltr.evaluation.output import replaced
from ltr.evaluation.padding import padded
from ltr.evaluation.surrogates import loss_notes, loss_values
from ltr.gap.belief import counted as counting
from ltr.gap.diagnose import diagnose
from ltr.gap.numbers import counted
from ltr.gap.scored import ScoredLists, scored
from ltr.gap.smoothed import affordable
from ltr.gap.temperature import Setting, sweep
from ltr.losses import Surrogate
from ltr.metrics import RankingMetric
from ltr.report.curves import PICTURES, can_draw
from ltr.report.gap import print_diagnosis
from ltr.report.gap_picture import plot_diagnosis

FROM_RUN = ("data", "loss", "metric")
SPLIT, ROOT = "validation", "runs"  # of a trained run, where nothing else is said
TRAIN = 2000  # training lists that are scored
WANTED = "a trained run; or QRELS RUN, or a table with labels and scores, with loss=NAME and metric=NAME"


class Subject(NamedTuple):
    """What is diagnosed, and in words where it came from."""

    lists: RankedLists
    validation: ScoredLists
    train: ScoredLists | None
    history: Sequence[Mapping[str, Any]]
    about: dict[str, str]


def base(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Data, loss and metric of a trained run, which hold unless the command line says otherwise."""
    if _are_files(config):
        return None
    saved = find_run(config["inputs"], config["root"] or ROOT).read_config()
    return {key: saved[key] for key in FROM_RUN}


def idle(config: Mapping[str, Any]) -> set[str]:
    """Keys that need not make sense: what lacks, or is foreign, is refused in words; test data are read when asked
    for."""
    data, found = config.get("data") or {}, set()
    if _are_files(config):
        found |= {"data", *(f"data.{name}" for name in data)}
    elif _passes_over_test(data, config["split"] or SPLIT):
        found.add("data.test")
    if config["metric"] is None:
        found.add("loss.metric")
    return found if "_target_" in (config.get("loss") or {}) else {*found, "loss"}


def _are_files(config: Mapping[str, Any]) -> bool:
    return config["scores"] is not None or not config["inputs"] or are_files(config["inputs"])


def _passes_over_test(data: Mapping[str, Any], split: str) -> bool:
    return data.get("_target_") == LETOR and split != "test"


def gap(
    *,
    inputs: Sequence[str],
    scores: Sequence[str] | None,
    metric: str | Node | None,
    over: Literal["temperature"] | None,
    split: Literal["validation", "test", "train"] | None,
    checkpoint: Literal["best", "last"] | None,
    lists: int,
    seed: int,
    assessors: Literal["error", "max", "majority", "majority_higher", "mean", "median", "last"],
    unjudged_label: float | Literal["negative"] | None,
    output: str | Path | None,
    plot: str | Path | None,
    root: str | Path | None,
    data: Node | None = None,
    loss: Node | None = None,
) -> None:
    """Print what is to be known of the loss and the metric, in words and in numbers.

    Raises:
        Alarmed: something is wrong, after all is printed and written.
    """
    names = [str(each) for each in (inputs if scores is None else scores)]
    _check(names, inputs if scores is not None else (), lists, seed, output, plot)
    files = scores is not None or are_files(names)
    if files:
        _check_files(names, root or ROOT)
        of_runs: dict[str, Any] = {"data": data, "split": split, "checkpoint": checkpoint, "root": root}
        check_foreign(of_runs, "belongs to a trained run, and the inputs are files")
    else:
        judged: dict[str, Any] = {"assessors": assessors, "unjudged_label": unjudged_label}
        check_foreign(judged, f"belongs to judgements in files, and {names[0]} is a trained run")
    surrogate, target = _given(loss, metric)
    if over and surrogate.softness is None:
        raise ConfigError(f"over: {_name(surrogate)} has no temperature, nor anything in its place")
    if files:
        found = _of_files(names, surrogate, assessors, unjudged_label)
    else:
        trained = load(names[0], root or ROOT, checkpoint or "best")
        asked = {"data": data, "loss": loss, "metric": metric}
        found = _of_run(trained, asked, surrogate, split or SPLIT, seed)
    try:
        diagnosis = diagnose(
            surrogate, target, found.validation, found.train, history=found.history, lists=lists, seed=seed
        )
        swept = _swept(surrogate, target, found.validation, lists, seed) if over else []
    except ValueError as error:
        _name_the_query(found.lists, surrogate, target)
        raise DataError(f"{found.lists.source}: {error}") from error
    print_diagnosis(diagnosis, found.about, _notes(found.lists), swept)
    if plot is not None:
        plot_diagnosis(diagnosis, plot)
        print(f"plot in {plot}")
    if output is not None:
        _write({"of": found.about, **diagnosis.report(), "temperatures": [_row(each) for each in swept]}, output)
        print(f"figures in {output}")
    if diagnosis.alarms:
        raise Alarmed([each.sentence for each in diagnosis.alarms])


# -- what is refused, before anything is read -------------------------------------------------------------------------


def _check(
    names: Sequence[str],
    beside: Sequence[str],
    lists: int,
    seed: int,
    output: str | Path | None,
    plot: str | Path | None,
) -> None:
    wrong = []
    if not names:
        wrong.append(f"inputs: wanted {WANTED}")
    if beside:
        wrong.append(f"scores: stands for inputs, and there are both: {' '.join(beside)}")
    if len(names) > 2:
        wrong.append(f"inputs: wanted one system, as QRELS RUN; came {len(names)} files")
    if lists < 1:
        wrong.append(f"lists: wanted a whole number from 1 on, got {lists}")
    if seed < 0:
        wrong.append(f"seed: wanted a whole number from 0 on, got {seed}")
    if plot is not None and not can_draw():
        wrong.append("plot: drawing needs matplotlib: pip install 'ltr-toolkit[plot]'")
    for key, path, endings in (("output", output, (".json",)), ("plot", plot, PICTURES)):
        if path is not None and Path(path).suffix.lower() not in endings:
            *most, last = endings
            ending = f"{', '.join(most)} or {last}" if most else last
            wrong.append(f"{key}: wanted a file that ends in {ending}, got {str(path)!r}")
        else:
            try:
                check_writable(path, *names)
            except ConfigError as error:
                wrong += [line.replace("output:", f"{key}:", 1) for line in error.lines]
    if wrong:
        raise ConfigError(wrong)


def _check_files(names: Sequence[str], root: str | Path) -> None:
    for name in names:
        if any(os.path.isfile(os.path.join(each, name, "run.json")) for each in (root, "")):
            raise ConfigError(f"inputs: {name} is a trained run, which is diagnosed alone: ltr gap {name}")


def _given(loss: Mapping[str, Any] | None, metric: str | Mapping[str, Any] | None) -> tuple[Surrogate, RankingMetric]:
    wrong = []
    if loss is None or "_target_" not in loss:
        wrong.append("loss: wanted the loss to diagnose, such as loss=lambdarank (ltr list losses has them all)")
    if metric is None:
        wrong.append("metric: wanted the metric that is reported, such as metric=ndcg@10 (ltr list metrics)")
    if wrong or loss is None or metric is None:
        raise ConfigError(wrong)
    target, surrogate = metric_of(metric), build(loss, "loss")
    if not isinstance(surrogate, Surrogate):
        came = type(surrogate).__name__
        raise ConfigError(f"loss: wanted a ltr.losses.Surrogate, {loss['_target_']} gives a {came}")
    return surrogate, target


# -- what is diagnosed ------------------------------------------------------------------------------------------------


def _of_files(names: Sequence[str], surrogate: Surrogate, assessors: str, unjudged_label: Unjudged) -> Subject:
    if surrogate.needs_teacher:
        raise ConfigError(f"loss: {_name(surrogate)} learns from another ranker's scores, and there are none here")
    (lists,) = read_systems(names, assessors=assessors, unjudged_label=unjudged_label).lists("judged").values()
    if np.isinf(lists.score).any():
        loss_values(lists, {_name(surrogate): surrogate})  # refuses them
    about = {"scores": f"{names[-1]}: {_many(lists)}"} | ({"judgements": names[0]} if len(names) > 1 else {})
    return Subject(lists, _padded(lists), None, (), about)


def _of_run(trained: Trained, asked: Mapping[str, Any], surrogate: Surrogate, split: str, seed: int) -> Subject:
    saved = trained.run.read_config()
    teacher = None
    if surrogate.needs_teacher:
        if saved.get("teacher") is None:
            raise ConfigError(f"loss: {_name(surrogate)} learns from a teacher, and the run has none")
        teacher = load(saved["teacher"])
    data = dict(asked["data"]) | ({"test": None} if _passes_over_test(asked["data"], split) else {})
    splits = build(data, "data")
    if getattr(splits, split) is None:
        raise ConfigError(f"split: the run's data have no {split} lists; name a file: data.{split}=FILE")
    lists, validation = _scored(trained, teacher, getattr(splits, split))
    about = {"run": str(trained.run.path), "checkpoint": str(trained.checkpoint)}
    about["lists"] = f"{split}: {lists.source}, {_many(lists)}"
    train = None
    if split != "train":
        some = np.random.default_rng(seed).permutation(len(splits.train.query_ids))[:TRAIN]
        some_lists, train = _scored(trained, teacher, splits.train.select(np.sort(some)))
        about["trained on"] = f"{some_lists.source}, {_many(some_lists)}"
    own = split == SPLIT and all(asked[key] == saved[key] for key in FROM_RUN)
    if not own:
        about["history"] = "left out: the loss, the metric or the lists are others than those of its validations"
    rows = trained.run.gap_rows() if own else []
    now = surrogate.softness  # an annealed loss had others on its way
    return Subject(lists, validation, train, [row for row in rows if row.get("temperature", now) == now], about)


def _scored(trained: Trained, teacher: Trained | None, data: RankingData) -> tuple[RankedLists, ScoredLists]:
    """The lists as the run's model orders them, with the teacher's scores where the loss wants them."""
    for each in (trained, teacher):
        if each is not None and data.features.shape[1] != each.features:
            raise DataError(
                f"{data.source}: {each.run.path.name} was trained on {each.features} features, "
                f"came {data.features.shape[1]}"
            )
    lists = lists_of(score(trained, data, DOCUMENTS), data)
    return lists, _padded(lists, None if teacher is None else score(teacher, data, DOCUMENTS))


def _padded(lists: RankedLists, teacher: NDArray[Any] | None = None) -> ScoredLists:
    """The lists with documents, in their order; a document that was not returned has no score, and is in none."""
    some = np.flatnonzero(lists.lengths)
    columns = [lists.score, lists.relevance, *([] if teacher is None else [teacher])]
    (scores, relevance, *taught), mask = padded(columns, lists.offsets, some)
    given = map(tensor_of, (scores, relevance, mask, lists.weight[some], *taught))
    return scored(*given)


def _swept(surrogate: Surrogate, target: RankingMetric, given: ScoredLists, lists: int, seed: int) -> list[Setting]:
    """Other temperatures of the loss, on the lists whose gradients are looked at."""
    some = given.sample(counting(surrogate, target, given.relevance, given.mask), lists, seed)
    return sweep(surrogate, target, affordable(target, some), seed=seed)


def _row(setting: Setting) -> dict[str, Any]:
    parts = {"gap": setting.gap, "alignment": setting.alignment, "yield": setting.step_yield}
    return {"softness": setting.softness} | {name: each.row() for name, each in parts.items()}


def _notes(lists: RankedLists) -> list[str]:
    """What one must know of the lists, a sentence each."""
    notes = loss_notes(lists)
    known = len(lists.score) if lists.judged is None else int(lists.judged.sum())
    if lists.pool is not None and len(lists.pool) > known:
        notes.append("metrics, here, leave them out too; ltr evaluate counts them in the ideal order")
    weight = lists.weight
    if (weight != 1).any():
        notes.append(f"weights {weight.min():g} to {weight.max():g}: every mean counts a list by its weight")
    return notes


def _name_the_query(lists: RankedLists, surrogate: Surrogate, target: RankingMetric) -> None:
    """Raises DataError with the first query that the metric or the loss refuses, where it is one query."""
    try:
        per_query(lists, list(dict.fromkeys([target, surrogate.aim or target])))
    except DataError:
        raise
    except ValueError as error:
        raise DataError(str(error)) from error
    if not surrogate.needs_teacher:
        loss_values(lists, {_name(surrogate): surrogate})


def _name(surrogate: Surrogate) -> str:
    return type(surrogate).__name__


def _many(lists: RankedLists) -> str:
    return f"{counted(len(lists.query_ids), 'query')}, {counted(len(lists.score), 'document')}"


def _write(report: Mapping[str, Any], output: str | Path) -> None:
    """As JSON, null for numbers that it has no word for."""
    known = json.loads(json.dumps(report), parse_constant=lambda _: None)
    with replaced(output) as draft:
        draft.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

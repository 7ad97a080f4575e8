"""``ltr explain``: one query worked all the way through."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ltr.cli.annotations import Node
from ltr.cli.build import build, metric_of, metrics_of
from ltr.cli.errors import ConfigError
from ltr.cli.load import LETOR, Trained, load
from ltr.cli.systems import are_files, read_systems
from ltr.data import DataError, RankingData
from ltr.data.judgements import Unjudged
from ltr.evaluation import score
from ltr.evaluation.lists import RankedLists
from ltr.evaluation.tables import lists_of
from ltr.gap.numbers import counted
from ltr.metrics import METRICS, NDCG, RankingMetric, parse
from ltr.metrics.presets import PRESETS
from ltr.options import near

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
FIRST = 5  # the cutoff, unless said otherwise
GRADED = ("gradedap", "err")  # metrics that want to know the top grade
WHOLE = ("rbp",)  # metrics that by themselves say how far people look
WANTED = (
    "inputs: wanted grades from the top down (ltr explain 3 1 2 0 3), or qrels and a run, or a table with label and "
    "score, or a trained run"
)


@dataclass(frozen=True, eq=False)
class _Found:
    """What is to be explained: one query among lists, and what is known of where it came from."""

    lists: RankedLists
    query: str
    title: str
    metrics: tuple[RankingMetric, ...] = ()  # those of a trained run
    k: int = FIRST


def explain(
    *,
    inputs: Sequence[str],
    query: str | None,
    metrics: Sequence[str | Node] | None,
    k: int | None,
    swap: Sequence[int] | None,
    grade: Sequence[float] | None,
    preset: str | None,
    assessors: Literal["error", "max", "majority", "majority_higher", "mean", "median", "last"],
    unjudged_label: float | Literal["negative"] | None,
    split: Literal["train", "validation", "test"],
    checkpoint: Literal["best", "last"],
    root: str | Path,
) -> None:
    """Print each number of one query: positions, gains, sums, metrics, and what a change would do to them."""
    if metrics is not None and k is not None:
        raise ConfigError("k: with metrics=[...] the cutoffs stand in the names, such as ndcg@10")
    if k is not None and k < 1:
        raise ConfigError(f"k: wanted a whole number from 1, got {k}")
    if preset is not None and preset not in PRESETS:
        raise ConfigError(f"preset: no such preset {preset!r}{near(preset, list(PRESETS))}")
    asked = None if metrics is None else _asked(metrics, preset)
    words = [word.strip() for word in inputs]
    grades = [NUMBER.fullmatch(word) is not None for word in words]
    if words and all(grades):
        found = _typed(words, query)
    elif len(apart := re.findall(r"[^][(),;\s]+", " ".join(words))) > 1 and _are_typed(apart, words):
        raise ConfigError(
            f"inputs: grades stand apart by blanks (ltr explain {' '.join(apart)}), got {' '.join(words)}"
        )
    elif any(grades) and not any(Path(word).exists() for word in words):
        place = grades.index(False)
        raise ConfigError(f"inputs: wanted grades from 0 to 1e30, got {words[place]} at position {place + 1}")
    elif not 1 <= len(words) <= 2 or not all(words):
        raise ConfigError(f"{WANTED}; came {' '.join(words) or 'nothing'}")
    elif are_files(words):
        rule = PRESETS[preset].unjudged_label if preset is not None and unjudged_label is None else unjudged_label
        found = _files(words, query, assessors, rule)
    else:
        found = _trained(load(words[0], root, checkpoint), split, query)
    notes = []
    if asked is None:
        own = found.metrics if k is None and preset is None else ()
        top, before = _top(found, grade), _top(found, None)
        asked = list(own) or _usual(k or found.k, top, preset)
        renamed = [metric.name for metric in asked if top > before and metric.base in GRADED]
        if renamed and not own:
            rose = f"the highest grade is {before} before the change and {top} after it"
            notes = [f"{', '.join(renamed)}: {rose}, so the scale goes up to {top} in both."]
    if not any(isinstance(metric, NDCG) for metric in asked):
        asked = [*_asked([f"ndcg@{k or found.k}"], preset), *asked]
    worked = next(metric for metric in asked if isinstance(metric, NDCG))
    from ltr.report.explain import explain as work_through
    from ltr.report.walkthrough import print_explanation

    try:
        explanation = work_through(found.lists, found.query, worked, asked, swap=swap, grade=grade)
    except DataError:
        raise
    except ValueError as error:
        raise ConfigError(str(error)) from error
    rules = [f"by the rules of {PRESETS[preset].about}"] if preset else []
    print_explanation(explanation, [found.title, *rules], notes)


# -- what is measured -------------------------------------------------------------------------------------------------


def _asked(metrics: Sequence[str | Mapping[str, Any]], preset: str | None) -> list[RankingMetric]:
    """The metrics of the command line, by the rules of the preset."""
    if preset is None:
        return metrics_of(metrics)
    rules, found = PRESETS[preset], []
    for each in metrics:
        try:
            found.append(rules.parse(each) if isinstance(each, str) else rules.apply(metric_of(each, "metrics")))
        except ConfigError:
            raise
        except ValueError as error:
            raise ConfigError(f"metrics: {error}") from error
    return list(dict.fromkeys(found))


def _usual(k: int, top: int, preset: str | None) -> list[RankingMetric]:
    """Every metric, at the cutoff where it takes one, of those that the preset's program has."""
    known = METRICS if preset is None else PRESETS[preset].metrics
    names = []
    for base, metric in METRICS.items():
        if base in known:
            scale = f"-max{top}" if base in GRADED else ""
            names.append(f"{base}{scale}" + (f"@{k}" if metric.cuts and base not in WHOLE else ""))
    return [parse(name) if preset is None else PRESETS[preset].parse(name) for name in names]


def _top(found: _Found, grade: Sequence[float] | None) -> int:
    """The highest grade of the judgements, as a whole number of at least 1."""
    lists = found.lists
    labels = lists.relevance if lists.pool is None else lists.pool
    changed = [value for value in (grade or ())[1:] if math.isfinite(value)]
    return max(1, math.ceil(max([float(labels.max(initial=0)), *changed])))


# -- what is explained ------------------------------------------------------------------------------------------------


def _are_typed(apart: Sequence[str], words: Sequence[str]) -> bool:
    """Are these grades that something else than blanks sets apart, and no names of files?"""
    return all(map(NUMBER.fullmatch, apart)) and not any(Path(word).exists() for word in words)


def _typed(words: Sequence[str], query: str | None) -> _Found:
    """Grades in the order of the ranking."""
    grades = [float(word) for word in words]
    for position, (word, value) in enumerate(zip(words, grades, strict=True), start=1):
        if value < 0 or value > 1e30:
            raise ConfigError(f"inputs: wanted grades from 0 to 1e30, got {word} at position {position}")
    if query is not None:
        raise ConfigError(f"query: grades are one list without a query id, got {query!r}")
    lists = RankedLists.from_arrays(grades, np.arange(len(grades), 0, -1), source="the grades")
    title = f"{counted(len(grades), 'document')}, graded from the top down"
    return _Found(lists, lists.query_ids[0], title, k=min(FIRST, len(grades)))


def _files(words: Sequence[str], query: str | None, assessors: str, unjudged_label: Unjudged) -> _Found:
    """A table with labels and scores, or judgements and a run."""
    (lists,) = read_systems(words, assessors=assessors, unjudged_label=unjudged_label).lists("judged").values()
    chosen = _chosen(query, lists.query_ids, words[0])
    if chosen in lists.missing:
        raise DataError(f"{words[1]}: returned no document for query {chosen}, {_of_nothing(lists, chosen)}")
    return _Found(lists, chosen, f"query {chosen} of {' and '.join(words)}")


def _of_nothing(lists: RankedLists, query: str) -> str:
    """What a query without documents comes to."""
    if lists.pool is not None and lists.pool_offsets is not None:
        place = lists.query_ids.index(query)
        if not lists.pool[lists.pool_offsets[place] : lists.pool_offsets[place + 1]].any():
            return "and no document that was judged for it has a grade above 0: no metric has an answer there"
    return "so every metric is 0 there"


def _trained(trained: Trained, split: str, query: str | None) -> _Found:
    """A list of the run's own data, ranked by its model."""
    data = trained.run.read_config()["data"]
    if data["_target_"] == LETOR and split != "train" and data.get(split):
        lists = trained.read(data[split], labelled=True)  # the other splits may be large, or gone
    else:
        lists = getattr(build(data, "data"), split)
        if lists is None:
            raise ConfigError(f"split: the run's data have no {split} lists")
    one: RankingData = lists.select([lists.query_ids.index(_chosen(query, lists.query_ids, lists.source))])
    ranked = lists_of(score(trained, one), one)
    title = f"query {one.query_ids[0]} of {one.source}, ranked by {trained.checkpoint}"
    return _Found(ranked, one.query_ids[0], title, trained.metrics)


def _chosen(query: str | None, known: Sequence[str], source: str) -> str:
    if query in known:
        return str(query)
    if query is not None:
        nearest = get_close_matches(query, known, 3, cutoff=0)
        raise ConfigError(f"query: there is no query {query} in {source}; the nearest are {', '.join(nearest)}")
    if len(known) > 1:
        raise ConfigError(f"query: wanted one of the {len(known)} queries of {source}, such as query={known[0]}")
    return known[0]

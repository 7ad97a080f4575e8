"""Every value that trec_eval 10.0 printed for real runs, to its last digit, from the files and by its preset."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ltr.data.formats.trec import read_qrels, read_run
from ltr.evaluation import RankedLists, aggregate, evaluate_lists, join
from ltr.evaluation.answers import answers
from ltr.metrics import DCG, NDCG, RBP, BinaryMetric, Exp2, Geometric, Judged, Linear, RankingMetric, parse
from ltr.metrics.presets import PRESETS

pytestmark = pytest.mark.shared

PRESET = PRESETS["trec_eval"]
RUNS = ["BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2", "REP_LLAMA", "SPLADE_P_P_ENSEMBLE_DISTIL"]
SHARES = {"map", "Rprec", "bpref", "recip_rank", "ndcg", "set_P", "set_recall", "set_relative_P", "rbp"}
CUT = ("P_", "recall_", "ndcg_cut_", "map_cut_", "success_", "relative_P_")
GEOMETRIC = {"gm_map": "map", "gm_bpref": "bpref"}
COUNTS = {"num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
FOREIGN = (  # what these words begin is no metric of this toolkit
    *("runid", "relstring", "iprec_at_recall", "infAP", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg_rel"),
    *("Rndcg", "set_map", "ndcg_1=3"),
)
Doubles = NDArray[np.float64]
Level = Callable[[RankingMetric], RankingMetric]


def printed(path: Path) -> dict[tuple[str, str], str]:
    """(measure, query) -> the number as it stands in the file."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return {(measure, query): number for measure, query, number in map(str.split, text.splitlines())}


def as_asked(metric: RankingMetric) -> RankingMetric:
    return metric


def from_2(metric: RankingMetric) -> RankingMetric:
    """-l 2: relevant from label 2 on; NDCG and RBP do not know of it."""
    return replace(metric, threshold=2) if isinstance(metric, BinaryMetric) and not isinstance(metric, RBP) else metric


def exponential(metric: RankingMetric) -> RankingMetric:
    return replace(metric, gain=Exp2()) if isinstance(metric, NDCG) else metric


def metrics_of(measures: set[str], level: Level) -> dict[str, RankingMetric]:
    """Ours for each of trec_eval's words that we know."""
    known = {each for each in measures if each in SHARES or each.startswith(CUT)}
    found = {each: level(PRESET.parse(each)) for each in known}
    usual: dict[str, Any] = {"ties": "docid", "empty": "zero"}
    found |= {each: level(replace(parse(each), **usual)) for each in measures & {"set_F"}}
    return found | {each: Judged(k=int(each[4:]), **usual) for each in measures if each.startswith("unj_")}


def counts(lists: RankedLists, level: float) -> dict[str, Doubles]:
    pool, pool_offsets = (lists.relevance, lists.offsets) if lists.pool is None else (lists.pool, lists.pool_offsets)
    assert pool_offsets is not None

    def each(marked: NDArray[np.bool_], offsets: NDArray[np.int64]) -> Doubles:
        return np.diff(np.concatenate([[0], np.cumsum(marked)])[offsets]).astype(float)

    known = np.ones(len(lists.score), np.bool_) if lists.judged is None else lists.judged
    return {
        "num_ret": lists.lengths.astype(float),
        "num_rel": each(pool >= level, pool_offsets),
        "num_rel_ret": each(lists.relevance >= level, lists.offsets),
        "num_nonrel_judged_ret": each(known & (lists.relevance < level), lists.offsets),
    }


def residual(lists: RankedLists) -> Doubles:
    """trec_eval adds the weight of what lies below the last document only where something is unjudged."""
    found, rbp = np.zeros(len(lists.query_ids)), RBP(p=0.9, ties="docid")
    for queries, given in answers(lists.by_id()):
        value = rbp.residual(given.scores, given.relevance, given.mask, judged=given.judged)
        whole = given.mask.all(1) if given.judged is None else (given.judged | ~given.mask).all(1)
        found[queries] = np.where(whole, 0, value)
    return found


def graded_rbp(lists: RankedLists) -> Doubles:
    """trec_eval's RBP counts a document by the share of its label in the highest of the query."""
    table = evaluate_lists(lists, [DCG(gain=Linear(), discount=Geometric(0.9), ties="docid", empty="zero")])
    assert lists.pool is not None
    assert lists.pool_offsets is not None
    return table.values[0].value * 0.1 / np.maximum.reduceat(lists.pool, lists.pool_offsets[:-1])


def mine(lists: RankedLists, measures: set[str], level: Level = as_asked) -> dict[str, Doubles]:
    """Our per-query values of the measures that this toolkit has."""
    metrics = metrics_of(measures | set(GEOMETRIC.values()), level)
    table = evaluate_lists(lists, list(dict.fromkeys(metrics.values())))
    values = {each.metric: each.value for each in table.values}
    found = {measure: values[metric] for measure, metric in metrics.items()}
    if level is from_2:
        found["rbp"] = graded_rbp(lists)
    found |= {each: (1 - value) * (lists.lengths > 0) for each, value in found.items() if each.startswith("unj_")}
    return found | counts(lists, 2 if level is from_2 else 1) | {"rbp_resid": residual(lists)}


def wrong(lists: RankedLists, expected: dict[tuple[str, str], str], level: Level = as_asked) -> tuple[list[str], int]:
    """The printed values that ours are not, and how many were compared."""
    values = mine(lists, {measure for measure, _ in expected}, level)
    rows, compared, faults = {query: row for row, query in enumerate(lists.query_ids)}, 0, []
    for (measure, query), number in expected.items():
        if measure == "num_q":
            value = float(len(lists.query_ids))
        elif measure in GEOMETRIC:
            value = aggregate("geometric", values[GEOMETRIC[measure]]).value
        elif measure in values:
            every = values[measure]
            value = every[rows[query]] if query != "all" else every.sum() if measure in COUNTS else every.mean()
        else:
            assert measure.startswith(FOREIGN), measure
            continue
        compared += 1
        if (f"{value:.4f}" if "." in number else f"{value:.0f}") != number:
            faults.append(f"{measure} of {query}: wanted {number}, got {value:.7f}")
    return faults, compared


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(
    ("kind", "level", "measures"),
    [("trec_eval", as_asked, 47), ("level2.trec_eval", from_2, 24), ("expgain.ndcg", exponential, 10)],
)
def test_dl19(shared: Path, run: str, kind: str, level: Level, measures: int) -> None:
    """43 queries; in REP_LLAMA nearly all scores are tied."""
    folder = shared / "data" / "trec" / "dl19"
    lists = join(read_qrels(folder / "qrels.txt"), read_run(folder / f"{run}.run").table)
    faults, compared = wrong(lists, printed(folder / "expected" / f"{run}.{kind}.gz"), level)
    assert faults == []
    assert compared == measures * 44 + 2 * (kind == "trec_eval")  # each query and the mean; num_q and gm_map once


@pytest.mark.parametrize(
    ("out", "qrels", "run", "options", "level", "compared"),
    [
        ("out.test", "qrels.test", "results.test", {}, as_asked, 18),
        ("out.test.a", "qrels.test", "results.test", {}, as_asked, 69),
        ("out.test.aq", "qrels.test", "results.test", {}, as_asked, 267),
        ("out.test.aqc", "qrels.test", "results.trunc", {}, as_asked, 267),
        ("out.test.aqcM", "qrels.test", "results.trunc", {"depth": 100}, as_asked, 267),
        ("out.test.aql", "qrels.rel_level", "results.test", {}, from_2, 267),
        ("out.test.meas_params", "qrels.test", "results.test", {}, as_asked, 44),
        ("out.comment.test", "qrels.comment.test", "results.comment.test", {"queries": "intersection"}, as_asked, 18),
    ],
)
def test_its_own_tests(
    shared: Path, out: str, qrels: str, run: str, options: dict[str, Any], level: Level, compared: int
) -> None:
    """-c counts queries that the run lacks; a label of -1 says that nobody judged the document."""
    folder = shared / "data" / "trec" / "trec_eval_test"
    lists = join(read_qrels(folder / qrels, unjudged_label=-1), read_run(folder / run).table, **options)
    assert wrong(lists, printed(folder / out), level) == ([], compared)

"""Each preset against the recorded output of its program (tests/golden/presets.json)."""

from __future__ import annotations

import json
from dataclasses import fields
from fnmatch import filter as matching
from fnmatch import fnmatch
from functools import cache
from math import nan
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from ltr.metrics import METRICS, Answer, RankingMetric, answer, measure, parse
from ltr.metrics.presets import PRESETS, Preset

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "presets.json").read_text())
CASES = GOLDEN["cases"]
SOURCES = {f"{source['program']} {source['call']}".strip(): source for source in GOLDEN["sources"]}
COLUMNS = [(name, ours) for name, source in SOURCES.items() for ours in source["metrics"].values()]
NOT_NUMBERS = ("nan_label", "nan_score_rel", "nan_score_nonrel")  # errors here, and tested as such

NEGATIVE = "neg_label_minus1 neg_label_minus2 neg_sum_zero unjudged_minus1_top"
TIES = "tie_all_rel_first tie_all_rel_last tie_all_bigid_last tie_pair_rel_second tie_graded_best_last"
GRADED = (
    "tie_graded_best_last neg_label_minus1 neg_label_minus2 frac_labels label_32 label_64 label_128 label_1100 "
    "pool_idcg ascending_input graded_plain"
)
UNSTABLE = "ndcg dcg@5 ap@5 mrr@5 recall@5 f1@5"
NOTHING = "norel_judged empty_qrels_query all_unjudged pool_rel_not_retrieved"

# Where a program does what no option expresses: the start of its name in SOURCES, cases, patterns of our names. Each of
# these values is asserted to differ, all others to be equal.
ODD = {
    "labels are cut to whole numbers": [
        ("trec_eval", "frac_labels", "ndcg*"),
        ("ranx", "frac_labels", "ndcg ndcg@5 ndcg-exp2@5 dcg@5"),
    ],
    "a negative label is a negative gain": [
        ("torchmetrics 1.9.0 functional", NEGATIVE, "ndcg*"),
        ("torchmetrics 1.9.0 empty_target_action=neg", NEGATIVE, "ndcg*"),
        (
            "torchmetrics 1.9.0 empty_target_action=pos",
            "neg_label_minus1 neg_label_minus2 unjudged_minus1_top",
            "ndcg*",
        ),
        ("torchmetrics 1.9.0 empty_target_action=skip", NEGATIVE, "ndcg*"),
        ("torchmetrics 1.9.0 ignore_index=-1", "neg_label_minus2", "ndcg*"),
        ("scikit-learn", NEGATIVE, "dcg*"),
        ("Rax", NEGATIVE, "ndcg* dcg* pairs"),
        ("CatBoost", NEGATIVE, "ndcg* dcg* pairs"),
        ("XGBoost 3.2.0 ndcg", NEGATIVE, "ndcg*"),
    ],
    "2^y overflows": [
        ("Rax", "label_128 label_1100", "ndcg@5 dcg@5"),
        ("ranx", "label_1100", "ndcg-exp2@5"),
        ("CatBoost", "label_1100", "ndcg-exp2@5"),
    ],
    "the sort is not stable": [
        ("torchmetrics", TIES, "ap* mrr*"),
        ("torchmetrics", "const_model_20", "ap* mrr* precision* recall* success* rprec"),
        (
            "ranx 0.3.21 Qrels",
            "const_model_20",
            f"{UNSTABLE} ndcg@5 ndcg-exp2@5 ap mrr precision@5 success@5 rprec rbp*",
        ),
        ("ranx 0.3.21 make_comparable", "const_model_20", UNSTABLE),
        ("ranx 0.3.21 dicts", "const_model_20", f"{UNSTABLE} ndcg@5 ndcg-exp2@5 ap mrr precision@5 success@5 rbp*"),
        ("scikit-learn", "tie_pair_rel_second tie_at_cutoff_rel_6th tie_at_cutoff_rel_5th", "ndcg-stable@5"),
    ],
    "tied documents have the precision at the end of their block": [("scikit-learn", "tie_graded_best_last", "ap")],
    "RBP counts a document by its share of the top grade": [("trec_eval 10.0", GRADED, "rbp*")],
    "RBP counts a document by its label": [("ranx", f"{GRADED} allrel_4 seven_relevant", "rbp*")],
    "the level takes documents out of NDCG, which a gain table says of small labels only": [
        ("ranx", "frac_labels label_32 label_64 label_128 label_1100", "ndcg-table*")
    ],
    "a query without judgements is no query": [
        ("ir_measures 0.4.3 cwl", "empty_qrels_query", "rbp*"),
        ("ir_measures 0.4.3 gdeval", "empty_qrels_query", "ndcg* err*"),
        ("ir_measures 0.4.3 msmarco", "empty_qrels_query", "mrr*"),
    ],
    "a score of 0 or less is not a hit": [
        ("torchmetrics", "neginf_score_rel neg_scores zero_score_rel", "ap* mrr* precision* recall*")
    ],
    "a score of -inf is not ranked": [("Rax", "neginf_score_rel", "ndcg* dcg* ap* mrr* precision* recall*")],
    "the mean over no list is 0": [
        ("torchmetrics 1.9.0 empty_target_action=skip", NOTHING, "*"),
        ("XGBoost", "empty_list", "ndcg@5 ndcg-linear@5 ap ap@5"),
    ],
    "a document that is named twice counts twice": [
        ("ir_measures 0.4.3 gdeval", "dup_doc_in_run dup_doc_in_qrels_same", "ndcg*"),
        ("ir_measures 0.4.3 gdeval", "dup_doc_in_run", "err*"),
        ("ir_measures 0.4.3 accuracy", "dup_doc_in_run", "auc*"),
        ("ir_measures 0.4.3 cwl", "dup_doc_in_run", "rbp*"),
    ],
}


def documents(reads: str, case: str, query: str) -> list[tuple[str, float, float, bool, bool]]:
    """(id, score, label, retrieved, judged) of a query's documents, in the order of the run, then of the qrels.

    What a program makes of a negative label: the mark of an unjudged document ("trec"), or a document that is judged
    and not relevant ("ranx" and "rows"; there -1 can be declared a mark). Where a document is named twice, "rows" are
    two documents and the others keep the last.
    """
    labels = dict(CASES[case]["qrels"].get(query, []))
    run = CASES[case]["run"].get(query, [])
    rows = [(name, float(score), True) for name, score in (run if reads == "rows" else dict(run).items())]
    rows += [(name, 0.0, False) for name in labels if name not in dict(run)]

    def judged(name: str) -> bool:
        return labels.get(name) != -1 if reads == "rows" else name in labels and (reads == "ranx" or labels[name] >= 0)

    return [(name, score, max(float(labels.get(name, 0)), 0), here, judged(name)) for name, score, here in rows]


@cache
def batch(reads: str, order: str, single: bool) -> tuple[list[str], Answer]:
    """All lists of all cases, those of the judged queries, or for "rows" those of the run; scores in float32 or not."""
    side = "run" if reads == "rows" else "qrels"
    names = [(case, query) for case in CASES if case not in NOT_NUMBERS for query in CASES[case][side]]
    lists = [documents(reads, case, query) for case, query in names]
    if order in ("docid", "ascending"):
        lists = [sorted(rows, reverse=order == "docid") for rows in lists]
    elif order == "reversed":
        lists = [rows[::-1] for rows in lists]
    width = max(map(len, lists))
    padded = [[(*row[1:], True) for row in rows] + [(0.0,) * 5] * (width - len(rows)) for rows in lists]
    scores, relevance, retrieved, judged, mask = torch.tensor(padded, dtype=torch.float64).unbind(2)
    scores = scores.float().double() if single else scores
    keys = [f"{case}/{query}" for case, query in names]
    return keys, answer(scores, relevance, mask.bool(), retrieved=retrieved, judged=judged, finite_scores=True)


def preset_metric(source: dict[str, Any], name: str) -> RankingMetric:
    return PRESETS[source["preset"]].parse(name) if source["preset"] else parse(name)


def settled(metric: RankingMetric, lists: Answer) -> Tensor:
    """[B] values by the rule for lists without an answer, NaN where they are left out, or refused as too large."""
    try:
        values, counted = metric.settle(*measure([metric], lists)[0])
    except ValueError:
        if len(lists.scores) == 1:
            return torch.tensor([nan])
        return torch.cat([settled(metric, Answer(*(each[None] for each in one))) for one in zip(*lists, strict=True)])
    return torch.where(counted, values, nan)


@cache
def computed(name: str, ours: str) -> dict[str, float]:
    """Our value of every list ("case/query") and the mean of every case ("case")."""
    source = SOURCES[name]
    metric = preset_metric(source, ours)
    order = "docid" if metric.ties == "docid" else source.get("order", "run")
    single = bool(source["preset"]) and PRESETS[source["preset"]].scores == "float32"
    keys, lists = batch(source["documents"], order, single)
    found = dict(zip(keys, settled(metric, lists).tolist(), strict=True))
    queries = source.get("queries") or PRESETS[source["preset"]].queries
    for case, data in CASES.items():
        known = [key for key in keys if key.startswith(f"{case}/")]
        wanted = [key for key in known if queries == "judged" or key.partition("/")[2] in data["run"]]
        if known:
            found[case] = torch.tensor([found[key] for key in wanted]).nanmean().item()
    return found


@cache
def recorded(name: str, ours: str) -> dict[str, float]:
    source = SOURCES[name]
    column = list(source["metrics"].values()).index(ours)
    rows = {key: row[column] for key, row in (source["lists"] | source["means"]).items()}
    return {
        key: float(value)
        for key, value in rows.items()
        if value is not None and key.partition("/")[0] not in NOT_NUMBERS
    }


@cache
def odd(name: str, ours: str) -> dict[str, str]:
    """Case -> why no option gives this value."""
    return {
        case: reason
        for reason, rows in ODD.items()
        for program, cases, metrics in rows
        for case in cases.split()
        if name.startswith(program) and any(fnmatch(ours, pattern) for pattern in metrics.split())
    }


def near(name: str, value: float | dict[str, float]) -> Any:
    return pytest.approx(value, rel=1e-6, abs=SOURCES[name]["within"], nan_ok=True)


@pytest.mark.parametrize(("name", "ours"), COLUMNS)
def test_the_values_of_a_program(name: str, ours: str) -> None:
    """Each list of each case, and the means."""
    wanted = {key: value for key, value in recorded(name, ours).items() if key.partition("/")[0] not in odd(name, ours)}
    found = computed(name, ours)
    assert {key: found[key] for key in wanted} == near(name, wanted)


@pytest.mark.parametrize("reason", ODD)
def test_what_no_option_expresses(reason: str) -> None:
    """Each exception is needed: the value that the program printed is not ours."""
    values = [
        (name, ours, key, value)
        for name, ours in COLUMNS
        for key, value in recorded(name, ours).items()
        if odd(name, ours).get(key.partition("/")[0]) == reason
    ]
    assert [row for row in values if computed(row[0], row[1])[row[2]] == near(row[0], row[3])] == []
    for program, cases, patterns in ODD[reason]:
        of_program = [(ours, key.partition("/")[0]) for name, ours, key, _ in values if name.startswith(program)]
        assert set(cases.split()) <= {case for _, case in of_program}, program
        assert [
            pattern for pattern in patterns.split() if not matching([ours for ours, _ in of_program], pattern)
        ] == [], program


@pytest.mark.parametrize("case", NOT_NUMBERS)
@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_what_is_not_a_number_is_an_error_under_every_preset(case: str, preset: Preset) -> None:
    """The programs print numbers for these."""
    _, scores, labels, _, _ = zip(*documents("rows", case, "q1"), strict=True)
    message = "relevance must be a number" if case == "nan_label" else "scores must be numbers"
    with pytest.raises(ValueError, match=message):
        preset.parse("ndcg@5")(scores, [float(label) for label in labels])


@pytest.mark.parametrize("row", GOLDEN["scripts"]["lists"], ids=lambda row: f"{row['preset']} {len(row['labels'])}")
def test_the_scripts_of_letor_and_mslr(row: dict[str, Any]) -> None:
    names = GOLDEN["scripts"]["metrics"]
    lists = answer(row["scores"], row["labels"])
    found = {name: settled(PRESETS[row["preset"]].parse(name), lists).item() for name in names}
    assert found == pytest.approx(dict(zip(names, row["values"], strict=True)), abs=6e-7)


@pytest.mark.parametrize(
    ("preset", "name", "case", "printed"),
    [
        ("xgboost", "auc", "first_rel_beyond_k", 0.785714),  # counts pairs of equal labels as right ones
        ("catboost", "err-max1@5", "single_rel", 1.0),  # its ERR takes the label itself as the chance to stop
        ("ranx", "bpref", "graded_plain", 0.0),  # 0 in one call after norel_judged, 0.666667 alone
    ],
)
def test_a_metric_that_only_has_the_name_is_refused(preset: str, name: str, case: str, printed: float) -> None:
    with pytest.raises(ValueError, match=f"^preset {preset} has no {parse(name).base}; it has "):
        PRESETS[preset].parse(name)
    _, scores, labels, _, _ = zip(*documents("rows", case, "q1"), strict=True)
    assert abs(parse(name)(scores, labels).item() - printed) > 0.1


def test_which_queries_count_where_one_stands_on_one_side_only() -> None:
    """The means of q_missing_in_run tell trec_eval from trec_eval -c; ranx refuses such sides and printed nothing."""
    unequal = {"q_missing_in_run", "q_missing_in_qrels"}
    assert PRESETS["trec_eval"].queries == "intersection"
    assert "q_missing_in_run" in SOURCES["trec_eval 9.0.8 trec_eval"]["means"]
    assert PRESETS["ranx"].queries == "strict"
    assert unequal <= set(SOURCES["ranx 0.3.21 make_comparable=True"]["means"])
    assert not unequal & set(SOURCES["ranx 0.3.21 Qrels, Run"]["means"])


def test_every_metric_of_every_preset_is_compared_with_its_program() -> None:
    compared = {name: set() for name in PRESETS}
    for source in SOURCES.values():
        if source["preset"]:
            compared[source["preset"]] |= {parse(ours).base for ours in source["metrics"].values()}
    for row in GOLDEN["scripts"]["lists"]:
        compared[row["preset"]] |= {parse(name).base for name in GOLDEN["scripts"]["metrics"]}
    assert compared == {name: set(preset.metrics) for name, preset in PRESETS.items()}


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_preset_names_options_that_there_are(preset: Preset) -> None:
    own = {base: {field.name for field in fields(METRICS[base])} for base in preset.metrics}
    assert all(set(options) <= own[base] for base, options in preset.metrics.items())
    assert set(preset.every) <= set.union(*own.values())


def test_what_is_asked_for_wins() -> None:
    """An option off its default stays, and so does one that the name spells out, and the cutoff."""
    trec_eval, mslr = PRESETS["trec_eval"], PRESETS["mslr"]
    assert trec_eval.apply(parse("ndcg@7")).name == "ndcg-linear-docid-zero@7"
    assert trec_eval.apply(parse("ndcg-table0_1_5-worst-skip@7")).name == "ndcg-table0_1_5-worst-zero@7"
    assert trec_eval.apply(parse("ndcg@7"), keep=["gain", "empty"]).name == "ndcg-docid@7"
    assert trec_eval.parse("ndcg-exp2-average-skip@7").name == "ndcg@7"
    assert trec_eval.parse("ndcg_cut_7") == trec_eval.apply(parse("ndcg@7"))
    assert mslr.parse("ap") == mslr.parse("ap-rel2") != mslr.parse("ap-rel1")
    assert mslr.parse("AP(rel=1)@5").name == "ap-retrieved-stable-zero@5"


@pytest.mark.parametrize(
    "name",
    [
        "trec_eval 10.0 trec_eval",
        "pytrec_eval-terrier 0.5.11",
        "ir_measures 0.4.3",
        "ranx 0.3.21 Qrels, Run",
    ],
)
def test_a_program_s_own_names_under_its_preset(name: str) -> None:
    """So its number is what its name gives; only NDCG has no level here."""
    metrics = {theirs: ours for theirs, ours in SOURCES[name]["metrics"].items() if theirs != "ndcg@5-l2"}
    found = {theirs: preset_metric(SOURCES[name], theirs) for theirs in metrics}
    assert found == {theirs: preset_metric(SOURCES[name], ours) for theirs, ours in metrics.items()}


def test_a_metric_that_the_program_lacks_is_refused() -> None:
    message = "preset lightgbm has no mrr; it has ndcg, ap"
    with pytest.raises(ValueError, match=f"^{message}$"):
        PRESETS["lightgbm"].apply(parse("mrr@10"))


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_what_is_printed_beside_a_number_says_how_scores_are_compared(preset: Preset) -> None:
    assert ("scores in float32" in preset.about) == (preset.scores == "float32")


def test_only_trec_eval_takes_any_negative_label_for_no_label() -> None:
    assert [name for name, preset in PRESETS.items() if preset.unjudged_label] == ["trec_eval"]

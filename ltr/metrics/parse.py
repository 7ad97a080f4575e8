"""From the text of a name to the metric, and from other programs' spellings to ours."""

from __future__ import annotations

import ast
import re
from dataclasses import MISSING, Field
from difflib import get_close_matches
from typing import Any

from ltr import discounts, gains
from ltr.metrics.ap import AP
from ltr.metrics.arp import ARP
from ltr.metrics.auc import AUC
from ltr.metrics.base import MOST, RankingMetric, choices, spell
from ltr.metrics.bpref import Bpref
from ltr.metrics.dcg import DCG
from ltr.metrics.err import ERR
from ltr.metrics.f1 import F1
from ltr.metrics.gradedap import GradedAP
from ltr.metrics.judged import Judged
from ltr.metrics.ndcg import NDCG
from ltr.metrics.pairs import PairAccuracy
from ltr.metrics.precision import Precision
from ltr.metrics.rbp import RBP
from ltr.metrics.recall import Recall
from ltr.metrics.rprec import RPrecision
from ltr.metrics.rr import RR
from ltr.metrics.success import Success
from ltr.metrics.tau import KendallTau

METRICS: dict[str, type[RankingMetric]] = {
    each.base: each
    for each in (
        *(NDCG, DCG, RR, AP, GradedAP, Precision, Recall, F1, Success, RPrecision, ERR, RBP, Bpref, Judged),
        *(PairAccuracy, KendallTau, AUC, ARP),
    )
}

# Other programs' names, in small letters. What a spelling says (a gain, a divisor) is taken over; what it leaves open
# (gain, ties, empty lists) is this toolkit's default, not the other program's: that is what presets are for.
ALIASES = {
    "map": "ap",
    "rr": "mrr",
    "recip_rank": "mrr",
    "p": "precision",
    "set_p": "precision",
    "setp": "precision",
    "r": "recall",
    "set_recall": "recall",
    "setr": "recall",
    "relative_p": "recall-min",
    "set_relative_p": "recall-min",
    "setrelp": "recall-min",
    "set_f": "f1",
    "setf": "f1",
    "hit_rate": "success",
    "hit": "success",
    "hr": "success",
    "ndcg_burges": "ndcg-exp2",
    "dcg_burges": "dcg-exp2",
}
ELSEWHERE = {  # what other programs call a metric and this toolkit does not
    "gm_map": "the geometric mean of ap over queries, an aggregate and no metric",
    "gm_bpref": "the geometric mean of bpref over queries, an aggregate and no metric",
    "hits": "a count and no share; precision@k is hits / k, recall@k is hits / R",
}
BRACKET = "rel=2, judged_only=True, dcg='exp-log2', gains={1: 3}, p=0.8, relative=True or beta=1"


def parse(text: str | RankingMetric) -> RankingMetric:
    """The metric of a name; ``parse(str(m)) == m`` for every metric.

    A name is a base, then what is not the default, then the cutoff: ``ndcg@10``, ``ap-rel2@100``,
    ``ndcg-linear-docid@5``. The spellings of ir_measures (``AP(rel=2,judged_only=True)@100``), trec_eval
    (``ndcg_cut_10``, ``recip_rank``) and ranx (``map@100-l2``, ``rbp.80``), and the primed names of condensed lists
    (``nDCG'@10``) are read as names; what they leave open is this toolkit's default.

    Args:
        text: a name, or a metric, which is returned as it is.

    Raises:
        ValueError: an unknown base, an option that is unknown or missing, or a cutoff that is not a whole number of at
            least 1.

    Example:
        >>> parse("nDCG@10") == parse("ndcg_cut_10") == NDCG(k=10)
        True
        >>> parse("AP(rel=2)@100").name
        'ap-rel2@100'
    """
    if isinstance(text, RankingMetric):
        return text
    if not isinstance(text, str):
        raise ValueError(f"a metric is named by text such as 'ndcg@10'; got {text!r}")
    spelled = plain(text)
    base, *words = spelled.partition("@")[0].split("-")
    if base in ELSEWHERE:
        raise ValueError(f"metric {text!r}: {base} is {ELSEWHERE[base]}")
    if base not in METRICS:
        near = get_close_matches(base, [*METRICS, *ALIASES], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ValueError(f"unknown metric {text!r}: wanted one of {', '.join(METRICS)}, such as ndcg@10{hint}")
    metric = METRICS[base]
    options: dict[str, Any] = {}
    for word in words:
        name, value = _option(metric, word, text)
        if name in options:
            raise ValueError(f"metric {text!r}: {word!r} is a second answer to the question of {name}")
        options[name] = value
    if "@" in spelled:
        options["k"] = _cutoff(spelled.partition("@")[2], text)
    for option in metric.options():
        if option.default is MISSING and option.name not in options:
            word = option.metadata["word"].format(4)
            raise ValueError(f"metric {text!r}: {base} wants its {option.name} in the name, such as {base}-{word}")
    return metric(**options)


def plain(text: str) -> str:
    """Other programs' spellings in the form base-options@k."""
    plain, words = text.strip(), []
    if match := re.fullmatch(rf"(.+)-l({gains.NUMBER})", plain):  # ranx
        plain, words = match[1], [f"rel{gains.number(float(match[2]))}"]
    name, at, cut = plain.partition("@")
    if match := re.fullmatch(r"(\w+)\((.*)\)", name):  # ir_measures
        name, said = _bracket(match[1], match[2], text)
        words += said
    elif match := re.fullmatch(r"(ndcg_cut|map_cut|P|recall|success|relative_P)[_.](\d+)", name):  # trec_eval
        name, at, cut = match[1].removesuffix("_cut"), "@", match[2]
    elif match := re.fullmatch(r"rbp(\.\d+)", name):  # ranx
        name, words = "rbp", [*words, f"p{gains.number(float(match[1]))}"]
    elif name == "ERR":  # ir_measures, whose gdeval knows this one scale
        words.append("max4")
    base, dash, own = re.sub(r"^r-precision\b", "rprec", name, flags=re.IGNORECASE).partition("-")
    if base.endswith("'"):
        base, words = base[:-1], ["condensed", *words]
    base = ALIASES.get(base.lower(), base.lower())
    return "-".join([base + dash + own, *words]) + at + cut


def _bracket(name: str, arguments: str, text: str) -> tuple[str, list[str]]:
    """A metric of ir_measures and its options as words."""
    words = []
    for option, value in _arguments(arguments, text).items():
        match option, value:
            case "rel" | "p", int() | float():
                words.append(f"{option}{gains.number(value)}")
            case "judged_only", bool():
                words.append("condensed" if value else "unjudged0")
            case "dcg", "log2" | "exp-log2":
                words.append("exp2" if value == "exp-log2" else "linear")
            case "gains", dict() if _is_table(value):  # a label that is not in it keeps its own value
                table = [value.get(label, label) for label in range(max(value) + 1)]
                words.append("table" + "_".join(gains.number(each) for each in table))
            case "relative", bool() if name == "SetP":
                name = "SetRelP" if value else name
            case "beta", 1:
                pass
            case _:
                raise ValueError(f"metric {text!r}: wanted {BRACKET} in the brackets, got {option}={value!r}")
    return name, words


def _is_table(value: dict[Any, Any]) -> bool:
    labels = all(isinstance(each, int) and 0 <= each <= 1000 for each in value)
    return bool(value) and labels and all(isinstance(each, int | float) for each in value.values())


def _arguments(arguments: str, text: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if isinstance(call, ast.Call) and not call.args:
            return {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
    except (SyntaxError, ValueError):
        pass
    raise ValueError(f"metric {text!r}: wanted {BRACKET} in the brackets, got {arguments!r}")


def _cutoff(cut: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,18}", cut) or not 1 <= int(cut) <= MOST:
        raise ValueError(f"metric {text!r}: the cutoff after @ must be a whole number from 1 to {MOST}, got {cut!r}")
    return int(cut)


def _option(metric: type[RankingMetric], word: str, text: str) -> tuple[str, Any]:
    known: list[str] = []
    for option in metric.options():
        value = _read(metric, option, word, known)
        if value is not None:
            return option.name, value
    raise ValueError(f"metric {text!r}: {metric.base} has no option {word!r}; wanted one of {', '.join(known)}")


def _read(metric: type[RankingMetric], option: Field[Any], word: str, known: list[str]) -> Any:
    if option.name == "gain":
        known += ["exp2", "linear", "binary2", "table0_1_3"]
        return gains.read(word)
    if option.name == "discount":
        known += ["log2", "letor", "reciprocal", "geometric0.8", "positions1_0.5"]
        return discounts.read(word)
    template = option.metadata.get("word", {})
    if isinstance(template, str):  # a number, such as rel2
        known.append(template.format(2))
        match = re.fullmatch(template.format(rf"({gains.NUMBER})"), word)
        return float(match[1]) if match else None
    words = {spell(option, value, "word"): value for value in choices(metric, option.name)}
    known += words
    return words.get(word)

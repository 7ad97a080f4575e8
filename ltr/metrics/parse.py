"""From the text of a name to the metric, and from other programs' spellings to ours."""

from __future__ import annotations

import re
from dataclasses import Field
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

from ltr import discounts, gains
from ltr.metrics.ap import AP
from ltr.metrics.base import MOST, RankingMetric, spell
from ltr.metrics.dcg import DCG
from ltr.metrics.ndcg import NDCG
from ltr.metrics.precision import Precision
from ltr.metrics.recall import Recall
from ltr.metrics.rr import RR

METRICS: dict[str, type[RankingMetric]] = {each.base: each for each in (NDCG, DCG, RR, AP, Precision, Recall)}

# Names only: what a spelling leaves open (gain, ties, empty lists) is this toolkit's default, not the other program's.
ALIASES = {
    "map": "ap",
    "rr": "mrr",
    "recip_rank": "mrr",
    "p": "precision",
    "r": "recall",
    "ndcg_cut": "ndcg",
    "map_cut": "ap",
}


def parse(text: str | RankingMetric) -> RankingMetric:
    """The metric of a name; ``parse(str(m)) == m`` for every metric.

    A name is a base, then what is not the default, then the cutoff: ``ndcg@10``, ``ap-rel2@100``,
    ``ndcg-linear-docid@5``. The spellings of ir_measures (``AP(rel=2)@100``), trec_eval (``ndcg_cut_10``,
    ``recip_rank``) and ranx (``map@100-l2``) are read as names; the conventions stay this toolkit's.

    Args:
        text: a name, or a metric, which is returned as it is.

    Raises:
        ValueError: an unknown base, an unknown option, or a cutoff that is not a whole number of at least 1.

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
    plain = _plain(text)
    base, *words = plain.partition("@")[0].split("-")
    base = ALIASES.get(base, base)
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
    if "@" in plain:
        options["k"] = _cutoff(plain.partition("@")[2], text)
    return metric(**options)


def _plain(text: str) -> str:
    """Other programs' spellings in the form base-options@k."""
    plain = text.strip()
    if match := re.fullmatch(r"([A-Za-z_]+)\(rel=([\d.]+)\)(@.*)?", plain):  # ir_measures
        plain = f"{match[1]}-rel{match[2]}{match[3] or ''}"
    elif match := re.fullmatch(r"([A-Za-z_]+)(@.*)?-l([\d.]+)", plain):  # ranx
        plain = f"{match[1]}-rel{match[3]}{match[2] or ''}"
    elif match := re.fullmatch(r"(ndcg_cut|map_cut|P|recall)_(\d+)", plain):  # trec_eval
        plain = f"{match[1]}@{match[2]}"
    head, at, cut = plain.partition("@")
    base, dash, words = head.partition("-")
    return base.lower() + dash + words + at + cut


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
    if option.name == "threshold":
        known.append("rel2")
        match = re.fullmatch(rf"rel({gains.NUMBER})", word)
        return float(match[1]) if match else None
    words = {spell(option, value, "word"): value for value in get_args(get_type_hints(metric)[option.name])}
    known += words
    return words.get(word)

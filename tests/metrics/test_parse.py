"""Names: what one types is what is printed, and one value has one name."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltr.metrics import (
    AP,
    ARP,
    DCG,
    ERR,
    F1,
    METRICS,
    NDCG,
    RBP,
    RR,
    Binary,
    Exp2,
    Geometric,
    GradedAP,
    Judged,
    Letor,
    Linear,
    Log2,
    Precision,
    RankingMetric,
    Recall,
    Reciprocal,
    RPrecision,
    Success,
    Table,
    parse,
)

COMMON = "judged, retrieved, unjudged0, condensed, average, docid, stable, worst, best, skip, zero, one, error"
OPTIONS = f"wanted one of rel2, R, min, hits, {COMMON}"  # of ap
BASES = (
    "ndcg, dcg, mrr, ap, gradedap, precision, recall, f1, success, rprec, err, rbp, bpref, judged, pairs, tau, auc, arp"
)
BRACKET = "wanted rel=2, judged_only=True, dcg='exp-log2', gains={1: 3}, p=0.8, relative=True or beta=1 in the brackets"
POOL = "ideal=judged unjudged=zero"
RULES = f"{POOL} ties=average empty=skip"


@pytest.mark.parametrize(
    ("metric", "name", "convention"),
    [
        (NDCG(k=10), "ndcg@10", f"ndcg@10 gain=2^y-1 discount=1/log2(1+r) {RULES}"),
        (NDCG(), "ndcg", f"ndcg gain=2^y-1 discount=1/log2(1+r) {RULES}"),
        (
            NDCG(k=5, gain=Linear(), ties="docid"),
            "ndcg-linear-docid@5",
            f"ndcg@5 gain=y discount=1/log2(1+r) {POOL} ties=docid empty=skip",
        ),
        (
            NDCG(k=10, empty="zero"),
            "ndcg-zero@10",
            f"ndcg@10 gain=2^y-1 discount=1/log2(1+r) {POOL} ties=average empty=zero",
        ),
        (
            NDCG(k=10, discount=Letor(), short="zero", ties="stable", empty="zero"),
            "ndcg-letor-short0-stable-zero@10",
            f"ndcg@10 gain=2^y-1 discount=1/log2(max(r,2)) short=zero {POOL} ties=stable empty=zero",
        ),
        (
            NDCG(k=5, ideal="retrieved", unjudged="ignored"),
            "ndcg-retrieved-condensed@5",
            "ndcg@5 gain=2^y-1 discount=1/log2(1+r) ideal=retrieved unjudged=ignored ties=average empty=skip",
        ),
        (DCG(gain=Binary(2)), "dcg-binary2", f"dcg gain=[y>=2] discount=1/log2(1+r) {RULES}"),
        (RR(k=10), "mrr@10", f"mrr@10 relevant=y>=1 {RULES}"),
        (AP(k=100, threshold=2), "ap-rel2@100", f"ap@100 relevant=y>=2 divisor=R {RULES}"),
        (AP(k=5, divisor="min"), "ap-min@5", f"ap@5 relevant=y>=1 divisor=min(R,k) {RULES}"),
        (AP(k=5, divisor="hits"), "ap-hits@5", f"ap@5 relevant=y>=1 divisor=hits {RULES}"),
        (GradedAP(k=5, top=4), "gradedap-max4@5", f"gradedap@5 max=4 {RULES}"),
        (Precision(k=5), "precision@5", f"precision@5 relevant=y>=1 divisor=k {RULES}"),
        (
            Precision(k=5, divisor="min", threshold=0.5),
            "precision-rel0.5-min@5",
            f"precision@5 relevant=y>=0.5 divisor=min(k,n) {RULES}",
        ),
        (
            Recall(k=20, empty="one"),
            "recall-one@20",
            f"recall@20 relevant=y>=1 divisor=R {POOL} ties=average empty=one",
        ),
        (Recall(k=20, divisor="min"), "recall-min@20", f"recall@20 relevant=y>=1 divisor=min(R,k) {RULES}"),
        (F1(k=5, threshold=2), "f1-rel2@5", f"f1@5 relevant=y>=2 {RULES}"),
        (Success(k=5), "success@5", f"success@5 relevant=y>=1 {RULES}"),
        (RPrecision(), "rprec", f"rprec relevant=y>=1 {RULES}"),
        (RBP(), "rbp", f"rbp relevant=y>=1 p=0.8 {RULES}"),
        (RBP(k=9, threshold=2, p=0.95), "rbp-rel2-p0.95@9", f"rbp@9 relevant=y>=2 p=0.95 {RULES}"),
        (Judged(k=10), "judged@10", "judged@10 unjudged=zero ties=average empty=skip"),
        (ARP(), "arp", "arp unjudged=zero ties=average empty=skip"),
    ],
)
def test_names_and_conventions(metric: RankingMetric, name: str, convention: str) -> None:
    assert (metric.name, str(metric), metric.convention) == (name, name, convention)
    assert parse(name) == metric


small = st.floats(1e-6, 1e6)
gains = st.one_of(
    st.sampled_from([Exp2(), Linear()]),
    small.map(Binary),
    st.lists(small, min_size=1, max_size=4).map(lambda gains: Table(tuple(sorted(gains)))),
)
discounts = st.one_of(st.sampled_from([Log2(), Letor(), Reciprocal()]), st.floats(1e-6, 1).map(Geometric))
shared = {
    "ties": st.sampled_from(["average", "docid", "stable", "worst", "best"]),
    "empty": st.sampled_from(["skip", "zero", "one", "error"]),
    "unjudged": st.sampled_from(["zero", "ignored"]),
}
pooled = {"ideal": st.sampled_from(["judged", "retrieved"]), **shared}
cut = {"k": st.none() | st.integers(1, 10**6)}
graded = {"gain": gains, "discount": discounts, **cut, **pooled}
binary = {"threshold": small, **pooled}
metrics = st.one_of(
    st.builds(NDCG, short=st.sampled_from(["keep", "zero"]), **graded),
    st.builds(DCG, **graded),
    st.builds(RR, **cut, **binary),
    st.builds(AP, divisor=st.sampled_from(["R", "min", "hits"]), **cut, **binary),
    st.builds(GradedAP, top=st.integers(1, 10**6), **cut, **pooled),
    st.builds(Precision, divisor=st.sampled_from(["k", "min"]), **cut, **binary),
    st.builds(Recall, divisor=st.sampled_from(["R", "min"]), **cut, **binary),
    st.builds(F1, **cut, **binary),
    st.builds(Success, **cut, **binary),
    st.builds(RPrecision, **binary),
    st.builds(ERR, top=small, **cut, **pooled),
    st.builds(RBP, p=st.floats(1e-6, 1 - 1e-6), **cut, **binary),
    st.builds(Judged, **cut, **shared),
    st.builds(ARP, **shared),
)


@given(metrics)
def test_every_name_reads_back_and_is_safe_to_type(metric: RankingMetric) -> None:
    assert parse(metric.name) == metric
    assert hash(parse(metric.name)) == hash(metric)
    assert shlex.quote(metric.name) == metric.name
    assert not set(metric.name) & set("=,()[]{}:$~/\\ ")


@given(metrics, metrics)
def test_one_value_means_one_name_and_one_convention(one: RankingMetric, other: RankingMetric) -> None:
    assert (one == other) == (one.name == other.name)
    if one != other:
        assert one.convention != other.convention


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        # ir_measures 0.4.3
        ("nDCG@10", "ndcg@10"),
        ("NDCG@10", "ndcg@10"),
        ("nDCG(dcg='exp-log2')@10", "ndcg@10"),
        ("nDCG(dcg='log2')@10", "ndcg-linear@10"),
        ("nDCG(judged_only=True)@5", "ndcg-condensed@5"),
        ("nDCG(judged_only=False)@5", "ndcg@5"),
        ("nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7})@10", "ndcg-table0_1_3_7@10"),
        ("nDCG(gains={1:1,3:9})@10", "ndcg-table0_1_2_9@10"),
        ("AP", "ap"),
        ("MAP", "ap"),
        ("AP(rel=2)", "ap-rel2"),
        ("AP(rel=2)@100", "ap-rel2@100"),
        ("AP(judged_only=True)", "ap-condensed"),
        ("AP(rel=2, judged_only=True)@100", "ap-rel2-condensed@100"),
        ("P@5", "precision@5"),
        ("P(rel=2)@5", "precision-rel2@5"),
        ("Precision@5", "precision@5"),
        ("R@100", "recall@100"),
        ("Recall@100", "recall@100"),
        ("RR", "mrr"),
        ("RR@10", "mrr@10"),
        ("MRR@10", "mrr@10"),
        ("RR(rel=3)@10", "mrr-rel3@10"),
        ("Success@5", "success@5"),
        ("Success(rel=2)@5", "success-rel2@5"),
        ("SetP", "precision"),
        ("SetP(rel=2)", "precision-rel2"),
        ("SetP(relative=True)", "recall-min"),
        ("SetP(relative=False)", "precision"),
        ("SetRelP", "recall-min"),
        ("SetR", "recall"),
        ("SetF", "f1"),
        ("SetF(rel=2,beta=1.0)", "f1-rel2"),
        ("RBP(rel=1)", "rbp"),
        ("RBP(p=0.8,rel=1)", "rbp"),
        ("RBP(p=0.95,rel=2)@10", "rbp-rel2-p0.95@10"),
        ("Rprec", "rprec"),
        ("RPrec(rel=2)", "rprec-rel2"),
        ("ERR@20", "err-max4@20"),  # gdeval's one scale
        ("Bpref", "bpref"),
        ("BPref(rel=2)", "bpref-rel2"),
        ("Judged@10", "judged@10"),
        # trec_eval 10.0
        ("map", "ap"),
        ("map_cut_20", "ap@20"),
        ("map_cut.20", "ap@20"),
        ("ndcg", "ndcg"),
        ("ndcg_cut_10", "ndcg@10"),
        ("recip_rank", "mrr"),
        ("P_5", "precision@5"),
        ("recall_100", "recall@100"),
        ("success_5", "success@5"),
        ("relative_P_10", "recall-min@10"),
        ("set_P", "precision"),
        ("set_relative_P", "recall-min"),
        ("set_recall", "recall"),
        ("set_F", "f1"),
        ("bpref", "bpref"),
        # ranx 0.3.21
        ("map@100-l2", "ap-rel2@100"),
        ("mrr-l2", "mrr-rel2"),
        ("ndcg_burges@10", "ndcg@10"),
        ("dcg_burges", "dcg"),
        ("hit_rate@5", "success@5"),
        ("hit_rate@5-l2", "success-rel2@5"),
        ("r-precision", "rprec"),
        ("r-precision-l2", "rprec-rel2"),
        ("f1@5", "f1@5"),
        ("rbp.80", "rbp"),
        ("rbp.95-l2", "rbp-rel2-p0.95"),
        # condensed lists
        ("nDCG'@10", "ndcg-condensed@10"),
        ("AP'", "ap-condensed"),
        ("ndcg'-linear@10", "ndcg-linear-condensed@10"),
        # our own
        (" ndcg@10 ", "ndcg@10"),
        ("ndcg-exp2-log2-judged-unjudged0-average-skip@10", "ndcg@10"),
    ],
)
def test_other_spellings(spelling: str, name: str) -> None:
    assert parse(spelling).name == name


# All that these programs name, and what it is read as.
PEERS = {
    "ir_measures 0.4.3": "AP=ap MAP=ap Bpref=bpref BPref=bpref ERR=err-max4 Judged=judged nDCG=ndcg NDCG=ndcg "
    "P=precision Precision=precision R=recall Recall=recall RBP=rbp RPrec=rprec Rprec=rprec RR=mrr MRR=mrr "
    "Success=success SetP=precision SetRelP=recall-min SetR=recall SetF=f1",
    "trec_eval 10.0": "map=ap P=precision recall=recall ndcg=ndcg success=success Rprec=rprec bpref=bpref "
    "recip_rank=mrr relative_P=recall-min set_P=precision set_F=f1 set_recall=recall set_relative_P=recall-min "
    "map_cut_10=ap@10 ndcg_cut_10=ndcg@10 P_10=precision@10 recall_10=recall@10 success_10=success@10 "
    "relative_P_10=recall-min@10",
    "ranx 0.3.21": "hit_rate=success precision=precision recall=recall f1=f1 r-precision=rprec mrr=mrr map=ap dcg=dcg "
    "dcg_burges=dcg ndcg=ndcg ndcg_burges=ndcg bpref=bpref rbp.95=rbp-p0.95",
}
UNKNOWN = {
    "ir_measures 0.4.3": "AP_IA Accuracy@5 BPM@5 Compat(p=0.8) ERR_IA@5 INSQ INST IPrec@0.1 MAP_IA NERR10 NERR11"
    " NERR8@5 NERR9@5 NRBP NumQ NumRel NumRelRet NumRet P_IA@5 SDCG@5 SetAP StRecall@5 alpha_DCG@5 alpha_nDCG@5"
    " infAP nERR_IA@5 nNRBP",
    "trec_eval 10.0": "11pt_avg G Rndcg Rprec_mult binG infAP iprec_at_recall_0.10 map_cut ndcg_cut ndcg_rel "
    "num_nonrel_judged_ret num_q num_rel num_rel_ret num_ret relstring runid set_map utility prefs_simp prefs_pair",
}


@pytest.mark.parametrize("program", PEERS)
@pytest.mark.parametrize("cut", ["", "@10"])
def test_every_metric_that_a_peer_shares(program: str, cut: str) -> None:
    """By its bare name and, where it takes a cutoff, with one."""
    for spelling, name in (pair.split("=") for pair in PEERS[program].split()):
        if not cut:
            assert parse(spelling).name == name
        elif not name.endswith("@10") and parse(name).cuts:
            assert parse(spelling + cut).name == name + cut


def test_hits_in_words() -> None:
    assert {parse(name).name for name in ("hit@5", "HR@5", "hit_rate@5", "success@5")} == {"success@5"}


@pytest.mark.parametrize("text", " ".join(UNKNOWN.values()).split())
def test_what_other_programs_have_and_this_one_has_not(text: str) -> None:
    with pytest.raises(
        ValueError, match=f"^unknown metric {re.escape(repr(text))}: wanted one of {BASES}, such as ndcg@10"
    ):
        parse(text)


def test_a_metric_parses_to_itself() -> None:
    metric = NDCG(k=3)
    assert parse(metric) is metric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ndgc@10",
            f"unknown metric 'ndgc@10': wanted one of {BASES}, such as ndcg@10; did you mean ndcg?",
        ),
        ("", f"unknown metric '': wanted one of {BASES}, such as ndcg@10"),
        ("gm_map", "metric 'gm_map': gm_map is the geometric mean of ap over queries, an aggregate and no metric"),
        ("hits@5", "metric 'hits@5': hits is a count and no share; precision@k is hits / k, recall@k is hits / R"),
        ("err@20", "metric 'err@20': err wants its top in the name, such as err-max4"),
        ("gradedap", "metric 'gradedap': gradedap wants its top in the name, such as gradedap-max4"),
        ("rprec@3", "rprec: is a metric of the full list and takes no cutoff; got k=3"),
        ("AP(level=2)", f"metric 'AP(level=2)': {BRACKET}, got level=2"),
        ("AP(2)@5", f"metric 'AP(2)@5': {BRACKET}, got '2'"),
        ("AP(rel=)", f"metric 'AP(rel=)': {BRACKET}, got 'rel='"),
        ("nDCG(gains={10**9: 1})", f"metric 'nDCG(gains={{10**9: 1}})': {BRACKET}, got 'gains={{10**9: 1}}'"),
        ("nDCG(gains={2000: 1})", f"metric 'nDCG(gains={{2000: 1}})': {BRACKET}, got gains={{2000: 1}}"),
        ("nDCG(gains={1: 'a'})", f"metric \"nDCG(gains={{1: 'a'}})\": {BRACKET}, got gains={{1: 'a'}}"),
        ("AP(relative=True)", f"metric 'AP(relative=True)': {BRACKET}, got relative=True"),
        (
            "nDCG(gains={1:3,3:9})",
            "gain table: wanted numbers >= 0 that never fall, not all of them 0, got [0.0, 3.0, 2.0, 9.0]",
        ),
        ("SetF(beta=2.0)", f"metric 'SetF(beta=2.0)': {BRACKET}, got beta=2.0"),
        ("ndcg@0", "metric 'ndcg@0': the cutoff after @ must be a whole number from 1 to 1000000000, got '0'"),
        ("ndcg@-1", "metric 'ndcg@-1': the cutoff after @ must be a whole number from 1 to 1000000000, got '-1'"),
        ("ndcg@2.5", "metric 'ndcg@2.5': the cutoff after @ must be a whole number from 1 to 1000000000, got '2.5'"),
        ("ndcg@five", "metric 'ndcg@five': the cutoff after @ must be a whole number from 1 to 1000000000, got 'five'"),
        ("ndcg@", "metric 'ndcg@': the cutoff after @ must be a whole number from 1 to 1000000000, got ''"),
        ("ap-linear@5", f"metric 'ap-linear@5': ap has no option 'linear'; {OPTIONS}"),
        ("ap-rel0", "ap: the relevance threshold must be a number above 0, got 0.0"),
        ("ap-rel.", f"metric 'ap-rel.': ap has no option 'rel.'; {OPTIONS}"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse(text)


@pytest.mark.parametrize(
    "text", ["ndcg-linear-exp2@10", "ndcg-docid-worst", "ap-rel2-rel3", "nDCG(gains={1:3},dcg='log2')"]
)
def test_two_answers_to_one_question_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"metric {text!r}")):
        parse(text)


@pytest.mark.parametrize("wrong", [10, None, ["ndcg"], 2.5])
def test_only_text_names_a_metric(wrong: object) -> None:
    with pytest.raises(ValueError, match=re.escape(f"a metric is named by text such as 'ndcg@10'; got {wrong!r}")):
        parse(wrong)


def test_the_names() -> None:
    assert ", ".join(METRICS) == BASES
    assert all(metric.base == base for base, metric in METRICS.items())

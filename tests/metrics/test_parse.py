"""Names: what one types is what is printed, and one value has one name."""

import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltr.metrics import (
    AP,
    DCG,
    METRICS,
    NDCG,
    RR,
    Binary,
    Exp2,
    Geometric,
    Letor,
    Linear,
    Log2,
    Precision,
    RankingMetric,
    Recall,
    Reciprocal,
    Table,
    parse,
)

OPTIONS = "wanted one of rel2, R, min, average, docid, stable, worst, best, skip, zero, one, error"  # of ap


@pytest.mark.parametrize(
    ("metric", "name", "convention"),
    [
        (NDCG(k=10), "ndcg@10", "ndcg@10 gain=2^y-1 discount=1/log2(1+r) ties=average empty=skip"),
        (NDCG(), "ndcg", "ndcg gain=2^y-1 discount=1/log2(1+r) ties=average empty=skip"),
        (
            NDCG(k=5, gain=Linear(), ties="docid"),
            "ndcg-linear-docid@5",
            "ndcg@5 gain=y discount=1/log2(1+r) ties=docid empty=skip",
        ),
        (NDCG(k=10, empty="zero"), "ndcg-zero@10", "ndcg@10 gain=2^y-1 discount=1/log2(1+r) ties=average empty=zero"),
        (
            NDCG(k=10, discount=Letor(), short="zero", ties="stable", empty="zero"),
            "ndcg-letor-short0-stable-zero@10",
            "ndcg@10 gain=2^y-1 discount=1/log2(max(r,2)) short=zero ties=stable empty=zero",
        ),
        (DCG(gain=Binary(2)), "dcg-binary2", "dcg gain=[y>=2] discount=1/log2(1+r) ties=average empty=skip"),
        (RR(k=10), "mrr@10", "mrr@10 relevant=y>=1 ties=average empty=skip"),
        (AP(k=100, threshold=2), "ap-rel2@100", "ap@100 relevant=y>=2 divisor=R ties=average empty=skip"),
        (AP(k=5, divisor="min"), "ap-min@5", "ap@5 relevant=y>=1 divisor=min(R,k) ties=average empty=skip"),
        (Precision(k=5), "precision@5", "precision@5 relevant=y>=1 divisor=k ties=average empty=skip"),
        (
            Precision(k=5, divisor="min", threshold=0.5),
            "precision-rel0.5-min@5",
            "precision@5 relevant=y>=0.5 divisor=min(k,n) ties=average empty=skip",
        ),
        (Recall(k=20, empty="one"), "recall-one@20", "recall@20 relevant=y>=1 ties=average empty=one"),
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
    "k": st.none() | st.integers(1, 10**6),
    "ties": st.sampled_from(["average", "docid", "stable", "worst", "best"]),
    "empty": st.sampled_from(["skip", "zero", "one", "error"]),
}
graded = {"gain": gains, "discount": discounts}
binary = {"threshold": small}
metrics = st.one_of(
    st.builds(NDCG, short=st.sampled_from(["keep", "zero"]), **graded, **shared),
    st.builds(DCG, **graded, **shared),
    st.builds(RR, **binary, **shared),
    st.builds(AP, divisor=st.sampled_from(["R", "min"]), **binary, **shared),
    st.builds(Precision, divisor=st.sampled_from(["k", "min"]), **binary, **shared),
    st.builds(Recall, **binary, **shared),
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
        ("nDCG@10", "ndcg@10"),
        ("AP(rel=2)@100", "ap-rel2@100"),
        ("AP", "ap"),
        ("P@5", "precision@5"),
        ("P(rel=2)@5", "precision-rel2@5"),
        ("R@100", "recall@100"),
        ("RR", "mrr"),
        ("RR(rel=3)@10", "mrr-rel3@10"),
        ("ndcg_cut_10", "ndcg@10"),
        ("map_cut_20", "ap@20"),
        ("P_5", "precision@5"),
        ("recall_100", "recall@100"),
        ("recip_rank", "mrr"),
        ("map", "ap"),
        ("map@100-l2", "ap-rel2@100"),
        ("mrr-l2", "mrr-rel2"),
        (" ndcg@10 ", "ndcg@10"),
        ("ndcg-exp2-log2-average-skip@10", "ndcg@10"),
    ],
)
def test_other_spellings(spelling: str, name: str) -> None:
    assert parse(spelling).name == name


def test_a_metric_parses_to_itself() -> None:
    metric = NDCG(k=3)
    assert parse(metric) is metric


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ndgc@10",
            "unknown metric 'ndgc@10': wanted one of ndcg, dcg, mrr, ap, precision, recall, such as ndcg@10; "
            "did you mean ndcg?",
        ),
        ("", "unknown metric '': wanted one of ndcg, dcg, mrr, ap, precision, recall, such as ndcg@10"),
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


@pytest.mark.parametrize("text", ["ndcg-linear-exp2@10", "ndcg-docid-worst", "ap-rel2-rel3"])
def test_two_answers_to_one_question_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"metric {text!r}")):
        parse(text)


@pytest.mark.parametrize("wrong", [10, None, ["ndcg"], 2.5])
def test_only_text_names_a_metric(wrong: object) -> None:
    with pytest.raises(ValueError, match=re.escape(f"a metric is named by text such as 'ndcg@10'; got {wrong!r}")):
        parse(wrong)


def test_the_six_names() -> None:
    assert {"ndcg": NDCG, "dcg": DCG, "mrr": RR, "ap": AP, "precision": Precision, "recall": Recall} == METRICS

"""ltr/metrics/base.py: what every metric shares."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from ltr.metrics import AP, DCG, METRICS, NDCG, RBP, BinaryMetric, Precision, RankingMetric, Recall, Table, parse

CUT = [parse(f"{base}@2") for base in ("ndcg", "dcg", "mrr", "ap", "gradedap-max4", "precision", "recall", "f1")]
CUT += [parse(f"{base}@2") for base in ("success", "err-max4", "rbp", "judged")]
FULL = [parse(base) for base in ("rprec", "bpref", "pairs", "tau", "auc", "arp")]
SCORES = [[2, 1], [2, 1], [2, 1]]
LABELS = [[1, 0], [0, 1], [0, 0]]  # RR 1, 1/2 and no answer


def test_defined_says_which_lists_have_an_answer() -> None:
    assert parse("mrr").defined(torch.tensor(LABELS)).tolist() == [True, True, False]
    assert parse("mrr-rel2").defined(torch.tensor([[1, 2], [1, 1]])).tolist() == [True, False]
    assert parse("ndcg-binary3").defined(torch.tensor([[1, 3], [2, 2]])).tolist() == [True, False]


def test_defined_does_not_look_into_padding() -> None:
    assert parse("ndcg").defined(torch.tensor([[0.0, 4.0]]), torch.tensor([[True, False]])).tolist() == [False]


def test_undefined_lists_are_zero() -> None:
    assert parse("mrr")(SCORES, LABELS).tolist() == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    ("rule", "mean"), [("skip", (1 + 0.5) / 2), ("zero", (1 + 0.5 + 0) / 3), ("one", (1 + 0.5 + 1) / 3)]
)
def test_the_mean_by_each_rule_for_empty_lists(rule: str, mean: float) -> None:
    metric = parse(f"mrr-{rule}")
    assert metric.mean(SCORES, LABELS).item() == pytest.approx(mean)
    values, counted = metric.settle(metric(SCORES, LABELS), metric.defined(torch.tensor(LABELS)))
    assert (values * counted).sum().item() / counted.sum().item() == pytest.approx(mean)
    assert counted.dtype == torch.bool


def test_the_rule_error_names_the_list() -> None:
    message = "mrr-error: list 2 has nothing relevant, and empty=error refuses such lists"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse("mrr-error").mean(SCORES, LABELS)
    assert parse("mrr-error").mean(SCORES[:2], LABELS[:2]).item() == 0.75


def test_a_weight_counts_its_list_and_no_other() -> None:
    weight = torch.tensor([1.0, 3.0, 100.0])
    assert parse("mrr").mean(SCORES, LABELS, weight=weight).item() == pytest.approx((1 * 1 + 3 * 0.5) / (1 + 3))
    assert parse("mrr-zero").mean(SCORES, LABELS, weight=weight).item() == pytest.approx((1 + 1.5) / 104)


@pytest.mark.parametrize("metric", [*CUT, *FULL], ids=str)
def test_the_mean_takes_what_a_call_takes(metric: RankingMetric) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = torch.rand(30, 6, generator=generator)
    labels = torch.randint(0, 4, (30, 6), generator=generator)
    marks = {name: torch.rand(30, 6, generator=generator) < 0.7 for name in ("retrieved", "judged")}
    value, defined = metric(scores, labels, **marks), metric.defined(labels, **marks)
    assert metric.mean(scores, labels, **marks).item() == pytest.approx(value[defined].mean().item())
    assert metric.mean(scores, labels, **marks) != metric.mean(scores, labels)


def test_weights_of_another_shape_are_refused() -> None:
    """A column would spread over the lists and give the unweighted mean, in silence."""
    with pytest.raises(ValueError, match=re.escape("weight")):
        parse("mrr").mean(SCORES, LABELS, weight=torch.tensor([[1.0], [3.0], [1.0]]))


def test_weights_that_are_all_0_have_no_mean() -> None:
    with pytest.raises(ValueError, match=r"^weight must be above 0 for some list, got 0 for all 3$"):
        parse("mrr").mean(SCORES, LABELS, weight=torch.zeros(3))
    with pytest.raises(ValueError, match=r"^weight must be numbers >= 0, got -1$"):
        parse("mrr").mean(SCORES, LABELS, weight=torch.tensor([1.0, -1, 1]))


def test_the_mean_over_no_list_is_nan() -> None:
    assert np.isnan(parse("ndcg").mean([[1, 2]], [[0, 0]]).item())


def test_every_metric_is_here() -> None:
    assert {metric.base for metric in (*CUT, *FULL)} == set(METRICS)


@pytest.mark.parametrize("metric", [*CUT, *FULL], ids=str)
def test_nan_scores_are_refused_by_a_call_and_shown_by_exact(metric: RankingMetric) -> None:
    scores, labels = torch.tensor([[torch.nan, 0.2], [0.1, 0.3]]), torch.tensor([[1, 0], [0, 1]])
    message = "scores must be numbers: list 0, document 0 has nan"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        metric(scores, labels)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        metric.mean(scores, labels)
    exact = metric.exact(scores, labels)
    assert torch.isnan(exact).tolist() == [True, False]
    assert exact[1] == metric(scores[1], labels[1])[0]


def test_a_nan_score_in_padding_is_no_fault() -> None:
    mask = torch.tensor([[True, False]])
    assert parse("mrr").exact(torch.tensor([[0.1, torch.nan]]), torch.tensor([[1.0, 0.0]]), mask).tolist() == [1.0]


@pytest.mark.parametrize("metric", [*CUT, *FULL], ids=str)
def test_lists_without_documents(metric: RankingMetric) -> None:
    """Two lists padded away whole, then two lists of width 0."""
    blank = torch.zeros(2, 3)
    assert metric(blank, blank, blank.bool()).tolist() == [0.0, 0.0]
    assert metric.floor(blank, blank.bool()).tolist() == metric.ceiling(blank, blank.bool()).tolist() == [0.0, 0.0]
    assert metric(blank[:, :0], blank[:, :0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("metric", [*CUT, *FULL], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.int64])
def test_values_are_float64_whatever_comes_in(metric: RankingMetric, dtype: torch.dtype) -> None:
    scores, labels = torch.tensor([[3, 1, 2]], dtype=dtype), torch.tensor([[0, 2, 1]], dtype=dtype)
    value = metric(scores, labels)
    assert value.dtype == torch.float64
    assert torch.equal(value, metric(scores.double(), labels.double()))


def test_scores_are_compared_as_given() -> None:
    """1e-9 apart, and 1e200 against 1e300: equal in 32 bits, not in 64."""
    assert parse("mrr")(np.array([1.0, 1.0 + 1e-9]), [0, 1]).item() == 1.0
    assert parse("mrr")(torch.tensor([1e200, 1e300], dtype=torch.float64), [0, 1]).item() == 1.0


@pytest.mark.parametrize("name", ["mrr-rel0.7", "ap-rel0.7", "precision-rel0.7", "recall-rel0.7", "ndcg-binary0.7"])
def test_a_label_of_the_threshold_is_relevant_in_any_precision(name: str) -> None:
    for dtype in (torch.float32, torch.float64):
        labels = torch.tensor([[0.7, 0.0]], dtype=dtype)
        assert parse(name).defined(labels).tolist() == [True]
        assert parse(name)(torch.tensor([[2.0, 1.0]]), labels).item() == (0.5 if "precision" in name else 1.0)


def test_metrics_are_values() -> None:
    assert NDCG(k=10) == NDCG(k=10) != NDCG(k=5)
    assert NDCG() != DCG()
    assert len({NDCG(k=10), parse("ndcg@10"), AP(threshold=2), AP(threshold=2.0)}) == 2


@pytest.mark.parametrize("metric", CUT, ids=str)
def test_uncut_forgets_the_cutoff_alone(metric: RankingMetric) -> None:
    """Where a metric would no longer depend on the ranking, it stays as it is."""
    metric = replace(metric, ties="worst", empty="zero")
    stays = metric.base in ("precision", "recall", "f1", "success", "judged")
    assert metric.uncut() == (metric if stays else replace(metric, k=None))


@pytest.mark.parametrize("metric", CUT, ids=str)
@pytest.mark.parametrize("k", [0, -1, 2.5, "five", True, 10**10])
def test_a_cutoff_is_a_whole_number_from_1(metric: RankingMetric, k: object) -> None:
    message = f"{metric.base}: the cutoff k must be a whole number from 1 to 1000000000, got {k!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(metric, k=k)


@pytest.mark.parametrize("metric", FULL, ids=str)
def test_a_metric_of_the_full_list_takes_no_cutoff(metric: RankingMetric) -> None:
    message = f"{metric.base}: is a metric of the full list and takes no cutoff; got k=3"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(metric, k=3)


@pytest.mark.parametrize("metric", [*CUT, *FULL], ids=str)
@pytest.mark.parametrize(
    ("option", "wrong", "words"),
    [
        ("ties", "random", "average, docid, stable, worst, best"),
        ("empty", "drop", "skip, zero, one, error"),
        ("unjudged", "bounds", "zero, ignored"),
        ("ideal", "top", "judged, retrieved"),
    ],
)
def test_a_word_that_is_none(metric: RankingMetric, option: str, wrong: str, words: str) -> None:
    message = f"{metric.base}: {option} must be one of {words}; got {wrong!r}"
    if option == "ideal" and not metric.pooled:
        message = f"{metric.base}: has no ideal order, so ideal has no meaning for it; got {wrong!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(metric, **{option: wrong})


@pytest.mark.parametrize("metric", [each for each in (*CUT, *FULL) if not each.pooled], ids=str)
def test_a_metric_without_an_ideal_order_is_not_asked_for_one(metric: RankingMetric) -> None:
    message = f"{metric.base}: has no ideal order, so ideal has no meaning for it; got 'retrieved'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        replace(metric, ideal="retrieved")
    assert "ideal" not in metric.convention


@pytest.mark.parametrize("metric", [each for each in METRICS.values() if issubclass(each, BinaryMetric)])
@pytest.mark.parametrize("threshold", [0, -1.0, float("nan"), float("inf"), True, "2"])
def test_a_threshold_is_a_number_above_0(metric: type[BinaryMetric], threshold: object) -> None:
    message = f"{metric.base}: the relevance threshold must be a number above 0, got {threshold!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        metric(threshold=threshold)


@pytest.mark.parametrize(
    ("metric", "arguments", "message"),
    [
        (AP, {"divisor": "n"}, "ap: divisor must be one of R, min, hits; got 'n'"),
        (Precision, {"divisor": "n"}, "precision: divisor must be one of k, min; got 'n'"),
        (Recall, {"divisor": "k"}, "recall: divisor must be one of R, min; got 'k'"),
        (NDCG, {"short": "one"}, "ndcg: short must be one of keep, zero; got 'one'"),
    ],
)
def test_options_of_one_metric(metric: type[AP], arguments: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        metric(**arguments)


@pytest.mark.parametrize("two", [np.int64(2), np.uint8(2), np.float32(2), np.float64(2)])
@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda each: each.base)
def test_a_parameter_may_be_a_number_of_any_kind(metric: type[RankingMetric], two: float) -> None:
    given = {each.name for each in fields(metric)} & {"threshold", "top"} | ({"k"} if metric.cuts else set())
    if given:
        plain = metric(**dict.fromkeys(given, 2))
        assert metric(**dict.fromkeys(given, two)) == plain
        assert parse(metric(**dict.fromkeys(given, two)).name) == plain
    if metric is RBP:
        assert RBP(p=np.float32(0.7)) == RBP(p=0.7)


def test_a_large_cutoff_is_none() -> None:
    assert NDCG(k=10**9)([2, 1], [0, 1]).item() == NDCG()([2, 1], [0, 1]).item()


GAIN = NDCG(gain=Table((1, 2)))


def test_an_unjudged_document_has_not_even_the_gain_of_label_0() -> None:
    assert GAIN([3, 2, 1], [0, 0, 1], judged=[False, False, True]).item() == pytest.approx(1 / np.log2(4))
    worth = 1 / np.log2(3) + 2 / np.log2(4)
    assert DCG(gain=Table((1, 2)))([3, 2, 1], [0, 0, 1], judged=[False, True, True]).item() == pytest.approx(worth)


@pytest.mark.parametrize(
    ("name", "value", "ceiling"),
    [
        ("precision", 1 / 2, 2 / 2),
        ("precision@5", 1 / 5, 2 / 5),
        ("precision-min@5", 1 / 2, 2 / 2),
        ("f1", 2 * 1 / (2 + 3), 2 * 2 / (2 + 3)),
        ("recall", 1 / 3, 2 / 3),
        ("recall-min", 1 / 2, 2 / 2),
        ("ndcg-linear-reciprocal", (1 / 2) / (1 + 1 / 2 + 1 / 3), (1 + 1 / 2) / (1 + 1 / 2 + 1 / 3)),
        ("ndcg-short0@3", 0, 0),
        ("ap-retrieved", 1 / 2, 1),
        ("pairs", 0, 1),
        ("judged", 1, 1),
    ],
)
def test_the_ceiling_of_a_list_that_is_shorter_than_its_pool(name: str, value: float, ceiling: float) -> None:
    """Two documents were returned of five that are judged, three of them relevant."""
    labels, retrieved = [0, 1, 1, 1, 0], [True, True, False, False, False]
    assert parse(name)([5, 4, 3, 2, 1], labels, retrieved=retrieved).item() == pytest.approx(value)
    assert parse(name).ceiling(labels, retrieved=retrieved).item() == pytest.approx(ceiling)


def test_the_ceiling_of_a_list_that_is_longer_than_its_pool() -> None:
    """Of three documents one is judged, and stands best on top; the list is long enough for short=zero."""
    judged = [False, False, True]
    assert parse("ndcg-short0@3").ceiling([0, 0, 1], judged=judged).item() == 1
    assert parse("precision").ceiling([0, 0, 1], judged=judged).item() == 1 / 3
    assert parse("judged@2").ceiling([0, 0, 1], judged=judged).item() == 1 / 2


def test_where_nothing_may_be_looked_at_nan_scores_give_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ltr.lists.may_look", lambda values: False)  # as on an accelerator
    values = NDCG()([[float("nan"), 0.2], [0.3, 0.1]], [[1, 0], [1, 0]])
    assert values.isnan().tolist() == [True, False]
    assert values[1] == 1

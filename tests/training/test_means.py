"""Means of exact metrics: the same for padded lists and flat rows, and for any batching."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ltr.metrics import answer, parse
from ltr.training import MetricMean, means, tables

SCORES = torch.tensor([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [1.0, 1.0, 0.0], [0.5, 0.1, 0.2]])
LABELS = torch.tensor([[2.0, 0.0, 1.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
RR = [1, 1 / 3, 0.75]  # the third list has a tie, the fourth nothing relevant
QUERY = torch.tensor([5, 40_000_000, 2_000_000_000, -7])


def of(*args: Any, metric: Any = "mrr", **options: Any) -> MetricMean:
    """A mean after one update."""
    mean = MetricMean(metric)
    mean.update(*args, **options)
    return mean


# -- means ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_mean_does_not_depend_on_the_batches(cut: int) -> None:
    # HOUSE rule: averages of batch means are wrong whenever batches differ in size.
    metric = parse("ndcg@2")
    mean = MetricMean("ndcg@2")
    for part in (slice(0, cut), slice(cut, None)):
        mean.update(SCORES[part], LABELS[part])
    assert mean.compute().item() == pytest.approx(metric.mean(SCORES, LABELS).item(), abs=1e-12)


@pytest.mark.parametrize(("name", "expected"), [("mrr", sum(RR) / 3), ("mrr-zero", sum(RR) / 4)])
def test_a_mean_follows_the_rule_for_lists_without_an_answer(name: str, expected: float) -> None:
    assert of(SCORES, LABELS, metric=name).compute().item() == pytest.approx(expected, abs=1e-12)


def test_a_mean_weighs_lists_and_leaves_out_those_of_weight_0() -> None:
    scores = SCORES.clone()
    scores[2] = torch.nan
    mean = of(scores, LABELS, weight=torch.tensor([3.0, 1.0, 0.0, 0.0]), metric="mrr-zero")
    assert mean.compute().item() == pytest.approx((3 * 1 + 1 / 3) / 4, abs=1e-12)
    assert mean.summary()["mrr-zero"] | {"mean": 0, "sd": 0} == {"mean": 0, "sd": 0, "lists": 2, "undefined": 0}


def test_a_score_that_is_nan_makes_the_mean_nan() -> None:
    mean = of(torch.tensor([[torch.nan, 1.0], [2.0, 1.0]]), torch.tensor([[0, 1], [1, 0]]))
    assert mean.compute().isnan()


def test_several_metrics_are_one_pass_and_a_mean_by_name() -> None:
    metrics = ["ndcg@2", parse("mrr"), "recall@1", "mrr"]
    found = of(SCORES, LABELS, metric=metrics).compute()
    assert list(found) == ["ndcg@2", "mrr", "recall@1"]
    assert all(found[name].item() == of(SCORES, LABELS, metric=name).compute().item() for name in found)


def test_the_summary_has_what_stands_beside_a_mean() -> None:
    found = of(SCORES, LABELS, metric=["mrr", "ndcg"]).summary()
    mean = sum(RR) / 3
    assert list(found) == ["mrr", "ndcg"]
    assert found["mrr"] == pytest.approx(
        {"mean": mean, "sd": (sum((each - mean) ** 2 for each in RR) / 2) ** 0.5, "lists": 3, "undefined": 1}
    )


@pytest.mark.parametrize("per_query", [False, True])
def test_the_summary_under_weights_is_that_of_the_evaluation(per_query: bool) -> None:
    from ltr.evaluation.aggregates import aggregate

    weight = torch.tensor([1.0, 2.0, 0.5, 4.0])
    mean = MetricMean("mrr", per_query=per_query)
    mean.update(SCORES, LABELS, weight=weight, indexes=QUERY)
    wanted = aggregate("mean", RR, weight[:3])
    assert mean.summary()["mrr"] == pytest.approx(
        {"mean": wanted.value, "sd": wanted.sd, "lists": 3, "undefined": 1}, abs=1e-12
    )


def test_unjudged_and_unretrieved_documents_are_what_they_are_to_the_metric() -> None:
    judged = torch.tensor([[True, False, True]])
    retrieved = torch.tensor([[True, True, False]])
    scores, labels = torch.tensor([[1.0, 3.0, 2.0]]), torch.tensor([[1.0, -1.0, 2.0]])
    names = ["ndcg", "mrr-condensed", "recall"]
    marks = {"judged": judged, "retrieved": retrieved}
    padded = of(scores, labels, metric=names, **marks).compute()
    rows = of(scores, labels, metric=names, indexes=torch.zeros(1, 3, dtype=torch.int64), **marks).compute()
    assert padded == rows == {name: parse(name)(scores, labels, **marks)[0] for name in names}


# -- flat rows --------------------------------------------------------------------------------------------------------


def flat(*columns: torch.Tensor, seed: int = 0) -> list[torch.Tensor]:
    """The columns as rows in any order."""
    order = torch.randperm(columns[0].numel(), generator=torch.Generator().manual_seed(seed))
    return [column.flatten()[order] for column in columns]


def test_ids_of_flat_rows_are_names() -> None:
    # field report metric-42: an array as long as the largest id. https://github.com/Lightning-AI/torchmetrics/issues/3290
    query = torch.tensor([5, 5, 40_000_000, 40_000_000, 2_000_000_000, 2_000_000_000])
    scores, labels = torch.tensor([0.2, 0.8, 0.9, 0.4, 0.3, 0.1]), torch.tensor([0, 1, 1, 0, 0, 1])
    for ids in (query, query * 10**9, -query):
        mean = of(scores, labels, metric="ndcg", indexes=ids)
        assert mean.compute().item() == pytest.approx(0.876976584524, abs=1e-12)


def test_the_mean_is_over_queries_not_rows() -> None:
    # field report metric-41. https://github.com/Lightning-AI/torchmetrics/issues/3216
    scores, labels = torch.tensor([0.2, 0.9, 0.1, 0.8, 0.7]), torch.tensor([0, 1, 0, 0, 1])
    mean = of(scores, labels, metric="ndcg", indexes=torch.tensor([0, 0, 0, 1, 1]))
    assert mean.compute().item() == pytest.approx(0.815464876786, abs=1e-12)


LISTS = st.lists(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=9), min_size=1, max_size=8
)


@given(lists=LISTS, seed=st.integers(0, 9), cut=st.integers(0, 8))
def test_rows_in_any_order_give_what_their_lists_give(lists: list[Any], seed: int, cut: int) -> None:
    rows = [(query * 10**12, *pair) for query, pairs in enumerate(lists) for pair in pairs]
    query, scores, labels = (torch.tensor(column) for column in zip(*rows, strict=True))
    metrics = [parse("ndcg@3"), parse("ap"), parse("mrr-worst-zero")]
    mean = MetricMean(metrics, per_query=True)
    for some in (query < cut * 10**12, query >= cut * 10**12):
        columns = flat(scores[some], labels[some], query[some], seed=seed)
        mean.update(columns[0], columns[1], indexes=columns[2])
    found = mean.table()
    assert found["query"].tolist() == [at * 10**12 for at in range(len(lists))]
    for metric in metrics:
        for pairs, value in zip(lists, found[metric.name].tolist(), strict=True):
            points, grades = zip(*pairs, strict=True)
            counts = metric.defined(grades).item() or metric.empty != "skip"
            wanted = metric(points, grades).item() if counts else torch.nan
            assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_rows_of_equal_score_keep_their_order() -> None:
    mean = of([1, 1, 1, 1], [0, 1, 0, 0], metric="mrr-stable", indexes=torch.tensor([8, 2, 2, 8]))
    assert mean.summary()["mrr-stable"]["mean"] == 1.0


def test_a_batch_of_rows_and_padding_is_flattened_as_torchmetrics_does() -> None:
    mask = torch.tensor([[True, True, False], [True, True, True]])
    query = torch.tensor([[0, 0, 0], [1, 1, 1]])
    mean = of(SCORES[:2], LABELS[:2], mask, metric="ndcg", indexes=query)
    assert mean.compute().item() == parse("ndcg").mean(SCORES[:2], LABELS[:2], mask).item()


def test_one_long_query_does_not_widen_the_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory follows the number of rows: 1,000 queries of one row beside one of 1,000."""
    cells = []

    def counting(**columns: torch.Tensor) -> Any:
        cells.append(columns["mask"].numel())
        return answer(**columns)

    monkeypatch.setattr(means, "answer", counting)
    query = torch.cat([torch.arange(1000), torch.full((1000,), 1000)])
    of(torch.rand(2000), torch.ones(2000), indexes=query)
    assert sum(cells) == 2000


def test_rows_of_a_query_in_two_updates_are_two_lists() -> None:
    """torchmetrics 1.9.0 joins them: RetrievalMRR is 1 / 3 here."""
    mean = MetricMean("mrr")
    mean.update(torch.tensor([0.9, 0.8]), torch.tensor([0, 0]), indexes=torch.tensor([1, 1]))
    mean.update(torch.tensor([0.7]), torch.tensor([1]), indexes=torch.tensor([1]))
    assert mean.compute().item() == 1
    assert mean.summary()["mrr"] == pytest.approx({"mean": 1, "sd": math.nan, "lists": 1, "undefined": 1}, nan_ok=True)


@pytest.mark.parametrize("per_query", [False, True])
def test_an_update_without_rows_adds_nothing(per_query: bool) -> None:
    mean = MetricMean("mrr", per_query=per_query)
    mean.update(SCORES, LABELS, indexes=QUERY)
    mean.update(torch.zeros(0), torch.zeros(0), indexes=torch.zeros(0, dtype=torch.int64))
    assert mean.compute().item() == pytest.approx(sum(RR) / 3)


# -- values of each query ---------------------------------------------------------------------------------------------


def test_a_table_has_each_query_once_in_order() -> None:
    mean = MetricMean(["mrr", "mrr-zero"], per_query=True)
    mean.update(SCORES, LABELS, indexes=QUERY)
    mean.update(SCORES[:1], LABELS[:1], indexes=QUERY[:1])
    found = mean.table()
    assert found["query"].tolist() == [-7, 5, 40_000_000, 2_000_000_000]
    assert found["mrr"].tolist() == pytest.approx([torch.nan, *RR], nan_ok=True)
    assert found["mrr-zero"].tolist() == pytest.approx([0, *RR])
    means = {name: value.item() for name, value in mean.compute().items()}
    assert means == pytest.approx({"mrr": sum(RR) / 3, "mrr-zero": sum(RR) / 4})


def test_a_query_that_comes_again_with_other_values_is_no_silent_number() -> None:
    mean = MetricMean("mrr", per_query=True)
    for part in (SCORES, -SCORES):  # ids that start anew in each batch
        mean.update(part, LABELS, indexes=torch.arange(4))
    with pytest.warns(UserWarning, match="^query 1 came again with other values, and its first ones count: does an id"):
        assert mean.compute().item() == pytest.approx(sum(RR) / 3)


# -- states -----------------------------------------------------------------------------------------------------------


def size(mean: MetricMean) -> int:
    """Numbers that a mean holds on to."""
    states = [each for state in mean.metric_state.values() for each in ([state] if torch.is_tensor(state) else state)]
    return sum(each.numel() for each in states)


def test_epochs_leave_nothing_behind() -> None:
    # field report metric-51: memory that grows. https://github.com/Lightning-AI/torchmetrics/issues/2481
    metrics = ["ndcg@1", "ndcg@5", "ndcg@10", "ap", "mrr", "recall@10"]
    mean, rows = MetricMean(metrics), MetricMean(metrics, per_query=True)
    for _ in range(3):
        assert (size(mean), size(rows)) == (36, 0)
        for _ in range(5):
            mean.update(SCORES, LABELS)
            rows.update(SCORES, LABELS, indexes=QUERY)
        assert (size(mean), size(rows)) == (36, 5 * 4 * (1 + 18))
        mean.compute(), rows.compute()
        mean.reset(), rows.reset()


def test_an_update_waits_for_no_accelerator() -> None:
    """The meta device has no values, so whoever asks for one fails."""
    mean = MetricMean(["ndcg@2", "ap", "mrr-zero", "ndcg-docid", "recall@2"]).to("meta")
    with pytest.raises(RuntimeError, match="meta"):
        bool(torch.zeros(1, device="meta"))
    lists = SCORES.to("meta"), LABELS.to("meta"), (LABELS >= 0).to("meta"), torch.ones(4, device="meta")
    mean.update(*lists, judged=lists[2], retrieved=lists[2])
    assert mean.compute()["ap"].device.type == "meta"


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("change", [lambda mean: mean.to(torch.float16), lambda mean: mean.set_dtype(torch.float16)])
def test_values_and_ids_stay_exact_whatever_the_module_is_made(change: Callable[..., Any], per_query: bool) -> None:
    mean = MetricMean("ndcg", per_query=per_query)
    scores, labels, query = torch.tensor([[2.0, 1.0]]), torch.tensor([[0.0, 1.0]]), torch.tensor([2**53 + 1])
    exact = pytest.approx(1 / math.log2(3), abs=1e-15)
    mean.update(scores, labels, indexes=query)
    assert mean.compute().item() == exact
    change(mean)
    assert mean.compute().item() == exact
    mean.reset()
    mean.update(scores.half(), labels.half(), indexes=query)
    assert (mean.compute().dtype, mean.compute().item()) == (torch.float64, exact)
    if per_query:
        assert mean.table()["query"].tolist() == [2**53 + 1]


def test_a_mean_moves_to_a_device_without_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """The meta device stands for Apple's, which refuses float64."""
    monkeypatch.setattr(tables, "exact_dtype", lambda device: torch.float32 if device.type == "meta" else torch.float64)
    mean = MetricMean("mrr")

    def states() -> set[Any]:
        return {(state.dtype, state.device.type) for state in mean.metric_state.values()}

    assert states() == {(torch.float64, "cpu")}
    mean.to("meta")
    assert states() == {(torch.float32, "meta")}
    mean.reset()
    assert states() == {(torch.float32, "meta")}
    torch.nn.ModuleList([mean]).to_empty(device="cpu")  # as a module that was made on the meta device is
    mean.update(SCORES, LABELS)
    assert mean.compute().item() == pytest.approx(sum(RR) / 3, abs=1e-12)


# -- bad input --------------------------------------------------------------------------------------------------------

ROWS = torch.tensor([0.3, 0.2, 0.1]), torch.tensor([1.0, 0.0, 1.0])
IDS = torch.tensor([7, 7, 9])


@pytest.mark.parametrize(
    ("update", "message"),
    [
        (
            lambda mean: mean.update(*ROWS, IDS),
            "mask must be bool, got torch.int64; the query of each row goes by indexes=",
        ),
        (lambda mean: mean.update(*ROWS, indexes=IDS.float()), "indexes must be whole numbers, got torch.float32"),
        (
            lambda mean: mean.update(SCORES, LABELS, indexes=IDS),
            "indexes must hold one for each list, [4], or one for each row, [4, 3]; got [3]",
        ),
        (
            lambda mean: mean.update(SCORES, LABELS, weight=torch.ones(4, 3)),
            "weight must hold one for each list, [4]; got [4, 3]",
        ),
        (
            lambda mean: mean.update(SCORES, LABELS, weight=torch.tensor([1, 1, -2, 1])),
            "weight must be numbers >= 0, got -2",
        ),
        (
            lambda mean: mean.update(*ROWS, weight=ROWS[0], indexes=IDS),
            "weight must be the same in all rows of a query, which it is not for query 7",
        ),
        (
            lambda mean: mean.update(*ROWS, weight=torch.ones(2), indexes=IDS),
            "weight must have the shape of scores, [3]; got [2]",
        ),
        (
            lambda mean: mean.update(SCORES, LABELS[:2]),
            "relevance must have the shape of scores, [4, 3]; got [2, 3]",
        ),
        (
            lambda mean: mean.update(ROWS[0], torch.tensor([1, 0, -1]), indexes=IDS),
            "relevance must be a number >= 0: row 2, of query 9, has -1",
        ),
        (
            lambda mean: mean.update(ROWS[0], torch.tensor([1, torch.nan, 1]), indexes=IDS),
            "relevance must be a number >= 0: row 1, of query 7, has nan",
        ),
        (
            lambda mean: mean.table(),
            "table() needs MetricMean(..., per_query=True): without it the sums alone are kept",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(update: Callable[[MetricMean], Any], message: str) -> None:
    mean = of(SCORES, LABELS)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        update(mean)
    assert mean.compute().item() == pytest.approx(sum(RR) / 3), "and it counted nothing"


def test_a_list_without_an_answer_is_refused_by_its_name() -> None:
    mean = MetricMean("mrr-error")
    with pytest.raises(
        ValueError, match=r"^mrr-error: query -7 has nothing relevant, and empty=error refuses such lists$"
    ):
        mean.update(SCORES, LABELS, indexes=QUERY)
    with pytest.raises(
        ValueError, match=r"^mrr-error: list 3 has nothing relevant, and empty=error refuses such lists$"
    ):
        mean.update(SCORES, LABELS)


def test_values_of_each_query_need_its_name() -> None:
    with pytest.raises(ValueError, match=r"^per_query=True counts each query once, so update needs indexes: one query"):
        MetricMean("mrr", per_query=True).update(SCORES, LABELS)


def test_a_mean_is_of_something_known() -> None:
    with pytest.raises(ValueError, match=r"^MetricMean needs at least one metric, got none$"):
        MetricMean([])
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `per_querry`"):
        MetricMean("mrr", per_querry=True)

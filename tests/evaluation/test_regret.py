"""Selection and order against all orders of short lists, and the classes of lists."""

import re
from dataclasses import replace
from itertools import combinations, permutations, product
from math import log2

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from ltr.evaluation import regret as module
from ltr.evaluation.regret import CLASSES, Regret, regret_classes, split_regret
from ltr.metrics import NDCG, Letor, Linear, parse

LENGTH = 4
ALL_ORDERS = list(permutations(range(LENGTH)))  # documents from the top down
PATTERNS = torch.tensor(list(product(range(3), repeat=LENGTH)), dtype=torch.float64)  # [81, 4]
SCORES = PATTERNS.repeat_interleave(len(PATTERNS), 0)  # [6561, 4] every tie pattern with every labelling
LABELS = PATTERNS.repeat(len(PATTERNS), 1)
NAMES = ["ndcg@1", "ndcg@2", "ndcg@3", "ndcg", "ndcg@9", "ndcg-linear@2", "ndcg-letor@3", "ndcg-positions1_0.7_0.1@2"]


def metric(name: str) -> NDCG:
    found = parse(name)
    assert isinstance(found, NDCG)
    return found


def dcg(metric: NDCG, labels: Tensor) -> Tensor:
    """[B] of labels that are listed in rank order."""
    rank = torch.arange(1, labels.shape[1] + 1, dtype=torch.float64)
    return (metric.gain(labels) * metric.discount(rank))[:, : metric.k].sum(1)


def in_each_order(metric: NDCG, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """[orders, lists] selection, order, the labels down the list, and whether the scores allow this order."""
    ideal = dcg(metric, labels.sort(dim=1, descending=True).values)
    ideal = torch.where(ideal > 0, ideal, 1)
    selection, loss, listed, allowed = [], [], [], []
    for order in ALL_ORDERS:
        down = labels[:, order]
        best = dcg(metric, down[:, : metric.k].sort(dim=1, descending=True).values)
        selection.append(1 - best / ideal)
        loss.append((best - dcg(metric, down)) / ideal)
        listed.append(down)
        allowed.append((scores[:, order].diff(dim=1) <= 0).all(1))
    return torch.stack(selection), torch.stack(loss), torch.stack(listed), torch.stack(allowed)


def test_a_metric_may_come_by_name_and_must_be_an_ndcg() -> None:
    wanted = split_regret(NDCG(k=3), [5, 4, 3], [3, 1, 2])
    assert split_regret("ndcg@3", [5, 4, 3], [3, 1, 2]).order == wanted.order
    for other in ("ap", parse("mrr@3"), "dcg@3"):
        name = re.escape(parse(other).name)
        with pytest.raises(ValueError, match=f"^regret is 1 - NDCG in two parts: wanted an ndcg, .* got {name}$"):
            split_regret(other, [5, 4, 3], [3, 1, 2])


def test_an_unjudged_document_has_no_gain() -> None:
    split = split_regret("ndcg-table1_2@1", [3, 2], [0, 1], judged=[False, True])
    assert (split.selection.item(), split.names()) == (1, ["nothing found"])


def test_worked_values() -> None:
    scores, grades = [5, 4, 3, 2, 1], [3, 1, 2, 0, 3]
    d = [1 / log2(1 + rank) for rank in range(1, 6)]
    ideal = 7 * d[0] + 7 * d[1] + 3 * d[2]
    selection, order, _ = split_regret(NDCG(k=3), scores, grades)
    assert (
        selection.item()
        == pytest.approx(1 - (7 * d[0] + 3 * d[1] + 1 * d[2]) / ideal)
        == pytest.approx(0.273, abs=5e-4)
    )
    assert order.item() == pytest.approx((2 * d[1] - 2 * d[2]) / ideal) == pytest.approx(0.020, abs=5e-4)
    selection, order, _ = split_regret(NDCG(k=5), scores, grades)
    assert (selection.item(), order.item()) == (0, pytest.approx(0.113, abs=5e-4))


@pytest.mark.parametrize("name", NAMES)
def test_both_parts_are_the_means_over_all_orders(name: str) -> None:
    selection, order, _, allowed = in_each_order(metric(name), SCORES, LABELS)
    found = split_regret(metric(name), SCORES, LABELS)
    defined = LABELS.any(1)
    for part, mine in ((selection, found.selection), (order, found.order)):
        mean = (part * allowed).sum(0) / allowed.sum(0)
        torch.testing.assert_close(mine, torch.where(defined, mean, 0), rtol=0, atol=1e-12)
    assert (found.selection > 0).any() == (name not in ("ndcg", "ndcg@9"))
    assert (found.order > 0).any() == (name != "ndcg@1")


def test_a_long_block_against_all_sets_it_can_send_to_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    """12 documents tied across the cutoff, 5 of which follow one that is sure; in one piece and in several."""
    tied = torch.tensor([4.0, 0, 2, 1, 0.5, 0, 4, 0, 2, 1, 0.5, 1])
    labels = torch.cat([torch.tensor([3.0]), tied])[None]
    sets = tied[torch.tensor(list(combinations(range(12), 5)))]  # [792, 5]
    chosen = torch.cat([torch.full((len(sets), 1), 3.0), sets], 1).double()
    ideal = dcg(NDCG(k=6), labels.double().sort(dim=1, descending=True).values)
    best = dcg(NDCG(k=6), chosen.sort(dim=1, descending=True).values).mean() / ideal
    arguments = (NDCG(k=6), torch.tensor([[2.0] + [1.0] * 12]), labels)
    found = split_regret(*arguments)
    assert found.selection.item() == pytest.approx(1 - best.item())
    assert found.order.item() == pytest.approx(best.item() - NDCG(k=6)(*arguments[1:]).item())
    monkeypatch.setattr(module, "CELLS", 16)
    assert torch.equal(split_regret(*arguments).selection, found.selection)


def test_ten_thousand_tied_documents_of_one_grade_are_the_right_set() -> None:
    found = split_regret(NDCG(k=5000), torch.zeros(1, 10_000), torch.ones(1, 10_000))
    assert (found.selection.item(), found.order.item(), found.names()) == (0, 0, ["perfect"])


@pytest.mark.parametrize("rule", ["stable", "worst", "best"])
def test_ties_follow_the_rule_of_the_metric(rule: str) -> None:
    selection, order, _, allowed = in_each_order(NDCG(k=2), SCORES, LABELS)
    found = split_regret(metric(f"ndcg-{rule}@2"), SCORES, LABELS)
    if rule == "stable":
        strict = split_regret(NDCG(k=2), SCORES - torch.arange(LENGTH) * 1e-3, LABELS)
        assert torch.equal(found.selection, strict.selection)
        assert torch.equal(found.order, strict.order)
        return
    loss = selection + order
    extreme = (
        loss.where(allowed, -torch.inf).max(0) if rule == "worst" else loss.where(allowed, torch.inf).min(0)
    ).values
    torch.testing.assert_close(found.selection + found.order, torch.where(LABELS.any(1), extreme, 0))


@given(data=st.data())
def test_the_parts_add_up_under_every_option(data: st.DataObject) -> None:
    lists, length = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 9))

    def table(values: st.SearchStrategy[float]) -> Tensor:
        cells = st.lists(values, min_size=lists * length, max_size=lists * length)
        return torch.tensor(data.draw(cells), dtype=torch.float64).view(lists, length)

    metric = NDCG(
        k=data.draw(st.sampled_from([1, 2, 3, 5, 12, None])),
        gain=data.draw(st.sampled_from([NDCG().gain, Linear()])),
        discount=data.draw(st.sampled_from([NDCG().discount, Letor()])),
        ties=data.draw(st.sampled_from(["average", "docid", "stable", "worst", "best"])),
        unjudged=data.draw(st.sampled_from(["zero", "ignored"])),
        ideal=data.draw(st.sampled_from(["judged", "retrieved"])),
        short=data.draw(st.sampled_from(["keep", "zero"])),
    )
    scores, labels = table(st.sampled_from([0.0, 0.5, 1.0, 2.0])), table(st.sampled_from([0.0, 1.0, 1.5, 3.0, 150.0]))
    mask, retrieved, judged = (table(st.sampled_from([0.0, 1.0, 1.0])).bool() for _ in range(3))
    arguments = (scores, labels, mask)
    found = split_regret(metric, *arguments, retrieved=retrieved, judged=judged)
    value = metric(*arguments, retrieved=retrieved, judged=judged)
    defined = metric.defined(labels, mask, retrieved=retrieved, judged=judged)
    torch.testing.assert_close(found.selection + found.order, torch.where(defined, 1 - value, 0), rtol=0, atol=1e-11)
    assert ((found.selection >= 0) & (found.order >= 0)).all()
    assert [name == "no answer" for name in found.names()] == (~defined).tolist()
    kept = replace(metric, short="keep")(*arguments, retrieved=retrieved, judged=judged)
    assert [name == "perfect" for name in found.names()] == (defined & (kept > 1 - 1e-12)).tolist()


def test_a_document_that_was_not_retrieved_is_lost_to_selection() -> None:
    grades, returned = [2, 0, 2], [True, True, False]
    found = split_regret(NDCG(k=2), [3, 2, 1], grades, retrieved=returned)
    assert found.selection.item() == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))
    assert found.names() == ["relevant below the cutoff"]
    assert split_regret(metric("ndcg-retrieved@2"), [3, 2, 1], grades, retrieved=returned).names() == ["perfect"]


def test_a_list_that_counts_0_for_being_short_loses_all_by_selection_and_keeps_its_class() -> None:
    found = split_regret(metric("ndcg-short0@3"), [[2, 1, 0]], [[0, 1, 0]], [[True, True, False]])
    assert (found.selection.item(), found.order.item(), found.names()) == (1, 0, ["first relevant late"])


@pytest.mark.parametrize(
    ("grades", "wanted"),
    [
        ([2, 1, 0, 0], "perfect"),
        ([1, 2, 0, 0], "right set, wrong order"),
        ([1, 0, 2, 0], "relevant below the cutoff"),
        ([0, 2, 0, 1], "first relevant late"),
        ([0, 2, 0, 0], "first relevant late"),
        ([0, 0, 2, 1], "nothing found"),
        ([0, 0, 0, 0], "no answer"),
    ],
)
def test_classes_of_untied_lists_at_2(grades: list[float], wanted: str) -> None:
    assert split_regret(NDCG(k=2), [4, 3, 2, 1], grades).names() == [wanted]


def test_classes_of_tied_lists_say_what_can_happen_in_some_order() -> None:
    selection, order, listed, allowed = in_each_order(NDCG(k=2), SCORES, LABELS)
    never_found = (~allowed | (listed[:, :, :2] == 0).all(2)).all(0)
    never_on_top = (~allowed | (listed[:, :, 0] == 0)).all(0)
    never_wrong = (~allowed | (selection < 1e-12)).all(0)
    never_lost = never_wrong & (~allowed | (order < 1e-12)).all(0)
    wanted = []
    for row in range(len(LABELS)):
        steps = (~LABELS[row].any(), never_lost[row], never_found[row], never_on_top[row], not never_wrong[row], True)
        names = (
            "no answer",
            "perfect",
            "nothing found",
            "first relevant late",
            "relevant below the cutoff",
            CLASSES[1],
        )
        wanted.append(next(name for name, holds in zip(names, steps, strict=True) if holds))
    assert split_regret(NDCG(k=2), SCORES, LABELS).names() == wanted
    assert set(wanted) == set(CLASSES)


def test_a_summary_counts_every_list_once_and_adds_up_to_the_mean() -> None:
    found = split_regret(NDCG(k=2), SCORES, LABELS)
    weight = np.random.default_rng(0).integers(0, 3, len(LABELS)).astype(float)
    rows = regret_classes(found, weight)
    assert [row.name for row in rows] == list(CLASSES)
    assert sum(row.lists for row in rows) == (weight > 0).sum()
    assert sum(row.share for row in rows) == pytest.approx(1)
    answered = weight * LABELS.any(1).numpy()
    assert sum(row.selection for row in rows) == pytest.approx(np.average(found.selection, weights=answered))
    assert sum(row.order for row in rows) == pytest.approx(np.average(found.order, weights=answered))
    late = [index for index, name in enumerate(found.names()) if name == "first relevant late"]
    assert rows[3].lists == (weight[late] > 0).sum()
    assert rows[3].share == pytest.approx(weight[late].sum() / weight.sum())
    assert rows[3].order == pytest.approx((weight[late] * found.order.numpy()[late]).sum() / answered.sum())


def test_a_summary_of_lists_without_an_answer_and_of_none() -> None:
    rows = regret_classes(split_regret(NDCG(k=2), [[1, 2]], [[0, 0]]))
    assert rows[-1] == ("no answer", 1, 1.0, 0.0, 0.0)
    none = regret_classes(Regret(torch.zeros(0), torch.zeros(0), torch.zeros(0, dtype=torch.int64)))
    assert [row.lists for row in none] == [0] * len(CLASSES)
    assert np.isnan([row.share for row in none]).all()


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^scores must be numbers: list 0, document 1 has nan$"):
        split_regret(NDCG(k=2), [1.0, float("nan")], [1, 0])


def test_without_a_cutoff_the_ideal_reaches_beyond_what_was_returned() -> None:
    """Two relevant documents are judged and one is returned, on top: all that is lost is lost by selection."""
    found = split_regret(NDCG(), [2.0, 0.0], [1, 1], retrieved=[True, False])
    lost = 1 - 1 / (1 + 1 / log2(3))
    assert (found.selection.item(), found.order.item()) == (pytest.approx(lost), 0)
    assert found.names() == ["relevant below the cutoff"]

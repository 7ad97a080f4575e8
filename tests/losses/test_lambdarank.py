"""ltr/losses/lambdarank.py"""

from itertools import product
from math import exp, log, log2
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ltr.losses import LambdaRank
from ltr.losses.lambdarank import Cutoff
from ltr.metrics import parse
from ltr.ranking import exact_ranking


def spelled(
    scores: list[float],
    labels: list[float],
    k: int | None = None,
    sigma: float = 1.0,
    cutoff: str = "discount",
    norm: str = "none",
    own: list[float] | None = None,
) -> float:
    """Pair by pair, from the ranks by descending score; ``own`` are the documents' weights."""
    rank = [1 + sum(t > s for t in scores) for s in scores]
    discount = [1 / log2(1 + r) if k is None or r <= k or cutoff != "discount" else 0.0 for r in rank]
    gains = [2**y - 1 for y in labels]
    ideal = sum(g / log2(2 + i) for i, g in enumerate(sorted(gains, reverse=True)[:k]))
    pairs = [(i, j) for i, j in product(range(len(labels)), repeat=2) if labels[i] > labels[j]]
    if k is not None and cutoff != "discount":
        count = {"any": any, "both": all}[cutoff]
        pairs = [(i, j) for i, j in pairs if count(rank[each] <= k for each in (i, j))]
    loss = force = 0.0
    for i, j in pairs:
        margin = scores[i] - scores[j]
        weight = abs((gains[i] - gains[j]) / ideal * (discount[i] - discount[j]))
        weight *= own[i] if own else 1
        weight /= 0.01 + abs(margin) if norm in ("score", "both") and len(set(scores)) > 1 else 1
        loss += weight * log2(1 + exp(-sigma * margin))
        force += 2 * weight * sigma / (1 + exp(sigma * margin)) / log(2)
    return loss * log2(1 + force) / force if norm in ("list", "both") and force else loss


@pytest.mark.parametrize("k", [None, 1, 2, 3])
@pytest.mark.parametrize("sigma", [1.0, 2.5])
def test_swap_deltas_times_the_logistic_loss_in_bits(k: int | None, sigma: float) -> None:
    scores, labels = [0.9, -0.4, 0.25, 1.6, -1.1], [0.0, 1.0, 2.0, 0.0, 3.0]
    loss = LambdaRank("ndcg" if k is None else f"ndcg@{k}", sigma)
    lists = torch.tensor([scores], dtype=torch.float64), torch.tensor([labels], dtype=torch.float64)
    assert loss(*lists).item() == pytest.approx(spelled(scores, labels, k, sigma))


@settings(max_examples=300)
@given(st.integers(0, 9999), st.integers(1, 4), st.sampled_from(["any", "both", "discount"]), st.data())
def test_every_rule_for_k_and_every_norm_on_lists_of_any_length(
    seed: int, k: int, cutoff: Cutoff, data: st.DataObject
) -> None:
    norm = data.draw(st.sampled_from(["none", "list", "score", "both"]))
    draw = torch.Generator().manual_seed(seed)
    scores, mask = torch.randn(3, 7, generator=draw).double(), torch.rand(3, 7, generator=draw) < 0.7
    labels = torch.randint(0, 4, (3, 7), generator=draw).double()
    labels[:, 0], mask[:, 0] = 3, True
    weight = torch.rand(3, 7, generator=draw).double() if data.draw(st.booleans()) else torch.ones(3, 7).double()
    wanted = [
        spelled(s[real].tolist(), y[real].tolist(), k, 1.5, cutoff, norm, w[real].tolist())
        for s, y, w, real in zip(scores, labels, weight, mask, strict=True)
    ]
    loss = LambdaRank(f"ndcg@{k}", 1.5, cutoff=cutoff, norm=norm)
    assert loss(scores, labels, mask, weight=weight).tolist() == pytest.approx(wanted)
    if (weight == 1).all():
        assert loss(scores, labels, mask).tolist() == pytest.approx(wanted)


def test_equal_scores_are_not_divided_by_their_difference() -> None:
    scores, labels = torch.full((1, 3), -2.0), torch.tensor([[0.0, 1.0, 0.0]])
    mask = torch.tensor([[True, True, False]])
    plain, divided = (LambdaRank("ndcg", norm=norm)(scores, labels, mask) for norm in ("none", "score"))
    assert torch.equal(plain, divided)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": "all"}, "cutoff must be one of discount, any, both; got 'all'"),
        ({"log": "e"}, "log must be one of binary, natural; got 'e'"),
        ({"norm": "lists"}, "norm must be one of none, list, score, both; got 'lists'"),
        ({"pairs": "all"}, "pairs must be one of mean, sum, batch; got 'all'"),
        ({"cutoff": "any"}, "cutoff=any: wants a metric whose places differ below its k, got ndcg"),
        ({"metric": "recall@5", "cutoff": "both"}, "cutoff=both: wants a metric whose places differ .* got recall@5"),
    ],
)
def test_options_that_are_none(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        LambdaRank(**{"metric": "ndcg", **options})


def test_means_over_pairs() -> None:
    scores = torch.tensor([[0.2, 0.9, 0.4], [0.1, 0.5, 0.2]], dtype=torch.float64)
    labels = torch.tensor([[1.0, 0.0, 0.0], [2.0, 1.0, 0.0]], dtype=torch.float64)
    summed, pairs = LambdaRank("ndcg")(scores, labels), torch.tensor([2, 3])
    assert torch.allclose(LambdaRank("ndcg", pairs="mean")(scores, labels), summed / pairs)
    batch = LambdaRank("ndcg", pairs="batch").mean(scores, labels)
    assert batch.item() == pytest.approx(summed.sum().item() / 5)


def test_padding_never_ties_with_a_real_document() -> None:
    """TensorFlow Ranking puts padding 1e-6 below the lowest score: the same number as that in float32, from 50 on."""
    scores, labels = torch.tensor([[60.0, 64.0, 62.0]]), torch.tensor([[1.0, 0.0, 2.0]])
    wide, more = torch.cat([scores, torch.zeros(1, 3)], 1), torch.cat([labels, torch.zeros(1, 3)], 1)
    mask = torch.tensor([[True, True, True, False, False, False]])
    for name in ("ndcg", "ndcg@2", "ap", "mrr"):
        torch.testing.assert_close(LambdaRank(name)(wide, more, mask), LambdaRank(name)(scores, labels))


@pytest.mark.parametrize("name", ["pairs", "tau", "auc", "bpref"])
def test_few_relevant_documents_among_many(name: str) -> None:
    """By its swap deltas' definition, a list of 20,000 would take an hour."""
    scores = torch.randn(1, 20_000, generator=torch.Generator().manual_seed(0)).requires_grad_()
    labels = (torch.arange(20_000) % 4_000 == 0).float()[None]
    LambdaRank(name)(scores, labels).sum().backward()
    assert (scores.grad[labels > 0] < 0).all()


def test_only_the_plain_form_is_a_bound() -> None:
    assert LambdaRank("ndcg@5").kind == "bound"
    for options in (
        *({"log": "natural"}, {"cutoff": "any"}, {"cutoff": "both"}, {"norm": "list"}, {"norm": "score"}),
        *({"pairs": "mean"}, {"pairs": "batch"}),
    ):
        loss = LambdaRank("ndcg@5", **options)
        assert (loss.kind, loss.aim, loss.certificate(torch.zeros(1, 2), torch.ones(1, 2))) == ("neither", None, None)


def test_loss_12_of_the_field_reports() -> None:
    """haowei01/pytorch-examples/issues/2, allegro/allRank/issues/19: the ranks are those of the scores."""
    scores, labels = torch.tensor([[1.0, 0.5, -0.5]]).double(), torch.tensor([[0.0, 2.0, 1.0]]).double()
    assert LambdaRank("ndcg")(scores, labels).item() * log(2) == pytest.approx(0.553920297105)
    deltas = parse("ndcg").swap_deltas(exact_ranking(scores), labels)[0].abs()
    assert [deltas[1, 0], deltas[1, 2], deltas[2, 0]] == pytest.approx([0.304938628514, 0.072119133367, 0.137705776188])


def test_on_mrr_only_pairs_that_move_the_first_relevant_document_count() -> None:
    scores, labels = torch.tensor([[3.0, 2.0, 1.0, 0.0]]).double(), torch.tensor([[0.0, 1.0, 1.0, 0.0]]).double()
    first_up = 1 / 1 - 1 / 2  # documents 1 and 0
    second_up = 1 / 1 - 1 / 2  # documents 2 and 0
    first_down = 1 / 2 - 1 / 3  # documents 1 and 3
    bits = [log2(1 + exp(-margin)) for margin in (2 - 3, 1 - 3, 2 - 0)]
    wanted = first_up * bits[0] + second_up * bits[1] + first_down * bits[2]
    assert LambdaRank("mrr")(scores, labels).item() == pytest.approx(wanted)


def test_the_weights_are_constants_to_the_gradient() -> None:
    scores = torch.tensor([[0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    LambdaRank("ndcg")(scores, torch.tensor([[1.0, 0.0]])).sum().backward()
    weight, slope = 1 - 1 / log2(3), 1 / (1 + exp(-1))
    assert scores.grad[0].tolist() == pytest.approx([-weight * slope / log(2), weight * slope / log(2)])


def test_a_fresh_model_with_equal_scores_has_a_gradient() -> None:
    for name in ("ndcg", "ndcg@1", "mrr", "ap", "precision@1", "recall@1"):
        scores = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
        LambdaRank(name)(scores, torch.tensor([[0.0, 0.0, 1.0]])).sum().backward()
        assert scores.grad[0, 2] < 0 < scores.grad[0, 0], name


def test_equal_scores_weigh_as_the_mean_over_their_orders() -> None:
    apart = (1 - 1 / log2(3)) + (1 / log2(3) - 1 / 2) + (1 - 1 / 2)
    loss = LambdaRank("ndcg")(torch.zeros(1, 3).double(), torch.tensor([[0.0, 0.0, 1.0]]))
    assert loss.item() == pytest.approx(2 * apart / 3)


def test_equal_scores_weigh_by_the_rule_of_the_metric_where_it_has_another() -> None:
    scores, labels = torch.zeros(1, 3).double(), torch.tensor([[0.0, 0.0, 1.0]]).double()
    as_listed = (1 - 1 / 2) + (1 / log2(3) - 1 / 2)
    assert LambdaRank("ndcg-stable")(scores, labels).item() == pytest.approx(as_listed)
    assert LambdaRank("ndcg-best")(scores, labels).item() == pytest.approx((1 - 1 / log2(3)) + (1 - 1 / 2))


def test_a_list_without_pairs_is_zero_with_a_live_graph() -> None:
    scores = torch.tensor([[0.3, 0.1]], requires_grad=True)
    loss = LambdaRank("ndcg")(scores, torch.tensor([[2.0, 2.0]]))
    loss.sum().backward()
    assert loss.item() == 0
    assert scores.grad.tolist() == [[0.0, 0.0]]


def test_the_certificate_is_the_ceiling_minus_the_loss() -> None:
    scores, labels = torch.tensor([[0.1, 0.4, 0.3]]).double(), torch.tensor([[2.0, 0.0, 1.0]]).double()
    for name in ("ndcg@2", "dcg@2"):
        loss, ceiling = LambdaRank(name), parse(name).ceiling(labels)
        assert torch.equal(loss.certificate(scores, labels), ceiling - loss(scores, labels))
    assert parse("ndcg@2").ceiling(labels).item() == pytest.approx(1)
    assert parse("dcg@2").ceiling(labels).item() == pytest.approx(3 + 1 / log2(3))

"""ltr/losses/base.py: what every surrogate says about itself."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from ltr import options
from ltr.gains import Linear
from ltr.losses import (
    ADRMSE,
    MSE,
    ApproxMetric,
    BoundMetric,
    Hinge,
    LambdaLoss,
    LambdaRank,
    ListMLE,
    ListNet,
    NeuralNDCG,
    Perturbed,
    PiRank,
    PListMLE,
    Quantile,
    RankNet,
    SmoothI,
    Softmax,
    SoftRank,
    SoftSortNDCG,
    Surrogate,
    WeightedSum,
    Yeti,
)
from ltr.losses.base import weighted_gains
from ltr.losses.named import named
from ltr.metrics import parse

LISTS = torch.tensor([[0.3, 0.7, -0.2]]), torch.tensor([[2.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("surrogate", "kind", "metric", "aim", "unit"),
    [
        (ApproxMetric("ndcg@10"), "approximation", "ndcg", "ndcg", "ndcg"),
        (ApproxMetric("ndcg@10", truncate=True), "approximation", "ndcg@10", "ndcg@10", "ndcg@10"),
        (ApproxMetric("recall@10"), "approximation", "recall@10", "recall@10", "recall@10"),
        (LambdaRank("ndcg@10"), "bound", "ndcg@10", "ndcg@10", "ndcg@10"),
        (LambdaRank("dcg-letor@5"), "bound", "dcg-letor@5", "dcg-letor@5", "dcg-letor@5"),
        (LambdaRank("ndcg-short0@10"), "neither", "ndcg-short0@10", None, "weighted bits"),
        (LambdaRank("mrr@10"), "neither", "mrr@10", None, "weighted bits"),
        (Softmax("ndcg@10"), "bound", "ndcg", "ndcg", "nats"),
        (Softmax("ap@10"), "bound", "ap", "ap", "nats"),
        (Softmax("ndcg-geometric0.8@10"), "neither", "ndcg-geometric0.8", None, "nats"),
        (Softmax("recall@10"), "neither", "recall@10", None, "nats"),
        (ListNet(), "neither", None, None, "nats"),
        (RankNet(), "neither", None, None, "nats a pair"),
        (MSE(), "neither", None, None, "squared label units"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Surrogate) else str(each),
)
def test_what_each_says(surrogate: Surrogate, kind: str, metric: str | None, aim: str | None, unit: str) -> None:
    assert surrogate.kind == kind
    assert (surrogate.metric and surrogate.metric.name) == metric
    assert (surrogate.aim and surrogate.aim.name) == aim
    assert surrogate.unit == unit
    assert (surrogate.estimate(*LISTS) is not None) == (kind == "approximation")
    assert (surrogate.certificate(*LISTS) is not None) == (kind == "bound")


def test_where_weights_move_with_the_ranks_nothing_is_stopped_or_selected() -> None:
    moving = [LambdaRank("ndcg"), LambdaRank("mrr"), LambdaLoss("ndcg"), Yeti("ndcg")]
    assert not any(each.informative for each in moving)
    assert all(each.informative for each in (ApproxMetric("ndcg"), Softmax("ndcg"), ListNet(), MSE()))


def test_a_loss_of_ones_own_is_neither_until_it_says_more() -> None:
    class Own(Surrogate):
        def forward(self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None) -> Tensor:
            return scores.sum(-1)

    own = Own()
    assert (own.kind, own.metric, own.aim, own.unit) == ("neither", None, None, "loss units")
    assert own.estimate(*LISTS) is own.certificate(*LISTS) is None


@pytest.mark.parametrize("value", [0, -1.0, float("inf"), float("nan"), True, "1"])
@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("temperature", lambda value: ApproxMetric("ndcg", temperature=value)),
        ("temperature", lambda value: ListNet(temperature=value)),
        ("sigma", lambda value: LambdaRank("ndcg", sigma=value)),
        ("sigma", lambda value: RankNet(sigma=value)),
    ],
)
def test_steepness_and_temperature_are_above_0(name: str, build: type[ListNet], value: object) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'{name} must be a number above 0, got {value!r}')}$"):
        build(value)


@pytest.mark.parametrize("surrogate", [ApproxMetric, LambdaRank, Softmax])
def test_an_unknown_metric_is_named(surrogate: type[Softmax]) -> None:
    with pytest.raises(ValueError, match=r"^unknown metric 'ndgc': .*did you mean ndcg\?$"):
        surrogate("ndgc")


@pytest.mark.parametrize(
    "surrogate", [ApproxMetric("mrr"), LambdaRank("ndcg"), Softmax("ap"), ListNet(), RankNet(), MSE()]
)
def test_bad_lists_are_refused(surrogate: Surrogate) -> None:
    with pytest.raises(ValueError, match=r"^relevance must not be negative: list 0, document 1 has -1$"):
        surrogate(torch.tensor([[0.1, 0.2]]), torch.tensor([[1.0, -1.0]]))
    with pytest.raises(ValueError, match=r"^scores, relevance and mask must have one shape"):
        surrogate(torch.tensor([[0.1, 0.2]]), torch.tensor([[1.0]]))


@pytest.mark.parametrize(
    "surrogate", [ApproxMetric("ndcg"), LambdaRank("ndcg"), Softmax("ap"), ListNet(), RankNet(), MSE()]
)
def test_what_neither_draws_nor_learns_holds_no_parameters_and_no_state(surrogate: Surrogate) -> None:
    assert len(surrogate.state_dict()) == len(list(surrogate.parameters())) == 0


@pytest.mark.parametrize("surrogate", [ApproxMetric, LambdaRank])
def test_there_is_nothing_to_learn_from_a_metric_of_the_judgements(surrogate: type[Surrogate]) -> None:
    with pytest.raises(ValueError, match=r"^judged@2: it measures the judgements, so there is nothing to train on$"):
        surrogate("judged@2")


def test_less_of_an_approximated_metric_cannot_be_better() -> None:
    with pytest.raises(ValueError, match=r"^ApproxMetric: arp is no aim to raise: less of it is better$"):
        ApproxMetric("arp")


# -- lists that are not padded, and the mean over lists ---------------------------------------------------------------


def test_flat_lists_by_lengths_and_by_ids_give_what_padded_ones_do() -> None:
    padded = ListNet()(torch.tensor([[0.3, 0.7, -0.2], [0.1, 0.4, 9.0]]), *PADDED)
    scores, labels = torch.tensor([0.3, 0.7, -0.2, 0.1, 0.4]), torch.tensor([2.0, 0.0, 1.0, 1.0, 0.0])
    assert torch.equal(ListNet().flat(scores, labels, lengths=[3, 2]), padded)
    mixed = torch.tensor([0, 3, 1, 4, 2])
    assert torch.equal(ListNet().flat(scores[mixed], labels[mixed], qid=["x", "y", "x", "y", "x"]), padded)


PADDED = torch.tensor([[2.0, 0.0, 1.0], [1.0, 0.0, 5.0]]), torch.tensor([[True] * 3, [True, True, False]])


def test_flat_lists_take_weights_and_keep_the_graph() -> None:
    scores = torch.tensor([0.3, 0.7, -0.2], requires_grad=True)
    doubled = MSE().flat(scores, [1, 0, 1], lengths=[2, 1], weight=torch.tensor([2.0, 2.0, 2.0]))
    assert torch.allclose(doubled, 2 * MSE().flat(scores, [1, 0, 1], lengths=[2, 1]))
    doubled.sum().backward()
    assert scores.grad is not None
    assert (scores.grad != 0).all()


def test_flat_lists_of_numbers_and_arrays() -> None:
    wanted = MSE().flat(torch.tensor([0.5, 1.0, 2.0]), torch.tensor([1.0, 0.0, 1.0]), lengths=[2, 1])
    assert torch.allclose(
        MSE().flat([0.5, 1.0, 2.0], np.array([1, 0, 1]), lengths=[2, 1], weight=None), wanted.double()
    )
    assert torch.allclose(MSE().flat(np.array([0.5, 1, 2]), [1, 0, 1], qid=[7, 7, 8]), wanted.double())


def test_flat_lists_without_documents() -> None:
    nothing = torch.zeros(0)
    assert MSE().flat(nothing, nothing, lengths=[0, 0]).tolist() == [0, 0]
    assert MSE().flat(nothing, nothing, qid=[]).shape == (0,)


def test_flat_lists_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^scores and relevance must be flat and of one length, \[documents\]; got"):
        MSE().flat(torch.zeros(3), torch.zeros(2), lengths=[3])
    with pytest.raises(ValueError, match=r"^scores and weight must be flat and of one length, \[documents\]; got"):
        MSE().flat(torch.zeros(3), torch.zeros(3), lengths=[3], weight=torch.zeros(3, 1)[:2])
    with pytest.raises(ValueError, match=r"^scores and relevance must be flat and of one length, \[documents\]; got"):
        MSE().flat(torch.zeros(3, 1), torch.zeros(3, 1), lengths=[3])


class TwiceTheSecond(MSE):
    """Weighs each list by its number of documents."""

    def share(self, relevance: Tensor, mask: Tensor) -> Tensor:
        return mask.sum(1)


def test_the_mean_over_lists() -> None:
    scores, (labels, mask) = torch.tensor([[0.3, 0.7, -0.2], [0.1, 0.4, 9.0]]), PADDED
    first, second = MSE()(scores, labels, mask).tolist()
    assert MSE().mean(scores, labels, mask).item() == pytest.approx((first + second) / 2)
    weight = torch.tensor([1.0, 3.0])
    assert MSE().mean(scores, labels, mask, list_weight=weight).item() == pytest.approx((first + 3 * second) / 4)
    assert TwiceTheSecond().mean(scores, labels, mask).item() == pytest.approx((3 * first + 2 * second) / 5)
    both = TwiceTheSecond().mean(scores, labels, mask, list_weight=weight)
    assert both.item() == pytest.approx((3 * first + 6 * second) / 9)


def test_the_mean_over_no_list_is_0_with_a_live_graph() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    mean = MSE().mean(scores, torch.ones(2, 3), list_weight=torch.zeros(2))
    mean.backward()
    assert mean.item() == 0
    with pytest.raises(ValueError, match=r"^weight must be numbers >= 0, got -1$"):
        MSE().mean(scores, torch.ones(2, 3), list_weight=torch.tensor([1.0, -1.0]))
    for shape in ((2, 1), (1,), (3,)):
        with pytest.raises(ValueError, match=r"^list_weight must hold one number for each of 2 lists, got \["):
            MSE().mean(scores, torch.ones(2, 3), list_weight=torch.ones(shape))


def test_weights_multiply_gains_where_a_metric_has_some() -> None:
    relevance, mask = torch.tensor([[3.0, 0.0, 1.0]]), torch.ones(1, 3, dtype=torch.bool)
    weight = torch.tensor([[0.5, 1.0, 2.0]])
    for name in ("ndcg@2", "dcg-letor"):
        metric, labels = weighted_gains(parse(name), relevance, mask, weight)
        assert metric == replace(parse(name), gain=Linear())
        assert torch.allclose(labels / labels[0, 2], torch.tensor([[7 * 0.5 / 2, 0, 1]]))
    assert weighted_gains(parse("mrr"), relevance, mask, None) == (parse("mrr"), relevance)
    refusal = "weight: a document's weight multiplies its gain, and mrr has none; leave it out"
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        weighted_gains(parse("mrr"), relevance, mask, weight)


def test_dcg_keeps_the_size_of_its_weighted_gains() -> None:
    relevance, mask, weight = torch.tensor([[2.0]]), torch.tensor([[True]]), torch.tensor([[0.5]])
    labels = weighted_gains(parse("dcg"), relevance, mask, weight)[1]
    assert labels.tolist() == [[1.5]]


# -- what the gradient is of, and in which type -----------------------------------------------------------------------

SOFT = [ApproxMetric("ndcg"), ApproxMetric("pairs"), NeuralNDCG("ndcg"), PiRank("ndcg"), SoftRank("ndcg@5")]
MANY = [*SOFT, SoftSortNDCG("ndcg"), SoftSortNDCG("ndcg@10"), ADRMSE(), BoundMetric("ndcg"), RankNet(), Hinge()]
KERNELS = [*SOFT, SoftSortNDCG("ndcg"), RankNet(), Hinge(), LambdaRank("ndcg")]


def name_of(value: object) -> str:
    return type(value).__name__ if isinstance(value, Surrogate) else str(value)


def drawn(documents: int) -> tuple[Tensor, Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    scores, labels = torch.randn(2, documents, generator=draw), torch.randint(0, 4, (2, documents), generator=draw)
    return scores, labels.float(), torch.rand(2, documents, generator=draw) < 0.8


@pytest.mark.parametrize("surrogate", MANY, ids=name_of)
def test_autocast_around_it_changes_nothing(surrogate: Surrogate) -> None:
    scores, labels, mask = drawn(30)
    found = []
    for enabled in (False, True):
        leaf = scores.clone().requires_grad_()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            loss = surrogate(leaf, labels, mask)
            (gradient,) = torch.autograd.grad(loss.sum(), leaf)
            belief = [each(scores, labels, mask) for each in (surrogate.estimate, surrogate.certificate)]
        found.append([loss.detach(), gradient, *(each for each in belief if each is not None)])
    for plain, cast in zip(*found, strict=True):
        assert torch.equal(plain, cast)


@pytest.mark.parametrize("surrogate", KERNELS, ids=name_of)
def test_a_second_derivative_is_refused_where_a_kernel_has_the_gradient(surrogate: Surrogate) -> None:
    scores, labels, mask = drawn(300)
    loss = surrogate(scores.requires_grad_(), labels, mask).sum()
    with pytest.raises(RuntimeError, match=r"^a surrogate can be differentiated once: its gradient has no graph;"):
        torch.autograd.grad(loss, scores, create_graph=True)


@pytest.mark.parametrize("documents", [6, 300])
@pytest.mark.parametrize(
    "surrogate", [RankNet(pairs="batch"), Hinge(), LambdaRank("ndcg"), MSE(), ApproxMetric("ndcg")], ids=name_of
)
def test_labels_and_weights_are_constants(surrogate: Surrogate, documents: int) -> None:
    scores, labels, mask = drawn(documents)
    weight = torch.ones_like(labels).requires_grad_()
    surrogate.mean(scores.requires_grad_(), labels.requires_grad_(), mask, weight=weight).backward()
    assert scores.grad is not None
    assert labels.grad is weight.grad is None


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("truncate", lambda value: ApproxMetric("ndcg", truncate=value)),
        ("stop", lambda value: ListMLE(stop=value)),
        ("inclusive", lambda value: PListMLE(inclusive=value)),
        ("centred", lambda value: MSE(centred=value)),
        ("squared", lambda value: Quantile(squared=value)),
        ("stop_gradient", lambda value: SmoothI("ndcg", stop_gradient=value)),
    ],
)
@pytest.mark.parametrize("value", ["no", 0, 1.0, None])
def test_a_switch_is_true_or_false(name: str, build: Callable[[Any], Surrogate], value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(f'{name} must be true or false, got {value!r}')}$"):
        build(value)


@pytest.mark.parametrize(("given", "came"), [(MSE, "the class MSE: call it first"), ("mse", "str"), (None, "NoneType")])
def test_a_loss_inside_another_is_a_surrogate(given: Any, came: str) -> None:
    for name, build in (("loss", lambda: Perturbed(given)), ("losses", lambda: WeightedSum([MSE(), given], [1, 1]))):
        with pytest.raises(ValueError, match=f"^{name}: wanted a ltr.losses.Surrogate, got {re.escape(came)}$"):
            build()


@pytest.mark.parametrize("labels", [[16777217, 16777216], [1764545000.0, 1764545030.0]])
def test_large_labels_that_the_scores_type_would_merge_are_refused(labels: list[float]) -> None:
    """Without an error the pair would be none, and the loss 0."""
    scores, given = torch.tensor([[1.0, 2.0]]), torch.tensor([labels], dtype=torch.float64)
    with pytest.raises(
        ValueError, match=r"^labels must be numbers that float32 tells apart, as the scores are .* has "
    ):
        RankNet()(scores, given)
    assert RankNet()(scores.double(), given).item() > 0
    assert RankNet()(scores, given.float()).item() >= 0  # labels that came in float32 are what they are
    assert MSE()(scores, torch.tensor([[33554432.0, 0.0]], dtype=torch.float64)).item() > 0


@pytest.mark.parametrize("name", sorted(path.stem for path in (options.folder() / "loss").glob("*.yaml")))
def test_softened_is_a_copy_of_another_softness(name: str) -> None:
    if name == "custom":
        name = "approx"  # it names one of the user's own
    loss = named(name, "ndcg@10")
    if loss.softness is None:
        with pytest.raises(ValueError, match=r"it has no temperature \(or the like\) to change$"):
            loss.softened(2)
        return
    before = loss.softness
    assert loss.softened(4).softness == pytest.approx(4 * before)
    assert loss.softness == before
    with pytest.raises(ValueError, match=r"^factor must be a number above 0, got 0$"):
        loss.softened(0)


def test_softening_a_loss_is_shrinking_the_scores_where_the_scale_is_all_it_sees() -> None:
    scores, labels = torch.tensor([[3.0, 1.0, -1.0]], dtype=torch.float64), torch.tensor([[0.0, 2.0, 1.0]])
    for name in ("approx", "softsort", "softrank", "neuralndcg", "pirank", "smoothi", "softmax", "zeroone"):
        loss = named(name, "ndcg@10")
        assert loss.softened(2)(scores, labels).tolist() == pytest.approx(loss(scores / 2, labels).tolist()), name

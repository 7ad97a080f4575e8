"""ltr/losses/softmax.py"""

from math import exp, log, log2

import pytest
import torch
from torch import Tensor

from ltr.losses import ListNet, Softmax
from ltr.losses.softmax import log_softmax
from ltr.metrics import parse
from ltr.testing import check_surrogate

SCORES, LABELS = [0.3, 0.7, -0.2], [2.0, 0.0, 1.0]
LISTS = torch.tensor([SCORES], dtype=torch.float64), torch.tensor([LABELS], dtype=torch.float64)
LOG_P = [s - log(sum(exp(t) for t in SCORES)) for s in SCORES]


@pytest.mark.parametrize(
    ("name", "gains"),
    [
        ("ndcg@10", [3, 0, 1]),
        ("dcg", [3, 0, 1]),
        ("ndcg-linear", [2, 0, 1]),
        ("ndcg-table0_1_9", [9, 0, 1]),
        ("mrr", [1, 0, 1]),
        ("ap-rel2@3", [1, 0, 0]),
        ("recall@1", [1, 0, 1]),
    ],
)
def test_cross_entropy_with_the_gains_over_their_sum(name: str, gains: list[int]) -> None:
    wanted = -sum(g / sum(gains) * p for g, p in zip(gains, LOG_P, strict=True))
    assert Softmax(name)(*LISTS).item() == pytest.approx(wanted)


def test_the_certificates_spelled_out() -> None:
    graded = exp((3 * LOG_P[0] + LOG_P[2]) / 4)
    assert Softmax("ndcg").certificate(*LISTS).item() == pytest.approx(graded * 4 / (3 + 1 / log2(3)))
    assert Softmax("dcg").certificate(*LISTS).item() == pytest.approx(graded * 4)
    for name in ("mrr", "ap"):
        assert Softmax(name).certificate(*LISTS).item() == pytest.approx(exp((LOG_P[0] + LOG_P[2]) / 2))


def test_nothing_relevant_is_zero_and_certifies_nothing() -> None:
    scores = torch.tensor([[0.3, 0.1]], requires_grad=True)
    for name in ("ndcg", "mrr", "ap", "dcg"):
        loss = Softmax(name)(scores, torch.zeros(1, 2))
        assert loss.item() == 0
        assert loss.requires_grad
        assert Softmax(name).certificate(scores, torch.zeros(1, 2)).item() == 0


def test_log_softmax_of_padding_is_0_and_of_nothing_finite() -> None:
    mask = torch.tensor([[True, True, False], [False, False, False]])
    found = log_softmax(torch.tensor([[0.0, 0.0, 9.0], [1.0, 2.0, 3.0]]), mask)
    assert found.tolist() == [[pytest.approx(-log(2))] * 2 + [0], [0, 0, 0]]


@pytest.mark.parametrize("top", [100.0, 2000.0])
def test_large_labels(top: float) -> None:
    for dtype in (torch.float32, torch.float64):
        lists = torch.zeros(1, 2, dtype=dtype), torch.tensor([[top, 1.0]], dtype=dtype)
        assert Softmax("ndcg")(*lists).item() == pytest.approx(log(2))
        assert Softmax("ndcg").certificate(*lists).item() == pytest.approx(1 / 2)


def test_a_certificate_of_dcg_beyond_its_numbers_is_refused_as_dcg_itself_is() -> None:
    scores, labels = torch.tensor([[1.0, 0.0]]), torch.tensor([[2000.0, 0.0]])
    with pytest.raises(ValueError, match="dcg: the gain of label 2000 is beyond float64"):
        Softmax("dcg").certificate(scores, labels)


@pytest.mark.parametrize(("target", "worth", "total"), [("labels", [2, 0, 1], 3), ("raw", [2, 0, 1], 1)])
def test_labels_as_targets(target: str, worth: list[int], total: int) -> None:
    wanted = -sum(y / total * p for y, p in zip(worth, LOG_P, strict=True))
    loss = Softmax("ndcg@10", target=target)
    assert loss(*LISTS).item() == pytest.approx(wanted)
    assert (loss.kind, loss.aim, loss.certificate(*LISTS)) == ("neither", None, None)
    assert check_surrogate(loss)


def test_a_temperature_divides_the_scores_and_keeps_the_bound() -> None:
    loss = Softmax("ndcg", temperature=2.0)
    assert loss(*LISTS).item() == pytest.approx(Softmax("ndcg")(LISTS[0] / 2, LISTS[1]).item())
    assert loss.kind == "bound"
    assert check_surrogate(loss)


@pytest.mark.parametrize(("target", "total"), [("gains", 3 * 0.5 + 1 * 2), ("labels", 2 * 0.5 + 1 * 2), ("raw", 1)])
def test_a_weight_multiplies_the_gain_or_label(target: str, total: float) -> None:
    first = 3 if target == "gains" else 2
    wanted = -(first * 0.5 * LOG_P[0] + 2 * LOG_P[2]) / total
    found = Softmax("ndcg", target=target)(*LISTS, weight=torch.tensor([[0.5, 7.0, 2.0]]))
    assert found.item() == pytest.approx(wanted)


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"^target must be one of gains, labels, raw; got 'soft'$"):
        Softmax("ndcg", target="soft")
    with pytest.raises(ValueError, match=r"^temperature must be a number above 0, got 0$"):
        Softmax("ndcg", temperature=0)


# -- faults of other libraries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [-50.0, 1e4])
def test_padding_has_no_probability_whatever_the_scores(shift: float) -> None:
    """TensorFlow Ranking masks with a score of ln 1e-10 = -23, above real ones when all of them fall by 50."""
    scores = torch.tensor([[0.3, 0.7, -0.2, 0.0]], dtype=torch.float64) + shift
    mask = torch.tensor([[True, True, True, False]])
    found = Softmax("ndcg")(scores, torch.tensor([[2.0, 0.0, 1.0, 4.0]]), mask)
    assert found.item() == pytest.approx(Softmax("ndcg")(*LISTS).item())


@pytest.mark.parametrize("target", ["gains", "labels", "raw"])
@pytest.mark.parametrize("gap", [22.0, 40.0, 1e4])
def test_the_gradient_lives_at_any_gap(target: str, gap: float) -> None:
    """allRank adds 1e-10 inside the logarithm: a gradient of 0.54 at a gap of 22, of 3e-8 at 40."""
    scores = torch.tensor([[0.0, gap]], requires_grad=True)
    Softmax("ndcg", target=target)(scores, torch.tensor([[1.0, 0.0]])).sum().backward()
    assert scores.grad.tolist() == [[pytest.approx(-1), pytest.approx(1)]]


# -- theory: -log of the metric is no more than the loss ----------------------------------------------------------


def many_lists(seed: int, lists: int = 4500) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Six times 4,500 lists of 1 to 8 documents: binary to five grades, narrow to wide scores, some of them tied."""
    generator = torch.Generator().manual_seed(seed)
    batches = []
    for spread, grades in ((0.3, 2), (1.0, 2), (5.0, 3), (0.3, 5), (1.0, 5), (5.0, 5)):
        scores = torch.randn(lists, 8, generator=generator, dtype=torch.float64) * spread
        scores[::2] = scores[::2].round()  # ties
        labels = torch.randint(grades, (lists, 8), generator=generator).double()
        mask = torch.rand(lists, 8, generator=generator) < 0.8
        mask[:, 0] = True
        batches.append((scores, labels * mask, mask))
    return batches


def slack(loss: Softmax | ListNet, name: str) -> Tensor:
    """The loss less -log of the metric, of 27,000 lists without those that have no answer."""
    metric, found = parse(name), []
    for scores, labels, mask in many_lists(1):
        defined = metric.defined(labels, mask)
        found.append((loss(scores, labels, mask) + metric(scores, labels, mask).log())[defined])
    assert sum(map(len, found)) >= 20000
    return torch.cat(found)


@pytest.mark.parametrize("name", ["ndcg", "ndcg-linear", "ndcg-worst", "mrr", "ap"])
@pytest.mark.parametrize("temperature", [0.3, 1.0])
def test_the_loss_is_no_less_than_minus_the_logarithm_of_the_metric(name: str, temperature: float) -> None:
    assert slack(Softmax(name, temperature=temperature), name).min() >= -1e-9


def test_it_is_less_in_some_lists_once_the_metric_is_cut_at_1() -> None:
    """Of the lists whose first document is a bad one, 1 - NDCG@1 = 1, and the loss may be ln 2."""
    metric, broken = parse("ndcg-worst@1"), 0
    for lists in many_lists(2):
        regret = (1 - metric(*lists)) * metric.defined(*lists[1:])
        broken += int((Softmax("ndcg@1")(*lists) < regret - 1e-9).sum())
    assert broken > 5


def test_the_softmax_of_labels_as_target_bounds_nothing() -> None:
    """Its divergence from the scores' softmax is below 1 - NDCG in about every fifth list."""
    metric, broken, lists_in_all = parse("ndcg"), 0, 0
    for scores, labels, mask in many_lists(3):
        divergence = ListNet()(scores, labels, mask) - ListNet()(labels, labels, mask)
        regret = (1 - metric(scores, labels, mask)) * metric.defined(labels, mask)
        broken += int((divergence < regret - 1e-9).sum())
        lists_in_all += len(scores)
    assert broken > 0.05 * lists_in_all

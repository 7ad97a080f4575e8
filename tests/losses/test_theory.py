"""Which surrogate bounds what: no violation where a bound is claimed, a counter-example where none is."""

from collections.abc import Iterator
from math import log, log2
from typing import Any

import pytest
import torch
from torch import Tensor

from ltr.losses import ARPLoss, LambdaLoss, LambdaRank, ListNet, RankNet, Softmax, Surrogate
from ltr.losses.lambdaloss import Scheme
from ltr.metrics import parse

Lists = tuple[Tensor, Tensor, Tensor]
LISTS = 900  # of each of 24 kinds


def random_lists(seed: int = 0) -> Iterator[Lists]:
    """Narrow to wide scores, without ties, with some, and all tied; binary to five grades; up to 8 documents."""
    generator = torch.Generator().manual_seed(seed)
    for spread in (0.0, 0.3, 1.0, 5.0):
        for grades in (2, 3, 5):
            for step in (0.0, 0.5):
                scores = torch.randn(LISTS, 8, generator=generator, dtype=torch.float64) * spread
                scores = (scores / step).round() * step if step else scores
                labels = torch.randint(grades, (LISTS, 8), generator=generator).double()
                mask = torch.rand(LISTS, 8, generator=generator) < 0.8
                mask[:, 0] = True
                yield scores, labels * mask, mask


BOUNDS = [
    *[LambdaRank(name) for name in ("ndcg", "ndcg@1", "ndcg@3", "ndcg-linear@3", "ndcg-letor@3", "ndcg-geometric0.5")],
    *[LambdaRank(name) for name in ("ndcg-positions1_1_0.2", "ndcg-worst@3", "dcg", "dcg@3")],
    *[Softmax(name) for name in ("ndcg", "ndcg-linear", "ndcg-letor", "ndcg-reciprocal", "ndcg-worst", "dcg")],
    *[Softmax(name) for name in ("mrr", "mrr-rel2", "ap", "ap-rel2")],
    LambdaRank("ndcg", sigma=0.1),
    LambdaRank("ndcg", sigma=10),
    *[LambdaLoss(name, "loss1") for name in ("ndcg", "ndcg-linear", "ndcg-letor", "ndcg-reciprocal", "dcg")],
    *[LambdaLoss(name, "loss2") for name in ("ndcg", "ndcg-linear", "ndcg-reciprocal", "ndcg-geometric0.5", "dcg")],
    *[LambdaLoss(name, "loss2++") for name in ("ndcg", "ndcg@3", "ndcg-letor@3", "dcg@3")],
    *[LambdaLoss(name, "light") for name in ("ndcg", "ndcg-letor", "ndcg-reciprocal", "ndcg-geometric0.1", "dcg")],
    LambdaLoss("ndcg-positions1_1_0.2", "light"),
    LambdaLoss("ndcg-worst", "loss2", sigma=0.1),
    LambdaLoss("ndcg-positions1_0.5_0.2", "loss2"),
    LambdaLoss("ndcg@1", "loss2++", mu=1e-3),
    *[ARPLoss(scheme, sigma) for scheme in ("loss1", "loss2") for sigma in (1, 0.1)],
]


def label(surrogate: Surrogate) -> str:
    of = {name: getattr(surrogate, name, None) for name in ("scheme", "sigma")}
    return f"{type(surrogate).__name__} {surrogate.metric} {of}"


@pytest.mark.parametrize("surrogate", BOUNDS, ids=label)
def test_a_certificate_is_never_better_than_its_metric(surrogate: Surrogate) -> None:
    aim = surrogate.aim
    assert surrogate.kind == "bound"
    for lists in random_lists():
        gap = (aim(*lists) - surrogate.certificate(*lists)) * (1 if aim.larger_is_better else -1)
        assert (gap * aim.defined(*lists[1:]) >= -1e-9).all()


def test_lambda_rank_bounds_the_regret_and_softmax_its_logarithm() -> None:
    ndcg, at_3 = parse("ndcg"), parse("ndcg@3")
    for lists in random_lists(1):
        defined = ndcg.defined(*lists[1:])
        assert defined.any()
        assert (LambdaRank("ndcg@3")(*lists) - (1 - at_3(*lists)))[defined].min() >= -1e-9
        assert (Softmax("ndcg")(*lists) + ndcg(*lists).log())[defined].min() >= -1e-9
        assert (Softmax("mrr")(*lists) + parse("mrr")(*lists).log())[defined].min() >= -1e-9


def test_natural_log_lambda_rank_does_not_bound_ndcg() -> None:
    """Two documents, the wrong one barely ahead: the pair costs ln 2 of the regret, not all of it."""
    scores, labels = torch.tensor([[0.001, 0.0]]).double(), torch.tensor([[0.0, 1.0]]).double()
    regret = 1 - parse("ndcg")(scores, labels).item()
    in_bits = LambdaRank("ndcg")(scores, labels).item()
    assert in_bits * log(2) < regret <= in_bits


def one_list(scores: list[float], labels: list[float]) -> tuple[Tensor, Tensor]:
    return torch.tensor([scores]).double(), torch.tensor([labels]).double()


@pytest.mark.parametrize("cutoff", ["any", "both"])
def test_other_rules_for_k_do_not_bound_ndcg_at_k(cutoff: str) -> None:
    """The relevant document barely behind, at rank 2: LightGBM's pair weighs 1 - 1/log2(3) of the regret of 1, and
    allRank has no pair at all."""
    lists = one_list([0.001, 0.0], [0.0, 1.0])
    surrogate = LambdaRank("ndcg@1", cutoff=cutoff)
    assert (surrogate.kind, 1 - parse("ndcg@1")(*lists).item()) == ("neither", 1)
    assert surrogate(*lists).item() == pytest.approx({"any": 1 - 1 / log2(3), "both": 0}[cutoff], abs=1e-3)


def test_loss2_bounds_the_regret_but_not_the_cost_of_the_paper() -> None:
    """Two equal gains in the best order: sum G - NDCG is 2 / (1 + 1/log2(3)) - 1, and there is no pair."""
    lists = one_list([1.0, 0.0], [1.0, 1.0])
    gains = 2 / (1 + 1 / log2(3))
    assert LambdaLoss("ndcg", "loss2")(*lists).item() == 0 == 1 - parse("ndcg")(*lists).item()
    assert gains - parse("ndcg")(*lists).item() > 0.2
    assert LambdaLoss("ndcg", "loss1")(*lists).item() >= gains - 1


def test_loss2_needs_a_discount_that_falls_ever_less() -> None:
    """The first two places of LETOR's are alike, so that neighbours weigh nothing: the second relevant document, barely
    behind two others, pays 1 - 1/log2(3) where it costs 1 - 1/log2(4)."""
    surrogate, lists = LambdaLoss("ndcg-letor", "loss2"), one_list([50.0, 0.002, 0.001, 0.0], [1.0, 0.0, 0.0, 1.0])
    assert surrogate.kind == "neither"
    assert surrogate(*lists).item() == pytest.approx((1 - 1 / log2(3)) / 2, abs=1e-3)
    assert 1 - parse("ndcg-letor")(*lists).item() == pytest.approx((1 - 1 / log2(4)) / 2)


def test_loss1_needs_a_discount_of_at_least_1_over_the_rank() -> None:
    surrogate, lists = LambdaLoss("ndcg-geometric0.1", "loss1"), one_list([0.001, 0.0], [0.0, 1.0])
    assert surrogate.kind == "neither"
    assert surrogate(*lists).item() == pytest.approx(0.1, abs=1e-3)
    assert 1 - parse("ndcg-geometric0.1")(*lists).item() == pytest.approx(0.9)


def test_lambda_loss_at_k_is_no_bound() -> None:
    surrogate = LambdaLoss("ndcg@3", "topk")
    lists = one_list([-0.03, 0.135, 0.046, 0.107, 0.29], [1.0, 0.0, 1.0, 1.0, 0.0])
    assert surrogate.kind == "neither"
    assert 1 - parse("ndcg@3")(*lists).item() - surrogate(*lists).item() == pytest.approx(0.234, abs=5e-4)


@pytest.mark.parametrize(
    ("scheme", "metric", "regret", "options"),
    [
        ("loss1", "ndcg-reciprocal", 1 - 1 / 2, {}),  # which costs 1/2 in bits
        ("loss2", "ndcg", 1 - 1 / log2(3), {}),  # as much
        ("loss2++", "ndcg", 1 - 1 / log2(3), {"mu": 1e-3}),  # that and a thousandth
        ("light", "ndcg-geometric0.1", 1 - 0.1, {}),  # 1
    ],
)
def test_in_natural_logarithms_some_discount_breaks_each_bound(
    scheme: Scheme, metric: str, regret: float, options: dict[str, Any]
) -> None:
    """The relevant document barely behind: a pair costs ln 2 of a bit, and under some discount that is too little."""
    lists = one_list([1e-6, 0.0], [0.0, 1.0])
    in_nats, in_bits = (LambdaLoss(metric, scheme, log=of, **options) for of in ("natural", "binary"))
    assert (in_nats.kind, in_bits.kind) == ("neither", "bound")
    assert 1 - parse(metric)(*lists).item() == pytest.approx(regret)
    assert in_nats(*lists).item() < regret <= in_bits(*lists).item()


def test_softmax_does_not_bound_ndcg_at_1_so_its_aim_is_the_full_list() -> None:
    """Two tied documents, which a cut metric may see in the wrong order: ln 2 < 1."""
    scores, labels = torch.zeros(1, 2).double(), torch.tensor([[0.0, 1.0]]).double()
    assert Softmax("ndcg@1")(scores, labels).item() < 1 - parse("ndcg-stable@1")(scores, labels).item()
    assert Softmax("ndcg@1").aim == parse("ndcg")


def test_softmax_bounds_no_metric_whose_discount_falls_below_1_over_the_rank() -> None:
    """The wrong one far enough behind: a steep discount puts NDCG below what the loss would certify."""
    surrogate = Softmax("ndcg-geometric0.1")
    scores, labels = torch.zeros(1, 5).double(), torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0]]).double()
    stable = parse("ndcg-geometric0.1-stable")(scores, labels).item()
    assert surrogate.kind == "neither"
    assert surrogate.certificate(scores, labels) is None
    assert torch.exp(-surrogate(scores, labels)).item() > stable


def test_list_net_stands_in_no_relation_to_ndcg() -> None:
    """Above its own minimum by less than the regret, and the other way round."""
    labels = torch.tensor([[1.0, 0.0, 0.0, 0.0]]).double()
    least = ListNet()(labels, labels)
    nearly_tied = torch.tensor([[0.0, 0.01, 0.01, 0.01]]).double()
    excess, regret = ListNet()(nearly_tied, labels) - least, 1 - parse("ndcg")(nearly_tied, labels)
    assert excess.item() < regret.item()
    overconfident = labels * 50
    assert (ListNet()(overconfident, labels) - least).item() > 1 - parse("ndcg")(overconfident, labels).item() == 0


def test_rank_net_falls_while_ndcg_falls() -> None:
    """More pairs in order, and the one that counts out of order: a mean over pairs is no metric."""
    labels = torch.tensor([[2.0, 1.0, 0.0, 0.0, 0.0]]).double()
    top_right = torch.tensor([[2.0, -2.0, 0.0, 0.0, 0.0]]).double()
    most_right = torch.tensor([[1.0, 1.01, 0.0, 0.0, 0.0]]).double()
    assert RankNet()(most_right, labels) < RankNet()(top_right, labels)
    assert parse("ndcg@1")(most_right, labels) < parse("ndcg@1")(top_right, labels)


@pytest.mark.parametrize("name", ["mrr", "ap", "precision@3", "ndcg-short0@3"])
def test_lambda_rank_claims_no_bound_for_other_metrics(name: str) -> None:
    surrogate = LambdaRank(name)
    assert (surrogate.kind, surrogate.aim) == ("neither", None)
    assert surrogate.certificate(torch.zeros(1, 3), torch.tensor([[1.0, 0.0, 0.0]])) is None

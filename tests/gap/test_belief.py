"""ltr/gap/belief.py"""

from math import log2
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from ltr import gap
from ltr.losses import MSE, ApproxMetric, ARPLoss, Hinge, LambdaRank, Softmax, Surrogate
from ltr.metrics import RankingMetric, parse

COUNT = 60


def random_lists() -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    scores = torch.randn(COUNT, 9)
    labels, mask = torch.randint(0, 4, (COUNT, 9)).float(), torch.rand(COUNT, 9) < 0.8
    labels[0], labels[1], mask[2] = 0, 2, False  # nothing relevant; all alike; no document
    return scores, labels * mask, mask


LISTS = random_lists()


def row_of(surrogate: Surrogate, target: RankingMetric, *lists: Tensor) -> dict[str, Any]:
    found = gap.columns(surrogate, target, *lists)
    return gap.summarise(surrogate, target, {name: column.numpy() for name, column in found.items()})


def test_the_columns_of_an_approximation() -> None:
    surrogate, target = ApproxMetric("ndcg@3"), parse("ndcg@3")
    found = gap.columns(surrogate, target, *LISTS)
    double = [LISTS[0].double(), *LISTS[1:]]
    assert {column.dtype for column in found.values()} == {torch.float64}
    assert {column.shape for column in found.values()} == {(COUNT,)}
    assert torch.allclose(found["belief"], surrogate.estimate(*double).double())
    assert torch.equal(found["aim"], parse("ndcg")(*LISTS))
    assert torch.equal(found["target"], parse("ndcg@3")(*LISTS))
    assert torch.equal(found["aim_floor"], parse("ndcg").floor(*LISTS[1:]))
    assert torch.equal(found["floor"], parse("ndcg@3").floor(*LISTS[1:]))
    assert torch.equal(found["ceiling"], parse("ndcg@3").ceiling(*LISTS[1:]))
    assert torch.allclose((found["loss"] + found["belief"])[3:], torch.ones(COUNT - 3).double())


def test_the_columns_of_a_loss_that_believes_nothing() -> None:
    found = gap.columns(MSE(), parse("mrr"), *LISTS)
    assert torch.isnan(found["belief"]).all()
    assert torch.equal(found["aim"], found["target"])
    assert torch.equal(found["aim_floor"], found["floor"])


def test_lists_that_do_not_count() -> None:
    """Nothing relevant, all labels alike, no document; and what only one of aim and target can answer."""
    assert (gap.columns(MSE(), parse("ndcg"), *LISTS)["counted"] == 0).nonzero()[:, 0].tolist() == [0, 1, 2]
    labels = torch.tensor([[1.0, 0.0], [2.0, 0.0], [2.0, 1.0]])
    found = gap.columns(Softmax("ndcg"), parse("mrr-rel2"), torch.zeros(3, 2), labels)
    assert found["counted"].tolist() == [0, 1, 1]
    found = gap.columns(Softmax("mrr-rel2"), parse("ndcg"), torch.zeros(3, 2), labels)
    assert found["counted"].tolist() == [0, 1, 1]


def test_no_graph_is_kept() -> None:
    scores = LISTS[0].clone().requires_grad_()
    assert not any(
        each.requires_grad for each in gap.columns(ApproxMetric("ndcg"), parse("ndcg"), scores, *LISTS[1:]).values()
    )


def test_a_nan_score_is_a_nan_value() -> None:
    scores = LISTS[0].clone()
    scores[5, LISTS[2][5].nonzero()[0]] = torch.nan
    assert torch.isnan(gap.columns(MSE(), parse("ndcg"), scores, *LISTS[1:])["target"]).nonzero().tolist() == [[5]]


SMALL = {
    "loss": np.array([0.4, 0.6, 9.0]),
    "share": np.array([1.0, 1.0, 9.0]),
    "belief": np.array([0.6, 0.4, 9.0]),
    "aim": np.array([0.5, 0.7, 9.0]),
    "target": np.array([0.3, 0.3, 9.0]),
    "aim_floor": np.array([0.4, 0.5, 9.0]),
    "floor": np.array([0.1, 0.3, 9.0]),
    "ceiling": np.array([1.0, 0.5, 9.0]),
    "counted": np.array([1.0, 1.0, 0.0]),
}


def test_an_approximation_is_set_against_its_aim_and_against_the_target() -> None:
    row = gap.summarise(ApproxMetric("ndcg@10"), parse("ndcg@10"), SMALL)
    signed = [0.6 - 0.5, 0.4 - 0.7]
    assert (row["surrogate"], row["kind"], row["aim"], row["target"]) == (
        "ApproxMetric",
        "approximation",
        "ndcg",
        "ndcg@10",
    )
    assert (row["lists"], row["left_out"], row["loss_unit"]) == (2, 1, "ndcg")
    assert row["gap_says"] == "estimate - exact"
    wanted = {
        "loss": (0.4 + 0.6) / 2,
        "belief": (0.6 + 0.4) / 2,
        "aim_value": (0.5 + 0.7) / 2,
        "target_value": 0.3,
        "floor": (0.1 + 0.3) / 2,
        "aim_floor": (0.4 + 0.5) / 2,
        "ceiling": (1.0 + 0.5) / 2,
        "gap_aim": sum(signed) / 2,
        "gap_target": (0.6 - 0.3 + 0.4 - 0.3) / 2,
        "gap_abs": (0.1 + 0.3) / 2,
        "gap_sd": np.std(signed, ddof=1),
        "gap_p95": 0.3,
    }
    assert {name: row[name] for name in wanted} == pytest.approx(wanted)
    assert row["vacuous"] is False


def test_a_list_counts_by_its_weight() -> None:
    """A weight of 2 is a list that is there twice in every mean, weights have no unit, and a weight of 0 is no list."""
    twice = {name: np.append(column, column[1]) for name, column in SMALL.items()}
    surrogate, target = ApproxMetric("ndcg@10"), parse("ndcg@10")
    wanted, found, scaled = (
        gap.summarise(surrogate, target, table, weight)
        for table, weight in [(twice, None), (SMALL, np.array([1.0, 2, 5])), (SMALL, np.array([0.3, 0.6, 0]))]
    )
    names = ("loss", "target_value", "floor", "ceiling", "belief", "aim_value", "gap_aim", "gap_target", "gap_abs")
    assert {each: found[each] for each in names} == pytest.approx({each: wanted[each] for each in names})
    assert {each: scaled[each] for each in names} == pytest.approx({each: wanted[each] for each in names})
    mean = (1 * 0.1 + 2 * -0.3) / 3
    spread = (1 * (0.1 - mean) ** 2 + 2 * (-0.3 - mean) ** 2) / (3 - (1 + 4) / 3)
    assert found["gap_sd"] == pytest.approx(spread**0.5)
    assert scaled["gap_sd"] == pytest.approx(spread**0.5)
    one = gap.summarise(surrogate, target, SMALL | {"target": np.array([0.3, np.nan, 9])}, np.array([1.0, 0, 0]))
    assert (one["target_value"], one["gap_sd"], one["lists"]) == (0.3, None, 2)
    assert gap.summarise(surrogate, target, SMALL, np.zeros(3))["gap_aim"] is None


def test_a_loss_that_weighs_lists_does_so_in_its_own_mean_alone() -> None:
    surrogate, target, shared = ApproxMetric("ndcg@10"), parse("ndcg@10"), SMALL | {"share": np.array([3.0, 1, 9])}
    plain, row = (gap.summarise(surrogate, target, table) for table in (SMALL, shared))
    assert row["loss"] == pytest.approx((3 * 0.4 + 1 * 0.6) / 4)
    assert gap.summarise(surrogate, target, shared, np.array([1.0, 3, 1]))["loss"] == pytest.approx(0.5)
    assert row | {"loss": 0} == plain | {"loss": 0}
    assert gap.summarise(surrogate, target, SMALL | {"share": np.zeros(3)})["loss"] is None


def test_the_percentile_is_of_the_weight() -> None:
    count = 20
    columns = {name: np.zeros(count) for name in SMALL} | {"counted": np.ones(count)}
    columns["belief"] = np.arange(count, 0.0, -1)
    surrogate, target = ApproxMetric("ndcg@10"), parse("ndcg@10")
    assert gap.summarise(surrogate, target, columns)["gap_p95"] == 19
    heavy = np.where(columns["belief"] == 3, 1000.0, 1.0)
    assert gap.summarise(surrogate, target, columns, heavy)["gap_p95"] == 3


def test_a_bound_is_set_the_other_way_round() -> None:
    row = gap.summarise(Softmax("ndcg@10"), parse("ndcg@10"), SMALL)
    assert row["gap_says"] == "exact - certificate"
    assert row["gap_aim"] == pytest.approx((0.5 - 0.6 + 0.7 - 0.4) / 2)
    assert row["gap_target"] == pytest.approx((0.3 - 0.6 + 0.3 - 0.4) / 2)


def test_of_neither_no_difference_is_ever_formed() -> None:
    row = gap.summarise(MSE(), parse("ndcg@10"), SMALL)
    assert row["kind"] == "neither"
    differences = (
        "aim",
        "belief",
        "aim_value",
        "gap_aim",
        "gap_target",
        "gap_abs",
        "gap_sd",
        "gap_p95",
        "vacuous",
        "gap_says",
    )
    assert {row[name] for name in differences} == {None}
    assert (row["loss"], row["loss_unit"], row["target_value"]) == (0.5, "squared label units", pytest.approx(0.3))


@pytest.mark.parametrize(("certified", "vacuous"), [(0.44, True), (0.46, False)])
def test_a_certificate_below_a_random_order_is_vacuous(certified: float, vacuous: bool) -> None:
    columns = SMALL | {"belief": np.array([certified, certified, 9.0])}
    assert gap.summarise(LambdaRank("ndcg"), parse("ndcg"), columns)["vacuous"] is vacuous
    assert gap.summarise(ApproxMetric("ndcg"), parse("ndcg"), columns)["vacuous"] is False


def test_no_list_that_counts() -> None:
    nothing = SMALL | {"counted": np.zeros(3)}
    for surrogate in (ApproxMetric("ndcg"), LambdaRank("ndcg"), MSE()):
        row = gap.summarise(surrogate, parse("ndcg"), nothing)
        assert (row["lists"], row["left_out"]) == (0, 3)
        assert row["loss"] is row["target_value"] is row["gap_aim"] is None
        assert not row["vacuous"]


def test_every_kind_has_the_same_columns() -> None:
    rows = [gap.summarise(each, parse("ndcg"), SMALL) for each in (ApproxMetric("ndcg"), LambdaRank("ndcg"), MSE())]
    assert len({frozenset(row) for row in rows}) == 1


@pytest.mark.parametrize(
    "surrogate", [LambdaRank("ndcg@3"), LambdaRank("dcg@3"), Softmax("ndcg"), Softmax("ap"), Softmax("mrr")]
)
def test_the_gap_of_a_certificate_is_never_negative(surrogate: Surrogate) -> None:
    for spread in (0.1, 1.0, 10.0):
        found = gap.columns(surrogate, surrogate.aim, LISTS[0] * spread, *LISTS[1:])
        assert ((found["aim"] - found["belief"])[found["counted"] > 0] >= -1e-9).all()


def test_the_gap_of_an_approximation_vanishes_with_the_temperature() -> None:
    scores = LISTS[0].argsort(1).argsort(1) * 0.1
    rows = [row_of(ApproxMetric("ndcg", each), parse("ndcg"), scores, *LISTS[1:]) for each in (0.3, 0.1, 0.03, 0.001)]
    sizes = [row["gap_abs"] for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 0.01 > 1e-6 > sizes[-1]


def test_scaled_scores_move_the_belief_and_nothing_exact() -> None:
    for surrogate in (ApproxMetric("ndcg@3"), Softmax("ndcg"), MSE()):
        one, ten = (gap.columns(surrogate, parse("ndcg@3"), LISTS[0] * scale, *LISTS[1:]) for scale in (1, 8))
        for name in ("aim", "target", "aim_floor", "floor", "ceiling", "counted"):
            assert torch.equal(one[name], ten[name]), name
        assert not torch.equal(one["loss"], ten["loss"])


def test_what_a_belief_is_set_against_can_turn_its_sign() -> None:
    """One list: the full-list estimate lies below its own aim and above the reported cut metric."""
    lists = torch.tensor([[0.1, 0.0, 0.3]]), torch.tensor([[2.0, 0.0, 1.0]])
    row = row_of(ApproxMetric("ndcg@1"), parse("ndcg@1"), *lists)
    assert row["aim_value"] == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    assert row["target_value"] == pytest.approx(1 / 3)
    assert row["gap_aim"] < 0 < row["gap_target"]


def test_a_bound_from_above_is_set_the_other_way_round() -> None:
    """Of arp less is better: its certificate is an upper limit, and worse than a random order where it lies above."""
    scores, labels = torch.tensor([[9.0, 5.0, 0.0]]), torch.tensor([[2.0, 0.0, 1.0]])
    found = {name: each.numpy() for name, each in gap.columns(ARPLoss(), parse("ndcg"), scores, labels).items()}
    row = gap.summarise(ARPLoss(), parse("ndcg"), found)
    assert row["aim_value"] == pytest.approx((2 * 1 + 1 * 3) / 3)
    assert row["gap_aim"] == pytest.approx(row["belief"] - row["aim_value"])
    assert row["gap_aim"] > 0
    assert (row["gap_says"], row["vacuous"]) == ("certificate - exact", row["belief"] > row["aim_floor"])
    found["belief"] = found["aim_floor"] - 0.01
    assert gap.summarise(ARPLoss(), parse("ndcg"), found)["vacuous"] is False


def test_metrics_without_a_unit_in_common_have_no_gap_between_them() -> None:
    scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[1.0, 2.0, 0.0]])
    for surrogate, target, common in (
        (Hinge(), "ndcg@10", False),
        (ARPLoss(), "ndcg", False),
        (Softmax("mrr"), "ndcg", False),
        (Softmax("ndcg@3"), "ndcg-linear@10", True),
        (Hinge(), "pairs", True),
    ):
        found = {name: each.numpy() for name, each in gap.columns(surrogate, parse(target), scores, labels).items()}
        row = gap.summarise(surrogate, parse(target), found)
        assert (row["gap_target"] is not None) == common
        assert row["gap_aim"] is not None

"""What moved over the last validations, and when that is an alarm."""

import numpy as np
import pytest

from ltr.gap.alarm import WINDOW, alarm, change
from ltr.gap.figures import Figure
from ltr.losses import ARPLoss, LambdaRank, Softmax, Surrogate
from ltr.metrics import parse

NDCG = parse("ndcg@10")
ONES = np.ones(4)


def states(*means: float) -> list[np.ndarray]:
    return [np.full(4, mean) + np.array([-0.01, 0.01, 0.0, 0.0]) * at for at, mean in enumerate(means)]


def test_the_state_of_five_validations_ago_is_what_is_compared() -> None:
    losses = [np.array([1.0, 2.0, 3.0, 4.0]) - at for at in range(7)]
    targets = [np.array([0.1, 0.2, 0.3, 0.4]) + 0.1 * at for at in range(7)]
    share = np.array([1.0, 1.0, 2.0, 0.0])
    losses[-1][2] += 4.0  # of the list with half of the share: -5 + 4 * 2 / 4
    found = change(Softmax("ndcg"), NDCG, losses, targets, ONES, share)
    assert found is not None
    loss, target = found
    assert (loss.value, loss.unit) == (pytest.approx(-5 + 4 * 2 / 4), "nats")
    assert (target.value, target.unit) == (pytest.approx(0.1 * WINDOW), "ndcg@10")


def test_nothing_is_compared_before_there_are_six_or_where_one_is_no_number() -> None:
    losses, targets = states(*range(5)), states(*range(5))
    assert change(Softmax("ndcg"), NDCG, losses, targets, ONES, ONES) is None
    losses, targets = states(*range(6)), states(*range(6))
    assert change(Softmax("ndcg"), NDCG, losses, targets, ONES, ONES) is not None
    losses[0][1] = np.nan
    assert change(Softmax("ndcg"), NDCG, losses, targets, ONES, ONES) is None


def test_the_interval_of_the_loss_is_worked_out_only_where_it_decides() -> None:
    fell, rose = states(6, 5, 4, 3, 2, 1), states(1, 2, 3, 4, 5, 6)
    for losses, targets, decided in ((fell, rose, False), (rose, fell, False), (fell, fell, True)):
        found = change(Softmax("ndcg"), NDCG, losses, targets, ONES, ONES)
        assert found is not None
        assert [each.low is not None for each in found] == [decided, True]


@pytest.mark.parametrize(
    ("loss", "target", "held"),
    [
        ((-0.5, -0.6, -0.4), (-0.02, -0.03, -0.01), True),
        ((-0.5, -1.1, 0.1), (-0.02, -0.03, -0.01), False),
        ((-0.5, -0.6, -0.4), (-0.02, -0.05, 0.01), False),
        ((0.5, 0.4, 0.6), (-0.02, -0.03, -0.01), False),
        ((-0.5, -0.6, -0.4), (0.02, 0.01, 0.03), False),
        ((-0.5, None, None), (-0.02, None, None), False),
    ],
)
def test_an_alarm_where_the_loss_improved_and_the_metric_got_worse(
    loss: tuple[float, ...], target: tuple[float, ...], held: bool
) -> None:
    for surrogate, metric, sign in ((Softmax("ndcg"), NDCG, 1), (ARPLoss(), parse("arp"), -1)):
        value, *ends = (None if each is None else sign * each for each in target)
        moved = Figure(value, metric.name, *ends[::sign], 50)
        found = alarm(surrogate, metric, Figure(loss[0], "nats", *loss[1:], 50), moved)
        assert (found is not None) == held
        if found is not None:
            assert (found.code, found.level, found.figure) == ("loss-without-metric", "alarm", moved)


def test_the_alarm_says_it_in_words() -> None:
    found = alarm(
        Softmax("ndcg"), NDCG, Figure(-0.5, "nats", -0.6, -0.4, 50), Figure(-0.02, "ndcg@10", -0.03, -0.01, 50)
    )
    assert found is not None
    assert found.sentence == (
        "Over the last 5 validations the loss fell by 0.5000 nats, and ndcg@10 got worse: -0.0200 [-0.0300, -0.0100]."
    )


def test_few_lists_raise_none() -> None:
    loss, target = (Figure(each, "", each - 0.1, each + 0.1, 49) for each in (-0.5, -0.2))
    assert alarm(Softmax("ndcg"), NDCG, loss, target) is None
    assert alarm(Softmax("ndcg"), NDCG, loss, target._replace(lists=50)) is not None


def test_a_loss_whose_value_says_nothing_raises_none() -> None:
    surrogate: Surrogate = LambdaRank("ndcg@10")
    loss, target = Figure(-0.5, "ndcg@10", -0.6, -0.4, 50), Figure(-0.02, "ndcg@10", -0.03, -0.01, 50)
    assert alarm(surrogate, NDCG, loss, target) is None

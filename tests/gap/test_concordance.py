"""ltr/gap/concordance.py"""

import re

import numpy as np
import pytest
from scipy.stats import kendalltau

from ltr.gap import concordance

LOSS = np.array([[4.0, 4.0], [3.0, 3.0], [2.0, 2.0], [1.0, 1.0]])
METRIC = np.array([[0.1, 0.1], [0.3, 0.3], [0.2, 0.2], [0.5, 0.5]])


def test_tau_and_discordance_by_hand() -> None:
    """Of six pairs of states one is out of order."""
    found = concordance(LOSS, METRIC)
    assert found["tau"] == pytest.approx((5 - 1) / 6)
    assert found["discordance"] == pytest.approx(1 / 6)
    assert found["validations"] == 4


def test_tau_is_scipys_on_random_states() -> None:
    random = np.random.default_rng(0)
    loss, metric = random.normal(size=(9, 7)), random.normal(size=(9, 7)).round()
    wanted = kendalltau(-loss.mean(1), metric.mean(1)).statistic
    assert concordance(loss, metric)["tau"] == pytest.approx(wanted)


def test_the_residual_is_what_no_falling_function_of_the_loss_tells() -> None:
    """States by rising loss: .5, .2, .3, .1; the best non-increasing fit pools the middle two at .25."""
    assert concordance(LOSS, METRIC)["residual"] == pytest.approx((0 + 0.05 + 0.05 + 0) / 4)


def test_two_states_of_one_loss_have_one_fitted_value() -> None:
    """A function of the loss gives both .15, whichever comes first."""
    loss = [[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]]
    for tied in ((0.2, 0.1), (0.1, 0.2)):
        metric = [[tied[0]] * 2, [tied[1]] * 2, [0.3, 0.3]]
        assert concordance(loss, metric)["residual"] == pytest.approx((0.05 + 0.05 + 0) / 3)


def test_the_regret_chooses_on_one_half_and_judges_on_the_other() -> None:
    """Query 0 falls for the first state, query 1 for the second; each judges what the other chose."""
    loss, metric = [[1.0, 2.0], [2.0, 1.0]], [[0.9, 0.2], [0.4, 0.5]]
    chosen_by_0 = 0.5 - 0.2  # state 0, judged on query 1, whose best is .5
    chosen_by_1 = 0.9 - 0.4  # state 1, judged on query 0, whose best is .9
    assert concordance(loss, metric)["regret"] == pytest.approx((chosen_by_0 + chosen_by_1) / 2)


def test_no_regret_where_the_loss_finds_the_best_state() -> None:
    assert concordance(LOSS, METRIC)["regret"] == 0


def test_the_split_is_by_seed() -> None:
    random = np.random.default_rng(0)
    loss, metric = random.normal(size=(5, 20)), random.normal(size=(5, 20))
    regrets = [concordance(loss, metric, seed=seed)["regret"] for seed in (0, 0, 1, 2, 3)]
    assert regrets[0] == regrets[1]
    assert len(set(regrets)) > 1


def test_monotone_maps_of_the_loss_change_no_rank_measure() -> None:
    random = np.random.default_rng(1)
    loss = np.repeat(random.normal(size=(6, 1)), 4, axis=1)
    metric = random.normal(size=(6, 4))
    plain, mapped = concordance(loss, metric), concordance(np.exp(3 * loss) - 5, metric)
    assert plain == pytest.approx(mapped)


def test_a_metric_that_wants_to_be_small() -> None:
    turned = concordance(LOSS, -METRIC, larger_is_better=False)
    assert turned == pytest.approx(concordance(LOSS, METRIC))


@pytest.mark.parametrize(
    ("loss", "metric"),
    [
        (np.ones((1, 3)), np.ones((1, 3))),
        (np.ones((0, 3)), np.ones((0, 3))),
        (np.ones((3, 0)), np.ones((3, 0))),
        (np.full((2, 2), np.nan), np.ones((2, 2))),
        (np.ones((2, 2)), np.full((2, 2), np.nan)),
    ],
)
def test_nothing_to_say(loss: np.ndarray, metric: np.ndarray) -> None:
    found = concordance(loss, metric)
    assert {found[name] for name in ("tau", "discordance", "regret", "residual")} == {None}
    assert found["validations"] + found["not_finite"] == len(loss)


def test_states_that_are_not_finite_are_left_out_and_counted() -> None:
    loss, metric = np.insert(LOSS, 2, 0.0, axis=0), np.insert(METRIC, 2, [0.1, np.nan], axis=0)
    loss, metric = np.append(loss, [[np.inf, 1.0]], axis=0), np.append(metric, [[0.0, 0.0]], axis=0)
    found = concordance(loss, metric)
    assert (found["validations"], found["not_finite"]) == (4, 2)
    assert found | {"not_finite": 0} == concordance(LOSS, METRIC)


def test_a_query_counts_by_its_weight() -> None:
    random = np.random.default_rng(2)
    loss, metric = random.normal(size=(9, 3)), random.normal(size=(9, 3))
    metric[0, 2] = np.nan
    found = concordance(loss, metric, weight=[3.0, 1.0, 0.0])
    means = [(3 * each[:, 0] + each[:, 1]) / 4 for each in (loss, metric)]
    assert found["tau"] == pytest.approx(kendalltau(-means[0], means[1]).statistic)
    assert found["residual"] == pytest.approx(concordance(means[0][:, None], means[1][:, None])["residual"])
    assert found["not_finite"] == 0


def test_halves_of_weighted_queries() -> None:
    """Two heavy queries and two light ones: with a weight next to nothing the light ones change no choice."""
    random = np.random.default_rng(3)
    loss, metric = random.normal(size=(6, 4)), random.normal(size=(6, 4))
    plain, weighted = (concordance(loss, metric, weight=each)["regret"] for each in (None, [1.0, 1.0, 5.0, 9.0]))
    assert plain != weighted
    assert concordance(loss, metric, weight=[2.0] * 4)["regret"] == pytest.approx(plain)


def test_one_weight_a_query() -> None:
    with pytest.raises(ValueError, match=r"^weight must hold one number for each of 2 queries, got \(3,\)$"):
        concordance(LOSS, METRIC, weight=np.ones(3))


def test_a_loss_that_stands_still_orders_nothing() -> None:
    found = concordance(np.ones((3, 2)), METRIC[:3])
    assert found["tau"] is found["discordance"] is None


def test_one_query_cannot_choose_and_judge() -> None:
    found = concordance(LOSS[:, :1], METRIC[:, :1])
    assert found["regret"] is None
    assert found["tau"] == pytest.approx(4 / 6)


@pytest.mark.parametrize(("loss", "metric"), [((3, 2), (2, 3)), ((3,), (3,))])
def test_shapes(loss: tuple[int, ...], metric: tuple[int, ...]) -> None:
    message = f"loss and metric must have one shape, [states, queries]; got {loss} and {metric}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        concordance(np.ones(loss), np.ones(metric))

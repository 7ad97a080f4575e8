"""Paired comparisons against scipy, and the sentences that follow from them."""

from collections.abc import Mapping

import numpy as np
import pytest
from scipy import stats

from ltr.evaluation import (
    Comparison,
    Interval,
    PValue,
    compare,
    differing,
    interval,
    paired_t,
    sign_flip,
)

A = [0.52, 0.61, 0.40, 0.73, 0.58, 0.66, 0.49, 0.70]
B = [0.50, 0.55, 0.42, 0.60, 0.51, 0.66, 0.45, 0.62]
DIFFERENCES = np.array(A) - np.array(B)


def by_query(values: list[float]) -> dict[str, float]:
    return {f"q{place}": value for place, value in enumerate(values)}


def test_the_tests_agree_with_scipy() -> None:
    result = compare(by_query(A), by_query(B), "ndcg@10")
    assert result.difference == pytest.approx(0.0475)
    assert result.t_test.p == pytest.approx(stats.ttest_rel(A, B).pvalue)
    exact = stats.permutation_test((A, B), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf)
    assert result.sign_flip.p == pytest.approx(exact.pvalue) == 0.046875
    assert (result.wins, result.ties, result.losses) == (6, 1, 1)


def test_random_flips_agree_with_all_of_them() -> None:
    value = np.random.default_rng(0).normal(0.1, 0.4, 17)
    signs = 1 - 2 * ((np.arange(2**17)[:, None] >> np.arange(17)) & 1)
    exact = np.mean(np.abs(signs @ value) >= abs(value.sum()) - 1e-12)
    found = sign_flip(value, seed=1)
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 9999))
    assert found.method == "sign-flip test, two-sided, 9999 random flips, seed 1"


def test_p_is_never_zero() -> None:
    assert sign_flip([0.1] * 30, flips=1000).p == pytest.approx(2 / 1001, abs=1e-12)


def test_pairs_by_query_whatever_the_order() -> None:
    first, second = by_query(A), dict(reversed(by_query(B).items()))
    assert compare(first, second, "ap") == compare(first, by_query(B), "ap")


def test_no_difference_at_all() -> None:
    result = compare({"q1": 0.3, "q2": 0.6}, {"q1": 0.3, "q2": 0.6}, "ap")
    assert (result.difference, result.t_test.p, result.sign_flip.p, result.ties) == (0.0, 1.0, 1.0, 2)
    assert result.sentence() == "ap: the two do not differ on any of these 2 lists."


def test_equal_differences_have_no_t() -> None:
    assert np.isnan(paired_t([0.1] * 5).p)
    assert sign_flip([0.1] * 5).p == 2 / 2**5


def test_one_list_tells_nothing() -> None:
    result = compare({"q1": 0.5}, {"q1": 0.3}, "ap")
    assert np.isnan(result.t_test.p)
    assert result.sentence() == "ap: no interval from 1 list, so nothing is said about the difference."


def test_a_smaller_value_wins_where_smaller_is_better() -> None:
    result = compare(by_query(A), by_query(B), "rank", larger_is_better=False)
    assert (result.wins, result.losses) == (1, 6)


@pytest.mark.parametrize(("first", "second"), [({}, {}), ({"q1": 0.1}, {"q2": 0.1}), ({"q1": 0.1, "q2": 1}, {"q1": 0})])
def test_other_queries_are_refused(first: dict[str, float], second: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"wanted values for the same queries, . stand on one side only"):
        compare(first, second, "ap")


def comparison(low: float, high: float, p: float = 0.01) -> Comparison:
    middle, test = (low + high) / 2, PValue(p, "paired t-test, two-sided")
    return Comparison("ap", 40, middle, 0, middle, Interval(low, high, "BCa"), test, PValue(p, "flip"), 1, 1, 1)


def test_a_sentence_claims_no_more_than_the_interval() -> None:
    assert comparison(-0.01, 0.03, 0.2).sentence() == (
        "ap: these 40 lists do not tell the two apart; a difference anywhere from -0.0100 to +0.0300 goes with them."
    )
    assert (
        comparison(0.01, 0.03)
        .sentence("x", "y")
        .startswith("ap: x lies above y on lists like these 40, by 0.0100 to 0.0300.")
    )
    assert (
        comparison(-0.03, -0.01).sentence("x", "y").startswith("ap: y lies above x on lists like these 40, by 0.0100")
    )
    assert comparison(0.01, 0.03, 0.08).sentence() == (
        "ap: 40 lists are too few to tell; the interval +0.0100 to +0.0300 leaves out 0, but the paired t-test does "
        "not (p = 0.080)."
    )


def test_conventions_differ_part_by_part() -> None:
    assert differing("ap relevant=y>=1 ties=average", "ap relevant=y>=1 ties=average") == []
    assert differing("ndcg@10 gain=y short=zero", "ndcg@10 gain=2^y-1") == [
        "gain=y against gain=2^y-1",
        "short=zero against no short",
    ]


def test_weights_count_in_means_and_interval_and_leave_the_tests_out() -> None:
    weight = {f"q{place}": float(place % 3) for place in range(8)}  # q0, q3 and q6 have none
    result = compare(by_query(A), by_query(B), "ap", weight=dict(reversed(weight.items())))
    weights = np.array(list(weight.values()))
    assert result.first == pytest.approx((weights * A).sum() / weights.sum())
    assert result.second == pytest.approx((weights * B).sum() / weights.sum())
    assert result.difference == pytest.approx((weights * DIFFERENCES).sum() / weights.sum())
    assert result.interval == interval(DIFFERENCES, weights)
    assert (result.lists, result.wins, result.ties, result.losses) == (5, 3, 1, 1)
    assert np.isnan([result.t_test.p, result.sign_flip.p]).all()
    assert result.t_test.method == result.sign_flip.method == "no test of weighted lists"


def test_equal_weights_change_nothing() -> None:
    plain = compare(by_query(A), by_query(B), "ap")
    twice = compare(by_query(A), by_query(B), "ap", weight=dict.fromkeys(by_query(A), 2.0))
    assert twice.difference == pytest.approx(plain.difference, abs=1e-15)
    assert (twice.t_test, twice.sign_flip) == (plain.t_test, plain.sign_flip)
    assert (twice.wins, twice.ties, twice.losses) == (plain.wins, plain.ties, plain.losses)
    assert twice.interval.low == pytest.approx(plain.interval.low, abs=1e-12)


def test_the_sentence_of_weighted_lists_rests_on_the_interval() -> None:
    weight = {f"q{place}": 1.0 + place for place in range(8)}
    result = compare(by_query(A), by_query(B), "ap", weight=weight)
    assert result.interval.low > 0
    assert result.sentence("x", "y").startswith("ap: x lies above y on lists like these 8, by 0.0")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ({"q1": 1.0}, "wanted a weight from 0 on for each list, query q2 has nan"),
        ({"q1": 1.0, "q2": -1.0}, "wanted a weight from 0 on for each list, query q2 has -1.0"),
        ({"q1": 1.0, "q2": np.inf}, "wanted a weight from 0 on for each list, query q2 has inf"),
        ({"q1": 0.0, "q2": 0.0}, "wanted a list of positive weight, all of these 2 have weight 0"),
    ],
)
def test_weights_that_cannot_be_are_refused(weight: Mapping[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=f"^ap: {message}$"):
        compare({"q1": 0.5, "q2": 0.1}, {"q1": 0.2, "q2": 0.3}, "ap", weight=weight)


def test_equal_differences_leave_the_verdict_to_the_other_test() -> None:
    sentence = compare({f"q{at}": 0.5 for at in range(5)}, {f"q{at}": 0.25 for at in range(5)}, "ap").sentence()
    assert sentence.endswith("leaves out 0, but the sign-flip test does not (p = 0.062).")

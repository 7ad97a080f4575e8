"""Two systems on the same lists: differences by query id, with an interval and two tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ltr.gap.numbers import counted
from ltr.intervals import CELLS, Interval, check_seed, interval

FLIPS = 9_999
EXACT = 16  # lists up to which all sign flips are tried
SAME = 1e-12
ALPHA = 0.05  # what the interval's 95 % stand against


class PValue(NamedTuple):
    """A p-value, two-sided, and how it was found."""

    p: float
    method: str


UNTESTED = PValue(float("nan"), "no test of weighted lists")


@dataclass(frozen=True)
class Comparison:
    """One metric on the lists that two systems share; every difference is first minus second.

    Means, difference and interval are weighted where the lists are; wins, ties and losses count lists.
    """

    metric: str
    lists: int
    first: float
    second: float
    difference: float
    interval: Interval
    t_test: PValue
    sign_flip: PValue
    wins: int
    ties: int
    losses: int

    def sentence(self, first: str = "the first", second: str = "the second") -> str:
        """What the interval says, and no more."""
        lists = counted(self.lists, "list")
        low, high, _ = self.interval
        if not low <= high:
            return f"{self.metric}: no interval from {lists}, so nothing is said about the difference."
        if self.difference == 0 == low == high:
            return f"{self.metric}: the two do not differ on any of these {lists}."
        if low <= 0 <= high:
            return (
                f"{self.metric}: these {lists} do not tell the two apart; a difference anywhere from "
                f"{low:+.4f} to {high:+.4f} goes with them."
            )
        doubts = [test for test in (self.t_test, self.sign_flip) if test.p > ALPHA]  # one without a p says nothing
        if doubts:
            return (
                f"{self.metric}: {lists} are too few to tell; the interval {low:+.4f} to {high:+.4f} "
                f"leaves out 0, but the {doubts[0].method.partition(',')[0]} does not (p = {doubts[0].p:.3f})."
            )
        above, below = (first, second) if low > 0 else (second, first)
        smaller, larger = sorted((abs(low), abs(high)))
        return (
            f"{self.metric}: {above} lies above {below} on lists like these {self.lists}, by {smaller:.4f} to "
            f"{larger:.4f}. That is about these two trained models; other seeds may give another picture."
        )


def compare(
    first: Mapping[str, float],
    second: Mapping[str, float],
    metric: str,
    *,
    weight: Mapping[str, float] | None = None,
    larger_is_better: bool = True,
    seed: int = 0,
) -> Comparison:
    """Compare per-list values that are paired by query id.

    Args:
        first, second: query id -> value, over the same ids, in any order.
        metric: its name.
        weight: query id -> weight >= 0 of its list, for all of them; a list of weight 0 is left out. None: all 1.
            The two tests have no form for weighted lists here: where weights differ, their p is NaN.
        larger_is_better: what a win is.
        seed: of the interval and the sign flips.

    Raises:
        ValueError: the ids differ, there is none, or a weight lacks, is no number from 0 on, or all are 0.

    Example:
        >>> result = compare({"q1": 0.1, "q2": 0.5, "q3": 0.9}, {"q3": 0.8, "q1": 0.05, "q2": 0.45}, "ndcg@10")
        >>> round(result.difference, 4), round(result.t_test.p, 4), result.wins
        (0.0667, 0.0572, 3)
    """
    if not first or first.keys() != second.keys():
        only = sorted(first.keys() ^ second.keys())
        raise ValueError(f"{metric}: wanted values for the same queries, {len(only)} stand on one side only {only[:3]}")
    weights = _weights(first, weight, metric)
    kept = [query for query, worth in zip(first, weights, strict=True) if worth > 0]
    weights = weights[weights > 0]
    a = np.array([first[query] for query in kept], dtype=np.float64)
    b = np.array([second[query] for query in kept], dtype=np.float64)
    difference = a - b
    tested = np.ptp(weights) == 0
    better = difference if larger_is_better else -difference
    return Comparison(
        metric=metric,
        lists=len(a),
        first=float(np.average(a, weights=weights)),
        second=float(np.average(b, weights=weights)),
        difference=float(np.average(difference, weights=weights)),
        interval=interval(difference, weights, seed),
        t_test=paired_t(difference) if tested else UNTESTED,
        sign_flip=sign_flip(difference, seed=seed) if tested else UNTESTED,
        wins=int((better > SAME).sum()),
        ties=int((np.abs(better) <= SAME).sum()),
        losses=int((better < -SAME).sum()),
    )


def _weights(queries: Iterable[str], weight: Mapping[str, float] | None, metric: str) -> NDArray[np.float64]:
    found = {query: 1.0 if weight is None else weight.get(query, np.nan) for query in queries}
    wrong = [query for query, worth in found.items() if not 0 <= worth < np.inf]
    if wrong:
        raise ValueError(f"{metric}: wanted a weight from 0 on for each list, query {wrong[0]} has {found[wrong[0]]}")
    if not any(found.values()):
        raise ValueError(f"{metric}: wanted a list of positive weight, all of these {len(found)} have weight 0")
    return np.array(list(found.values()), dtype=np.float64)


def paired_t(differences: ArrayLike) -> PValue:
    """The paired t-test of a mean difference of 0. p = 1 without any difference, NaN where t has no value.

    Example:
        >>> round(paired_t([0.05, 0.05, 0.1]).p, 4)
        0.0572
    """
    from scipy.stats import ttest_1samp

    value = np.asarray(differences, dtype=np.float64)
    if (np.abs(value) <= SAME).all():
        return PValue(1.0, "no list differs")
    if len(value) < 2 or np.ptp(value) <= SAME:
        return PValue(np.nan, "no t: all differences are equal")
    return PValue(float(ttest_1samp(value, 0.0).pvalue), "paired t-test, two-sided")


def sign_flip(differences: ArrayLike, flips: int = FLIPS, seed: int = 0) -> PValue:
    """The sign-flip permutation test: the share of flips whose |mean| is at least the one seen, itself included.

    All 2^n flips up to 16 lists; beyond, twice the smaller of the two one-sided (hits + 1) / (flips + 1), never 0.

    Args:
        differences: [n] one a list.
        flips: random ones, beyond 16 lists.
        seed: of the random flips.

    Raises:
        ValueError: the seed is no whole number from 0 on.

    Example:
        >>> sign_flip([0.02, 0.06, -0.02, 0.13, 0.07, 0.0, 0.04, 0.08])
        PValue(p=0.046875, method='sign-flip test, two-sided, all 256 flips')
    """
    from scipy.stats import permutation_test

    check_seed(seed)
    value = np.asarray(differences, dtype=np.float64)
    value = np.where(np.abs(value) <= SAME, 0.0, value)
    if len(value) < 2:
        return PValue(1.0, "sign-flip test, two-sided, all 2 flips")
    exact = len(value) <= EXACT
    count = 2 ** len(value) if exact else flips
    found = permutation_test(
        (value,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=count,
        batch=max(1, CELLS // len(value)),
        rng=np.random.default_rng(seed),
    )
    how = f"all {count} flips" if exact else f"{count} random flips, seed {seed}"
    return PValue(float(found.pvalue), f"sign-flip test, two-sided, {how}")


def differing(first: str, second: str) -> list[str]:
    """The parts in which two conventions differ.

    Example:
        >>> differing("ndcg@10 gain=2^y-1 ties=average", "ndcg@5 gain=y ties=average")
        ['ndcg@10 against ndcg@5', 'gain=2^y-1 against gain=y']
    """
    ours, theirs = _parts(first), _parts(second)
    return [
        f"{ours.get(name, f'no {name}')} against {theirs.get(name, f'no {name}')}"
        for name in dict.fromkeys([*ours, *theirs])
        if ours.get(name) != theirs.get(name)
    ]


def _parts(convention: str) -> dict[str, str]:
    name, *rest = convention.split(" ")
    return {"name": name} | {part.partition("=")[0]: part for part in rest}

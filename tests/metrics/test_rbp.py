"""ltr/metrics/rbp.py"""

import re

import pytest
import torch

from ltr.metrics import RBP, parse
from ltr.testing import check_metric


def test_geometric_weights() -> None:
    assert RBP()([4, 3, 2, 1], [1, 0, 0, 2]).item() == pytest.approx(0.2 * (1 + 0.8**3))
    assert RBP(p=0.9)([4, 3, 2, 1], [0, 0, 0, 1]).item() == pytest.approx(0.0729)  # trec_eval 10.0 prints the same
    assert RBP(p=0.5, k=2)([4, 3, 2, 1], [1, 0, 1, 1]).item() == 0.5
    assert parse("rbp-rel2-p0.5")([4, 3, 2, 1], [1, 2, 1, 2]).item() == 0.5 * (0.5 + 0.5**3)


def test_a_tie_is_the_mean_weight_of_its_places() -> None:
    assert RBP(p=0.5)([1, 1, 1], [0, 1, 0]).item() == pytest.approx(0.5 * (1 + 0.5 + 0.25) / 3)


def test_an_endless_relevant_list_is_worth_one() -> None:
    assert RBP(p=0.8).ceiling([1] * 200).item() == pytest.approx(1)
    assert RBP(p=0.8).ceiling([1, 1, 0, 0]).item() == pytest.approx(1 - 0.8**2)


@pytest.mark.parametrize("p", [0, 1, 1.5, -0.2, float("nan"), "0.8", True])
def test_the_persistence_lies_between_0_and_1(p: object) -> None:
    message = f"rbp: the persistence p must be a number between 0 and 1, got {p!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        RBP(p=p)  # type: ignore[arg-type]


SCORES, LABELS, JUDGED = [4, 3, 2, 1], [1, 0, 0, 1], [True, False, True, True]


def test_the_residual_is_what_nobody_judged_and_what_lies_beyond() -> None:
    metric = RBP(p=0.5)
    assert metric.residual(SCORES, LABELS).item() == 0.5**4
    assert metric.residual(SCORES, LABELS, judged=JUDGED).item() == 0.5 * 0.5 + 0.5**4
    assert RBP(p=0.5, k=1).residual(SCORES, LABELS, judged=JUDGED).item() == 0.5
    assert RBP(p=0.5, k=3).residual(SCORES, LABELS, judged=JUDGED).item() == 0.5 * 0.5 + 0.5**3
    assert RBP(p=0.5, k=9).residual(SCORES, LABELS, judged=JUDGED).item() == 0.5 * 0.5 + 0.5**4


def test_the_residual_of_a_list_without_an_answer() -> None:
    assert RBP(p=0.5).residual([[2, 1], [2, 1]], [[0, 0], [0, 0]], [[True, True], [False, False]]).tolist() == [0.25, 1]


def test_value_and_residual_are_the_worst_and_the_best_case() -> None:
    """The best case: all that is unjudged is relevant, and so is everything below."""
    torch.manual_seed(0)
    scores, labels = torch.randn(50, 6).round(), torch.randint(0, 2, (50, 6)).double()
    labels[:, 0] = 1
    judged, retrieved = torch.rand(50, 6) < 0.7, torch.rand(50, 6) < 0.8
    judged[:, 0] = retrieved[:, 0] = True
    metric, below = RBP(p=0.7), 120
    value = metric(scores, labels, judged=judged, retrieved=retrieved)
    more = torch.full((50, below), -9.0)
    best = metric(
        torch.cat([scores, more], 1),
        torch.cat([torch.where(judged, labels, 1), torch.ones_like(more)], 1),
        retrieved=torch.cat([retrieved, torch.ones_like(more).bool()], 1),
    )
    residual = metric.residual(scores, labels, judged=judged, retrieved=retrieved)
    assert torch.allclose(value + residual, best)
    assert (residual > 0).all()


def test_the_residual_follows_the_rule_for_ties() -> None:
    """The unjudged document is tied with a relevant one for the first place."""
    given = ([1, 1], [1, 0], None)
    judged = [True, False]
    assert RBP(p=0.5).residual(*given, judged=judged).item() == 0.5 * (1 + 0.5) / 2 + 0.25
    assert RBP(p=0.5, ties="best").residual(*given, judged=judged).item() == 0.5 * 0.5 + 0.25
    assert RBP(p=0.5, ties="worst").residual(*given, judged=judged).item() == 0.5 + 0.25


def test_a_condensed_list_has_nothing_unjudged() -> None:
    assert RBP(p=0.5, unjudged="ignored").residual(SCORES, LABELS, judged=JUDGED).item() == 0.5**3


def test_the_residual_of_nan_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="scores must be numbers: list 0, document 0 has nan"):
        RBP().residual([float("nan"), 1], [1, 0])
    monkeypatch.setattr("ltr.lists.may_look", lambda values: False)  # as on an accelerator
    values = RBP().residual([[float("nan"), 1], [2, 1]], [[1, 0], [1, 0]])
    assert values.isnan().tolist() == [True, False]


@pytest.mark.parametrize("name", ["rbp", "rbp@2", "rbp-rel2-p0.5@3", "rbp-p0.95-stable"])
def test_the_contract(name: str) -> None:
    assert "swap deltas are what a swap does" in check_metric(parse(name))

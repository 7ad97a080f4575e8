"""ltr/metrics/tau.py"""

import re

import pytest
import torch
from scipy.stats import kendalltau

from ltr.metrics import KendallTau, PairAccuracy, answer, measure, parse
from ltr.ranking import exact_ranking


def test_pairs_alike_less_pairs_contrariwise() -> None:
    assert KendallTau()([3, 2, 1], [2, 0, 1]).item() == pytest.approx((2 - 1) / 3)
    assert KendallTau()([3, 2, 1], [0, 1, 2]).item() == pytest.approx(-1)


def test_ties_shrink_the_divisor() -> None:
    """Scores differ in 2 pairs, labels in 3, and both of the 2 are ordered alike."""
    assert KendallTau()([2, 2, 1], [2, 1, 0]).item() == pytest.approx(2 / (2 * 3) ** 0.5)
    assert KendallTau()([2, 2, 1], [1, 1, 0]).item() == pytest.approx(1)


@pytest.mark.parametrize(("levels", "grades"), [(2, 2), (3, 5), (1000, 5), (5, 1000), (1000, 1000)])
def test_it_is_scipys(levels: int, grades: int) -> None:
    torch.manual_seed(levels + grades)
    for length in (2, 3, 8, 40, 300):
        scores = torch.randint(0, levels, (20, length)).double()
        labels = torch.randint(0, grades, (20, length)).double() / 7
        mask = torch.rand(20, length) < 0.8
        found, defined = KendallTau()(scores, labels, mask), KendallTau().defined(labels, mask)
        for row in range(20):
            s, y = scores[row, mask[row]], labels[row, mask[row]]
            constant = len(s.unique()) < 2 or len(y.unique()) < 2
            wanted = 0 if constant else kendalltau(s.numpy(), y.numpy()).statistic
            assert found[row].item() == pytest.approx(wanted)
            assert defined[row].item() == (len(y.unique()) > 1)


def test_a_constant_scorer_has_0_and_constant_labels_no_answer() -> None:
    assert KendallTau()([1, 1, 1], [0, 1, 2]).item() == 0
    assert KendallTau().defined([0, 1, 2]).item()
    assert not KendallTau().defined([2, 2, 2]).item()
    assert not KendallTau().defined([1]).item()
    assert KendallTau().floor([0, 1, 2]).item() == 0


def test_scores_tied_just_as_the_labels_reach_its_ceiling() -> None:
    assert KendallTau().ceiling([0, 1, 1]).item() == pytest.approx(1)
    assert KendallTau()([0, 1, 1], [0, 1, 1]).item() == pytest.approx(1)
    assert KendallTau()([0, 2, 1], [0, 1, 1]).item() == pytest.approx(2 / (3 * 2) ** 0.5)  # without ties


def test_without_any_ties_it_is_twice_the_pairwise_accuracy_less_1() -> None:
    torch.manual_seed(0)
    scores, labels = torch.rand(20, 9), torch.rand(20, 9)
    found = measure([KendallTau(), PairAccuracy()], answer(scores, labels))
    assert torch.allclose(found[0].value, 2 * found[1].value - 1)


def test_of_ranked_documents_alone() -> None:
    found = KendallTau()([3, 2, 1, 9], [2, 0, 1, 3], retrieved=[True, True, True, False])
    assert found.item() == KendallTau()([3, 2, 1], [2, 0, 1]).item()


def test_equal_scores_have_a_rule_that_no_option_changes() -> None:
    assert KendallTau().convention == "tau unjudged=zero ties=tau-b empty=skip"
    for name in ("docid", "stable", "worst", "best"):
        message = f"tau: has a rule of its own for equal scores (tau-b); got ties='{name}'"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            parse(f"tau-{name}")


def test_swap_deltas_are_what_a_swap_does() -> None:
    scores, labels = torch.tensor([[0.1, 0.4, 0.3]]), torch.tensor([[1.0, 0.0, 2.0]]).double()
    deltas = KendallTau().swap_deltas(exact_ranking(scores), labels)
    after = KendallTau()([0.3, 0.4, 0.1], labels[0])
    assert deltas[0, 0, 2].item() == pytest.approx((after - KendallTau()(scores, labels)).item())
    assert deltas.shape == (1, 3, 3)

"""ltr/metrics/auc.py"""

import pytest
import torch
from torch import Tensor

from ltr.metrics import AUC, parse


def by_pairs(scores: Tensor, relevant: Tensor) -> float:
    """Every relevant document beside every other one, one by one."""
    wins = [
        1.0 if high > low else 0.5 if high == low else 0.0 for high in scores[relevant] for low in scores[~relevant]
    ]
    return sum(wins) / len(wins) if wins else 0.0


def test_relevant_above_other_documents() -> None:
    assert AUC()([4, 3, 2, 1], [1, 0, 1, 0]).item() == 3 / 4
    assert AUC()([2, 2, 1], [1, 0, 1]).item() == (1 / 2 + 0) / 2


@pytest.mark.parametrize("levels", [1, 2, 4, 100])
@pytest.mark.parametrize("threshold", [1.0, 2.0])
def test_it_is_the_share_of_pairs(levels: int, threshold: float) -> None:
    torch.manual_seed(levels)
    scores, labels = torch.randint(0, levels, (60, 9)).double(), torch.randint(0, 4, (60, 9)).double()
    mask = torch.rand(60, 9) < 0.7
    found = AUC(threshold=threshold)(scores, labels, mask)
    for row, real in enumerate(mask):
        wanted = by_pairs(scores[row, real], labels[row, real] >= threshold)
        assert found[row].item() == pytest.approx(wanted)


def test_undefined_where_a_class_is_missing() -> None:
    labels = torch.tensor([[1.0, 2.0], [0.0, 0.0], [0.0, 1.0]])
    assert AUC().defined(labels).tolist() == [False, False, True]
    assert parse("auc-rel2").defined(labels).tolist() == [True, False, False]
    assert AUC()(torch.zeros(3, 2), labels).tolist() == [0, 0, 0.5]
    assert not AUC().defined([0, 0, 1], retrieved=[True, True, False]).item()


def test_a_random_order_has_one_half() -> None:
    assert AUC().floor([1, 0, 0, 2]).item() == 0.5
    assert AUC().ceiling([1, 0, 0, 2]).item() == 1


def test_unjudged_documents_are_not_relevant_or_ignored() -> None:
    judged = [False, True, True]
    assert AUC()([3, 2, 1], [1, 1, 0], judged=judged).item() == 1 / 2
    assert parse("auc-condensed")([3, 2, 1], [1, 1, 0], judged=judged).item() == 1


def test_binary_labels_make_it_the_pairwise_accuracy() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(30, 8).round(), torch.randint(0, 2, (30, 8))
    assert torch.allclose(AUC()(scores, labels), parse("pairs")(scores, labels))

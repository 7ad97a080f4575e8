"""ltr/metrics/f1.py"""

import pytest
import torch

from ltr.metrics import F1, Precision, Recall, parse
from ltr.testing import check_metric

SCORES, LABELS = [5, 4, 3, 2, 1], [1, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("k", "value"), [(1, 2 * 1 / (1 + 3)), (3, 2 * 1 / (3 + 3)), (4, 2 * 2 / (4 + 3)), (9, 2 * 3 / (9 + 3))]
)
def test_twice_the_hits_over_k_and_r(k: int, value: float) -> None:
    assert F1(k=k)(SCORES, LABELS).item() == value


def test_the_harmonic_mean_of_precision_and_recall() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(200, 9), torch.randint(0, 3, (200, 9))
    for k in (1, 4, None):
        precision, recall = Precision(k=k)(scores, labels), Recall(k=k)(scores, labels)
        harmonic = 2 * precision * recall / torch.where(precision + recall > 0, precision + recall, 1)
        assert torch.allclose(F1(k=k)(scores, labels), harmonic)


def test_without_a_cutoff_k_is_the_number_of_ranked_documents() -> None:
    """As trec_eval 10.0's set_F: 2 of 3 ranked documents are relevant, and 1 of 4 relevant ones was not returned."""
    value = F1()([3, 2, 1, 0, 0], [1, 0, 1, 1, 1], retrieved=[True, True, True, False, False]).item()
    assert value == pytest.approx(2 * 2 / (3 + 4))


def test_a_tie_across_the_cutoff() -> None:
    """One of the three tied documents comes second: the relevant one with chance 1/3."""
    assert F1(k=2)([2, 1, 1, 1], [1, 1, 0, 0]).item() == pytest.approx(2 * (1 + 1 / 3) / (2 + 2))


def test_r_over_the_retrieved_documents_alone() -> None:
    retrieved = [True, True, False]
    assert F1(k=2)([2, 1, 0], [1, 0, 1], retrieved=retrieved).item() == 2 * 1 / (2 + 2)
    assert parse("f1-retrieved@2")([2, 1, 0], [1, 0, 1], retrieved=retrieved).item() == pytest.approx(2 * 1 / (2 + 1))


def test_it_keeps_its_cutoff() -> None:
    assert F1(k=3).uncut() == F1(k=3)


@pytest.mark.parametrize("name", ["f1", "f1@1", "f1@3", "f1-rel2@2", "f1-worst@2"])
def test_the_contract(name: str) -> None:
    assert "swap deltas are what a swap does" in check_metric(parse(name))

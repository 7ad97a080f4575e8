"""ltr/losses/softmax.py"""

from math import exp, log, log2

import pytest
import torch

from ltr.losses import Softmax
from ltr.losses.softmax import log_softmax

SCORES, LABELS = [0.3, 0.7, -0.2], [2.0, 0.0, 1.0]
LISTS = torch.tensor([SCORES], dtype=torch.float64), torch.tensor([LABELS], dtype=torch.float64)
LOG_P = [s - log(sum(exp(t) for t in SCORES)) for s in SCORES]


@pytest.mark.parametrize(
    ("name", "gains"),
    [
        ("ndcg@10", [3, 0, 1]),
        ("dcg", [3, 0, 1]),
        ("ndcg-linear", [2, 0, 1]),
        ("ndcg-table0_1_9", [9, 0, 1]),
        ("mrr", [1, 0, 1]),
        ("ap-rel2@3", [1, 0, 0]),
        ("recall@1", [1, 0, 1]),
    ],
)
def test_cross_entropy_with_the_gains_over_their_sum(name: str, gains: list[int]) -> None:
    wanted = -sum(g / sum(gains) * p for g, p in zip(gains, LOG_P, strict=True))
    assert Softmax(name)(*LISTS).item() == pytest.approx(wanted)


def test_the_certificates_spelled_out() -> None:
    graded = exp((3 * LOG_P[0] + LOG_P[2]) / 4)
    assert Softmax("ndcg").certificate(*LISTS).item() == pytest.approx(graded * 4 / (3 + 1 / log2(3)))
    assert Softmax("dcg").certificate(*LISTS).item() == pytest.approx(graded * 4)
    for name in ("mrr", "ap"):
        assert Softmax(name).certificate(*LISTS).item() == pytest.approx(exp((LOG_P[0] + LOG_P[2]) / 2))


def test_nothing_relevant_is_zero_and_certifies_nothing() -> None:
    scores = torch.tensor([[0.3, 0.1]], requires_grad=True)
    for name in ("ndcg", "mrr", "ap", "dcg"):
        loss = Softmax(name)(scores, torch.zeros(1, 2))
        assert loss.item() == 0
        assert loss.requires_grad
        assert Softmax(name).certificate(scores, torch.zeros(1, 2)).item() == 0


def test_log_softmax_of_padding_is_0_and_of_nothing_finite() -> None:
    mask = torch.tensor([[True, True, False], [False, False, False]])
    found = log_softmax(torch.tensor([[0.0, 0.0, 9.0], [1.0, 2.0, 3.0]]), mask)
    assert found.tolist() == [[pytest.approx(-log(2))] * 2 + [0], [0, 0, 0]]


@pytest.mark.parametrize("top", [100.0, 2000.0])
def test_large_labels(top: float) -> None:
    for dtype in (torch.float32, torch.float64):
        lists = torch.zeros(1, 2, dtype=dtype), torch.tensor([[top, 1.0]], dtype=dtype)
        assert Softmax("ndcg")(*lists).item() == pytest.approx(log(2))
        assert Softmax("ndcg").certificate(*lists).item() == pytest.approx(1 / 2)


def test_a_certificate_of_dcg_beyond_its_numbers_is_refused_as_dcg_itself_is() -> None:
    scores, labels = torch.tensor([[1.0, 0.0]]), torch.tensor([[2000.0, 0.0]])
    with pytest.raises(ValueError, match="dcg: the gain of label 2000 is beyond float64"):
        Softmax("dcg").certificate(scores, labels)

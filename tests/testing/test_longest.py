"""ltr/testing/longest.py: what is wrong in the longest lists alone is named, list by list."""

import re
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from ltr.losses import ApproxMetric, ListNet, Surrogate
from ltr.testing import check_surrogate
from ltr.testing.longest import TRIED


class IsWrong(ListNet):
    """Wrong in the lists of 5,000 for which ``where`` holds, and right in all others."""

    def __init__(self, where: Callable[[Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.where = where

    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        loss = super().forward(scores, relevance, mask, weight=weight)
        if scores.shape[1] < 5000:
            return loss
        return loss + torch.where(self.where(scores, relevance), float("inf"), 0.0)


class RewardsBlankLongLists(ApproxMetric):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        loss = super().forward(scores, relevance, mask, weight=weight)
        return loss - int(scores.shape[1] == 5000)


class LeaksInLongLists(ListNet):
    def forward(
        self, scores: Tensor, relevance: Tensor, mask: Tensor | None = None, *, weight: Tensor | None = None
    ) -> Tensor:
        loss = super().forward(scores, relevance, mask, weight=weight)
        return loss + (scores - scores.detach()).sum(1) * int(scores.shape[1] == 5000)


def equal_labels(scores: Tensor, relevance: Tensor) -> Tensor:
    return (relevance.amin(1) == relevance.amax(1)) & (relevance.amax(1) > 0)


def spread(low: float, high: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda scores, relevance: (low <= scores.std(1)) & (scores.std(1) < high)


def around(low: float, high: float) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda scores, relevance: (low < scores.mean(1)) & (scores.mean(1) < high)


def in_double(scores: Tensor, relevance: Tensor) -> Tensor:
    return torch.full_like(scores[:, 0], scores.dtype == torch.float64, dtype=torch.bool)


FAULTS: list[tuple[Surrogate, str]] = [
    (IsWrong(equal_labels), "a list of 5000 in torch.float32, all of the highest label, "),
    (
        IsWrong(lambda _, y: y.amax(1) == 0),
        "a list of 5000 in torch.float32, nothing relevant",
    ),
    (
        IsWrong(lambda _, y: (y % 1 > 0).any(1)),
        "a list of 5000 in torch.float64, graded labels",
    ),
    (
        IsWrong(lambda _, y: (y > 0).sum(1) == 5),
        "a list of 5000 in torch.float32, five relevant",
    ),
    (IsWrong(spread(5e3, 2e4)), "scores of spread 10000 around 0, got"),
    (IsWrong(spread(1e-7, 1e-5)), "scores of spread 1e-06 around 0, got"),
    (IsWrong(spread(0.5, 2)), "scores of spread 1 around 10000, got"),
    (IsWrong(spread(0, 1e-8)), "scores of spread 0 around -10000, got"),
    (IsWrong(around(9e3, 2e4)), "around 10000, got"),
    (IsWrong(around(-2e4, -9e3)), "around -10000, got"),
    (IsWrong(in_double), "a list of 5000 in torch.float64, "),
    (RewardsBlankLongLists("ndcg"), "wanted 0 for a list of 5000 in torch.float32, nothing relevant, "),
    (LeaksInLongLists(), "wanted no gradient in the padding of a list of 5000 in torch.float32, nothing relevant, "),
]


@pytest.mark.parametrize(("surrogate", "message"), FAULTS)
def test_what_is_wrong_in_the_longest_lists_alone_is_named(surrogate: Surrogate, message: str) -> None:
    start = f"{type(surrogate).__name__}: finite for lists of 1 to 5,000: "
    with pytest.raises(AssertionError, match=f"^{start}.*{re.escape(message)}"):
        check_surrogate(surrogate)


def test_both_precisions_are_tried() -> None:
    assert list(TRIED) == [torch.float32, torch.float64]

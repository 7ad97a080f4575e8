"""ltr/order.py: documents by score under each rule for ties, and labels by size."""

import pytest
import torch

from ltr.order import TIES, masked, rank_order, rising, sizes

INF = float("inf")
MIXED = torch.tensor([[2.0, -INF, 2.0, 9.0, INF], [1.0, 1.0, 9.0, 1.0, 0.0], [9.0, 9.0, 9.0, 9.0, 9.0]]).double()
REAL = torch.tensor([[True, True, True, False, True], [True, True, False, True, True], [False] * 5])
GRADES = torch.tensor([[1.0, 0.0, 3.0, 9.0, 2.0], [0.0, 2.0, 9.0, 1.0, 1.0], [9.0] * 5]).double()


def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on an accelerator: no value may be looked at."""
    for room in ("lists", "order"):
        monkeypatch.setattr(f"ltr.{room}.may_look", lambda values: False)


@pytest.mark.parametrize(
    ("ties", "order"),
    [
        ("stable", [[4, 0, 2, 1], [0, 1, 3, 4]]),
        ("docid", [[4, 0, 2, 1], [0, 1, 3, 4]]),
        ("worst", [[4, 0, 2, 1], [0, 3, 1, 4]]),
        ("best", [[4, 2, 0, 1], [1, 3, 0, 4]]),
    ],
)
@pytest.mark.parametrize("depth", [None, 1, 2, 4, 9])
@pytest.mark.parametrize("seen", [True, False])
def test_the_order_of_places(
    ties: str, order: list[list[int]], depth: int | None, seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A score of -inf stands above what is padded, and nothing differs where values may not be looked at."""
    if not seen:
        blind(monkeypatch)
    found, equal = rank_order(MIXED, REAL, ties, GRADES, depth)
    wanted = torch.tensor(order)[:, :depth]
    assert found[:2, : wanted.shape[1]].tolist() == wanted.tolist()
    tied = torch.tensor([[False, True, False, False], [True, True, False, False], [False] * 4])
    assert equal.tolist() == tied[:, :depth].tolist()


@pytest.mark.parametrize(("ties", "wanted"), [("worst", [2, 0, 3, 1]), ("best", [1, 3, 0, 2])])
def test_labels_are_compared_in_their_own_precision(ties: str, wanted: list[int]) -> None:
    """All four are two in float32, that of the scores."""
    labels = torch.tensor([[0.7 + 1e-12, 1e300, 0.7, 1e299]], dtype=torch.float64)
    assert rank_order(torch.zeros(1, 4), torch.ones(1, 4, dtype=torch.bool), ties, labels)[0].tolist() == [wanted]


@pytest.mark.parametrize("ties", ["average", "stable", "worst"])
@pytest.mark.parametrize("depth", [None, 3])
def test_many_threads_find_the_order_of_one(ties: str, depth: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    scores, mask = torch.randint(0, 9, (50, 20)).double(), torch.rand(50, 20) < 0.8
    labels = torch.randint(0, 4, (50, 20)).double()
    order, equal = rank_order(scores, mask, ties, labels, depth)
    monkeypatch.setattr("ltr.order.GRAIN", 100)
    monkeypatch.setattr("torch.get_num_threads", lambda: 3)
    again, level = rank_order(scores, mask, ties, labels, depth)
    assert torch.equal(order, again)
    assert torch.equal(equal, level)
    assert torch.equal(rising(scores), scores.sort(dim=1).values)


def test_a_list_of_one_document_and_no_list_at_all() -> None:
    order, equal = rank_order(torch.zeros(2, 1), torch.tensor([[True], [False]]))
    assert (order.tolist(), list(equal.shape)) == ([[0], [0]], [2, 0])
    order, equal = rank_order(torch.zeros(0, 3), torch.zeros(0, 3, dtype=torch.bool), "stable")
    assert (list(order.shape), list(equal.shape)) == ([0, 3], [0, 2])


@pytest.mark.parametrize("seen", [True, False])
def test_sizes_and_padding(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not seen:
        blind(monkeypatch)
    whole = torch.ones_like(REAL)
    assert sizes(REAL).tolist() == [[4], [4], [0]]
    assert sizes(whole).tolist() == [[5], [5], [5]]
    assert masked(GRADES, REAL, -1)[:, 2:].tolist() == [[3, -1, 2], [-1, 1, 1], [-1, -1, -1]]
    assert torch.equal(masked(GRADES, whole, -1), GRADES)


def test_the_rules_for_ties() -> None:
    assert TIES == ("average", "docid", "stable", "worst", "best")

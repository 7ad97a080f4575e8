"""ltr/metrics/pairs.py"""

import pytest
import torch

from ltr.metrics import PairAccuracy, parse
from ltr.ranking import soft_ranking


def test_the_worked_example() -> None:
    """Grades 3 1 2 0 3: nine pairs differ, five of them are ordered right."""
    assert PairAccuracy()([5, 4, 3, 2, 1], [3, 1, 2, 0, 3]).item() == pytest.approx(5 / 9)


def test_pairs_of_equal_labels_do_not_count_and_those_of_equal_scores_count_half() -> None:
    assert PairAccuracy()([2, 2, 1], [1, 0, 1]).item() == (1 / 2 + 0) / 2
    assert PairAccuracy()([2, 2, 1], [1, 1, 0]).item() == 1


def test_fractions_and_large_labels() -> None:
    assert PairAccuracy()([4, 3, 2, 1], [0.5, 2.5, 1.5, 0]).item() == pytest.approx(4 / 6)
    assert PairAccuracy()([3, 2, 1], [0, 1100, 1]).item() == pytest.approx(1 / 3)


@pytest.mark.parametrize("labels", [[0, 0, 0], [4, 4, 4]])
def test_undefined_where_no_labels_differ(labels: list[int]) -> None:
    assert not PairAccuracy().defined(labels).item()
    assert PairAccuracy()([3, 2, 1], labels).item() == 0


def test_pairs_are_of_ranked_documents() -> None:
    """A judged document that was not returned is in no pair; what nobody judged is not relevant, or ignored."""
    scores, labels = [3, 2, 1, 9], [0, 1, 0, 4]
    retrieved, judged = [True, True, True, False], [False, True, True, True]
    assert PairAccuracy()(scores, labels, retrieved=retrieved, judged=judged).item() == 1 / 2
    assert parse("pairs-condensed")(scores, labels, retrieved=retrieved, judged=judged).item() == 1
    assert not PairAccuracy().defined([0, 0, 4], retrieved=[True, True, False]).item()
    with pytest.raises(ValueError, match=r"^pairs: has no ideal order, so ideal has no meaning for it"):
        PairAccuracy(ideal="retrieved")


@pytest.mark.parametrize(("ties", "value"), [("average", 1 / 2), ("best", 1), ("worst", 0), ("stable", 3 / 5)])
def test_tie_rules(ties: str, value: float) -> None:
    name = "pairs" if ties == "average" else f"pairs-{ties}"
    assert parse(name)([1, 1, 1, 1], [0, 3, 1, 0]).item() == value


def test_a_constant_scorer_has_one_half() -> None:
    torch.manual_seed(0)
    labels = torch.randint(0, 5, (20, 30))
    assert torch.equal(PairAccuracy()(torch.zeros(20, 30), labels), torch.full((20,), 0.5, dtype=torch.float64))
    assert torch.equal(PairAccuracy().floor(labels), torch.full((20,), 0.5, dtype=torch.float64))
    assert torch.equal(PairAccuracy().ceiling(labels), torch.ones(20, dtype=torch.float64))


def test_softly_it_is_the_mean_sigmoid_of_the_pairs() -> None:
    scores = torch.tensor([[0.3, 0.1, 0.2]], dtype=torch.float64, requires_grad=True)
    value = PairAccuracy().of(soft_ranking(scores, None, 0.1), torch.tensor([[1.0, 0.0, 2.0]]).double())
    steps = torch.tensor([(0.3 - 0.1) / 0.1, (0.2 - 0.3) / 0.1, (0.2 - 0.1) / 0.1], dtype=torch.float64)
    assert value.item() == pytest.approx(torch.sigmoid(steps).mean().item())
    (gradient,) = torch.autograd.grad(value.sum(), scores)
    assert gradient[0, 2] > 0 > gradient[0, 1]

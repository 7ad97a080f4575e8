"""ltr/metrics/gradedap.py"""

import re

import pytest
import torch

from ltr.losses import ApproxMetric
from ltr.metrics import AP, GradedAP, parse
from ltr.testing import check_metric, check_surrogate


def as_published(labels: list[int], top: int, pool: list[int]) -> float:
    """Robertson, Kanoulas, Yilmaz (2010), equation by equation, with g_i = 1/c: sums over all pairs of places."""
    g = [1 / top] * top
    total = sum(sum(sum(g[: min(labels[m], labels[n])]) for m in range(n + 1)) / (n + 1) for n in range(len(labels)))
    return total / sum(sum(g[:label]) for label in pool)


@pytest.mark.parametrize("top", [3, 4, 7])
def test_the_published_formula(top: int) -> None:
    torch.manual_seed(0)
    for labels in torch.randint(0, 4, (60, 7)).tolist():
        if any(labels[:5]):
            value = GradedAP(top=top)(range(7, 0, -1), labels, retrieved=[True] * 5 + [False] * 2).item()
            assert value == pytest.approx(as_published(labels[:5], top, labels))


def test_a_worked_example() -> None:
    """AP is 0.95 of 4 documents, (1 + 2/3 + 3/5) / 3 of 3, and (1 + 2/5) / 2 of 2."""
    wanted = (4 * (1 + 1 + 1 + 4 / 5) / 4 + (1 + 2 / 3 + 3 / 5) + (1 + 2 / 5)) / (4 + 3 + 2)
    assert GradedAP(top=3)([5, 4, 3, 2, 1], [3, 1, 2, 0, 3]).item() == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["ap", "ap@2", "ap-docid@3", "ap-retrieved-condensed@4"])
def test_with_one_grade_it_is_ap(name: str) -> None:
    torch.manual_seed(0)
    given = {"retrieved": torch.rand(100, 7) < 0.8, "judged": torch.rand(100, 7) < 0.8}
    scores, labels = torch.randn(100, 7).round(), torch.randint(0, 2, (100, 7))
    graded = parse(name.replace("ap", "gradedap-max1"))
    assert torch.allclose(graded(scores, labels, **given), parse(name)(scores, labels, **given))


def test_it_is_defined_from_grade_1_on() -> None:
    assert GradedAP(top=2).defined([[0.5, 0], [1, 0]]).tolist() == [False, True]
    assert GradedAP(top=2)([2, 1], [0, 0]).item() == 0


def test_fractions_reach_the_grades_below_them() -> None:
    assert GradedAP(top=3)([2, 1], [0.5, 2.5]).item() == GradedAP(top=3)([2, 1], [0, 2]).item() == 1 / 2


def test_the_scale_changes_nothing_that_no_document_reaches() -> None:
    """The bars that all documents miss are left out on both sides."""
    assert GradedAP(top=3)([3, 2, 1], [1, 0, 2]).item() == GradedAP(top=2)([3, 2, 1], [1, 0, 2]).item()
    assert GradedAP(top=10**9)([2, 1], [0, 1]).item() == 1 / 2


def test_a_grade_above_the_scale_is_refused() -> None:
    message = "gradedap-max2@5: the top grade is declared to be 2, and a document has grade 3"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        GradedAP(top=2, k=5)([3, 2, 1], [1, 0, 3])
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):  # nor in the pool
        GradedAP(top=2, k=5)([3, 2, 1], [1, 0, 3], retrieved=[True, True, False])
    assert GradedAP(top=2)([3, 2, 1], [1, 0, 3], [True, True, False]).item() == 1  # padding is none


@pytest.mark.parametrize("top", [0, -1, 2.5, float("inf"), float("nan"), True, "4"])
def test_the_top_grade_is_a_whole_number(top: object) -> None:
    message = f"gradedap: the top grade must be a whole number of at least 1, got {top!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        GradedAP(top=top)  # type: ignore[arg-type]


def test_the_top_grade_is_in_the_name() -> None:
    assert GradedAP(top=4, k=5).name == "gradedap-max4@5"
    assert GradedAP(top=4.0) == parse("gradedap-max4")
    message = "metric 'gradedap@5': gradedap wants its top in the name, such as gradedap-max4"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse("gradedap@5")


def test_where_nothing_may_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(20, 6), torch.randint(0, 4, (20, 6))
    wanted = GradedAP(top=5)(scores, labels)
    monkeypatch.setattr("ltr.metrics.gradedap.may_look", lambda values: False)  # as on an accelerator
    assert torch.allclose(GradedAP(top=5)(scores, labels), wanted)


@pytest.mark.parametrize("name", ["gradedap-max3", "gradedap-max5@2", "gradedap-max3-worst@3"])
def test_the_contract(name: str) -> None:
    assert "swap deltas are what a swap does" in check_metric(parse(name))


def test_at_most_one_as_ap_is() -> None:
    assert GradedAP(top=4).ceiling([4, 3, 0, 1]).item() == AP().ceiling([4, 3, 0, 1]).item() == 1


def test_soft_becomes_hard() -> None:
    assert "belief keeps its promise" in check_surrogate(ApproxMetric("gradedap-max4"))


def test_grades_that_no_label_tells_apart_cost_nothing() -> None:
    """Of a scale to 10^12 with three labels two precisions are worked out, each for all grades up to its label."""
    huge = GradedAP(top=10**12)([3, 2, 1], [10**12, 0, 10**6]).item()
    assert huge == pytest.approx((10**12 - 10**6 + 2 * 10**6 * (1 + 2 / 3) / 2) / (10**12 + 10**6))

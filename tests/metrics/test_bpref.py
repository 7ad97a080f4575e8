"""ltr/metrics/bpref.py"""

import pytest
import torch

from ltr.metrics import Bpref, RankingMetric, parse
from ltr.ranking import Pool, Ranking


def test_judged_others_above_each_relevant_document() -> None:
    """R = 2, N = 3: nothing above the first relevant document, one other above the second."""
    assert Bpref()([5, 4, 3, 2, 1], [1, 0, 1, 0, 0]).item() == (1 + (1 - 1 / 2)) / 2


def test_no_more_than_r_others_count() -> None:
    assert Bpref()([5, 4, 3, 2, 1], [0, 0, 0, 1, 1]).item() == 0


def test_fewer_others_than_relevant_documents() -> None:
    """R = 3, N = 1: the divisor is N."""
    assert Bpref()([4, 3, 2, 1], [1, 0, 1, 1]).item() == pytest.approx((1 + 0 + 0) / 3)


def test_nobody_knows_what_is_not_judged() -> None:
    scores, labels = [5, 4, 3, 2, 1], [0, 1, 0, 1, 0]
    judged = [False, True, True, True, True]
    assert Bpref()(scores, labels, judged=judged).item() == (1 + (1 - 1 / 2)) / 2
    assert Bpref()(scores, labels).item() == ((1 - 1 / 2) + (1 - 2 / 2)) / 2


def test_the_pool_counts_whether_returned_or_not() -> None:
    """Of R = 2 one is missing and worth 0; of N = 2 one is missing, and without it the divisor would be 1."""
    scores, labels = [4, 3, 2, 1], [0, 1, 1, 0]
    retrieved = [True, True, False, False]
    assert Bpref()(scores, labels, retrieved=retrieved).item() == (1 - 1 / 2) / 2
    assert Bpref(ideal="retrieved")(scores, labels, retrieved=retrieved).item() == 0


def test_without_judged_others_every_relevant_document_counts_fully() -> None:
    assert Bpref()([3, 2, 1], [1, 1, 1], retrieved=[True, True, False]).item() == pytest.approx(2 / 3)


def test_a_tie_of_relevant_and_other_documents() -> None:
    """R = N = 1: above or below with the same chance."""
    assert Bpref()([1, 1], [1, 0]).item() == 1 / 2


def test_a_tie_that_reaches_beyond_r() -> None:
    """R = 2, N = 4; each of 0 to 4 others stands above either with the same chance, and two or more cost all."""
    assert Bpref()([1] * 6, [1, 1, 0, 0, 0, 0]).item() == pytest.approx((1 + 1 / 2 + 0 + 0 + 0) / 5)


def test_a_random_order_of_a_long_list() -> None:
    relevant, others = 40, 960
    labels = torch.tensor([[1.0] * relevant + [0.0] * others])
    wanted = sum(1 - min(x, relevant) / relevant for x in range(others + 1)) / (others + 1)
    assert Bpref().floor(labels).item() == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("ids", "labels", "value"),
    [("1234", [1, 0, 0, 0], 0.0), ("9123", [1, 0, 0, 0], 1.0), ("1234", [3, 2, 1, 0], 0.0)],
)
def test_equal_scores_in_trec_eval(ids: str, labels: list[int], value: float) -> None:
    """trec_eval 10.0, by descending id."""
    falling = sorted(range(4), key=lambda place: ids[place], reverse=True)
    assert parse("bpref-docid")([1, 1, 1, 1], [labels[place] for place in falling]).item() == value


def test_the_rule_for_unjudged_documents_is_its_own() -> None:
    assert Bpref().name == "bpref"
    assert Bpref().convention == "bpref relevant=y>=1 ideal=judged unjudged=ignored ties=average empty=skip"
    assert parse("bpref-zero") == Bpref(empty="zero")
    with pytest.raises(ValueError, match=r"^bpref: leaves unjudged documents out by definition; got unjudged='zero'$"):
        parse("bpref-unjudged0")


def test_it_takes_no_cutoff() -> None:
    with pytest.raises(ValueError, match=r"^bpref: is a metric of the full list and takes no cutoff; got k=10$"):
        parse("bpref@10")


def test_swaps_beside_documents_that_nobody_judged() -> None:
    torch.manual_seed(0)
    mask, judged = (torch.rand(40, 9) < share for share in (0.9, 0.7))
    labels = torch.randint(0, 2, (40, 9)).double() * (mask & judged)
    place = torch.where(mask, torch.rand(40, 9), 2).argsort(1).argsort(1) + 1.0
    pool = Pool(torch.cat([labels, torch.eye(40, 2).double()], 1), torch.cat([mask & judged, torch.ones(40, 2) > 0], 1))
    ranking = Ranking(place.double(), torch.ones_like(labels), mask, judged=judged, pool=pool)
    torch.testing.assert_close(
        Bpref().swap_deltas(ranking, labels), RankingMetric.swap_deltas(Bpref(), ranking, labels), rtol=0, atol=1e-12
    )

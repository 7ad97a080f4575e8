"""ltr/metrics/rprec.py"""

import re

import pytest
import torch

from ltr.metrics import Precision, Recall, RPrecision, parse
from ltr.testing import check_metric


def test_precision_at_r() -> None:
    assert RPrecision()([5, 4, 3, 2, 1], [1, 0, 1, 1, 0]).item() == pytest.approx(2 / 3)
    assert RPrecision()([5, 4, 3, 2, 1], [0, 1, 0, 0, 0]).item() == 0


def test_each_list_has_its_own_cutoff() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(200, 9).round(), torch.randint(0, 2, (200, 9))
    values = RPrecision()(scores, labels)
    for value, s, y in zip(values, scores, labels, strict=True):
        if total := int(y.sum()):
            assert value.item() == pytest.approx(Precision(k=total)(s, y).item())
            assert value.item() == pytest.approx(Recall(k=total)(s, y).item())


def test_r_counts_what_was_not_returned() -> None:
    """trec_eval 10.0: R is 4, and the ranking ends before that."""
    given = {"retrieved": [True, True, True, False, False]}
    assert RPrecision()([3, 2, 1, 0, 0], [1, 0, 1, 1, 1], **given).item() == 2 / 4
    assert parse("rprec-retrieved")([3, 2, 1, 0, 0], [1, 0, 1, 1, 1], **given).item() == 1 / 2


def test_a_tie_across_its_cutoff() -> None:
    """R is 2; the second place goes to one of three documents, one of which is relevant."""
    assert RPrecision()([2, 1, 1, 1], [1, 1, 0, 0]).item() == pytest.approx((1 + 1 / 3) / 2)


def test_it_takes_no_cutoff() -> None:
    message = "rprec: is a metric of the full list and takes no cutoff; got k=3"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        RPrecision(k=3)
    assert RPrecision().uncut() == RPrecision()


@pytest.mark.parametrize("name", ["rprec", "rprec-rel2", "rprec-worst"])
def test_the_contract(name: str) -> None:
    assert "swap deltas are what a swap does" in check_metric(parse(name))

"""One ranking of real data, five numbers called NDCG@10."""

import pytest
from torch import Tensor

from ltr.metrics import parse

pytestmark = pytest.mark.shared


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ndcg@10", 0.681820),
        ("ndcg-zero@10", 0.458917),
        ("ndcg-one@10", 0.785840),
        ("ndcg-linear-zero@10", 0.467971),
        ("ndcg-letor-short0-stable-zero@10", 0.197427),  # the official LETOR script
    ],
)
def test_mq2008_s5(ranking: tuple[Tensor, Tensor, Tensor], name: str, value: float) -> None:
    assert parse(name).mean(*ranking).item() == pytest.approx(value, abs=5e-7)

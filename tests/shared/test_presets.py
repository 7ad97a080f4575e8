"""One ranking of real data, and the number that each program would print for it."""

import pytest
from torch import Tensor

from ltr.metrics.presets import PRESETS

pytestmark = pytest.mark.shared


@pytest.mark.parametrize(
    ("preset", "value"),
    [
        ("letor", 0.197427),
        ("mslr", 0.197427),
        ("rax", 0.458917),
        ("lightgbm", 0.785840),
        ("xgboost", 0.785840),
        ("trec_eval", 0.467971),
        ("ranx", 0.467971),
        ("sklearn", 0.467971),
        ("torchmetrics", 0.467971),
    ],
)
def test_mq2008_s5(ranking: tuple[Tensor, Tensor, Tensor], preset: str, value: float) -> None:
    assert PRESETS[preset].parse("ndcg@10").mean(*ranking).item() == pytest.approx(value, abs=5e-7)

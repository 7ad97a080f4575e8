"""ltr train: labels that the loss or a metric would refuse in the midst of a training."""

from pathlib import Path

import pytest

from tests.cli.conftest import Ltr
from tests.cli.test_train import SYNTHETIC


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("loss=sigmoid",), "SigmoidCrossEntropy takes labels up to 1, and the train data have 4; loss.top=4"),
        (("loss=ordinal", "loss.levels=2"), "Ordinal takes labels up to 2, and the train data have 4; loss.levels=4"),
        (
            ("loss=mse", "metrics=[err-max2@5]"),
            "err-max2@5: the top grade is declared to be 2, and a document has grade 4",
        ),
        (("loss=lambdarank", "metric=gradedap-max3"), "gradedap-max3: "),
        (
            ("loss=approx", "metric=ndcg-table0_1_3@3"),
            "ndcg-table0_1_3@3: gain table: wanted whole labels 0 to 2, got ",
        ),
    ],
)
def test_labels_that_a_loss_would_refuse_are_refused_early(
    ltr: Ltr, here: Path, words: tuple[str, ...], said: str
) -> None:
    status, _, err = ltr("train", *SYNTHETIC, *words, "name=first")
    assert status == (
        2 if words[0] in ("loss=sigmoid", "loss=ordinal") else 1
    )  # data that do not fit the metric, or a wrong option
    assert said in err
    assert not (here / "runs" / "first").exists()

"""The linear scorer."""

import torch

from ltr.models import Linear


def test_score_is_the_weighted_sum() -> None:
    model = Linear(2)
    with torch.no_grad():
        model.output.weight.copy_(torch.tensor([[2.0, -1.0]]))
        model.output.bias.fill_(0.5)
    scores = model(torch.tensor([[[1.0, 3.0], [4.0, 0.0], [9.0, 9.0]]]), torch.tensor([[True, True, False]]))
    assert scores.tolist() == [[2 - 3 + 0.5, 8 + 0.5, 0]]

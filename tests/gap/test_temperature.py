"""Other temperatures at scores that stay: each setting is that of the surrogate built with it."""

import pytest
import torch

from ltr.gap.alignment import alignment, step_yield
from ltr.gap.scored import ScoredLists, descent, scored
from ltr.gap.temperature import sweep
from ltr.losses import MSE, ApproxMetric, LambdaRank, Softmax
from ltr.metrics import parse

TARGET = parse("ndcg@10")


def lists(seed: int = 0) -> ScoredLists:
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(30, 12, generator=generator, dtype=torch.float64)
    return scored(scores, torch.randint(0, 4, (30, 12), generator=generator))


def test_each_setting_is_the_surrogate_of_that_temperature() -> None:
    settings = sweep(ApproxMetric("ndcg@10", temperature=0.2), TARGET, lists(), (10, 0.1, 1))
    assert [each.softness for each in settings] == pytest.approx([0.02, 0.2, 2.0])
    for each in settings:
        loss = ApproxMetric("ndcg@10", temperature=each.softness)
        some = lists()
        given = TARGET, some.scores, some.relevance, descent(loss, some)
        gap = loss.estimate(some.scores, some.relevance) - parse("ndcg")(some.scores, some.relevance)
        assert each.gap.value == pytest.approx(gap.mean().item())
        assert each.alignment.value == pytest.approx(alignment(*given).mean().item())
        assert each.step_yield.value == pytest.approx(step_yield(*given).mean().item())
        assert each.gap.unit == "ndcg"


def test_the_gap_of_an_approximation_goes_to_zero_with_the_temperature() -> None:
    sizes = [abs(each.gap.value or 0) for each in sweep(ApproxMetric("ndcg", temperature=1.0), TARGET, lists())]
    assert sizes[0] < 1e-3 < sizes[-1]


def test_a_list_without_a_direction_counts_as_0() -> None:
    some = lists()
    scores = some.scores.clone()
    scores[::2] = 0.5
    (now,) = sweep(ApproxMetric("ndcg", temperature=0.1), TARGET, some.with_scores(scores), (1,))
    assert now.cosines[::2].tolist() == [0.0] * 15
    assert now.alignment.value == pytest.approx(now.cosines[1::2].sum().item() / 30)


@pytest.mark.parametrize("loss", [LambdaRank("ndcg@10"), Softmax("ndcg@10")], ids=repr)
def test_a_loss_without_an_estimate_has_directions_alone(loss: LambdaRank | Softmax) -> None:
    (now,) = sweep(loss, TARGET, lists(), (1,))
    assert now.gap.value is None
    assert now.alignment.value is not None


def test_a_loss_that_blurs_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^MSE: it has no temperature \(or the like\) to change$"):
        sweep(MSE(), TARGET, lists())

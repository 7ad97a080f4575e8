"""Lists as a diagnosis sees them: picked, sampled, with their losses and gradients."""

import pytest
import torch

from ltr.gap.scored import ScoredLists, descent, losses, scored
from ltr.losses import MSE, LambdaRank, MarginMSE, RankNet


def three() -> ScoredLists:
    scores = torch.tensor([[0.5, 0.0, 0.0, 0.0], [0.1, 0.9, 0.3, 0.0], [0.2, 0.1, 0.0, 0.0]])
    labels = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 1, 0], [1, 1, 0, 0]]).bool()
    return scored(scores, labels, mask, torch.tensor([1.0, 2.0, 0.0]))


def test_picked_lists_are_as_wide_as_the_longest_of_them() -> None:
    some = three().pick(torch.tensor([2, 0]))
    assert some.scores.shape == (2, 2)
    assert some.weight.tolist() == [0.0, 1.0]
    assert some.mask.tolist() == [[True, True], [True, False]]


def test_a_sample_is_of_lists_that_count_and_have_a_weight() -> None:
    lists = three()
    assert lists.sample(torch.tensor([1, 1, 1]), 5).weight.tolist() == [1.0, 2.0]
    assert lists.sample(torch.tensor([0, 1, 1]), 5).weight.tolist() == [2.0]
    assert len(lists.sample(torch.tensor([0, 0, 0]), 5)) == 0


def test_a_sample_is_the_same_for_the_same_seed_and_in_order() -> None:
    lists = scored(torch.rand(50, 3), torch.ones(50, 3), weight=torch.arange(1.0, 51.0))
    drawn = [lists.sample(torch.ones(50), 10, seed).weight.tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == sorted(drawn[0])
    assert len(drawn[0]) == 10


@pytest.mark.parametrize("surrogate", [MSE(), RankNet(), LambdaRank("ndcg")])
def test_losses_and_gradients_are_those_of_each_list_alone(surrogate: torch.nn.Module) -> None:
    lists = three()
    alone = [lists.pick(torch.tensor([each])) for each in range(3)]
    assert losses(surrogate, lists).tolist() == pytest.approx([losses(surrogate, each).item() for each in alone])
    whole = descent(surrogate, lists)
    assert (whole[~lists.mask] == 0).all()
    for each, one in enumerate(alone):
        assert whole[each, : one.scores.shape[1]].tolist() == pytest.approx(descent(surrogate, one)[0].tolist())


def test_many_lists_are_worked_in_parts_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = three()
    whole = descent(RankNet(), lists)
    monkeypatch.setattr("ltr.gap.scored.CELLS", 1)
    assert descent(RankNet(), lists).tolist() == whole.tolist()


def test_a_loss_that_learns_from_a_teacher_gets_its_scores() -> None:
    lists = three()
    taught = scored(lists.scores, lists.relevance, lists.mask, teacher=lists.scores)
    assert losses(MarginMSE(), taught).tolist() == [0.0, 0.0, 0.0]


def test_the_surrogate_is_left_as_it_was() -> None:
    surrogate = MSE().train()
    losses(surrogate, three())
    assert surrogate.training

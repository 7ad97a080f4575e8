"""Draws: seeded, the same in evaluation, continued by a checkpoint."""

from math import log

import pytest
import torch

from ltr.losses import XENDCG, ExpectedMetric, ListMLE, Perturbed, Softmax
from ltr.losses.draws import gumbel, over_samples, perturbed, read_noise, repeated


def test_training_draws_anew_and_evaluation_repeats() -> None:
    loss, scores = ExpectedMetric("ndcg", samples=3, seed=7), torch.zeros(2, 4)
    first, second = loss.noise(scores), loss.noise(scores)
    assert first.shape == (2, 4, 3)
    assert not torch.equal(first, second)
    loss.eval()
    assert torch.equal(loss.noise(scores), loss.noise(scores))
    assert loss.calls == 2  # evaluation leaves training where it was
    assert not torch.equal(loss.noise(scores), ExpectedMetric("ndcg", samples=3, seed=8).eval().noise(scores))


def test_a_checkpoint_holds_the_number_of_the_call() -> None:
    loss, other, scores = ExpectedMetric("ndcg"), ExpectedMetric("ndcg"), torch.zeros(1, 4)
    for _ in range(3):
        loss.noise(scores)
    other.load_state_dict(loss.state_dict())
    assert torch.equal(loss.noise(scores), other.noise(scores))


def test_the_global_generator_is_left_alone() -> None:
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    ExpectedMetric("ndcg").noise(torch.zeros(1, 4))
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_draws_lie_between_0_and_1_in_the_precision_of_ranks(dtype: torch.dtype) -> None:
    drawn = ExpectedMetric("ndcg", samples=100).noise(torch.zeros(100, 100, dtype=dtype))
    assert drawn.dtype == (torch.float32 if dtype == torch.bfloat16 else dtype)
    assert (drawn > 0).all()
    assert (drawn < 1).all()
    assert drawn.mean().item() == pytest.approx(0.5, abs=0.001)
    assert torch.isfinite(gumbel(drawn)).all()


def test_gumbel_noise_is_minus_the_log_of_minus_the_log() -> None:
    assert gumbel(torch.tensor(0.5)).item() == pytest.approx(-log(log(2)))


def test_samples_stand_one_after_the_other() -> None:
    scores, noise = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[[0.1, 0.2]] * 2, [[0.3, 0.4]] * 2])
    assert torch.allclose(
        perturbed(scores, noise), torch.tensor([[1.1, 2.1], [3.3, 4.3], [1.2, 2.2], [3.4, 4.4]])
    )  # first draw of both lists, then the second
    assert repeated(scores, 2).tolist() == scores.tolist() * 2
    assert over_samples(torch.tensor([1.0, 2.0, 5.0, 6.0]), 2).tolist() == [3, 4]


def test_noise_of_another_shape_is_refused() -> None:
    mask = torch.ones(2, 3, dtype=torch.bool)
    assert read_noise(torch.full((3, 4), 0.5), mask[:1]).shape == (1, 3, 4)
    for shape in ((2, 4, 1), (2, 3), (2, 3, 0)):
        with pytest.raises(
            ValueError, match=r"^noise must be \[lists, documents, samples\] = \[2, 3, at least 1\]; got"
        ):
            read_noise(torch.full(shape, 0.5), mask)


@pytest.mark.parametrize("training", [True, False])
def test_a_compiled_loss_draws_the_same(training: bool) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(3, 6), torch.randint(0, 3, (3, 6)).float()
    loss, same = ExpectedMetric("ndcg").train(training), ExpectedMetric("ndcg").train(training)
    torch.compiler.reset()
    compiled = torch.compile(loss, backend="eager")
    for _ in range(2):
        torch.testing.assert_close(compiled(scores, labels), same(scores, labels))


def test_in_evaluation_a_list_draws_the_same_in_any_batch_and_at_any_width() -> None:
    loss = ExpectedMetric("ndcg", samples=3).eval()
    alone, among = loss.noise(torch.zeros(1, 40)), loss.noise(torch.zeros(30, 57))
    assert all(torch.equal(each[:40], alone[0]) for each in among)
    torch.manual_seed(0)
    scores, labels = torch.randn(5, 9), torch.randint(0, 3, (5, 9)).float()
    mask = torch.arange(9) < torch.tensor([[4], [9], [7], [2], [5]])
    for surrogate in (ListMLE().eval(), Perturbed(Softmax("ndcg")).eval(), XENDCG().eval()):
        together = surrogate(scores, labels, mask)
        for row in range(5):
            real = mask[row]
            assert torch.allclose(surrogate(scores[row, real], labels[row, real]), together[row])


def test_draws_are_the_same_numbers_in_any_precision() -> None:
    for training in (True, False):
        single, double = (
            ListMLE().train(training).noise(torch.zeros(2, 3, dtype=d)) for d in (torch.float32, torch.float64)
        )
        assert torch.equal(single.double(), double)


def test_a_training_is_compiled_once_however_often_it_draws() -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(3, 6), torch.randint(0, 3, (3, 6)).float()
    for make in (ListMLE, XENDCG, lambda: Perturbed(Softmax("ndcg"))):
        loss, same = make(), make()
        torch.compiler.reset()
        torch._dynamo.utils.counters.clear()
        compiled = torch.compile(loss, backend="eager")
        for _ in range(12):
            torch.testing.assert_close(compiled(scores, labels), same(scores, labels))
        first = torch._dynamo.utils.counters["stats"]["unique_graphs"]
        compiled(scores, labels)
        assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == first <= 4


@pytest.mark.parametrize("wrong", [0.0, 1.0, 7.0, -1.0, float("nan")])
def test_noise_lies_between_0_and_1_but_where_padded(wrong: float) -> None:
    mask = torch.tensor([[True, True, False]])
    padded = torch.tensor([[[0.5], [0.1], [wrong]]])
    assert read_noise(padded, mask).shape == (1, 3, 1)
    with pytest.raises(ValueError, match=r"^noise must be draws from \(0, 1\), got "):
        read_noise(padded.flip(1), mask)

"""Every loss at its limits: precision, size, gaps of 20,000, and nothing to learn from."""

import pytest
import torch

from ltr.losses import MSE, ApproxMetric, LambdaRank, ListNet, RankNet, Softmax, Surrogate

SURROGATES = [
    *[ApproxMetric(name) for name in ("ndcg@10", "mrr@10", "ap", "precision@3", "recall@3")],
    *[LambdaRank(name) for name in ("ndcg@10", "mrr@10", "ap", "precision@3", "recall@3")],
    *[Softmax(name) for name in ("ndcg@10", "mrr", "ap")],
    *(ListNet(), RankNet(), MSE()),
]
every = pytest.mark.parametrize(
    "surrogate", SURROGATES, ids=lambda each: f"{type(each).__name__} {each.metric or ''}".strip()
)


def backward(surrogate: Surrogate, scores: torch.Tensor, *rest: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    leaf = scores.clone().requires_grad_()
    loss = surrogate(leaf, *rest)
    loss.sum().backward()
    assert leaf.grad is not None
    return loss.detach(), leaf.grad


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_loss_has_the_precision_of_the_scores(surrogate: Surrogate, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(3, 6, dtype=dtype), torch.randint(0, 5, (3, 6)).float()
    loss, gradient = backward(surrogate, scores, labels)
    assert (loss.dtype, gradient.dtype) == (dtype, dtype)


@every
def test_float32_agrees_with_float64(surrogate: Surrogate) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(5, 20), torch.randint(0, 5, (5, 20)).float()
    single, double = backward(surrogate, scores, labels), backward(surrogate, scores.double(), labels.double())
    for got, wanted in zip(single, double, strict=True):
        assert torch.allclose(got.double(), wanted, rtol=1e-4, atol=1e-5)


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_lifted(surrogate: Surrogate, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(2, 300).to(dtype), torch.randint(0, 5, (2, 300)).to(dtype)
    loss, gradient = backward(surrogate, scores, labels)
    assert torch.allclose(loss.double(), surrogate(scores.double(), labels.double()).double(), rtol=1e-4)
    assert gradient.dtype == dtype
    assert torch.isfinite(gradient).all()


@every
@pytest.mark.parametrize("top", [100.0, 2000.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_labels(surrogate: Surrogate, top: float, dtype: torch.dtype) -> None:
    loss, gradient = backward(surrogate, torch.tensor([[0.3, 0.5, 0.1]], dtype=dtype), torch.tensor([[top, 1.0, 0.0]]))
    assert torch.isfinite(loss).all()
    assert torch.isfinite(gradient).all()


@every
def test_one_document(surrogate: Surrogate) -> None:
    for label in (0.0, 1.0, 4.0):
        loss, gradient = backward(surrogate, torch.tensor([[0.7]]), torch.tensor([[label]]))
        assert loss.shape == (1,)
        assert torch.isfinite(loss).all()
        assert torch.isfinite(gradient).all()


@every
def test_rows_without_documents_beside_a_row_with_some(surrogate: Surrogate) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(3, 5), torch.randint(0, 3, (3, 5)).float()
    mask = torch.tensor([[False] * 5, [True] * 5, [False] * 5])
    loss, gradient = backward(surrogate, scores, labels, mask)
    assert loss[[0, 2]].tolist() == [0, 0]
    assert gradient[[0, 2]].abs().sum() == 0
    assert torch.allclose(loss[1], surrogate(scores[1:2], labels[1:2])[0])


@every
def test_three_thousand_documents(surrogate: Surrogate) -> None:
    torch.manual_seed(0)
    scores, labels = torch.randn(1, 3000), torch.randint(0, 5, (1, 3000)).float()
    loss, gradient = backward(surrogate, scores, labels)
    assert torch.isfinite(loss).all()
    assert torch.isfinite(gradient).all()
    assert gradient.abs().sum() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("surrogate", "wanted"),
    [
        (RankNet(), [-1.0, 1.0]),
        (ListNet(1e-3), [-1.0, 1.0]),
        (Softmax("ndcg"), [-1.0, 1.0]),
        (LambdaRank("ndcg@1"), [-1 / 0.6931471805599453, 1 / 0.6931471805599453]),
        (MSE(), [-10001.0, 10000.0]),
    ],
    ids=lambda each: type(each).__name__,
)
def test_the_worst_pair_keeps_its_gradient(surrogate: Surrogate, wanted: list[float], dtype: torch.dtype) -> None:
    """A small constant inside a logarithm would kill it beyond a gap of 23."""
    _, gradient = backward(surrogate, torch.tensor([[-1e4, 1e4]], dtype=dtype), torch.tensor([[1.0, 0.0]]))
    assert gradient[0].tolist() == pytest.approx(wanted)


@every
def test_a_common_offset_of_ten_thousand_changes_nothing(surrogate: Surrogate) -> None:
    scores = torch.tensor([[0.25, 1.5, -0.5, 0.0]], dtype=torch.float64)
    labels = torch.tensor([[1.0, 0.0, 2.0, 3.0]])
    if surrogate.shift_invariant:
        assert torch.allclose(surrogate(scores + 1e4, labels), surrogate(scores, labels), atol=1e-9)
    else:
        assert isinstance(surrogate, MSE)


@every
def test_lists_of_no_width_keep_a_live_graph(surrogate: Surrogate) -> None:
    loss, gradient = backward(surrogate, torch.zeros(2, 0), torch.zeros(2, 0))
    assert (loss.tolist(), gradient.shape) == ([0, 0], (2, 0))


@pytest.mark.parametrize(
    "surrogate",
    [*SURROGATES, ApproxMetric("dcg"), LambdaRank("dcg@3"), ApproxMetric("ndcg-table0_1_3_7_15")],
    ids=lambda each: f"{type(each).__name__} {each.metric or ''}".strip(),
)
def test_a_loss_compiles_into_one_graph_of_the_same_value(surrogate: Surrogate) -> None:
    torch.manual_seed(0)
    scores, labels, mask = torch.randn(3, 6), torch.randint(0, 5, (3, 6)).float(), torch.rand(3, 6) < 0.8
    torch.compiler.reset()
    compiled = torch.compile(surrogate, fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(scores, labels, mask), surrogate(scores, labels, mask), rtol=1e-6, atol=1e-6)

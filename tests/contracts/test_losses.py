"""Every loss of conf/loss against every metric, held to the one contract, and at its limits."""

from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from torch import Tensor

from ltr import losses
from ltr.losses import MSE, LambdaRank, ListNet, RankNet, Softmax, Surrogate
from ltr.losses.draws import Drawing
from ltr.losses.named import named
from ltr.testing import check_surrogate

CONF = Path(__file__).parents[2] / "conf" / "loss"
METRICS = ["ndcg@10", "ndcg@3", "ndcg-linear", "dcg@5", "mrr@10", "ap", "precision@3", "recall@3"]
METRICS += ["ap-hits@3", "gradedap-max4@3", "f1@3", "success@3", "rprec", "err-max4@10", "rbp@5", "bpref", "pairs"]
METRICS += ["tau", "auc"]
TABLE = "ndcg-table0_1_3_7_15@10"
EVERY = [
    "one loss a list",
    "what it is given stays as it was",
    "padding changes nothing",
    "document order changes nothing",
    "batch mates change nothing",
    "a common score shift changes nothing",
    "training mode changes nothing",
    "finite for scores up to 1e4",
    "zero with a live graph where there is nothing to learn",
    "padding gets no gradient",
    "twice the loss, twice the gradient",
    "finite for lists of 1 to 5,000",
    "half precision is lifted",
    "autocast changes nothing",
    "labels between the grades",
    "weights of 1 change nothing",
    "weights belong to their documents",
]


def nodes() -> dict[str, dict[str, Any]]:
    """What each file of conf/loss says, but for the one whose target the user names."""
    read = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(CONF.glob("*.yaml"))}
    return {name: node for name, node in read.items() if node["_target_"] != "???"}


def takes(name: str, metric: str) -> bool:
    """Can this loss be built on this metric? It says which metric it refuses."""
    try:
        named(name, metric)
    except ValueError as error:
        if metric not in str(error) or metric == METRICS[0]:
            raise
        return False
    return True


CASES = [
    (name, metric)
    for name, node in nodes().items()
    for metric in (METRICS if "${metric}" in str(node) else METRICS[:1])
    if takes(name, metric)
]
every = pytest.mark.parametrize("name", nodes())


def made(name: str) -> Surrogate:
    surrogate = named(name, "ndcg@10")
    assert isinstance(surrogate, Surrogate)
    return surrogate.eval()


def given(surrogate: Surrogate, scores: Tensor) -> dict[str, Tensor]:
    """What it takes besides scores, labels and mask."""
    more = {"teacher": scores.detach().flip(-1)} if surrogate.needs_teacher else {}
    return more | ({"noise": surrogate.noise(scores)} if isinstance(surrogate, Drawing) else {})


def backward(surrogate: Surrogate, scores: Tensor, *rest: Tensor, **more: Tensor) -> tuple[Tensor, Tensor]:
    leaf = scores.clone().requires_grad_()
    loss = surrogate(leaf, *rest, **(more or given(surrogate, scores)))
    loss.sum().backward()
    assert leaf.grad is not None
    return loss.detach(), leaf.grad


def keeps_the_contract(surrogate: Surrogate) -> None:
    passed, slope = check_surrogate(surrogate), not surrogate.sampled_gradient and not surrogate.constant_parts
    assert set(EVERY) <= set(passed)
    assert ("belief keeps its promise" in passed) == (surrogate.kind != "neither")
    assert ("gradients equal finite differences" in passed) == slope
    assert ("gradients of long lists equal finite differences" in passed) == slope
    assert ("second derivatives are right or refused" in passed) == slope
    assert ("seeded draws" in passed) == isinstance(surrogate, Drawing)


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_every_loss_keeps_the_contract(name: str, metric: str) -> None:
    keeps_the_contract(named(name, metric))


@pytest.mark.parametrize("name", [name for name, node in nodes().items() if "${metric}" in str(node)])
def test_every_loss_keeps_the_contract_on_a_table_of_gains(name: str) -> None:
    surrogate = named(name, TABLE)
    assert (surrogate.fractional, surrogate.largest_label) == (False, 4)
    keeps_the_contract(surrogate)


OPTIONS: list[tuple[type[Surrogate], dict[str, Any]]] = [
    (losses.LambdaRank, {"metric": "ndcg@3", "norm": "both", "cutoff": "any"}),
    (losses.LambdaRank, {"metric": "ndcg@3", "norm": "list", "cutoff": "both", "pairs": "batch"}),
    (losses.LambdaRank, {"metric": "ndcg-stable@3", "log": "natural"}),
    (losses.RankNet, {"ties": "half"}),
    (losses.RankNet, {"norm": "both", "k": 3}),
    (losses.RankNet, {"k": 3, "cutoff": "both", "log": "binary"}),
    (losses.SmoothI, {"metric": "ndcg@3", "stop_gradient": True}),
    (losses.LambdaLoss, {"metric": "ndcg@3", "cutoff": "both", "pairs": "mean"}),
    (losses.LambdaLoss, {"metric": "ndcg@3", "scheme": "topk"}),
    (losses.LambdaLoss, {"metric": "ndcg@3", "scheme": "light"}),
    (losses.PiRank, {"metric": "ndcg", "ratio": "batch"}),
    (losses.Hinge, {"pairs": "batch"}),
    (losses.ListMLE, {"ties": "likelihood", "stop": True}),
    (losses.PListMLE, {"ties": "likelihood", "inclusive": True}),
    (losses.Softmax, {"metric": "ndcg", "target": "labels"}),
    (losses.Softmax, {"metric": TABLE, "target": "raw", "temperature": 2.0}),
    (losses.PolyOne, {"metric": TABLE, "target": "raw"}),
    (losses.ApproxMetric, {"metric": "ndcg@3", "truncate": True}),
    (losses.MSE, {"centred": True}),
    (losses.Perturbed, {"loss": losses.LambdaRank("ndcg@3")}),
    (losses.Perturbed, {"loss": losses.LambdaRank("mrr", norm="score"), "noise": "gaussian"}),
]


@pytest.mark.parametrize(("surrogate", "options"), OPTIONS)
def test_every_option_keeps_the_contract(surrogate: type[Surrogate], options: dict[str, Any]) -> None:
    keeps_the_contract(surrogate(**options))


def test_a_target_of_labels_asks_the_gain_for_nothing() -> None:
    for made in (losses.Softmax(TABLE, target="labels"), losses.PolyOne(TABLE, target="labels")):
        assert (made.fractional, made.largest_label) == (True, float("inf"))
        assert torch.isfinite(made(torch.zeros(1, 2), torch.tensor([[0.5, 9.0]]))).all()


@pytest.mark.parametrize(
    "surrogate", [losses.Softmax, losses.PolyOne, losses.UniqueSoftmax, losses.ApproxMetric, losses.LambdaRank]
)
def test_there_is_nothing_to_learn_from_a_metric_of_the_judgements(surrogate: type[Surrogate]) -> None:
    with pytest.raises(ValueError, match=r"^judged@2: it measures the judgements, so there is nothing to train on$"):
        surrogate("judged@2")


@every
def test_what_it_says_of_itself(name: str) -> None:
    surrogate = made(name)
    assert surrogate.unit != "loss units"
    assert surrogate.cost.startswith("O(")
    assert surrogate.suits


def test_the_metric_is_named_once() -> None:
    """A loss takes the run's metric, so that naming another re-aims it too."""
    for name, node in nodes().items():
        assert node.get("metric", "${metric}") == "${metric}", name


def labels_for(surrogate: Surrogate, *shape: int) -> Tensor:
    return torch.randint(0, 5, shape).float().clamp(max=surrogate.largest_label)


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_loss_has_the_precision_of_the_scores(name: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    surrogate = made(name)
    loss, gradient = backward(surrogate, torch.randn(3, 6, dtype=dtype), labels_for(surrogate, 3, 6))
    assert (loss.dtype, gradient.dtype) == (dtype, dtype)


@every
def test_float32_agrees_with_float64(name: str) -> None:
    torch.manual_seed(0)
    surrogate, scores = made(name), torch.randn(5, 20)
    labels, more = labels_for(surrogate, 5, 20), given(surrogate, scores)
    single = backward(surrogate, scores, labels, **more)
    exact = {key: each.double() for key, each in more.items()}
    for got, wanted in zip(single, backward(surrogate, scores.double(), labels.double(), **exact), strict=True):
        assert torch.allclose(got.double(), wanted, rtol=1e-4, atol=2e-5)


@every
@pytest.mark.parametrize("top", [100.0, 2000.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_labels(name: str, top: float, dtype: torch.dtype) -> None:
    surrogate = made(name)
    labels = torch.tensor([[top, 1.0, 0.0]]).clamp(max=surrogate.largest_label)
    loss, gradient = backward(surrogate, torch.tensor([[0.3, 0.5, 0.1]], dtype=dtype), labels)
    assert torch.isfinite(loss).all()
    assert torch.isfinite(gradient).all()


@every
def test_rows_without_documents_beside_a_row_with_some(name: str) -> None:
    torch.manual_seed(0)
    surrogate, scores = made(name), torch.randn(3, 5)
    labels, more = labels_for(surrogate, 3, 5), given(surrogate, scores)
    mask = torch.tensor([[False] * 5, [True] * 5, [False] * 5])
    loss, gradient = backward(surrogate, scores, labels, mask, **more)
    assert loss[[0, 2]].tolist() == [0, 0]
    assert gradient[[0, 2]].abs().sum() == 0
    alone = {key: each[1:2] for key, each in more.items()}
    assert torch.allclose(loss[1], surrogate(scores[1:2], labels[1:2], **alone)[0])


@every
def test_lists_of_no_width_keep_a_live_graph(name: str) -> None:
    loss, gradient = backward(made(name), torch.zeros(2, 0), torch.zeros(2, 0))
    assert (loss.tolist(), gradient.shape) == ([0, 0], (2, 0))


@every
def test_gradients_are_the_same_in_every_run(name: str) -> None:
    torch.manual_seed(0)
    for lists, longest in ((4, 50), (2, 700)):  # all at once, and what is worked out in parts
        surrogate, scores = made(name), torch.randn(lists, longest)
        labels, more = labels_for(surrogate, lists, longest), given(surrogate, scores)
        first, second = (backward(surrogate, scores, labels, **more)[1] for _ in range(2))
        assert torch.equal(first, second)


@every
def test_a_loss_compiles_to_the_same_value(name: str) -> None:
    torch.manual_seed(0)
    surrogate, scores = made(name), torch.randn(3, 6)
    labels, mask, more = labels_for(surrogate, 3, 6), torch.rand(3, 6) < 0.8, given(surrogate, scores)
    torch.compiler.reset()
    compiled = torch.compile(surrogate, backend="eager")
    torch.testing.assert_close(
        compiled(scores, labels, mask, **more), surrogate(scores, labels, mask, **more), rtol=1e-6, atol=1e-6
    )


@every
def test_bad_lists_are_refused(name: str) -> None:
    surrogate, scores = made(name), torch.tensor([[0.1, 0.2]])
    more = given(surrogate, scores)
    with pytest.raises(ValueError, match=r"^relevance must not be negative: list 0, document 1 has -1$"):
        surrogate(scores, torch.tensor([[1.0, -1.0]]), **more)
    with pytest.raises(ValueError, match=r"^scores, relevance and mask must have one shape"):
        surrogate(scores, torch.tensor([[1.0]]), **more)
    with pytest.raises(ValueError, match=r"^weight"):
        surrogate(scores, torch.tensor([[1.0, 0.0]]), weight=torch.tensor([[1.0, -1.0]]), **more)
    with pytest.raises(ValueError, match=r"^weight"):
        surrogate(scores, torch.tensor([[1.0, 0.0]]), weight=torch.tensor([1.0]), **more)


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

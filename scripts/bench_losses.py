"""Surrogates against the peers, forward and backward, as ratios in one run: prints the tables of docs/benchmarks.md.

Wants the peers beside this package: pip install "jax<=0.6.2" rax==0.4.0, and pip install --no-deps allRank==1.4.3
"""

from __future__ import annotations

import functools
import platform
import sys
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from types import ModuleType
from typing import Any

import numpy as np
import torch
from measuring import Work, extra_memory, fastest
from torch import Tensor

from ltr.losses import (
    ApproxMetric,
    Hinge,
    LambdaRank,
    ListMLE,
    NeuralNDCG,
    RankNet,
    SoftSortNDCG,
    Surrogate,
    UniqueSoftmax,
)
from ltr.losses.hinge import dense_hinge
from ltr.models import MLP

for name, content in (  # what allRank's losses import besides losses
    ("allrank.data", {}),
    ("allrank.data.dataset_loading", {"PADDED_Y_VALUE": -1}),
    ("allrank.models.model_utils", {"get_torch_device": lambda: torch.device("cpu")}),
):
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(content)
try:
    import jax
    import rax
    from allrank.models.losses import approxNDCGLoss, lambdaLoss, neuralNDCG, rankNet
except ModuleNotFoundError as error:
    raise SystemExit(f"scripts/bench_losses.py: {error}; {__doc__.splitlines()[2]}") from error

GRADED = (0.52, 0.32, 0.13, 0.02, 0.01)  # shares of the labels 0 to 4
TENTH = (0.9, 0.06, 0.02, 0.01, 0.01)
FEW, MANY = 8, 100  # calls of which the fastest counts: of slow ones, and of those below 20 ms


def made(lists: int, documents: int, shares: tuple[float, ...] | int) -> tuple[Tensor, Tensor]:
    """Scores and labels; a number is that of the relevant documents of each list."""
    random = np.random.default_rng(0)
    scores = random.normal(size=(lists, documents))
    if isinstance(shares, int):
        labels = np.zeros((lists, documents))
        labels[:, :shares] = 1 + np.arange(shares) % 3
        labels = random.permuted(labels, axis=1)
    else:
        labels = random.choice(len(shares), size=(lists, documents), p=shares)
    return torch.tensor(scores, dtype=torch.float32), torch.tensor(labels, dtype=torch.float32)


def of_torch(loss: Callable[[Tensor], Tensor], scores: Tensor) -> Work:
    scores = scores.clone().requires_grad_()
    return lambda: torch.autograd.grad(loss(scores), scores)


def of_rax(loss: Callable[..., Any], scores: Tensor, labels: Tensor, **options: Any) -> Work:
    s, y = jax.numpy.asarray(scores.numpy()), jax.numpy.asarray(labels.numpy())
    step = jax.jit(jax.value_and_grad(lambda s, y: loss(s, y, **options)))  # labels as an argument: not folded in
    return lambda: jax.block_until_ready(step(s, y))


def table(title: str, rows: dict[str, Work]) -> None:
    print(f"\n{title}:\n\n| loss | ms | times ours | extra MiB |\n|---|---|---|---|")
    mine = None
    for name, work in rows.items():
        memory, spent = extra_memory(work), 1000 * fastest(work, FEW)
        spent = min(spent, 1000 * fastest(work, MANY)) if spent < 20 else spent
        mine = spent if mine is None else mine
        print(f"| {name} | {spent:.2f} | {spent / mine:.1f} | {memory:.0f} |", flush=True)


def ours(surrogate: Surrogate, scores: Tensor, labels: Tensor) -> Work:
    return of_torch(lambda s: surrogate(s, labels).mean(), scores)


def shape(lists: int, documents: int, shares: tuple[float, ...] | int, what: str) -> None:
    scores, labels = made(lists, documents, shares)
    weight = functools.partial(rax.dcg_lambdaweight, normalize=True)
    table(
        f"ApproxNDCG, {lists} x {documents}, {what}",
        {
            "ltr ApproxMetric(ndcg, 1.0)": ours(ApproxMetric("ndcg", 1.0), scores, labels),
            "allRank approxNDCGLoss": of_torch(lambda s: approxNDCGLoss(s, labels, alpha=1.0), scores),
            "Rax approx_t12n(ndcg), jit": of_rax(rax.approx_t12n(rax.ndcg_metric), scores, labels),
        },
    )
    table(
        f"LambdaRank, {lists} x {documents}, {what}",
        {
            "ltr LambdaRank(ndcg)": ours(LambdaRank("ndcg"), scores, labels),
            "allRank lambdaLoss": of_torch(
                lambda s: lambdaLoss(s, labels, weighing_scheme="lambdaRank_scheme"), scores
            ),
            "Rax logistic, dcg weights, jit": of_rax(
                rax.pairwise_logistic_loss, scores, labels, lambdaweight_fn=weight
            ),
            "ltr LambdaRank(ndcg@10)": ours(LambdaRank("ndcg@10"), scores, labels),
        },
    )


def rank_net() -> None:
    scores, labels = made(16, 120, GRADED)
    table(
        "RankNet, 16 x 120, MSLR-like labels",
        {
            "ltr RankNet": ours(RankNet(), scores, labels),
            "allRank rankNet": of_torch(lambda s: rankNet(s, labels), scores),
            "Rax logistic, jit": of_rax(rax.pairwise_logistic_loss, scores, labels),
        },
    )


def hinge(lists: int, documents: int, shares: tuple[float, ...], what: str) -> None:
    scores, labels = made(lists, documents, shares)
    mask, weight = torch.ones_like(labels, dtype=torch.bool), torch.ones_like(labels)
    table(
        f"hinge, {lists} x {documents}, {what}",
        {
            "ltr Hinge": ours(Hinge("sum"), scores, labels),
            "its definition, all pairs at once": of_torch(
                lambda s: dense_hinge(s, labels, mask, weight).mean(), scores
            ),
            "Rax hinge, jit": of_rax(rax.pairwise_hinge_loss, scores, labels),
        },
    )


def doubled(surrogate: Surrogate, lists: int, documents: int) -> None:
    table(
        f"{type(surrogate).__name__}, lists twice as long, one in ten relevant",
        {f"{lists} x {length}": ours(surrogate, *made(lists, length, TENTH)) for length in (documents, 2 * documents)},
    )


def neural(lists: int, documents: int) -> None:
    scores, labels = made(lists, documents, TENTH)
    table(
        f"NeuralNDCG, {lists} x {documents}, one in ten relevant",
        {
            "ltr NeuralNDCG(ndcg)": ours(NeuralNDCG("ndcg"), scores, labels),
            "allRank neuralNDCG": of_torch(lambda s: neuralNDCG(s, labels), scores),
        },
    )


def training_step() -> None:
    """What a step of a training costs with each loss, and with none (the mean score in its place)."""
    _, labels = made(64, 120, GRADED)
    torch.manual_seed(0)
    features = torch.randn(*labels.shape, 136)
    model = MLP(136, hidden=(256, 128, 64))
    adam = torch.optim.Adam(model.parameters())
    mask = torch.ones_like(labels, dtype=torch.bool)

    def step(loss: Callable[[Tensor], Tensor]) -> Work:
        def work() -> None:
            adam.zero_grad()
            loss(model(features, mask)).backward()
            adam.step()

        return work

    rows = {"none": step(lambda s: s.mean())}
    for surrogate in (LambdaRank("ndcg"), ApproxMetric("ndcg"), SoftSortNDCG("ndcg"), ListMLE(), RankNet()):
        rows[type(surrogate).__name__] = step(lambda s, loss=surrogate: loss(s, labels).mean())  # type: ignore[misc]
    spent = {name: min(fastest(work, MANY) for _ in range(2)) for name, work in rows.items()}
    print("\nOne training step, MLP 256-128-64, 64 x 120, 136 features, Adam:\n")
    print("| loss | ms a step | share of the loss |\n|---|---|---|")
    for name, each in spent.items():
        print(f"| {name} | {1000 * each:.1f} | {1 - spent['none'] / each:.1%} |", flush=True)


def short(surrogate: Surrogate, dense: Callable[[Tensor, Tensor], Tensor], lists: int, documents: int) -> None:
    scores, labels = made(lists, documents, GRADED)
    table(
        f"{type(surrogate).__name__}, {lists} x {documents}",
        {
            "ltr": ours(surrogate, scores, labels),
            "its definition, all pairs at once": of_torch(lambda s: dense(s, labels).mean(), scores),
        },
    )


def all_pairs(scores: Tensor, labels: Tensor) -> Tensor:
    """RankNet as it is defined."""
    pair = labels[:, :, None] > labels[:, None]
    cost = torch.nn.functional.softplus(scores[:, None] - scores[:, :, None])
    return (pair * cost).sum((1, 2)) / pair.sum((1, 2)).clamp(min=1)


def all_ranks(scores: Tensor, labels: Tensor) -> Tensor:
    """ApproxNDCG as it is defined."""
    rank = 0.5 + torch.sigmoid((scores[:, None] - scores[:, :, None]) / 0.1).sum(2)
    gain = torch.exp2(labels) - 1
    place = torch.log2(1 + torch.arange(1, 1 + scores.shape[1]))
    ideal = (gain.sort(descending=True).values / place).sum(1)
    return 1 - (gain / torch.log2(1 + rank)).sum(1) / torch.where(ideal > 0, ideal, 1)


def long_list() -> None:
    scores, labels = made(1, 20_000, GRADED)
    table(
        "one list of 20,000 documents",
        {
            "ltr LambdaRank(ndcg)": ours(LambdaRank("ndcg"), scores, labels),
            "ltr ApproxMetric(ndcg, 1.0)": ours(ApproxMetric("ndcg", 1.0), scores, labels),
        },
    )


def main() -> None:
    torch.set_num_threads(1)
    peers = ", ".join(f"{name} {version(name)}" for name in ("torch", "allRank", "rax", "jax"))
    print(f"`python scripts/bench_losses.py`, {date.today()}: Python {platform.python_version()}, {peers}, one thread.")
    shape(64, 120, GRADED, "MSLR-like labels")
    shape(8, 1000, TENTH, "one in ten relevant")
    shape(8, 1000, 3, "three relevant")
    rank_net()
    hinge(64, 120, GRADED, "MSLR-like labels")
    hinge(8, 1000, TENTH, "one in ten relevant")
    doubled(Hinge(), 8, 1000)
    doubled(SoftSortNDCG("ndcg"), 8, 1000)
    doubled(ListMLE(), 64, 1000)
    doubled(UniqueSoftmax("ndcg"), 64, 1000)
    for documents in (10, 30):
        short(RankNet(), all_pairs, 64, documents)
        short(ApproxMetric("ndcg"), all_ranks, 64, documents)
    neural(8, 1000)
    training_step()
    long_list()


if __name__ == "__main__":
    main()

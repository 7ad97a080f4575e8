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

from ltr.losses import ApproxMetric, LambdaRank, RankNet, Surrogate

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
    from allrank.models.losses import approxNDCGLoss, lambdaLoss, rankNet
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
    scores, labels = made(16, 120, GRADED)
    table(
        "RankNet, 16 x 120, MSLR-like labels",
        {
            "ltr RankNet": ours(RankNet(), scores, labels),
            "allRank rankNet": of_torch(lambda s: rankNet(s, labels), scores),
        },
    )
    long_list()


if __name__ == "__main__":
    main()

"""Exact metrics against the peers, as ratios in one run: prints the tables of docs/benchmarks.md.

Wants the peers beside this package: pip install pytrec_eval-terrier ranx ir_measures
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measuring import Work, extra_memory, fastest
from torchmetrics.retrieval import RetrievalMAP, RetrievalMRR, RetrievalNormalizedDCG

from ltr.metrics import answer, measure, parse

try:
    import pytrec_eval
    from ranx import Qrels, Run
    from ranx import evaluate as ranx_evaluate
except ModuleNotFoundError as error:
    raise SystemExit(f"scripts/bench_metrics.py: pip install pytrec_eval-terrier ranx ir_measures ({error})") from error

NAMES = ("ndcg-linear@10", "mrr", "ap@10")
SIX = ("ndcg@1", "ndcg@5", "ndcg@10", "ap", "mrr", "recall@10")
SHARES = (0.52, 0.32, 0.13, 0.02, 0.01)  # of the labels 0 to 4
PEERS = ("pytrec_eval-terrier", "ranx", "ir_measures", "torchmetrics")


def made(lists: int, documents: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    scores = random.normal(size=(lists, documents))
    labels = random.choice(len(SHARES), size=(lists, documents), p=SHARES).astype(np.float64)
    labels[labels.max(1) == 0, 0] = 1  # so that every list has an answer for all
    return scores, labels


def ours(scores: np.ndarray, labels: np.ndarray, names: tuple[str, ...] = NAMES) -> Work:
    metrics, s, y = [parse(name) for name in names], torch.from_numpy(scores), torch.from_numpy(labels)
    return lambda: measure(metrics, answer(s, y))


def dictionaries(values: np.ndarray, kind: type) -> dict[str, dict[str, Any]]:
    return {f"q{i}": {f"d{j}": kind(value) for j, value in enumerate(row)} for i, row in enumerate(values.tolist())}


def peers(scores: np.ndarray, labels: np.ndarray) -> dict[str, Work]:
    qrels, run = dictionaries(labels, int), dictionaries(scores, float)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut_10", "recip_rank", "map_cut_10"})
    ranx_qrels, ranx_run = Qrels.from_dict(qrels), Run.from_dict(run)
    typed = ranx_qrels.to_typed_list(), ranx_run.to_typed_list()
    names = ["ndcg@10", "mrr", "map@10"]
    flat = torch.from_numpy(scores).flatten(), torch.from_numpy(labels).flatten().long()
    queries = torch.arange(len(scores)).repeat_interleave(scores.shape[1])

    def torchmetrics_classes() -> None:
        for metric, target in (
            (RetrievalNormalizedDCG(top_k=10), flat[1]),
            (RetrievalMRR(), flat[1] > 0),
            (RetrievalMAP(top_k=10), flat[1] > 0),
        ):
            metric.update(flat[0], target, indexes=queries)
            metric.compute()

    return {
        "pytrec_eval, dictionaries": lambda: evaluator.evaluate(run),
        "ranx, Qrels and Run": lambda: ranx_evaluate(ranx_qrels, ranx_run, names, return_mean=False),
        "ranx, sorted typed lists": lambda: ranx_evaluate(*typed, names, return_mean=False),
        "torchmetrics, classes": torchmetrics_classes,
    }


def against_peers(lists: int, documents: int) -> None:
    scores, labels = made(lists, documents)
    mine = fastest(ours(scores, labels), 15)
    print(f"\n{lists:,} lists x {documents:,} documents, nDCG@10, MRR and AP@10 of each list, data in memory:\n")
    print("| program | ms | times ours | extra MiB |")
    print("|---|---|---|---|")
    print(f"| ltr.metrics.measure | {1000 * mine:.1f} | 1 | {extra_memory(ours(scores, labels)):.0f} |")
    for name, work in peers(scores, labels).items():
        if name.startswith("torchmetrics") and documents > 100:
            continue
        spent = fastest(work, 5 if lists * documents <= 10**6 else 3)
        print(f"| {name} | {1000 * spent:.1f} | {spent / mine:.1f} | {extra_memory(work):.0f} |")


def ties_and_sharing() -> None:
    scores, labels = made(10_000, 100)
    some, all_tied = scores.copy(), np.zeros_like(scores)
    some[::10] = some[::10].round(1)
    plain = fastest(ours(scores, labels), 15)
    print("\n10,000 lists x 100 documents, ties averaged:\n")
    print("| work | ms | times the first |")
    print("|---|---|---|")
    for name, work in (
        ("three metrics, no ties", ours(scores, labels)),
        ("three metrics, ties in a tenth of the lists", ours(some, labels)),
        ("three metrics, one constant score", ours(all_tied, labels)),
        ("ndcg@10 alone", ours(scores, labels, ("ndcg@10",))),
        ("six metrics: " + ", ".join(SIX), ours(scores, labels, SIX)),
    ):
        spent = fastest(work, 10)
        print(f"| {name} | {1000 * spent:.1f} | {spent / plain:.2f} |")


def files() -> None:
    scores, labels = made(10_000, 100)
    scripts = Path(sysconfig.get_path("scripts"))
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = Path(folder, "qrels.txt"), Path(folder, "system.run")
        with qrels.open("w") as judged, run.open("w") as ranked:
            for i, (grades, row) in enumerate(zip(labels.astype(int).tolist(), scores.tolist(), strict=True)):
                judged.writelines(f"q{i} 0 d{j} {grade}\n" for j, grade in enumerate(grades))
                ranked.writelines(f"q{i} Q0 d{j} 0 {score:.6f} made\n" for j, score in enumerate(row))
        commands = {
            "ltr evaluate": [scripts / "ltr", "evaluate", qrels, run, "metrics=[ndcg-linear@10,mrr,ap@10]"],
            "ir_measures": [scripts / "ir_measures", qrels, run, "nDCG@10", "RR", "AP@10"],
        }
        times = {
            name: fastest(lambda command=command: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), 5)
            for name, command in commands.items()
        }
    print("\nA whole process, 10,000 x 100 qrels and run in files:\n")
    print("| command | s | times ours |")
    print("|---|---|---|")
    for name, spent in times.items():
        print(f"| {name} | {spent:.2f} | {spent / times['ltr evaluate']:.2f} |")


def main() -> None:
    ours_too = ", ".join(f"{name} {version(name)}" for name in ("torch", "numpy", "ltr-toolkit", *PEERS))
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(
        f"`python scripts/bench_metrics.py`, {date.today()}: Python {platform.python_version()}, {ours_too}, {machine}."
    )
    print("Fastest of several runs after a first one; ratios of one run.")
    against_peers(10_000, 100)
    against_peers(1_000, 1_000)
    ties_and_sharing()
    if "--no-files" not in sys.argv:
        files()


if __name__ == "__main__":
    main()

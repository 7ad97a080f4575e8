"""MQ2008, all five folds through data=letor: candidates chosen on validation, test NDCG@10 of the chosen one.

python scripts/mq2008.py FOLDER, where FOLDER holds the parts S1.txt to S5.txt of LETOR 4.0.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from ltr.cli import main as ltr
from ltr.runs import Run

CANDIDATES = {
    "linear lambdarank": ["model=linear", "loss=lambdarank", "optimizer.lr=0.02"],
    "mlp lambdarank": ["model=mlp", "model.hidden=[64]", "model.batch_norm=false", "loss=lambdarank"],
    "mlp approx": ["model=mlp", "model.hidden=[64]", "model.batch_norm=false", "loss=approx"],
}
COMMON = ["transform=standard", "trainer.max_epochs=20", "lists=32", "metric=ndcg@10", "metrics=[]"]


def train(parts: Path, fold: int, settings: list[str], seeds: list[int], root: Path) -> list[dict[str, float]]:
    """[seeds] validation and test NDCG@10 of one fold: three parts to train on, then one each."""
    order = [parts / f"S{(fold - 1 + step) % 5 + 1}.txt" for step in range(5)]
    name = f"fold{fold}"
    data = [f"data.train=[{','.join(map(str, order[:3]))}]", f"data.validation={order[3]}", f"data.test={order[4]}"]
    words = ["train", *(["-m"] if len(seeds) > 1 else []), "data=letor", *data, *settings, *COMMON]
    status = ltr([*words, f"seed={','.join(map(str, seeds))}", f"name={name}", f"root={root}"])
    if status:
        raise SystemExit(status)
    runs = [Run(path.parent) for path in sorted((root / name).glob("**/run.json"))]  # one seed is no sweep
    return [{split: run.read_info()[split]["ndcg@10"] for split in ("validation", "test")} for run in runs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    found: dict[str, np.ndarray] = {}
    with tempfile.TemporaryDirectory() as root:
        for name, settings in CANDIDATES.items():
            home = Path(root, name.replace(" ", "-"))
            values = [train(arguments.folder, fold, settings, arguments.seeds, home) for fold in range(1, 6)]
            found[name] = np.array([[[each["validation"], each["test"]] for each in fold] for fold in values])
    print("\n| candidate | validation NDCG@10 | test NDCG@10 | test by fold |")
    print("|---|---|---|---|")
    for name, values in found.items():  # [folds, seeds, 2]
        folds = " ".join(f"{value:.3f}" for value in values[:, :, 1].mean(1))
        print(f"| {name} | {values[..., 0].mean():.4f} | {values[..., 1].mean():.4f} | {folds} |")
    chosen = max(found, key=lambda name: found[name][..., 0].mean())
    print(f"\nchosen on validation: {chosen}, test NDCG@10 {found[chosen][..., 1].mean():.4f}")


if __name__ == "__main__":
    main()

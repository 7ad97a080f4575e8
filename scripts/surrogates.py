"""Every surrogate of conf/loss at equal budgets: what its value says of NDCG@10, and what comes of it, in one table.

python scripts/surrogates.py [FOLDER]: on the sample of MSLR-WEB10K, or on the five folds of MQ2008, where FOLDER holds
the parts S1.txt to S5.txt of LETOR 4.0. Same model, epochs, optimiser and first weights for all; the learning rate is
the one of RATES that is best on validation data with the first seed. What learns from a teacher has the trained
lambdarank of the same seed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytorch_lightning as pl
import torch
from numpy.typing import NDArray

from ltr.data import Splits, Standardise, letor, mslr_sample
from ltr.evaluation import lists_of, per_query
from ltr.gap.numbers import counted, number
from ltr.intervals import interval
from ltr.losses import RCR, SigmoidCrossEntropy, Surrogate
from ltr.losses.named import named
from ltr.metrics import parse
from ltr.models import MLP
from ltr.options import folder, groups
from ltr.runs import Run, claim
from ltr.training import cosine, fit, seed_everything
from ltr.training.teacher import Teacher

TARGET = parse("ndcg@10")
TEACHER = "lambdarank"
LEFT_OUT = ("custom", "perturbed", "sum")  # made of other losses
RATES = (0.003, 0.01, 0.03)
HIDDEN, LISTS = [64], 10  # of the model; in a batch
EPOCHS, EVERY = 16, 2  # epochs of a training, and from one validation to the next
LOOKS = 64  # validation lists whose gradients a validation looks at
DETECTABLE = 2.8  # standard errors: 1.96 for a test at 5 %, 0.84 for a power of 80 %

Doubles = NDArray[np.float64]


class Trained(NamedTuple):
    """One training: its folder, its learning rate, and the ranker of its best state."""

    run: Run
    rate: float
    ranker: Teacher


class Row(NamedTuple):
    """What the runs of one surrogate, over folds and seeds, come to."""

    name: str
    kind: str
    aim: str
    rates: str  # fold by fold where they differ
    means: Mapping[str, float | None]  # a column of the table -> its mean over the runs
    seeds: Doubles  # [seeds] the mean of the target on the test queries
    values: Doubles  # [queries] of the test that count, averaged over the seeds


def read(parts: Path | None) -> list[Splits]:
    """The sample, or a fold each: three parts to train on, then one each to validate and to test on."""
    if parts is None:
        return [mslr_sample()]
    files = [parts / f"S{part}.txt" for part in (1, 2, 3, 4, 5)]
    turns = ([files[(fold + step) % 5] for step in range(5)] for fold in range(5))
    return [letor(train=[*order[:3]], validation=order[3], test=order[4]) for order in turns]


def surrogate_of(loss: str, data: Splits) -> Surrogate:
    """It with its defaults; where labels are taken for probabilities, as shares of the highest one there is."""
    surrogate = named(loss, TARGET)
    most = max(float(part.relevance.max()) for part in data if part is not None)
    if isinstance(surrogate, RCR | SigmoidCrossEntropy) and most > surrogate.top:
        return type(surrogate)(top=most)
    return surrogate


def train(
    data: Splits, loss: str, rate: float, seed: int, epochs: int, teacher: Teacher | None, run: Run, looks: int
) -> Teacher:
    """One training into a run folder; returns the ranker of the best state."""
    seed_everything(seed)
    width = data.train.features.shape[1]
    model, transform = MLP(width, HIDDEN, batch_norm=False), Standardise(symlog=True)
    surrogate = surrogate_of(loss, data)
    trainer = partial(
        pl.Trainer, accelerator="cpu", devices=1, max_epochs=epochs, check_val_every_n_epoch=min(EVERY, epochs),
        num_sanity_val_steps=0, enable_model_summary=False,
    )  # fmt: skip
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        fit(
            run, data, model=model, transform=transform, teacher=teacher if surrogate.needs_teacher else None,
            loss=surrogate, metric=TARGET, metrics=[], optimizer=partial(torch.optim.Adam, lr=rate), scheduler=cosine,
            trainer=trainer, callbacks=[], documents=4096, lists=LISTS, workers=0, seed=seed, diagnostics=looks,
        )  # fmt: skip
    return Teacher(model, transform)


def trained(
    data: Splits, loss: str, seeds: Sequence[int], epochs: int, home: Path, teachers: Mapping[int, Teacher]
) -> list[Trained]:
    """One surrogate on one fold, a run a seed, at the rate that is best for the first seed."""

    def once(name: str, rate: float, seed: int, looks: int) -> Trained:
        run = claim(home, name, "")
        return Trained(run, rate, train(data, loss, rate, seed, epochs, teachers.get(seed), run, looks))

    tried = [once(f"rate{rate:g}", rate, seeds[0], looks=0) for rate in RATES] if len(RATES) > 1 else []
    values = {each.rate: each.run.best()["value"] for each in tried}
    rate = max(RATES, key=lambda each: -np.inf if values.get(each) is None else values[each])
    return [once(f"seed{seed}", rate, seed, looks=LOOKS) for seed in seeds]


def values_of(run: Run) -> Doubles:
    """[queries] the target on the test queries, NaN where it has no answer."""
    rows = [row for row in run.read_per_query("test") if row["metric"] == TARGET.name]
    return np.array([np.nan if row["value"] is None else row["value"] for row in rows])


def by_chance(data: Splits) -> Doubles:
    """[queries] the target of a random order: that of equal scores, where ties are averaged over their orders."""
    assert data.test is not None
    (found,) = per_query(lists_of(np.zeros(len(data.test.relevance)), data.test), [TARGET])
    return np.array([np.nan if row.value is None else row.value for row in found.rows()])


def figures(run: Run) -> dict[str, float | None]:
    """Columns of the table: what is over the whole training, and what the best state is like."""
    rows = run.gap_rows()
    best = next(row for row in rows if row["epoch"] == run.best()["epoch"])
    last, look = rows[-1], best["diagnostics"]
    return {
        "gap": best["gap_aim"],
        **{name: last[name] for name in ("tau", "tau_best", "regret")},
        **{name: look.get(name) for name in ("alignment", "yield")},
    }


def row_of(loss: str, folds: Sequence[Sequence[Trained]]) -> Row:
    """The runs of one surrogate, by folds and seeds."""
    surrogate, found = named(loss, TARGET), [figures(each.run) for fold in folds for each in fold]
    kept = {name: [value for row in found if (value := row[name]) is not None] for name in found[0]}
    table = np.hstack([np.stack([values_of(each.run) for each in fold]) for fold in folds])  # [seeds, queries]
    table = table[:, ~np.isnan(table).any(0)]
    rates = [f"{fold[0].rate:g}" for fold in folds]
    return Row(
        name=loss,
        kind=surrogate.kind,
        aim=surrogate.aim.name if surrogate.aim else "-",
        rates=rates[0] if len({*rates}) == 1 else " ".join(rates),
        means={name: float(np.mean(some)) if some else None for name, some in kept.items()},
        seeds=table.mean(1),
        values=table.mean(0),
    )


def sure(values: Doubles, *, sign: bool = False) -> tuple[str, float, float]:
    """A mean over queries with its BCa interval, as text and as its two ends."""
    low, high, _ = interval(values)
    ends = ", ".join(number(each, 3, sign=sign) for each in (low, high))
    return f"{number(float(values.mean()), 3, sign=sign)} [{ends}]", low, high


def markdown(rows: Sequence[Row], chance: Doubles) -> str:
    """The table, the best on the test first, and in words how far it carries.

    Args:
        rows: a surrogate each, all over the same queries.
        chance: [queries] what a random order is worth.
    """
    rows = sorted(rows, key=lambda row: (-row.values.mean(), row.name))
    best, name = rows[0], TARGET.name
    heads = ["surrogate", "kind", "aim", "rate", "gap or slack", "tau(l, M)", "tau(l*, M)", "alignment", "yield"]
    lines = [" | ".join([*heads, "regret", f"test {name}", f"minus {best.name}"]), " | ".join(["---"] * 12)]
    for row in rows:
        cells = [row.name, row.kind, row.aim, row.rates]
        cells += [number(row.means["gap"], 3, sign=row.kind == "approximation")]
        cells += [number(row.means[each], 3) for each in ("tau", "tau_best", "alignment")]
        cells += [number(row.means["yield"], 4, sign=True), number(row.means["regret"], 4), sure(row.values)[0]]
        lines.append(" | ".join([*cells, "-" if row is best else sure(row.values - best.values, sign=True)[0]]))
    return "\n".join([*(f"| {line} |" for line in lines), "", *reading(rows, chance)])


def reading(rows: Sequence[Row], chance: Doubles) -> list[str]:
    """What the table shows and what it does not; the rows from the best on the test on."""
    (best, *others), queries, name = rows, len(chance), TARGET.name
    no_better = [row.name for row in rows if sure(row.values - chance)[1] <= 0]
    lines = [
        "Gap of an approximation: its estimate minus the exact value of its aim. Slack of a bound: what its "
        "certificate leaves to the exact value, never below 0. Either in units of the aim, at the state that is best "
        f"on validation data, as are alignment (cosine) and yield ({name}, for a step of a tenth of the spread). "
        f"tau and regret ({name}) are over the validations of a training. All are means over "
        f"{counted(len(best.seeds), 'seed')}; in brackets 95 % intervals over queries, of values averaged over seeds.",
        "",
        f"- A random order is worth {number(float(chance.mean()), 3)}. Not shown to beat it: "
        f"{', '.join(no_better) or 'none'}.",
    ]
    if others:
        spreads = np.array([(row.values - best.values).std(ddof=1) for row in others])
        least, median, most = DETECTABLE * np.quantile(spreads, [0, 0.5, 1]) / np.sqrt(queries)
        apart = [row.name for row in others if sure(row.values - best.values)[2] < 0]
        lines += [
            f"- {counted(queries, 'query')} of the test show, four times in five, a difference to {best.name} of "
            f"{median:.3f} ({least:.3f} to {most:.3f} by surrogate): {DETECTABLE} SD / sqrt(n), SD that of the paired "
            "differences.",
            f"- {len(apart)} of {len(others)} lie below {best.name} with their whole interval"
            f"{': ' + ', '.join(apart) if apart else ''}. The others cannot be told from it here, whatever the place.",
            f"- {best.name} comes first on the very queries that it is measured on, which flatters it and widens each "
            "difference, and one in twenty of the intervals misleads: an end near 0 is little evidence.",
        ]
    if len(best.seeds) > 1:
        moved = np.median([row.seeds.std(ddof=1) for row in rows])
        lines.append(f"- From seed to seed a test mean moves by {moved:.3f} (median SD), which no interval here holds.")
    return lines


def main() -> None:
    known = [name for name in groups([folder()])["loss"] if name not in LEFT_OUT]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--losses", nargs="+", choices=known, default=known, metavar="LOSS")
    given = parser.parse_args()
    torch.set_num_threads(1)
    start, folds = time.perf_counter(), read(given.folder)
    wanted = [loss for loss in known if loss in given.losses]
    taught = any(named(loss, TARGET).needs_teacher for loss in wanted)
    first = [TEACHER] if taught or TEACHER in wanted else []
    rows: list[Row] = []
    teachers: list[dict[int, Teacher]] = [{} for _ in folds]
    with tempfile.TemporaryDirectory() as root:
        for loss in [*first, *(each for each in wanted if each != TEACHER)]:
            found, clock = [], time.perf_counter()
            for fold, data in enumerate(folds):
                home = Path(root, loss, f"fold{fold + 1}")
                found.append(trained(data, loss, given.seeds, given.epochs, home, teachers[fold]))
            if loss == TEACHER:
                teachers = [{seed: each.ranker for seed, each in zip(given.seeds, fold, strict=True)} for fold in found]
            if loss in wanted:
                rows.append(row_of(loss, found))
            print(f"{loss}: {time.perf_counter() - clock:.0f} s", file=sys.stderr, flush=True)
    chance = np.concatenate([by_chance(data) for data in folds])
    packages = ", ".join(f"{name} {version(name)}" for name in ("torch", "ltr-toolkit"))
    print(
        f"`python scripts/surrogates.py{' FOLDER' if given.folder else ''}`, {date.today()}: Python "
        f"{platform.python_version()}, {packages}, {platform.system()} {platform.machine()}, one thread, "
        f"{(time.perf_counter() - start) / 60:.0f} minutes. MLP of {' and '.join(map(str, HIDDEN))}, Adam, "
        f"{given.epochs} epochs (a validation every {EVERY}), {LISTS} lists a batch, rates "
        f"{', '.join(map(str, RATES))}, seeds {', '.join(map(str, given.seeds))}.\n"
    )
    print(markdown(rows, chance[~np.isnan(chance)]))


if __name__ == "__main__":
    main()

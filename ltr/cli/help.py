"""The texts of ``ltr --help`` and ``ltr VERB --help``."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

from ltr import options

OPTIONS = """\
options
  --help, -h         this text
  --cfg              print the configuration that would be run, and stop
  --config-dir DIR   presets of your own: DIR/loss/mine.yaml is loss=mine"""
SWEEP = "  --multirun, -m     one run for each combination of values: loss=approx,lambdarank seed=1,2,3"


@dataclass(frozen=True)
class Verb:
    """A verb of the command line: what it does, its inputs in order, examples, and what else one must know."""

    summary: str
    inputs: tuple[str, ...]
    examples: tuple[str, str, str]
    sweeps: bool = False
    note: str = ""


VERBS = {
    "train": Verb(
        "train a ranker on a surrogate, validate on the exact metric",
        (),
        (
            "ltr train loss=lambdarank metric=ndcg@10",
            "ltr train data=letor data.train=train.txt data.validation=vali.txt data.test=test.txt name=first",
            "ltr train -m loss=approx,lambdarank seed=1,2,3",
        ),
        sweeps=True,
    ),
    "evaluate": Verb(
        "the exact metrics of a trained run, or of runs in files, with intervals",
        ("inputs...",),
        (
            "ltr evaluate last",
            "ltr evaluate first data.test=other.txt 'metrics=[ndcg@5,mrr@10]' output=values.csv",
            "ltr evaluate qrels.txt a.run b.run 'metrics=[ndcg@10,ap]' preset=trec_eval",
        ),
    ),
    "predict": Verb(
        "a score for every row of a file",
        ("run", "file"),
        (
            "ltr predict last new.txt",
            "ltr predict first new.txt output=scores.csv",
            "ltr predict runs/first new.txt.gz output=scores.csv",
        ),
    ),
    "compare": Verb(
        "two runs, query by query, on the lists that both were tested on",
        ("first", "second"),
        (
            "ltr compare first second",
            "ltr compare runs/a runs/b 'metrics=[ndcg@10]'",
            "ltr compare sweep/loss-approx sweep/loss-lambdarank split=validation",
        ),
    ),
    "explain": Verb(
        "one query worked all the way through: positions, sums, metrics, and what a change does",
        ("inputs...",),
        (
            "ltr explain 3 1 2 0 3",
            "ltr explain 3 1 2 0 3 'swap=[2,5]'",
            "ltr explain qrels.txt bm25.run query=1037798 preset=trec_eval",
        ),
    ),
    "gap": Verb(
        "does the loss serve the metric, and if not, why not: in words, with the numbers behind them",
        ("inputs...",),
        (
            "ltr gap last",
            "ltr gap first loss=softmax over=temperature output=gap.json plot=gap.svg",
            "ltr gap qrels.txt bm25.run loss=approx metric=ndcg@10",
        ),
        note="exit status 3 when an alarm holds, after all is printed and written: a pipeline can stop on it",
    ),
    "list": Verb(
        "what there is: metrics, presets, losses, models, ...",
        ("what",),
        ("ltr list", "ltr list metrics", "ltr list losses"),
    ),
}


def overview() -> str:
    verbs = "\n".join(f"  {name:<10}{verb.summary}" for name, verb in VERBS.items())
    return (
        "ltr - train on a surrogate, validate on the exact metric, and know the gap between them\n\n"
        f"usage: ltr VERB [INPUT ...] [key=value ...]\n\n{verbs}\n\n"
        "  ltr VERB --help shows what a verb takes; ltr --version the version.\n"
        "  A run is named by its folder, by its name, or as 'last'."
    )


def of_verb(name: str, config_dir: Path | None = None) -> str:
    """Inputs, keys with their defaults, groups with their options, and three examples."""
    verb = VERBS[name]
    usage = " ".join([f"usage: ltr {name}", *(word.upper() for word in verb.inputs)])
    parts = [f"{verb.summary}\n\n{usage}" + (" [key=value ...]" if name != "list" else "")]
    if name != "list":
        folders = [options.folder(), *([config_dir] if config_dir else [])]
        path = folders[0] / f"{name}.yaml"
        parts += [_keys(path), _groups(path, folders), OPTIONS + (f"\n{SWEEP}" if verb.sweeps else "")]
    parts.append("examples\n" + "\n".join(f"  {example}" for example in verb.examples))
    return "\n\n".join(part for part in [*parts, verb.note] if part)


def _keys(path: Path) -> str:
    _, _, own = path.read_text().partition("\n\n")  # the list of defaults comes first
    return "keys and their defaults\n" + textwrap.indent(own.rstrip(), "  ")


def _groups(path: Path, folders: list[Path]) -> str:
    chosen = defaults_of(path)
    known = options.groups(folders)
    lines = []
    for group, option in chosen.items():
        names = [f"[{name}]" if name == option else name for name in known.get(group, {})]
        lines += textwrap.wrap(f"{group:<12}{', '.join(names)}", 110, initial_indent="  ", subsequent_indent=" " * 14)
    head = "groups and their options ([default]); group.key=value sets what an option holds\n"
    return head + "\n".join(lines) if lines else ""


def defaults_of(path: Path) -> dict[str, str | None]:
    """Group -> option of a verb's list of defaults, in its order."""
    from omegaconf import OmegaConf

    entries = OmegaConf.to_container(OmegaConf.load(path).defaults)
    assert isinstance(entries, list)
    pairs = [pair for entry in entries if isinstance(entry, dict) for pair in entry.items()]
    return {group.removeprefix("optional ").removeprefix("override "): option for group, option in pairs}

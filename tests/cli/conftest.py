"""A command line in a folder of its own, small files in LETOR form, and one trained run for all that read one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ltr.cli import main

Ltr = Callable[..., tuple[int, str, str]]

QRELS = """\
q1 0 d1 3
q1 0 d2 0
q1 0 d3 1
q2 0 d1 1
q2 0 d4 2
q2 0 d5 0
q3 0 d2 0
q3 0 d6 3
q4 0 d7 0
q4 0 d8 0
q5 0 d1 0
q5 0 d3 2
"""
BM25 = """\
q1 Q0 d1 1 9.1 x
q1 Q0 d2 2 8.0 x
q1 Q0 d3 3 7.5 x
q2 Q0 d5 1 6.0 x
q2 Q0 d4 2 5.5 x
q2 Q0 d1 3 5.5 x
q3 Q0 d2 1 4.1 x
q3 Q0 d6 2 4.0 x
q3 Q0 d11 3 3.0 x
q4 Q0 d7 1 2.2 x
q9 Q0 d1 1 1.0 x
"""
DENSE = """\
q1 Q0 d12 1 0.9 x
q1 Q0 d1 2 0.8 x
q2 Q0 d4 1 0.9 x
q2 Q0 d1 2 0.8 x
q3 Q0 d6 1 0.9 x
q4 Q0 d8 1 0.4 x
q5 Q0 d15 1 0.7 x
q5 Q0 d3 2 0.6 x
"""
TABLE = "query,document,label,score\nq1,d1,3,0.9\nq1,d2,,0.8\nq1,d3,1,0.7\nq2,d4,0,0.6\nq2,d5,2,0.5\n"
ABOUT = """\
query,type,date,price
q1,navigation,2024-03-01,1
q2,topic,2024-11-20,2
q3,navigation,2025-01-15,3
q4,topic,2025-02-02,4
q5,topic,,5
"""


def write_letor(path: Path, queries: int, seed: int, features: int = 4) -> Path:
    """Lists of 3 to 8 documents whose grade follows the first feature, with a document id in each remark."""
    generator = np.random.default_rng(seed)
    lines = []
    for query in range(queries):
        for document in range(generator.integers(3, 9)):
            row = generator.standard_normal(features)
            grade = int(np.searchsorted([-0.5, 0.5, 1.2], row[0] + 0.3 * generator.standard_normal()))
            cells = " ".join(f"{place}:{value:.4f}" for place, value in enumerate(row, start=1))
            lines.append(f"{grade} qid:s{seed}q{query} {cells} # docid = s{seed}q{query}d{document}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return path


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture
def files(here: Path) -> Path:
    """A working directory with judgements, two runs, a table that is both, and a table of queries."""
    for name, text in {
        "qrels.txt": QRELS, "bm25.run": BM25, "dense.run": DENSE, "both.csv": TABLE, "about.csv": ABOUT,
        "empty.run": "", "other.run": "zz Q0 d1 1 1.0 x\n", "negative.txt": "q1 0 d1 1\nq1 0 d2 -1\nq1 0 d3 -2\n",
    }.items():  # fmt: skip
        (here / name).write_text(text)
    return here


@pytest.fixture
def ltr(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ltr:
    """Run a command line in this process, with its output in a file: exit status, stdout, stderr."""
    monkeypatch.delenv("COLUMNS", raising=False)  # readline sets it unseen

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with data/train.txt, data/vali.txt, data/test.txt and the trained runs runs/first and runs/second."""
    folder = tmp_path_factory.mktemp("workplace")
    for place, (name, queries) in enumerate([("train", 24), ("vali", 10), ("test", 12)]):
        write_letor(folder / f"data/{name}.txt", queries, seed=place)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        files = ["data=letor", "data.train=data/train.txt", "data.validation=data/vali.txt", "data.test=data/test.txt"]
        quick = ["metric=ndcg-linear@5", "metrics=[mrr]", "trainer.max_epochs=2", "optimizer.lr=0.01"]
        for name, options in {
            "first": ["loss=lambdarank"],
            "second": ["loss=listnet", "model=linear", "seed=1"],
        }.items():
            assert main(["train", *files, *quick, *options, f"name={name}"]) == 0
        yield folder


@pytest.fixture
def at_work(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory is the workplace."""
    monkeypatch.chdir(workplace)
    return workplace

"""A command line in a folder of its own, small files in LETOR form, and one trained run for all that read one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ltr.cli import main

Ltr = Callable[..., tuple[int, str, str]]


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
def ltr(capsys: pytest.CaptureFixture[str]) -> Ltr:
    """Run a command line in this process: exit status, stdout, stderr."""

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

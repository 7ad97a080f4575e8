"""``ltr train -m``: one run after another, for every combination of values."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ltr import runs
from ltr.cli.compose import Composer
from ltr.cli.errors import ConfigError, Failed, guarded
from ltr.cli.run import as_yaml, said_once
from ltr.cli.train import fit_run, settle
from ltr.cli.words import Word, is_quoted

log = logging.getLogger(__name__)

INTERRUPTED = 130


def sweep(composer: Composer, words: Sequence[Word], show: bool = False) -> None:
    """Train every combination in a folder of its own below one sweep folder; a job that fails does not stop the rest.

    All configurations are composed and checked before the first job starts.

    Raises:
        ConfigError: a configuration is wrong, or the sweep would go on with a run.
        RunError: the sweep's name is taken.
        Failed: some jobs failed; the others are done and in the table.
    """
    if any(word.key == "resume" for word in words):
        raise ConfigError("resume: goes on with one run, so it cannot be part of a sweep (-m)")
    jobs = composer.jobs(words)
    names = _names(jobs)
    configs = _checked(composer, jobs)
    if show:
        print("---\n".join(f"# {name}\n{as_yaml(config)}" for name, config in zip(names, configs, strict=True)), end="")
        return
    folder = _folder(Path(configs[0]["root"]), configs[0]["name"])
    with said_once():
        done = [_run_job(folder, name, config) for name, config in zip(names, configs, strict=True)]
    from ltr.report import print_sweep

    print_sweep([run for run, _ in done])
    failed = [f"{run.path.name}: {wrong}" for run, wrong in done if wrong]
    if failed:
        raise Failed([f"{len(failed)} of {len(done)} jobs failed", *failed])


def _checked(composer: Composer, jobs: list[list[Word]]) -> list[dict[str, Any]]:
    configs: list[dict[str, Any]] = []
    wrong: list[str] = []
    for job in jobs:
        try:
            configs.append(composer.compose(job))
            composer.check(configs[-1])
            settle(configs[-1])
        except ConfigError as error:
            wrong += error.lines
    if wrong:
        raise ConfigError(wrong)
    return configs


def _run_job(folder: Path, name: str, config: dict[str, Any]) -> tuple[runs.Run, str | None]:
    """The run of one job, and what went wrong with it."""
    run = runs.claim(folder.parent, f"{folder.name}/{name}", "")
    job = config | {"name": f"{folder.name}/{name}"}
    log.info("job %s", job["name"])
    status, wrong = guarded(lambda: fit_run(job, lambda hint: run))
    if status:
        run.write_info(status="failed", error=wrong)
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    return run, wrong


def _folder(root: Path, name: str | None) -> Path:
    """Make the folder of the sweep, which no other start has."""
    stem = name or f"{datetime.now():%Y-%m-%d_%H-%M-%S}-sweep"
    if "/" in stem or stem.startswith((".", "-", "~")):
        raise runs.RunError(f"name: wanted one plain word for the sweep's folder, got {stem!r}")
    root.mkdir(parents=True, exist_ok=True)
    copies = 1
    while True:
        folder = root / (stem if copies == 1 else f"{stem}-{copies}")
        try:
            folder.mkdir()
        except FileExistsError:
            if name is not None:
                raise runs.RunError(f"{folder} exists, and a sweep never writes over another: choose a name") from None
            copies += 1
        else:
            return folder


def _names(jobs: list[list[Word]]) -> list[str]:
    """What tells the jobs apart, as folder names: loss-approx_seed-1."""
    varied = [place for place, words in enumerate(zip(*jobs, strict=True)) if len({w.value for w in words}) > 1]
    names: list[str] = []
    for job in jobs:
        stem = "_".join(f"{job[place].key.rpartition('.')[2]}-{_word(job[place].value or '')}" for place in varied)
        stem, copies = stem[:120], 1
        while (name := stem if copies == 1 else f"{stem}-{copies}") in names:
            copies += 1
        names.append(name)
    return names


def _word(value: str) -> str:
    plain = value[1:-1] if is_quoted(value) else value
    return re.sub(r"[^A-Za-z0-9@.+=-]+", "-", plain)

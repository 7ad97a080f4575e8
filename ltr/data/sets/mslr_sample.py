"""data=mslr_sample: 86 queries of MSLR-WEB10K Fold1, fetched once from a public Python wheel."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from ltr.data.formats.letor import read_letor
from ltr.data.ranking_data import DataError, Splits
from ltr.data.splits import hold_out

log = logging.getLogger(__name__)

WHEEL = "rankeval==0.8.2"
WHEEL_SHA256 = "acd2eea3489d19625cb04c659168d4dc32e7410b7a0fa82d8a376e2b7d44a366"
PLATFORM = "--only-binary=:all: --python-version 37 --implementation cp --abi cp37m --platform manylinux2010_x86_64"
INSIDE = "rankeval/test/data"
FILES = {
    "msn1.fold1.train.5k.txt": "6d1721de961a35fbaef7085dc5b41e2940f0ddb04bab5f7a8566cf7db4158fa6",
    "msn1.fold1.test.5k.txt": "13d3c638edd23e482c38f4316c2680c938c2eaedbe096970ab30a48e364463d3",
}
ADVICE = "data=synthetic needs no network"
SECONDS = 300


def mslr_sample(validation: int = 13, split_seed: int = 0, cache: str | os.PathLike[str] | None = None) -> Splits:
    """The first 5,000 rows of MSLR-WEB10K Fold1 train and test: 43 queries each, 136 raw features, grades 0 to 4.

    Fetched on first use (3.4 MB), checked by hash, and kept; the wheel is opened as an archive and none of its code
    runs. The last query of each file is cut by the 5,000 rows.

    Args:
        validation: number of the 43 training queries that are split off to validate on.
        split_seed: which queries these are.
        cache: folder to keep it in; None: $LTR_CACHE, else data/cache of a checkout, else ~/.cache/ltr-toolkit.

    Raises:
        DataError: it cannot be fetched, or is not what it should be.
    """
    train, test = (read_letor(path) for path in sample_files(cache_folder(cache)))
    kept, checked = hold_out(train, validation, split_seed)
    return Splits(kept, checked, test)


def cache_folder(cache: str | os.PathLike[str] | None = None) -> Path:
    """Where fetched data lies: the argument, $LTR_CACHE, data/cache of a checkout, or ~/.cache/ltr-toolkit."""
    if named := cache or os.environ.get("LTR_CACHE"):
        return Path(named).expanduser().absolute()
    checkout = Path(__file__).parents[3]
    if (checkout / "pyproject.toml").is_file() and (checkout / "conf").is_dir():
        return checkout / "data" / "cache"
    return Path.home() / ".cache" / "ltr-toolkit"


def sample_files(cache: Path) -> tuple[Path, Path]:
    """(train, test) files below the cache, fetched when they are not there; two processes may ask at once.

    Raises:
        DataError: it cannot be fetched or written, or a file has not the right hash.
    """
    folder = cache / "mslr_sample"
    if not folder.is_dir():
        log.info("fetching the MSLR sample (3.4 MB, once) into %s", folder)
        try:
            cache.mkdir(parents=True, exist_ok=True)
            work = Path(tempfile.mkdtemp(prefix=".mslr_sample-", dir=cache))
        except OSError as error:
            raise DataError(f"{cache}: cannot keep the MSLR sample there ({error}); set LTR_CACHE") from error
        try:
            _unpack(_download(work), work / "files")
            _move(work / "files", folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    train, test = (folder / name for name in FILES)
    for path in (train, test):
        if not path.is_file() or _sha256(path) != FILES[path.name]:
            raise DataError(f"{path}: is not the file that was fetched; remove {folder} and start again")
    return train, test


def _download(work: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", *PLATFORM.split(), WHEEL]
    quiet = ["--disable-pip-version-check", "--quiet", "--retries", "1", "--dest", str(work)]
    try:
        done = subprocess.run([*command, *quiet], capture_output=True, text=True, timeout=SECONDS, check=False)
        said = done.stderr.strip().splitlines()[-1:] or ["nothing"]
    except subprocess.TimeoutExpired:
        raise DataError(f"the MSLR sample was not fetched within {SECONDS} s; {ADVICE}") from None
    wheels = list(work.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        raise DataError(f"the MSLR sample cannot be fetched, pip said: {said[0]}; {ADVICE}")
    if _sha256(wheels[0]) != WHEEL_SHA256:
        raise DataError(f"the MSLR sample: wanted a wheel with sha256 {WHEEL_SHA256}, came another; {ADVICE}")
    return wheels[0]


def _unpack(wheel: Path, folder: Path) -> None:
    folder.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for name in FILES:
            (folder / name).write_bytes(archive.read(f"{INSIDE}/{name}"))


def _move(folder: Path, place: Path) -> None:
    try:
        folder.rename(place)
    except OSError:
        if not place.is_dir():  # else another process was faster, and its files are the same
            raise


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()

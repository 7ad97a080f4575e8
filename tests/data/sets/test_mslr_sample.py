"""data=mslr_sample, with a small wheel in the place of the real one."""

import hashlib
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from ltr.data import DataError, mslr_sample
from ltr.data.sets import mslr_sample as module

TEXT = "".join(f"{at % 5} qid:{at // 2} 1:{at} 2:1\n" for at in range(86))


class Pip:
    """Stands for the pip process: writes the wheel where --dest points, and counts its calls."""

    def __init__(self, wheel: Path) -> None:
        self.wheel, self.calls, self.command = wheel, 0, [""]
        self.returncode, self.stderr = 0, "a notice\n"

    def __call__(self, command: list[str], **options: object) -> "Pip":
        self.calls, self.command = self.calls + 1, command
        if not self.returncode:
            Path(command[command.index("--dest") + 1], "rankeval.whl").write_bytes(self.wheel.read_bytes())
        return self


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    wheel = tmp_path / "made.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in module.FILES:
            archive.writestr(f"rankeval/test/data/{name}", TEXT)
        archive.writestr("rankeval/__init__.py", "raise SystemExit")
    pip = Pip(wheel)
    monkeypatch.setattr(subprocess, "run", pip)
    monkeypatch.setattr(module, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())
    monkeypatch.setattr(module, "FILES", dict.fromkeys(module.FILES, hashlib.sha256(TEXT.encode()).hexdigest()))
    return pip


def test_fetched_once_as_an_archive(pip: Pip, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    train, validation, test = mslr_sample(cache=cache)
    assert validation is not None
    assert test is not None
    assert [len(part.query_ids) for part in (train, validation, test)] == [30, 13, 43]
    assert pip.command[0] == sys.executable
    assert " ".join(pip.command[1:-6]) == (
        "-m pip download --no-deps --only-binary=:all: --python-version 37 --implementation cp --abi cp37m "
        "--platform manylinux2010_x86_64 rankeval==0.8.2"
    )
    again = mslr_sample(cache=cache)
    assert pip.calls == 1
    assert again.train.content_hash() == train.content_hash()
    assert mslr_sample(cache=cache, split_seed=1).train.query_ids != train.query_ids
    assert len(mslr_sample(validation=5, cache=cache).train.query_ids) == 38
    assert sorted(path.name for path in cache.rglob("*")) == ["mslr_sample", *sorted(module.FILES)]


def test_several_may_ask_at_once(pip: Pip, tmp_path: Path) -> None:
    cache, found = tmp_path / "cache", []
    threads = [threading.Thread(target=lambda: found.append(module.sample_files(cache))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert [path.name for path in cache.iterdir()] == ["mslr_sample"]


def test_a_slower_one_keeps_what_is_there(tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    module._move(tmp_path / "mine", tmp_path / "theirs")
    assert (tmp_path / "theirs" / "file").read_text() == "theirs"
    with pytest.raises(OSError, match="No such file"):
        module._move(tmp_path / "mine", tmp_path / "absent" / "place")


def test_failure_names_the_way_out(pip: Pip, tmp_path: Path) -> None:
    pip.returncode, pip.stderr = 1, "ERROR: one\nERROR: No matching distribution found\n"
    with pytest.raises(DataError) as caught:
        mslr_sample(cache=tmp_path / "cache")
    assert str(caught.value) == (
        "the MSLR sample cannot be fetched, pip said: ERROR: No matching distribution found; "
        "data=synthetic needs no network"
    )
    assert list((tmp_path / "cache").iterdir()) == []


def test_endless_download_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], timeout: float, **options: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(DataError) as caught:
        mslr_sample(cache=tmp_path / "cache")
    assert str(caught.value) == "the MSLR sample was not fetched within 300 s; data=synthetic needs no network"


def test_another_wheel_is_refused(pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WHEEL_SHA256", "0123")
    with pytest.raises(DataError) as caught:
        mslr_sample(cache=tmp_path / "cache")
    assert str(caught.value) == (
        "the MSLR sample: wanted a wheel with sha256 0123, came another; data=synthetic needs no network"
    )
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_damaged_cache_is_named(pip: Pip, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    train, _ = module.sample_files(cache)
    train.write_text("short")
    with pytest.raises(DataError) as caught:
        mslr_sample(cache=cache)
    assert str(caught.value) == (
        f"{train}: is not the file that was fetched; remove {cache / 'mslr_sample'} and start again"
    )


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    cache = tmp_path / "file"
    cache.touch()
    with pytest.raises(DataError) as caught:
        mslr_sample(cache=cache)
    assert str(caught.value) == (
        f"{cache}: cannot keep the MSLR sample there ([Errno 17] File exists: '{cache}'); set LTR_CACHE"
    )


def test_where_the_cache_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LTR_CACHE", raising=False)
    root = Path(__file__).parents[3]
    assert module.cache_folder() == root / "data" / "cache"
    monkeypatch.setattr(module, "__file__", str(tmp_path / "site-packages" / "ltr" / "data" / "sets" / "x.py"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert module.cache_folder() == tmp_path / ".cache" / "ltr-toolkit"
    monkeypatch.setenv("LTR_CACHE", str(tmp_path / "mine"))
    assert module.cache_folder() == tmp_path / "mine"
    assert module.cache_folder("~/other") == tmp_path / "other"


@pytest.mark.shared
def test_real_files_are_those_of_the_reference(shared: Path) -> None:
    names = {
        "msn1.fold1.train.5k.txt": "web10k.fold1.train.5k.txt",
        "msn1.fold1.test.5k.txt": "web10k.fold1.test.5k.txt",
    }
    for name, reference in names.items():
        assert module._sha256(shared / "data" / "mslr_sample" / reference) == module.FILES[name]

"""The folder of configurations: its groups and their options, read as files (no Hydra)."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path


def folder() -> Path:
    """ltr/conf of an installed package, conf beside it in a checkout."""
    package = Path(__file__).parent
    return package / "conf" if (package / "conf").is_dir() else package.parent / "conf"


def groups(folders: Sequence[Path]) -> dict[str, dict[str, Path]]:
    """Group -> option -> file, over all folders; the first one to name an option wins."""
    found: dict[str, dict[str, Path]] = {}
    for root in folders:
        for path in sorted(root.glob("*/**/*.yaml")):
            group, _, option = path.relative_to(root).with_suffix("").as_posix().partition("/")
            found.setdefault(group, {}).setdefault(option, path)
    return found


def remark(path: Path) -> str:
    """The first line of the file when it is a remark, without its mark."""
    line = path.read_text().partition("\n")[0]
    return line.lstrip("# ").rstrip() if line.startswith("#") else ""


def near(word: str, known: Sequence[str]) -> str:
    """``; did you mean X?`` for the nearest known word, or all of them when they are few, or nothing."""
    close = get_close_matches(word, known, 1, cutoff=0.6) or [each for each in known if word and each.startswith(word)]
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known: {', '.join(known)}" if 0 < len(known) <= 16 else ""

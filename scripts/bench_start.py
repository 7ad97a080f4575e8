"""How long a user waits for `import ltr` and `ltr --help`: prints the table of docs/benchmarks.md."""

import os
import platform
import subprocess
import sys
import sysconfig
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path
from statistics import median

RUNS = 10
COMMANDS = {
    "`python -c pass`": [sys.executable, "-c", "pass"],
    "`import ltr`": [sys.executable, "-c", "import ltr"],
    "`import ltr.losses`": [sys.executable, "-c", "import ltr.losses"],
    "`ltr --help`": [str(Path(sysconfig.get_path("scripts")) / "ltr"), "--help"],
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    versions = f"Python {platform.python_version()}, torch {version('torch')}, ltr-toolkit {version('ltr-toolkit')}"
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"`python scripts/bench_start.py`, {date.today()}: {versions}, {machine}.")
    print(f"Wall time of a fresh process, {RUNS} runs after one that warms the disk cache.\n")
    print("| command | median, s | fastest, s | slowest, s |")
    print("|---|---|---|---|")
    for name, command in COMMANDS.items():
        seconds(command)
        times = [seconds(command) for _ in range(RUNS)]
        print(f"| {name} | {median(times):.3f} | {min(times):.3f} | {max(times):.3f} |")


if __name__ == "__main__":
    main()

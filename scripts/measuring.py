"""What the benches measure with: the fastest of several calls, and the memory that one takes."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Work = Callable[[], Any]


def fastest(work: Work, repeats: int) -> float:
    """Seconds of the fastest call after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def extra_memory(work: Work) -> float:
    """MiB by which the resident memory rises at most during a call that was made before; Linux alone."""
    work()
    gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # what was freed goes back, so that it counts when it is taken again
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    work()
    return max(0, _status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(f"{field}:")).split()[1])

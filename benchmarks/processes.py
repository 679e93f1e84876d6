"""Measures CPU seconds, wall time and peak memory of a command and its child processes."""

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

SAMPLING_PERIOD_S = 0.05
"""Long enough that listing the processes, some milliseconds each time, does not disturb the measured command."""
TIMEOUT_S = 1800


@dataclass(frozen=True, slots=True)
class Usage:
    """Resources used by a finished command."""

    cpu_s: float
    """User and system time of the command and its children, in seconds; stable on a busy machine."""
    wall_s: float
    peak_bytes: int
    """Highest resident memory of the process tree, sampled every 50 ms; shared pages count once per process."""
    return_code: int
    output: str
    errors: str


def measure(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    given: str = "",
    timeout_s: float = TIMEOUT_S,
    *,
    watched: bool = True,
) -> Usage:
    """Run a command to its end and return its usage.

    Args:
        command: Program and arguments.
        environment: Variables to add to those of this process.
        folder: Working folder; None for the current one.
        given: Text for the standard input.
        timeout_s: Time after which the command is killed; its return code is then negative.
        watched: Whether memory is sampled; otherwise the peak is 0.
    """
    started = time.perf_counter()
    before = _children_cpu_s()
    process = subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **(environment or {})},
        cwd=folder,
    )
    sampler = _Sampler(process.pid)
    if watched:
        sampler.start()
    killer = threading.Timer(timeout_s, process.kill)
    killer.start()
    try:
        output, errors = process.communicate(given)
    finally:
        killer.cancel()
        sampler.stop()
    wall_s = time.perf_counter() - started
    # The kernel's count is exact; the samples replace it on Windows, which has none.
    after = _children_cpu_s()
    cpu_s = sampler.cpu_s if before is None or after is None else after - before
    return Usage(cpu_s, wall_s, sampler.peak_bytes, process.returncode, output, errors)


def folder_bytes(folder: Path) -> int:
    """Return the size of all files below a folder, 0 if the folder is missing."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _children_cpu_s() -> float | None:
    if os.name == "nt":
        return None
    times = os.times()
    return times.children_user + times.children_system


class _Sampler(threading.Thread):
    """Samples a process tree from a separate thread."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.peak_bytes = 0
        self._cpu_s: dict[int, float] = {}
        self._pid = pid
        self._ended = threading.Event()

    @property
    def cpu_s(self) -> float:
        return sum(self._cpu_s.values())

    def run(self) -> None:
        try:
            root = psutil.Process(self._pid)
        except psutil.Error:
            return
        while not self._ended.is_set():
            self._sample(root)
            self._ended.wait(SAMPLING_PERIOD_S)

    def stop(self) -> None:
        self._ended.set()
        if self.is_alive():
            self.join()

    def _sample(self, root: psutil.Process) -> None:
        total = 0
        try:
            family = [root, *root.children(recursive=True)]
        except psutil.Error:
            return
        for process in family:
            try:
                total += process.memory_info().rss
                spent = process.cpu_times()
                self._cpu_s[process.pid] = spent.user + spent.system
            except psutil.Error:
                continue
        self.peak_bytes = max(self.peak_bytes, total)

"""Usage of processes: exit code, output, CPU time and memory."""

import sys
from pathlib import Path

from benchmarks.processes import folder_bytes, measure

BUSY = "sum(i * i for i in range(3_000_000))"


def test_output_and_exit_code_are_returned() -> None:
    usage = measure([sys.executable, "-c", "import sys; print(input()); sys.exit('bad')"], given="hello")
    assert (usage.output.strip(), usage.errors.strip(), usage.return_code) == ("hello", "bad", 1)


def test_the_work_of_a_grandchild_counts() -> None:
    idle = measure([sys.executable, "-c", "pass"])
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}], check=True)"
    busy = measure([sys.executable, "-c", child])
    assert busy.return_code == 0
    assert busy.cpu_s > idle.cpu_s


def test_memory_in_use_shows_in_the_peak() -> None:
    usage = measure([sys.executable, "-c", "import time; held = bytearray(b'x') * 100_000_000; time.sleep(0.3)"])
    assert usage.peak_bytes > 100_000_000


def test_a_command_that_does_not_end_is_killed() -> None:
    usage = measure([sys.executable, "-c", "import time; time.sleep(60)"], timeout_s=0.3)
    assert usage.return_code != 0


def test_the_size_of_a_folder_is_the_sum_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"12345")
    (tmp_path / "y").write_bytes(b"1")
    assert folder_bytes(tmp_path) == 6
    assert folder_bytes(tmp_path / "none") == 0

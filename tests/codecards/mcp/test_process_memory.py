"""Free memory is returned to the system."""

import platform
import subprocess
import sys

import pytest

from codecards.mcp.process_memory import limit_arenas, trim_heap

GROWN_AND_FREED = """
import psutil
from codecards.mcp.process_memory import trim_heap
pairs = [[bytes(1000), bytes(1000)] for _ in range(100_000)]
pairs = pairs[-1:]  # the last block stays: the heap below it is free, but does not shrink by itself
before = psutil.Process().memory_info().rss
trim_heap()
print(before - psutil.Process().memory_info().rss)
"""
LEAST_BYTES = 100_000_000
"""Half of the blocks: the C library may keep some."""


def test_other_systems_are_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(_name: object) -> None:
        pytest.fail("the C library was loaded")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", no_library)
    limit_arenas()
    trim_heap()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps freed memory this way")
def test_freed_memory_is_returned() -> None:
    done = subprocess.run([sys.executable, "-c", GROWN_AND_FREED], capture_output=True, text=True, check=True)
    assert int(done.stdout) > LEAST_BYTES

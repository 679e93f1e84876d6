"""Memory that is free goes back to the system, where the C library would keep it."""

import subprocess
import sys

import pytest

from codecards.mcp.process_memory import limit_arenas, trim_heap

GROWN_AND_FREED = """
import psutil
from codecards.mcp.process_memory import trim_heap
kept = [[bytes(1000), bytes(1000)] for _ in range(100_000)]
for pair in kept:
    pair.pop(0)  # every other block is free now, and the last one is not
kept = kept[-1:]
before = psutil.Process().memory_info().rss
trim_heap()
print(before - psutil.Process().memory_info().rss)
"""


def test_it_does_nothing_where_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    limit_arenas()
    trim_heap()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux's C library keeps free memory so")
def test_what_is_free_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", GROWN_AND_FREED], capture_output=True, text=True, check=True)
    assert int(done.stdout) >= 0

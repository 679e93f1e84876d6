"""Process memory: what a process that runs for days gives back to the system.

The C library of most Linux systems keeps freed memory in one heap a thread, up to eight a core. A server whose threads build
generation after generation would grow to several times what it holds. Elsewhere there is nothing to do.
"""

import ctypes
import sys
from contextlib import suppress
from typing import Any

N_HEAPS = 2
_M_ARENA_MAX = -8  # as malloc.h has it


def limit_arenas() -> None:
    """Let all threads that are yet to come share a few heaps."""
    with suppress(AttributeError):  # another C library
        _c_library().mallopt(_M_ARENA_MAX, N_HEAPS)


def trim_heap() -> None:
    """Return what is free to the system; some milliseconds."""
    with suppress(AttributeError):
        _c_library().malloc_trim(0)


def _c_library() -> Any:  # noqa: ANN401 - its functions are looked up by name
    return ctypes.CDLL(None) if sys.platform == "linux" else None

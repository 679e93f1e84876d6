"""Returns freed memory to the system, for processes that run for days.

The C library of most Linux systems keeps freed memory in one heap per thread, up to eight per core. A server whose threads
build generation after generation would grow to several times its live memory. Other systems need nothing.
"""

import ctypes
import sys
from contextlib import suppress

N_HEAPS = 2
_M_ARENA_MAX = -8  # from malloc.h


def limit_arenas() -> None:
    """Let the threads that start later share a few heaps."""
    _call("mallopt", _M_ARENA_MAX, N_HEAPS)


def trim_heap() -> None:
    """Return free memory to the system; takes some milliseconds."""
    _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> None:
    """Call a function of the C library, if the system is Linux and its library has the function."""
    if sys.platform == "linux":
        with suppress(AttributeError):
            getattr(ctypes.CDLL(None), name)(*arguments)

"""Reserves stdin and stdout for a protocol.

**Invariant:** only the protocol reaches stdout: it uses a private copy of the descriptor, and descriptor 1 leads to
stderr, also for C libraries and child processes.
"""

import os
import sys
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StdioPair:
    """The two descriptors that carry the protocol."""

    source: int
    sink: int


def claim_stdio() -> StdioPair:
    """Return private copies of stdin and stdout; later prints go to stderr, and later reads find no input.

    Call this before importing modules that may print.
    """
    stdio = StdioPair(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return stdio

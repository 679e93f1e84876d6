"""Stdio guard: takes stdin and stdout for a protocol, so that nothing else can reach them.

**Invariant:** nothing but protocol reaches stdout: the wire is a private copy of the descriptor, and descriptor 1
leads to stderr, also for libraries in C and for child processes.
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
    """Take stdin and stdout for the protocol: whoever prints afterwards prints to stderr, whoever reads finds nothing.

    To be called before anything that may print is imported.
    """
    wire = StdioPair(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)
    return wire

"""Selects the files that a new task starts with: related modules, related tests, recently changed files.

All of them enter as digests and count as predictions, so files that are not used leave soon.

Source: "Sliding window" (see `codecards.router`), §5.1.
"""

from collections.abc import Callable, Iterable, Sequence

from codecards.indexer.walk.roles import role_of
from codecards.router.memory.working_memory import MemoryFile, Mode
from codecards.router.ports import FoldedHit, Signal

N_HITS = 12
"""Hits of the goal that are considered; several may be in one file."""
N_MODULES = 5
N_TESTS = 3
N_RECENT = 3
MODULE_RELEVANCE = 0.7
NEAR_RELEVANCE = 0.4
"""Relevance of tests and recent files, which leave first if there is no room."""


def initial_files(
    hits: Sequence[FoldedHit],
    near: Callable[[Sequence[str]], Sequence[Signal]],
    recent: Iterable[str],
    *,
    turn: int,
) -> tuple[MemoryFile, ...]:
    """Return the files that a task starts with, the most relevant first.

    Args:
        hits: Hits of the goal, best first.
        near: Returns the neighbours of files, strongest first; the tests among them are selected.
        recent: Files that were changed recently, the latest first.
        turn: The turn that begins; it counts as the last access of the files.
    """
    found = dict.fromkeys(hit.path for hit in hits)
    modules = [path for path in found if not _is_test(path)][:N_MODULES]
    tests = {path: "a test related to the goal" for path in found if _is_test(path)}
    for signal in near(modules) if modules else ():
        if _is_test(signal.path):
            tests.setdefault(signal.path, f"a test: {signal.why}")
    chosen = dict.fromkeys(modules, "related to the goal")
    chosen |= dict([*tests.items()][:N_TESTS])
    others = [path for path in dict.fromkeys(recent) if path not in chosen]
    chosen |= dict.fromkeys(others[:N_RECENT], "changed recently")
    return tuple(
        MemoryFile(
            path,
            MODULE_RELEVANCE if path in modules else NEAR_RELEVANCE,
            Mode.DIGEST,
            last_access_turn=turn,
            predicted=True,
            why=why,
        )
        for path, why in chosen.items()
    )


def _is_test(path: str) -> bool:
    return role_of(path) == "test"

"""Rebuilding: which files a new task begins with: related modules, related tests, recently changed files; no others.

Source: the sliding-window article, §5.1. All come in as digests, and as guesses: what is not used soon leaves again.
"""

from collections.abc import Callable, Iterable, Sequence

from codecards.indexer.walk.roles import role_of
from codecards.router.memory.working_memory import MemoryFile, Mode
from codecards.router.ports import FoldedHit, Signal

N_HITS = 12
"""How many hits of the goal are looked at; several may lie in one file."""
N_MODULES = 5
N_TESTS = 3
N_RECENT = 3
MODULE_RELEVANCE = 0.7
NEAR_RELEVANCE = 0.4
"""Of tests and recent files: they give way first where there is no room."""


def initial_files(
    hits: Sequence[FoldedHit],
    near: Callable[[Sequence[str]], Sequence[Signal]],
    recent: Iterable[str],
    *,
    turn: int,
) -> tuple[MemoryFile, ...]:
    """Return the files that a task begins with, the most relevant first.

    Args:
        hits: What the goal finds, best first.
        near: Returns the neighbours of files, strongest first; tests among them belong to the task.
        recent: Files that were changed lately, the latest first.
        turn: The turn that begins; files that stay unused leave some turns later.
    """
    found = dict.fromkeys(hit.path for hit in hits)
    modules = [path for path in found if not _is_test(path)][:N_MODULES]
    tests = {path: "a test that bears on the goal" for path in found if _is_test(path)}
    for signal in near(modules) if modules else ():
        if _is_test(signal.path):
            tests.setdefault(signal.path, f"a test: {signal.why}")
    chosen = dict.fromkeys(modules, "bears on the goal")
    chosen |= dict([*tests.items()][:N_TESTS])
    late = [path for path in dict.fromkeys(recent) if path not in chosen]
    chosen |= dict.fromkeys(late[:N_RECENT], "changed lately")
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

"""Operations: what the agent did lately, as the router sees it."""

from collections.abc import Sequence
from dataclasses import dataclass

READ_KINDS = frozenset({"open", "read", "recall", "search", "list", "callers", "references"})
"""What only looks; a later write of the same thing makes it stale."""
WRITE_KINDS = frozenset({"edit", "create", "write", "replace", "delete", "rename"})
RETRIEVAL_KINDS = frozenset({"recall", "search", "callers", "references"})
"""What looks for code and finds files; two of them in a row that find the same file promote it."""
NAMING_KINDS = RETRIEVAL_KINDS | {"list", "read", "run"}
"""What names files without bringing them into the working memory; who named a file often opens it next."""
KEPT_OPERATIONS = 250
"""How many are kept for the router and for replay; one product of this kind keeps about as many."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of a tool."""

    number: int
    """Counts up from 1 within a session."""
    turn: int
    kind: str
    """"open", "close", "read", "recall", "search", "list", "edit", "create", "run" …; any word is allowed."""
    paths: tuple[str, ...] = ()
    """The files it touched, or found, best first."""
    query: str = ""
    failed: bool = False

    @property
    def writes(self) -> bool:
        """Whether it changes the files that it names."""
        return self.kind in WRITE_KINDS and not self.failed


def hits_in_a_row(path: str, operations: Sequence[Operation], since_turn: int | None = None) -> int:
    """Return how many of the latest retrievals, without a gap, found the file; those up to `since_turn` don't count."""
    n_hits = 0
    for operation in reversed(operations):
        if operation.kind not in RETRIEVAL_KINDS:
            continue
        if path not in operation.paths or (since_turn is not None and operation.turn <= since_turn):
            break
        n_hits += 1
    return n_hits


def stale_reads(operations: Sequence[Operation]) -> frozenset[int]:
    """Return the numbers of the reads whose file was written afterwards: what they showed is not true any more."""
    written: set[str] = set()
    stale = set()
    for operation in reversed(operations):
        if operation.writes:
            written.update(operation.paths)
        elif operation.kind in READ_KINDS and not written.isdisjoint(operation.paths):
            stale.add(operation.number)
    return frozenset(stale)


def unloadable(operations: Sequence[Operation], after: int) -> frozenset[int]:
    """Return the stale reads that at least `after` later operations have followed.

    Dropping a read the moment its file is written makes agents repeat what they did; so its record stays for a while,
    though its text is never shown as current. Source: the article on split duties, 50 (one product: 250).
    """
    last = operations[-1].number if operations else 0
    return frozenset(number for number in stale_reads(operations) if last - number >= after)

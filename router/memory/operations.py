"""Operations: the calls that an agent made, as the router sees them."""

from collections.abc import Sequence
from dataclasses import dataclass

READ_KINDS = frozenset({"open", "read", "recall", "search", "list", "callers", "references"})
"""Operations that only read. A later write to one of their files makes them stale."""
WRITE_KINDS = frozenset({"edit", "create", "write", "replace", "delete", "rename"})
RETRIEVAL_KINDS = frozenset({"recall", "search", "callers", "references"})
"""Operations that search for code and return files. Two in a row that return the same file promote it."""
NAMING_KINDS = RETRIEVAL_KINDS | {"list", "read", "run"}
"""Operations that name files without adding them to the working memory. A file that was named is often opened next."""
KEPT_OPERATIONS = 250
"""Number of operations that are kept for the router and for replay."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one of the host's tools, or another event in the host: a prompt, a reply."""

    kind: str
    """"read", "search", "edit", "run", "reply", "prompt" …; any word is allowed."""
    paths: Sequence[str] = ()
    """Files that the call read, wrote or found, best first."""
    query: str = ""
    """The words that were searched for."""
    text: str = ""
    """The call as the model wrote it; by default the query or the paths."""
    result: str = ""
    failed: bool = False
    reason: str = ""
    """Why a file was changed."""
    lines: tuple[int, int] | None = None
    """First and last line that were read or changed, 1-based and inclusive; None for whole files."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A recorded call."""

    number: int
    """Counts up from 1 within a session."""
    turn: int
    kind: str
    """"open", "close", "read", "recall", "search", "list", "edit", "create", "run" …; any word is allowed."""
    paths: tuple[str, ...] = ()
    """Files that the call touched or found, best first."""
    query: str = ""
    failed: bool = False

    @property
    def writes(self) -> bool:
        """Whether the operation changed the files that it names."""
        return self.kind in WRITE_KINDS and not self.failed


def hits_in_a_row(path: str, operations: Sequence[Operation], since_turn: int | None = None) -> int:
    """Return how many of the latest retrievals found the file without a gap; those up to `since_turn` don't count."""
    n_hits = 0
    for operation in reversed(operations):
        if operation.kind not in RETRIEVAL_KINDS:
            continue
        if path not in operation.paths or (since_turn is not None and operation.turn <= since_turn):
            break
        n_hits += 1
    return n_hits


def stale_reads(operations: Sequence[Operation]) -> frozenset[int]:
    """Return the numbers of the reads whose files were written afterwards: their results are out of date."""
    written: set[str] = set()
    stale = set()
    for operation in reversed(operations):
        if operation.writes:
            written.update(operation.paths)
        elif operation.kind in READ_KINDS and not written.isdisjoint(operation.paths):
            stale.add(operation.number)
    return frozenset(stale)


def unloadable(operations: Sequence[Operation], after: int) -> frozenset[int]:
    """Return the numbers of the stale reads that at least `after` operations have followed.

    An agent that loses a read as soon as its file is written repeats the read. The record therefore stays for a while,
    although its text is never shown as current.

    Source: "Separation of duties" (see `codecards.router`), which gives 50 operations and cites a product with 250.
    """
    last = operations[-1].number if operations else 0
    return frozenset(number for number in stale_reads(operations) if last - number >= after)

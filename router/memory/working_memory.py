"""Working memory: what the agent needs now, as a small structured state; every change gives a new value.

It has the task, files in full or as digests, changes with their motive, active constraints, references to the archive,
open questions, memos of closed files, and a list of things to do.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

MAX_REASON_CHARACTERS = 200
"""A change keeps its motive only; the detail of how it was done is what makes an agent drift."""
MAX_MEMOS = 24
"""The memo notebook's cap; the oldest memo leaves first."""
MAX_USED_RUNS = 6
MAX_GOAL_CHARACTERS = 2_000


class Mode(StrEnum):
    """How a file stands in the working memory."""

    FULL = "full"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class TaskState:
    """What is being done; rewritten at each switch of task, never appended to."""

    goal: str
    status: str = "exploring"
    """The stage, any word; "exploring", "implementing", "testing" and "reviewing" have rules."""
    constraints: tuple[str, ...] = ()
    """What must hold whatever nearer text says: "do not touch the migrations"."""
    status_since_turn: int = 0


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """One file of the working memory."""

    path: str
    relevance: float = 0.5
    """0 to 1, the higher the better."""
    mode: Mode = Mode.DIGEST
    digest: str = ""
    """The code card shown in digest mode, as of `text_hash`."""
    purpose: str = ""
    """Why it was opened, in the agent's words; chooses what is kept when it is closed."""
    last_access_turn: int = 0
    last_switch_turn: int | None = None
    """When the mode last changed, None if it never did."""
    pinned: bool = False
    focus: tuple[int, int] | None = None
    """Lines that matter, 1-based and inclusive; shown when the whole does not fit."""
    used_lines: tuple[tuple[int, int], ...] = ()
    """Runs of lines that were read or changed, the latest first; shown too when the whole does not fit."""
    text_hash: str = ""
    """Of the text last seen on disk."""
    predicted: bool = False
    """Brought in by a prediction, and not used since."""
    why: str = ""
    """The reason of the last switch."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What was done to a file, and why; no detail of how."""

    path: str
    action: str
    reason: str = ""
    status: str = "pending_test"


@dataclass(frozen=True, slots=True)
class ClosedFileSummary:
    """What stays of a closed file."""

    path: str
    text: str
    purpose: str = ""
    turn: int = 0
    handle: str = ""
    """Gives the whole text back, "" if it can only be read from disk."""


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One thing to do."""

    text: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Eviction:
    """A file that was let go, and when."""

    path: str
    turn: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """The state of a task; a value, so that a reader sees the old one or the new one and nothing between."""

    task: TaskState
    files: tuple[MemoryFile, ...] = ()
    """One entry a path, in the order in which they came."""
    changes: tuple[FileChange, ...] = ()
    archive_refs: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    memos: tuple[ClosedFileSummary, ...] = ()
    """Oldest first."""
    todo: tuple[TodoItem, ...] = ()
    turn: int = 0
    """Counts generations; all waiting times are in turns, so that no clock can disturb them."""
    evicted: tuple[Eviction, ...] = ()
    """Files that were let go in this task: a prediction alone does not bring them back."""
    hidden_blocks: tuple[str, ...] = ()
    """Blocks that the agent chose not to see: "changes", "todo", "notes" …"""

    def entry(self, path: str) -> MemoryFile | None:
        """Return the file's entry, None if it is not in the working memory."""
        return next((entry for entry in self.files if entry.path == path), None)


def with_task(memory: WorkingMemory, goal: str, constraints: Iterable[str] | None = None) -> WorkingMemory:
    """Return the memory with another goal: the text is replaced, and what was forgotten may come back."""
    kept = memory.task.constraints if constraints is None else tuple(dict.fromkeys(constraints))
    task = TaskState(goal.strip()[:MAX_GOAL_CHARACTERS], "exploring", kept, memory.turn)
    return replace(memory, task=task, evicted=())


def with_status(memory: WorkingMemory, status: str) -> WorkingMemory:
    """Return the memory in another stage; the same stage changes nothing."""
    if status == memory.task.status:
        return memory
    return replace(memory, task=replace(memory.task, status=status, status_since_turn=memory.turn))


def with_constraint(memory: WorkingMemory, constraint: str) -> WorkingMemory:
    """Return the memory with one more constraint; a known one is not added twice."""
    text = " ".join(constraint.split())
    if not text or text in memory.task.constraints:
        return memory
    return replace(memory, task=replace(memory.task, constraints=(*memory.task.constraints, text)))


def with_file(memory: WorkingMemory, entry: MemoryFile) -> WorkingMemory:
    """Return the memory with this entry in the place of the one of the same path, or at the end."""
    if memory.entry(entry.path) is None:
        return replace(memory, files=(*memory.files, entry))
    return replace(memory, files=tuple(entry if old.path == entry.path else old for old in memory.files))


def without_file(memory: WorkingMemory, path: str, why: str = "") -> WorkingMemory:
    """Return the memory without the file, and with its path, and why it left, among the forgotten."""
    files = tuple(entry for entry in memory.files if entry.path != path)
    if len(files) == len(memory.files):
        return memory
    evicted = (*(old for old in memory.evicted if old.path != path), Eviction(path, memory.turn, why))
    return replace(memory, files=files, evicted=evicted)


def with_access(memory: WorkingMemory, path: str, relevance: float | None = None) -> WorkingMemory:
    """Return the memory with the file used in this turn; a file that is not in it stays out."""
    entry = memory.entry(path)
    if entry is None:
        return memory
    return with_file(
        memory,
        replace(
            entry,
            last_access_turn=memory.turn,
            predicted=False,
            relevance=entry.relevance if relevance is None else max(entry.relevance, min(1.0, relevance)),
        ),
    )


def with_edited(memory: WorkingMemory, path: str) -> WorkingMemory:
    """Return the memory with the file in full: who changes a file must see it as it is now.

    This is an act of the agent, as opening is, and waits for no dead time; a file that was not there comes in.
    """
    entry = memory.entry(path) or MemoryFile(path)
    if entry.mode is Mode.FULL:
        return memory
    return with_file(memory, replace(entry, mode=Mode.FULL, last_switch_turn=memory.turn, why="edited"))


def with_used_lines(memory: WorkingMemory, path: str, lines: tuple[int, int]) -> WorkingMemory:
    """Return the memory with the lines in the focus of the file; runs that lie within them are not kept beside."""
    entry = memory.entry(path)
    if entry is None:
        return memory
    others = (run for run in entry.used_lines if not (lines[0] <= run[0] and run[1] <= lines[1]))
    return with_file(memory, replace(entry, focus=lines, used_lines=(lines, *others)[:MAX_USED_RUNS]))


def with_change(memory: WorkingMemory, change: FileChange) -> WorkingMemory:
    """Return the memory with a change noted; one of the same file and action takes the place of the older."""
    reason = " ".join(change.reason.split())
    if len(reason) > MAX_REASON_CHARACTERS:
        reason = reason[: MAX_REASON_CHARACTERS - 1] + "…"
    kept = tuple(old for old in memory.changes if (old.path, old.action) != (change.path, change.action))
    return replace(memory, changes=(*kept, replace(change, reason=reason)))


def with_memo(memory: WorkingMemory, memo: ClosedFileSummary, *, keep: int = MAX_MEMOS) -> WorkingMemory:
    """Return the memory with a memo in the place of an older one of the same file; the oldest beyond `keep` leave."""
    others = tuple(old for old in memory.memos if old.path != memo.path)
    return replace(memory, memos=(*others, memo)[-keep:])


def without_memo(memory: WorkingMemory, path: str) -> WorkingMemory:
    """Return the memory without the memo of a file."""
    return replace(memory, memos=tuple(memo for memo in memory.memos if memo.path != path))

"""Working memory: what an agent needs now, as a small immutable state; each change returns a new value.

It holds the task with its constraints, files in full or as digests, changes with their reasons, references to the
archive, open questions, memos (summaries of closed files) and a to-do list.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

MAX_REASON_CHARACTERS = 200
"""A change keeps its reason only. Details of how it was made distract the agent from its goal."""
MAX_MEMOS = 24
"""Most memos; the oldest leaves first."""
MAX_USED_RUNS = 6
"""Most runs of used lines of one file."""
MAX_GOAL_CHARACTERS = 2_000


class Mode(StrEnum):
    """How a file is shown."""

    FULL = "full"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class TaskState:
    """The current task; replaced at each switch of task, never appended to."""

    goal: str
    status: str = "exploring"
    """The stage, any word; the router has rules for "implementing" and "testing"."""
    constraints: tuple[str, ...] = ()
    """What must hold, whatever later text says: "do not touch the migrations"."""
    status_since_turn: int = 0


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file of the working memory."""

    path: str
    relevance: float = 0.5
    """0 to 1, the higher the better."""
    mode: Mode = Mode.DIGEST
    digest: str = ""
    """Signatures and important comments, shown in digest mode; made from the text with `text_hash`."""
    purpose: str = ""
    """Why the agent opened the file, in its own words; decides what is kept when the file is closed."""
    last_access_turn: int = 0
    last_switch_turn: int | None = None
    """Turn in which the mode last changed; None if it never did."""
    pinned: bool = False
    focus: tuple[int, int] | None = None
    """Lines to show when the whole does not fit, 1-based and inclusive."""
    used_lines: tuple[tuple[int, int], ...] = ()
    """Runs of lines that were read or changed, the latest first; shown after `focus` when the whole does not fit."""
    text_hash: str = ""
    """Hash of the text that was last read from disk."""
    predicted: bool = False
    """Whether a prediction added the file, and it was not used since."""
    why: str = ""
    """Reason of the last switch."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of a file, and its reason."""

    path: str
    action: str
    reason: str = ""
    status: str = "pending_test"


@dataclass(frozen=True, slots=True)
class ClosedFileSummary:
    """The memo of a closed file: what is kept of it."""

    path: str
    text: str
    purpose: str = ""
    turn: int = 0
    handle: str = ""
    """Restores the whole text; "" if the text can only be read from disk."""


@dataclass(frozen=True, slots=True)
class TodoItem:
    """One item of the to-do list."""

    text: str
    done: bool = False


@dataclass(frozen=True, slots=True)
class Eviction:
    """A file that left the working memory."""

    path: str
    turn: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """The working memory of one session, as an immutable value."""

    task: TaskState
    files: tuple[MemoryFile, ...] = ()
    """One entry per path, in the order in which they were added."""
    changes: tuple[FileChange, ...] = ()
    archive_refs: tuple[str, ...] = ()
    """Ids of the notes that the session wrote."""
    open_questions: tuple[str, ...] = ()
    memos: tuple[ClosedFileSummary, ...] = ()
    """Oldest first."""
    todo: tuple[TodoItem, ...] = ()
    turn: int = 0
    """Counts the turns. All cooldowns are in turns, so they do not depend on a clock."""
    evicted: tuple[Eviction, ...] = ()
    """Files that left during this task; a prediction alone does not bring them back."""
    hidden_blocks: tuple[str, ...] = ()
    """Blocks that the agent has hidden: "changes", "todo", "notes" …"""

    def entry(self, path: str) -> MemoryFile | None:
        """Return the file's entry, None if it is not in the working memory."""
        return next((entry for entry in self.files if entry.path == path), None)


def with_task(memory: WorkingMemory, goal: str, constraints: Iterable[str] | None = None) -> WorkingMemory:
    """Return the memory with another goal; the evictions are cleared, so that predictions may bring files back."""
    kept = memory.task.constraints if constraints is None else tuple(dict.fromkeys(constraints))
    task = TaskState(goal.strip()[:MAX_GOAL_CHARACTERS], "exploring", kept, memory.turn)
    return replace(memory, task=task, evicted=())


def with_status(memory: WorkingMemory, status: str) -> WorkingMemory:
    """Return the memory in another stage; the same stage changes nothing."""
    if status == memory.task.status:
        return memory
    return replace(memory, task=replace(memory.task, status=status, status_since_turn=memory.turn))


def with_constraint(memory: WorkingMemory, constraint: str) -> WorkingMemory:
    """Return the memory with one more constraint; a duplicate is not added."""
    text = " ".join(constraint.split())
    if not text or text in memory.task.constraints:
        return memory
    return replace(memory, task=replace(memory.task, constraints=(*memory.task.constraints, text)))


def with_file(memory: WorkingMemory, entry: MemoryFile) -> WorkingMemory:
    """Return the memory with this entry; it replaces the one of the same path, or is appended."""
    if memory.entry(entry.path) is None:
        return replace(memory, files=(*memory.files, entry))
    return replace(memory, files=tuple(entry if old.path == entry.path else old for old in memory.files))


def without_file(memory: WorkingMemory, path: str, why: str = "") -> WorkingMemory:
    """Return the memory without the file, and with an eviction that has the reason."""
    files = tuple(entry for entry in memory.files if entry.path != path)
    if len(files) == len(memory.files):
        return memory
    evicted = (*(old for old in memory.evicted if old.path != path), Eviction(path, memory.turn, why))
    return replace(memory, files=files, evicted=evicted)


def with_access(memory: WorkingMemory, path: str, relevance: float | None = None) -> WorkingMemory:
    """Return the memory with the file marked as used in this turn; a file that is not in it is not added."""
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
    """Return the memory with the file in full, since an agent that edits a file must see its current text.

    An edit is an explicit call, like opening: no cooldown applies, and a file that is not in the memory is added.
    """
    entry = memory.entry(path) or MemoryFile(path)
    if entry.mode is Mode.FULL:
        return memory
    return with_file(memory, replace(entry, mode=Mode.FULL, last_switch_turn=memory.turn, why="edited"))


def with_used_lines(memory: WorkingMemory, path: str, lines: tuple[int, int]) -> WorkingMemory:
    """Return the memory with the lines as the file's focus and first used run; runs inside them are removed."""
    entry = memory.entry(path)
    if entry is None:
        return memory
    others = (run for run in entry.used_lines if not (lines[0] <= run[0] and run[1] <= lines[1]))
    return with_file(memory, replace(entry, focus=lines, used_lines=(lines, *others)[:MAX_USED_RUNS]))


def with_change(memory: WorkingMemory, change: FileChange) -> WorkingMemory:
    """Return the memory with a change; it replaces an older one with the same file and action."""
    reason = " ".join(change.reason.split())
    if len(reason) > MAX_REASON_CHARACTERS:
        reason = reason[: MAX_REASON_CHARACTERS - 1] + "…"
    kept = tuple(old for old in memory.changes if (old.path, old.action) != (change.path, change.action))
    return replace(memory, changes=(*kept, replace(change, reason=reason)))


def with_memo(memory: WorkingMemory, memo: ClosedFileSummary, *, keep: int = MAX_MEMOS) -> WorkingMemory:
    """Return the memory with a memo; it replaces an older one of the same file, and only the latest `keep` stay."""
    others = tuple(old for old in memory.memos if old.path != memo.path)
    return replace(memory, memos=(*others, memo)[-keep:])


def without_memo(memory: WorkingMemory, path: str) -> WorkingMemory:
    """Return the memory without the memo of a file."""
    return replace(memory, memos=tuple(memo for memo in memory.memos if memo.path != path))

"""The context of one turn as a structure of typed parts, before and after it is cut to the budget."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from codecards.router.memory.ledger import TokenLedger
from codecards.router.memory.window import ActionBlock, ElidedBlocks
from codecards.router.memory.working_memory import ClosedFileSummary, FileChange, TodoItem
from codecards.router.ports import FoldedHit


@dataclass(frozen=True, slots=True)
class ContextState:
    """The current state of the task. It is overwritten, never appended to, and takes precedence over older text."""

    task_goal: str
    status: str = ""
    constraints: tuple[str, ...] = ()
    task_progress: tuple[str, ...] = ()
    """Steps that are done."""
    next_plan: str = ""
    last_tool_result: str = ""
    open_questions: tuple[str, ...] = ()
    todo: tuple[TodoItem, ...] = ()
    changes: tuple[FileChange, ...] = ()
    user_profile: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    """Time, device, branch: "now" → "2025-11-03T10:00:00Z"."""


@dataclass(frozen=True, slots=True)
class FileBlock:
    """A file as one turn shows it."""

    path: str
    shown: str
    """"full", "excerpt", "digest" or "name"."""
    text: str
    purpose: str = ""
    why: str = ""
    visible_lines: tuple[tuple[int, int], ...] = ()
    """Runs of lines that are shown exactly as on disk, 1-based and inclusive."""


@dataclass(frozen=True, slots=True)
class MemorySegment:
    """A note of the archive that is relevant in this turn."""

    text: str
    source: str
    """The note's id."""
    created: str = ""
    state: str = "fresh"
    """State of the code that the note is about: "fresh", "changed", "gone", or "not checked" without an index."""
    confidence: float = 1.0
    why: str = ""
    """"same files", "about to change formerly changed code", "like an earlier task"."""


@dataclass(frozen=True, slots=True)
class ContextPackage:
    """Everything that a turn may show; assembly selects from it what fits the budget."""

    state: ContextState
    system_prompt: str = ""
    guidance: str = ""
    memory_segments: tuple[MemorySegment, ...] = ()
    knowledge_refs: tuple[FoldedHit, ...] = ()
    files: tuple[FileBlock, ...] = ()
    memos: tuple[ClosedFileSummary, ...] = ()
    warnings: tuple[str, ...] = ()
    signposts: tuple[ElidedBlocks, ...] = ()
    recent_chat: tuple[ActionBlock, ...] = ()
    """Oldest first."""
    current_input: str = ""
    tool_schema: str = ""
    """Definitions of the tools. The host sends them; they are counted in the ledger and not rendered."""


@dataclass(frozen=True, slots=True)
class Block:
    """One rendered part of a context."""

    name: str
    """"task", "open_file", "note_book" …"""
    category: str
    """One of `codecards.router.memory.ledger.CATEGORIES`."""
    text: str
    source: str = ""
    """Origin of the block: a path, a note's id, "turn 4"."""


class OutcomeKind(StrEnum):
    """What happened to an item that a turn had available."""

    INCLUDED = "included"
    COMPRESSED = "compressed"
    OMITTED = "omitted"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """The outcome of one item."""

    what: str
    """"file src/a.py", "hit src/a.py::f", "note 12ab", "memo src/a.py", "call 7"."""
    kind: OutcomeKind
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """The assembled context of one turn."""

    text: str
    """All blocks as one text; it never takes more tokens than the budget."""
    messages: tuple[dict[str, str], ...]
    """The same as chat messages with `role` and `content`, and `tool_call_id` and `name` where they apply."""
    ledger: TokenLedger
    blocks: tuple[Block, ...]
    """In the order of the text."""
    files: tuple[FileBlock, ...]
    left_out: tuple[str, ...]
    """What did not fit the budget, and how to get it."""
    version: str
    """Hash of the settings and templates that the context was made with."""
    turn: int = 0
    outcomes: tuple[ItemOutcome, ...] = ()
    """One outcome for each item that the turn had available."""

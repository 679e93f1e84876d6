"""Context: what a model is given for one turn, as a filled structure and not as joined strings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from codecards.router.memory.ledger import TokenLedger
from codecards.router.memory.window import ActionBlock, ElidedBlocks
from codecards.router.memory.working_memory import ClosedFileSummary, FileChange, TodoItem
from codecards.router.ports import FoldedHit


@dataclass(frozen=True, slots=True)
class ContextState:
    """What holds now; it is overwritten, never appended to, and beats any older text."""

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
    """A file as it is shown in one turn."""

    path: str
    shown: str
    """"full", "excerpt", "digest" or "name"."""
    text: str
    purpose: str = ""
    why: str = ""
    visible_lines: tuple[tuple[int, int], ...] = ()
    """Runs of lines whose text is shown as it is on disk, 1-based and inclusive."""


@dataclass(frozen=True, slots=True)
class MemorySegment:
    """A note of the archive that bears on this turn."""

    text: str
    source: str
    """The note's id."""
    created: str = ""
    state: str = "fresh"
    """"fresh", "changed", "gone": whether the code that it speaks of is still the same; "not checked" without an index."""
    confidence: float = 1.0
    why: str = ""
    """"same files", "about to change formerly changed code", "like an earlier task"."""


@dataclass(frozen=True, slots=True)
class ContextPackage:
    """All that a turn may show; assembly takes as much of it as the budget holds."""

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
    """The tools' definitions, which the host sends; counted in the ledger, not rendered."""


@dataclass(frozen=True, slots=True)
class Block:
    """One rendered part of a context."""

    name: str
    """"task", "open_file", "note_book" …"""
    category: str
    """One of `codecards.router.memory.ledger.CATEGORIES`."""
    text: str
    source: str = ""
    """Where it is from: a path, a note's id, "turn 4"."""


class OutcomeKind(StrEnum):
    """The four things that can become of what a turn had at hand."""

    ENTERS = "enters"
    COMPRESSED = "compressed"
    OUTSIDE = "outside"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """What became of one thing."""

    what: str
    """"file src/a.py", "hit src/a.py::f", "note 12ab", "memo src/a.py", "act 7"."""
    kind: OutcomeKind
    reason: str


@dataclass(frozen=True, slots=True)
class Context:
    """The assembled context of one turn."""

    text: str
    """All blocks as one text; it never takes more tokens than the budget."""
    messages: tuple[dict[str, str], ...]
    """The same as chat messages, with `role` and `content` (and `tool_call_id`, `name` where they apply)."""
    ledger: TokenLedger
    blocks: tuple[Block, ...]
    """In the order in which they stand."""
    files: tuple[FileBlock, ...]
    left_out: tuple[str, ...]
    """What the budget had no room for, and how to get it."""
    version: str
    """Hash of the settings and templates that made it."""
    turn: int = 0
    outcomes: tuple[ItemOutcome, ...] = ()
    """What became of each thing that the turn had at hand."""

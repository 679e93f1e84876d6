"""A small package for a context, with its files."""

from codecards.router.assemble.context import ContextPackage, ContextState, MemorySegment
from codecards.router.assemble.rendering import GUIDANCE
from codecards.router.memory.window import ActionBlock, ElidedBlocks, Message
from codecards.router.memory.working_memory import ClosedFileSummary, FileChange, MemoryFile, Mode, TodoItem
from codecards.router.ports import FileText, FoldedHit

STATE = ContextState(
    "add CSV export",
    "implementing",
    ("use pnpm",),
    open_questions=("which delimiter?",),
    todo=(TodoItem("write test"),),
    changes=(FileChange("src/a.py", "add export", "users asked for it"),),
    next_plan="write the exporter",
)


BLOCKS = (
    ActionBlock((Message("user", "let's just use npm for now", 1),)),
    ActionBlock((Message("assistant", "run tests", 2, "c1", "run"), Message("tool", "1 failed", 2, "c1", "run", True))),
)


PACKAGE = ContextPackage(
    STATE,
    "You are a coding agent.",
    GUIDANCE,
    (MemorySegment("stream rows", "2025-11-03-export", why="same files"),),
    (FoldedHit("src/excel.py::export", "src/excel.py", "exports users to Excel", valid_as_of="generation 7"),),
    memos=(ClosedFileSummary("src/old.py", "3: def old()"),),
    signposts=(ElidedBlocks("turn 0: looked at src/z.py → t-1", ("t-1",)),),
    recent_chat=BLOCKS,
    current_input="继续吧",
)


ENTRIES = (
    MemoryFile("src/a.py", mode=Mode.FULL, digest="def a()", purpose="change it", last_access_turn=2),
    MemoryFile("src/b.py", digest="1: def b(): ..."),
)


TEXTS = {path: FileText(f"def {path[4]}():\n    return 1\n", path) for path in ("src/a.py", "src/b.py")}

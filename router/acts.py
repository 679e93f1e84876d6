"""Pure state changes behind the calls of a session.

Each function takes a `SessionState` and returns the next one. No function reads the disk, the clock or the index:
`Session` loads and saves the state, and passes in what a change needs.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from codecards.router.compress.compaction import Compaction
from codecards.router.compress.token_count import TokenCounter
from codecards.router.memory.bundle import Bundle, Conflict, merge_bundle
from codecards.router.memory.ledger import LineUse
from codecards.router.memory.operations import KEPT_OPERATIONS, RETRIEVAL_KINDS, Operation, ToolCall
from codecards.router.memory.state import PastQuestion, SessionState
from codecards.router.memory.window import ActionBlock, Message, Shrunk, WindowSettings, push
from codecards.router.memory.working_memory import (
    ClosedFileSummary,
    FileChange,
    MemoryFile,
    Mode,
    TodoItem,
    WorkingMemory,
    with_access,
    with_change,
    with_constraint,
    with_edited,
    with_file,
    with_memo,
    with_status,
    with_task,
    with_used_lines,
    without_file,
    without_memo,
)
from codecards.router.ports import FoldedHit

KEPT_USES = 1_000
KEPT_QUESTIONS = 50
MAX_OPEN_QUESTIONS = 12
OPENED_RELEVANCE = 0.8
"""Lowest relevance of a file that the agent opened."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that the agent opens, as it is on disk now."""

    path: str
    purpose: str
    digest: str
    text_hash: str
    lines: tuple[int, int] | None = None
    """First and last line of interest, 1-based and inclusive."""


# Files


def open_file(state: SessionState, opened: OpenedFile) -> SessionState:
    """Show a file in full from the next context on."""
    memory = state.memory
    old = memory.entry(opened.path) or MemoryFile(opened.path)
    entry = replace(
        old,
        mode=Mode.FULL,
        purpose=opened.purpose,
        digest=opened.digest,
        text_hash=opened.text_hash,
        relevance=max(old.relevance, OPENED_RELEVANCE),
        last_access_turn=memory.turn,
        last_switch_turn=old.last_switch_turn if old.mode is Mode.FULL else memory.turn,
        focus=opened.lines or old.focus,
        predicted=False,
        why="opened",
    )
    state = replace(state, memory=with_file(memory, entry))
    return record_operation(state, "open", (opened.path,), lines=opened.lines)


def close_file(state: SessionState, memo: ClosedFileSummary) -> SessionState:
    """Replace a file by its memo."""
    memory = with_memo(without_file(state.memory, memo.path, "closed"), memo)
    return record_operation(replace(state, memory=memory), "close", (memo.path,))


def drop_memo(state: SessionState, path: str) -> SessionState:
    """Remove the memo of a closed file."""
    return replace(state, memory=without_memo(state.memory, path))


def change_file(state: SessionState, path: str, change: Callable[[MemoryFile], MemoryFile]) -> SessionState:
    """Change a file's entry in the working memory; without an entry nothing changes."""
    entry = state.memory.entry(path)
    return state if entry is None else replace(state, memory=with_file(state.memory, change(entry)))


# The task


def begin_task(
    state: SessionState, goal: str, constraints: Iterable[str] | None, files: Iterable[MemoryFile]
) -> SessionState:
    """Replace the goal and, except for pinned files, the files."""
    memory = with_task(state.memory, goal, constraints)
    pinned = {entry.path: entry for entry in memory.files if entry.pinned}
    added = (entry for entry in files if entry.path not in pinned)
    return replace(state, memory=replace(memory, files=(*pinned.values(), *added)))


def set_goal(state: SessionState, goal: str, constraints: Iterable[str] | None) -> SessionState:
    """Replace the goal, and the constraints if there are new ones."""
    return replace(state, memory=with_task(state.memory, goal, constraints))


def set_status(state: SessionState, status: str) -> SessionState:
    """Enter another stage of the task."""
    return replace(state, memory=with_status(state.memory, status))


def add_constraint(state: SessionState, constraint: str) -> SessionState:
    """Add a constraint."""
    return replace(state, memory=with_constraint(state.memory, constraint))


def set_todo(state: SessionState, items: Iterable[TodoItem]) -> SessionState:
    """Replace the to-do list."""
    return replace(state, memory=replace(state.memory, todo=tuple(items)))


def set_open_questions(state: SessionState, questions: Iterable[str]) -> SessionState:
    """Replace the open questions."""
    return replace(state, memory=replace(state.memory, open_questions=tuple(questions)))


def show_block(state: SessionState, name: str, *, shown: bool) -> SessionState:
    """Show or hide a block of the context."""
    hidden = tuple(other for other in state.memory.hidden_blocks if other != name)
    return replace(state, memory=replace(state.memory, hidden_blocks=hidden if shown else (*hidden, name)))


# Tool calls and questions


def record_tool_call(
    state: SessionState, call: ToolCall, shown: str, limits: WindowSettings, count: TokenCounter
) -> tuple[SessionState, tuple[Shrunk, ...]]:
    """Record a call of the host, and return the texts that left the window for it.

    Args:
        state: The state before the call.
        call: What happened.
        shown: The result as the window shows it.
        limits: Size of the window.
        count: Counts tokens.
    """
    state = record_operation(state, call.kind, call.paths, query=call.query, failed=call.failed, lines=call.lines)
    operation, memory = state.operations[-1], state.memory
    if operation.writes:
        for path in call.paths:
            memory = with_change(memory, FileChange(path, call.kind, call.reason))
    text = call.text or call.query or " ".join(call.paths)
    return push_messages(replace(state, memory=memory), _messages(operation, text, shown), limits, count)


def record_answer(
    state: SessionState, tool: str, call: str, shown: str, limits: WindowSettings, count: TokenCounter
) -> tuple[SessionState, tuple[Shrunk, ...]]:
    """Add a call of the session itself and its answer to the window; see `record_tool_call`."""
    # The messages carry the number of the operation that they report, so that they become stale with it.
    reported = state.operations[-1].number if state.operations else 0
    state = record_operation(state, "call", ())
    messages = _messages(replace(state.operations[-1], kind=tool), call or tool, shown)
    return push_messages(state, tuple(replace(message, operation=reported) for message in messages), limits, count)


def push_messages(
    state: SessionState, messages: tuple[Message, ...], limits: WindowSettings, count: TokenCounter
) -> tuple[SessionState, tuple[Shrunk, ...]]:
    """Add one block of messages to the window, and return the texts that left it."""
    window, shrunk = push(state.window, ActionBlock(messages), limits, count)
    return replace(state, window=window), shrunk


def record_question(state: SessionState, question: PastQuestion, found: Sequence[FoldedHit]) -> SessionState:
    """Record a recall and the files that it found."""
    paths = tuple(dict.fromkeys(hit.path for hit in found))
    state = record_operation(state, "recall", paths, query=question.query)
    return replace(state, asked=(*state.asked, question)[-KEPT_QUESTIONS:])


def record_operation(
    state: SessionState,
    kind: str,
    paths: Sequence[str],
    *,
    query: str = "",
    failed: bool = False,
    lines: tuple[int, int] | None = None,
) -> SessionState:
    """Append an operation, and mark its files as used in this turn."""
    number = state.operations[-1].number + 1 if state.operations else 1
    turn = state.memory.turn
    operation = Operation(number, turn, kind, tuple(paths), query, failed)
    is_use = kind not in RETRIEVAL_KINDS
    uses = [LineUse(path, turn, *(lines or (1, 0))) for path in paths] if is_use else []
    memory = state.memory
    for path in paths:
        memory = _with_use(memory, path, operation, lines)
    return replace(
        state,
        memory=memory,
        operations=(*state.operations, operation)[-KEPT_OPERATIONS:],
        uses=(*state.uses, *uses)[-KEPT_USES:],
    )


# Conclusions


def add_note_reference(state: SessionState, note_id: str, files: Sequence[str]) -> SessionState:
    """Remember that a note was written about some files."""
    refs = tuple(dict.fromkeys((*state.memory.archive_refs, note_id)))
    return record_operation(replace(state, memory=replace(state.memory, archive_refs=refs)), "note", files)


def add_compaction(state: SessionState, compaction: Compaction, n_blocks: int) -> SessionState:
    """Adopt the open questions of a compaction, and put its text in the place of the oldest `n_blocks` of the window."""
    questions = tuple(dict.fromkeys((*state.memory.open_questions, *compaction.open_questions)))[-MAX_OPEN_QUESTIONS:]
    state = replace(state, memory=replace(state.memory, open_questions=questions))
    if n_blocks == 0:
        return state
    message = Message("system", f"compacted: {compaction.as_text()}", state.memory.turn)
    blocks = (ActionBlock((message,)), *state.window.blocks[n_blocks:])
    return replace(state, window=replace(state.window, blocks=blocks))


def merge(state: SessionState, bundle: Bundle) -> tuple[SessionState, tuple[Conflict, ...]]:
    """Add the contents of another session's bundle, and return the points on which the sessions differ."""
    memory, conflicts = merge_bundle(state.memory, bundle)
    return replace(state, memory=memory), conflicts


def _with_use(memory: WorkingMemory, path: str, operation: Operation, lines: tuple[int, int] | None) -> WorkingMemory:
    if operation.writes and operation.kind not in ("delete", "rename"):
        memory = with_edited(memory, path)
    if lines is not None:
        memory = with_used_lines(memory, path, lines)
    return with_access(memory, path)


def _messages(operation: Operation, call: str, result: str) -> tuple[Message, ...]:
    """Return a call and its response as a pair; a call without a result is one message of the assistant."""
    turn, number = operation.turn, operation.number
    if operation.kind == "prompt":
        return (Message("user", call, turn, operation=number),)
    if operation.kind in ("reply", "think") or not result:
        return (Message("assistant", call or result or operation.kind, turn, operation=number),)
    call_id = f"c{number}"
    return (
        Message("assistant", call or operation.kind, turn, call_id, operation.kind, False, number),
        Message("tool", result, turn, call_id, operation.kind, operation.failed, number),
    )

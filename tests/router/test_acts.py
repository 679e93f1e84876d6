"""State changes: each returns the next state and leaves the given one unchanged."""

from dataclasses import replace

from codecards.router.acts import (
    OpenedFile,
    add_note_reference,
    begin_task,
    close_file,
    open_file,
    record_operation,
    record_tool_call,
)
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.ledger import LineUse
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import SessionState, TaskSpec, new_state
from codecards.router.memory.window import Message, WindowSettings
from codecards.router.memory.working_memory import ClosedFileSummary, FileChange, MemoryFile, Mode

OPENED = OpenedFile("a.py", "see it", "def a()", "h1", (3, 4))


def fresh(turn: int = 3) -> SessionState:
    state = new_state("s", TaskSpec("goal", ("keep the API",), 4_000), "2025-11-03T10:00:00Z")
    return replace(state, memory=replace(state.memory, turn=turn))


def test_an_opened_file_is_full_with_its_purpose_and_focus() -> None:
    before = fresh()
    after = open_file(before, OPENED)
    (entry,) = after.memory.files
    assert (entry.mode, entry.purpose, entry.focus, entry.why) == (Mode.FULL, "see it", (3, 4), "opened")
    assert (entry.last_access_turn, entry.last_switch_turn) == (3, 3)
    assert before == fresh()


def test_opening_a_full_file_again_is_not_a_switch() -> None:
    state = open_file(fresh(), OPENED)
    state = open_file(replace(state, memory=replace(state.memory, turn=9)), OPENED)
    (entry,) = state.memory.files
    assert (entry.last_access_turn, entry.last_switch_turn) == (9, 3)


def test_a_closed_file_leaves_a_memo_and_an_eviction() -> None:
    state = close_file(open_file(fresh(), OPENED), ClosedFileSummary("a.py", "3: def a()"))
    assert state.memory.files == ()
    assert [memo.text for memo in state.memory.memos] == ["3: def a()"]
    assert [(eviction.path, eviction.why) for eviction in state.memory.evicted] == [("a.py", "closed")]


def test_a_new_task_keeps_pinned_files_only() -> None:
    state = fresh()
    files = (MemoryFile("old.py"), MemoryFile("pinned.py", mode=Mode.FULL, pinned=True))
    state = replace(state, memory=replace(state.memory, files=files))
    state = begin_task(state, "another goal", None, [MemoryFile("new.py"), MemoryFile("pinned.py")])
    assert [(entry.path, entry.mode) for entry in state.memory.files] == [
        ("pinned.py", Mode.FULL),
        ("new.py", Mode.DIGEST),
    ]
    assert (state.memory.task.goal, state.memory.task.constraints) == ("another goal", ("keep the API",))


def test_a_write_is_recorded_as_a_change_and_a_failed_one_is_not() -> None:
    call = ToolCall("edit", ["a.py"], text="edit a.py", result="ok", reason="a bug")
    state, shrunk = record_tool_call(fresh(), call, "ok", WindowSettings(), estimate_tokens)
    assert state.memory.changes == (FileChange("a.py", "edit", "a bug"),)
    assert shrunk == ()
    assert state.window.blocks[0].messages == (
        Message("assistant", "edit a.py", 3, "c1", "edit", operation=1),
        Message("tool", "ok", 3, "c1", "edit", operation=1),
    )
    failed, _ = record_tool_call(fresh(), replace(call, failed=True), "no", WindowSettings(), estimate_tokens)
    assert failed.memory.changes == ()
    assert failed.window.blocks[0].is_error


def test_operations_are_numbered_and_retrievals_are_not_uses() -> None:
    state = record_operation(fresh(), "recall", ("a.py",), query="words")
    state = record_operation(state, "read", ("a.py",), lines=(1, 2))
    state = add_note_reference(state, "12ab", ("b.py",))
    assert [(one.number, one.kind) for one in state.operations] == [(1, "recall"), (2, "read"), (3, "note")]
    assert state.uses == (LineUse("a.py", 3, 1, 2), LineUse("b.py", 3, 1, 0))
    assert state.memory.archive_refs == ("12ab",)

"""Traces: turns are stored with their inputs and can be replayed."""

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from codecards.errors import StateFileError
from codecards.router import trace as trace_module
from codecards.router.assemble.assembly import AssemblySettings
from codecards.router.assemble.rendering import RenderSettings
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.ports import InMemoryTexts, Project
from codecards.router.profiles import SessionSettings
from codecards.router.session import Session
from codecards.router.trace import read_trace, replay_turn, traced_blocks
from codecards.router.turn import TurnSettings

FILES = {"a.py": "def one():\n    return 1\n", "b.py": "def two():\n    return 2\n"}


def session(folder: Path, *, traces: bool = True) -> tuple[SessionStore, Session, dict[str, str]]:
    store, files = SessionStore(folder / "sessions"), dict(FILES)
    started = Session.start(
        store,
        "task",
        Project(InMemoryTexts(files)),
        Archive(folder / "archive"),
        TaskSpec("add one"),
        SessionSettings(traces_turns=traces),
    )
    return store, started, files


@pytest.mark.seed("S4-25", "S1-2")
def test_a_replayed_turn_gives_the_same_context_byte_for_byte(tmp_path: Path) -> None:
    store, task, files = session(tmp_path)
    task.open_file("a.py", "see one")
    task.record(ToolCall("run", text="pytest", result="1 failed: E   assert 1 == 2", failed=True))
    sent = [task.before_generation("do not touch b.py")]
    files["a.py"] = "def one():\n    return 11\n"
    task.open_file("b.py", "see two")
    sent.append(task.before_generation())
    files.clear()  # a replay does not read the disk
    traces = read_trace(store, "task")
    assert [trace.turn for trace in traces] == [1, 2]
    for context, trace in zip(sent, traces, strict=True):
        again = replay_turn(store, "task", trace).context
        assert (again.text, again.messages, again.version) == (context.text, context.messages, trace.ledger.version)
        assert traced_blocks(store, "task", trace) == context.blocks
        assert trace.ledger == context.ledger


@pytest.mark.seed("S4-25")
def test_a_turn_can_be_replayed_with_other_settings(tmp_path: Path) -> None:
    store, task, _ = session(tmp_path)
    task.open_file("a.py", "see one")
    task.before_generation("go on")
    (trace,) = read_trace(store, "task")
    markdown = replace(TurnSettings(), assembly=AssemblySettings(rendering=RenderSettings(markup="markdown")))
    other = replay_turn(store, "task", trace, markdown)
    assert other.context.version != trace.ledger.version
    assert "## open_file" in other.context.text
    assert store.load("task").memory.turn == 1


def test_nothing_is_traced_unless_asked(tmp_path: Path) -> None:
    store, task, _ = session(tmp_path, traces=False)
    task.before_generation("hello")
    assert read_trace(store, "task") == []
    assert not store.trace_path("task").exists()


def test_a_half_written_line_is_skipped(tmp_path: Path) -> None:
    store, task, _ = session(tmp_path)
    task.before_generation("one")
    with store.trace_path("task").open("ab") as file:
        file.write(b'{"turn": 2, "taken"\n')
    task.before_generation("two")
    assert [trace.turn for trace in read_trace(store, "task")] == [1, 2]


def test_only_the_last_turns_of_a_long_session_are_kept_with_the_texts_they_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_module, "KEPT_TURNS", 3)
    monkeypatch.setattr(trace_module, "PRUNE_EVERY", 2)
    store, task, files = session(tmp_path)
    for turn in range(6):
        files["a.py"] = f"def one():\n    return {turn}\n"
        task.open_file("a.py", "see one")
        task.before_generation(f"turn {turn}")
    traces = read_trace(store, "task")
    assert [trace.turn for trace in traces] == [4, 5, 6]
    for trace in traces:
        assert replay_turn(store, "task", trace).context.blocks == traced_blocks(store, "task", trace)
    texts = [path.read_text(encoding="utf-8") for path in store.trace_path("task").parent.glob("t-*.txt")]
    assert "def one():\n    return 3\n" in texts
    assert "def one():\n    return 2\n" not in texts


def test_a_trace_that_cannot_be_written_does_not_stop_the_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store, task, _ = session(tmp_path)
    store.trace_path("task").mkdir(parents=True)
    with caplog.at_level(logging.INFO, "codecards"):
        context = task.before_generation("hello")
    assert context.turn == 1
    assert [record.getMessage() for record in caplog.records] == ["turn not traced", "turn"]


def test_a_turn_and_its_switches_are_logged_without_any_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, task, _ = session(tmp_path)
    task.record(ToolCall("recall", paths=["b.py"], query="secret words"))
    task.record(ToolCall("recall", paths=["b.py"], query="secret words"))
    with caplog.at_level(logging.DEBUG, "codecards"):
        task.before_generation("also secret words")
    events = {record.getMessage(): vars(record) for record in caplog.records}
    assert (events["switch"]["path"], events["switch"]["to"]) == ("b.py", "full")
    assert events["switch"]["why"] == "found by 2 retrievals in a row"
    assert events["turn"]["version"]
    assert not [one for one in events.values() if "secret" in repr(one)]


@pytest.mark.seed("S1-2")
def test_an_eviction_has_its_reason(tmp_path: Path) -> None:
    store, task, files = session(tmp_path)
    task.open_file("a.py", "see one")
    task.open_file("b.py", "see two")
    task.close_file("a.py")
    del files["b.py"]
    task.before_generation()
    task.before_generation()
    left = {eviction.path: eviction.why for eviction in store.read("task").memory.evicted}
    assert left == {"a.py": "closed", "b.py": "not on disk any more"}
    assert store.kept_turns("task")[-1] == 2


def test_reading_a_damaged_session_repairs_nothing(tmp_path: Path) -> None:
    store, task, _ = session(tmp_path)
    task.before_generation()
    path = store.folder / "task" / "state.json"
    path.write_bytes(b"{")
    with pytest.raises(StateFileError, match="damaged"):
        store.read("task")
    assert path.read_bytes() == b"{"

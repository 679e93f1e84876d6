"""Sessions: the article's scenarios, resuming, damage, two processes, bundles."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from codecards.errors import BudgetTooSmallError, StateFileError, TargetNotFoundError, UsageError
from codecards.router.compress.excerpts import HANDLE
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import PastQuestion, TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.memory.working_memory import (
    MAX_MEMOS,
    ClosedFileSummary,
    FileChange,
    MemoryFile,
    Mode,
    TaskState,
    WorkingMemory,
    with_change,
    with_memo,
    with_task,
)
from codecards.router.notes.archive import Archive
from codecards.router.policy.constraints import find_constraints
from codecards.router.policy.repeat_questions import check_repeat
from codecards.router.ports import FoldedHit, InMemoryTexts, Project, Signal
from codecards.router.profiles import SessionSettings
from codecards.router.session import Session
from codecards.wire.sessions import memory_as_json

FILES = {
    "user/service.py": "import csv\n\ndef list_users():\n    return db.all()\n",
    "utils/exporter.py": "def stream_rows(rows):\n    yield from rows\n",
    "reports/excel.py": "from utils.exporter import stream_rows\n\ndef export_excel(users):\n    ...\n",
    "other.py": "x = 1\n",
}


class Finder:
    """Finds files by words in path or text."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files, self.queries = files, list[str]()

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return the files that have a word of the query."""
        self.queries.append(query)
        words = [word for word in query.lower().replace("_", " ").split() if len(word) > 3]
        hits = [path for path, text in self.files.items() if any(word in (path + text).lower() for word in words)]
        return [FoldedHit(path, path, self.files[path].splitlines()[0], score=1.0) for path in hits][:limit]

    def near_words(self, query: str) -> Sequence[str]:
        """Return fixed words."""
        del query
        return ("exporter", "stream_rows")

    def near(self, paths: Sequence[str]) -> Sequence[Signal]:
        """Return that the exporter is called by the Excel report."""
        return [Signal("utils/exporter.py", 0.6, "called by reports/excel.py")] if "reports/excel.py" in paths else []


class Desk:
    """A project in memory with its sessions on disk."""

    def __init__(self, folder: Path) -> None:
        self.files = dict(FILES)
        self.finder = Finder(self.files)
        self.store = SessionStore(folder / "sessions")
        self.archive = Archive(folder / "archive")
        self.project = Project(
            InMemoryTexts(self.files), neighbours=self.finder, recaller=self.finder, vocabulary=self.finder
        )

    def start(self, name: str = "task", goal: str = "add CSV export of users", budget: int = 12_000) -> Session:
        """Return a new session."""
        return Session.start(self.store, name, self.project, self.archive, TaskSpec(goal, budget_tokens=budget))

    def again(self, name: str = "task") -> Session:
        """Return the session as another process would see it."""
        return Session(self.store, name, self.project, self.archive)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.seed("S2-43", "S2-45")
def test_the_csv_task_from_start_to_end(desk: Desk) -> None:
    session = desk.start()
    session.open_file("user/service.py", "where users are listed")
    assert "def list_users" in session.before_generation("add it please").text
    assert {ref.path for ref in session.recall("excel export").references} >= {"reports/excel.py", "utils/exporter.py"}
    session.recall("exporter stream")
    context = session.before_generation()
    assert ("promote", "utils/exporter.py") in {(action.kind.value, action.path) for action in session.last_actions}
    assert "def stream_rows" in context.text
    desk.files["user/service.py"] += "\ndef export_csv():\n    return stream_rows(list_users())\n"
    session.record(ToolCall("edit", paths=["user/service.py"], result="ok", reason="users asked for CSV"))
    assert "def export_csv" in session.before_generation().text
    session.commit_note(
        "CSV export", "reuse utils/exporter.py and its streaming", files=["user/service.py"], rejected=["pandas: heavy"]
    )
    assert desk.archive.notes()[0].rejected == ("pandas: heavy",)
    assert session.report()[0].peak_tokens < 3_000


@pytest.mark.seed("S0-1", "S0-24", "S0-25", "S0-11", "S0-48", "S2-44")
def test_acts_give_a_status_and_show_their_effect_in_the_next_context(desk: Desk) -> None:
    session = desk.start()
    assert session.open_file("other.py", "look") == "opened other.py"
    assert "x = 1" in session.before_generation().text
    desk.files["other.py"] = "x = 2\n"
    status = session.record(
        ToolCall("edit", paths=["other.py"], text="edit other.py", result="done", reason="two is right")
    )
    assert status == "recorded edit"
    text = session.before_generation().text
    assert "x = 2" in text
    assert "x = 1" not in text
    assert "changed other.py: edit (pending_test) because two is right" in text
    assert any(action.reason == "changed on disk, refreshed" for action in session.last_actions)


@pytest.mark.seed("S1-16", "S0-22", "S1-44", "S4-32")
def test_what_an_earlier_read_showed_is_not_shown_as_current_after_an_edit(desk: Desk) -> None:
    session = desk.start()
    session.record(ToolCall("read", paths=["other.py"], text="read other.py", result="x = 1  # old api"))
    session.record(ToolCall("search", paths=["other.py"], query="api", result="other.py:1: x = 1  # old api"))
    assert "old api" in session.before_generation().text
    session.record(ToolCall("edit", paths=["other.py"], result="ok"))
    text = session.before_generation().text
    assert "old api" not in text
    assert "read other.py" in text


@pytest.mark.seed("S0-31", "S0-32", "S2-54")
def test_closing_leaves_a_memo_and_a_handle(desk: Desk) -> None:
    session = desk.start()
    session.open_file("user/service.py", "how users are listed")
    assert session.close_file("user/service.py") == "closed user/service.py"
    text = session.before_generation().text
    assert "3: def list_users():" in text
    assert "return db.all()" not in text
    assert session.restore(session.memory.memos[0].handle) == FILES["user/service.py"]


@pytest.mark.seed("S0-33", "S0-8")
def test_open_needs_a_purpose_and_a_file(desk: Desk) -> None:
    session = desk.start()
    with pytest.raises(UsageError, match="purpose"):
        session.open_file("other.py", " ")
    with pytest.raises(TargetNotFoundError, match=r"nowhere\.py"):
        session.open_file("nowhere.py", "look")
    with pytest.raises(TargetNotFoundError):
        session.close_file("other.py")


@pytest.mark.seed("S4-17", "S2-15")
def test_go_on_is_asked_with_the_goal_and_only_input_triggers_recall(desk: Desk) -> None:
    session = desk.start()
    session.before_generation()
    assert desk.finder.queries == []
    text = session.before_generation("继续吧").text
    assert desk.finder.queries == ["继续吧 add CSV export of users"]
    assert "reports/excel.py" in text


@pytest.mark.seed("S2-4", "S4-19", "S4-36", "S2-11")
def test_a_constraint_said_in_passing_stays_on_top(desk: Desk) -> None:
    session = desk.start()
    session.before_generation("统一使用 pnpm。谢谢")
    for _ in range(15):
        session.record(ToolCall("reply", text="let's use npm for now " * 40))
    text = session.before_generation().text
    assert text.index("constraint (must hold): 统一使用 pnpm") < text.index("npm for now")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix it. Do not touch the migrations! Thanks", ("Do not touch the migrations!",)),
        ("记住，我不用 requests。", ("记住，我不用 requests",)),
        ("Must we change it?", ()),
        ("what time is it", ()),
        ("tests must pass; never push", ("tests must pass", "never push")),
    ],
)
def test_constraints_are_found_in_a_users_text(text: str, expected: tuple[str, ...]) -> None:
    assert find_constraints(text) == expected


@pytest.mark.seed("S1-41", "S1-44")
def test_the_same_question_is_refused_with_other_words(desk: Desk) -> None:
    session = desk.start()
    assert session.recall("excel export").refusal is None
    refusal = session.recall("export excel").refusal
    assert refusal is not None
    assert refusal.try_instead == ("stream_rows",)
    assert "Try other words: stream_rows" in refusal.message()


@pytest.mark.parametrize(
    ("query", "turn", "generation", "refused"),
    [
        ("login timeout", 3, "7", True),
        ("the login timeout", 3, "7", True),
        ("login timeout", 30, "7", False),
        ("login timeout", 3, "8", False),
        ("logout", 3, "7", False),
    ],
)
def test_a_question_may_be_asked_again_later_or_on_a_newer_index(
    query: str, turn: int, generation: str, refused: bool
) -> None:
    asked = [PastQuestion("login timeout", 2, (), "7")]
    assert (check_repeat(query, turn, asked, (), generation=generation) is not None) is refused


@pytest.mark.seed("S0-44", "S4-30", "S4-33", "S2-3")
def test_a_session_goes_on_in_another_process(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    session.before_generation("begin")
    other = desk.again()
    assert other.state == session.state
    assert "begin" in other.before_generation().text
    assert desk.store.state_after("task", 1).memory.turn == 1


def test_a_damaged_state_is_kept_aside_and_nothing_is_lost(desk: Desk) -> None:
    session = desk.start()
    session.before_generation("begin")
    session.open_file("other.py", "look")
    path = desk.store.folder / "task" / "state.json"
    path.write_bytes(b'{"name": "ta')
    assert desk.again().state == session.state
    assert path.with_name("state.damaged-1.json").read_bytes() == b'{"name": "ta'
    [notice] = desk.store.take_notices()
    assert "kept as state.damaged-1.json" in notice
    assert "nothing is lost" in notice
    assert desk.store.take_notices() == []


def test_where_the_copy_is_damaged_too_the_state_of_the_last_turn_takes_its_place(desk: Desk) -> None:
    session = desk.start()
    session.before_generation("begin")
    session.open_file("other.py", "look")
    path = desk.store.folder / "task" / "state.json"
    for one in (path, path.with_name("state.copy.json")):
        one.write_bytes(b"\0\0\0")
    assert (desk.again().memory.turn, desk.again().memory.entry("other.py")) == (1, None)
    assert "continues from turn 1: changes made since that turn began are lost" in desk.store.notices[0]


@pytest.mark.parametrize("data", [b"", b"[]", b'{"format": 99}', b'{"name": 3}'])
def test_a_state_that_can_not_be_read_is_left_as_it_is(desk: Desk, data: bytes) -> None:
    desk.start()
    path = desk.store.folder / "task" / "state.json"
    path.with_name("state.copy.json").unlink()
    path.write_bytes(data)
    with pytest.raises(StateFileError):
        desk.again()
    assert path.read_bytes() == data


def test_two_users_of_one_session_lose_nothing(desk: Desk) -> None:
    desk.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: desk.again().record(ToolCall("run", text=f"run {n}", result="ok")), range(12)))
    state = desk.again().state
    assert [operation.number for operation in state.operations] == list(range(1, 13))


def test_a_clock_that_goes_back_changes_nothing_but_is_not_believed(desk: Desk) -> None:
    session = desk.start()
    start = session.state.updated
    late = Session(
        desk.store,
        "task",
        desk.project,
        desk.archive,
        SessionSettings(clock=lambda: datetime(1999, 1, 1, tzinfo=UTC)),
    )
    late.before_generation("x")
    assert late.state.updated == start


def test_a_budget_smaller_than_the_task_changes_nothing(desk: Desk) -> None:
    session = desk.start(budget=20)
    with pytest.raises(BudgetTooSmallError):
        session.before_generation("x")
    assert desk.again().memory.turn == 0


@pytest.mark.seed("S2-3")
def test_a_file_that_vanishes_leaves_with_a_notice(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    del desk.files["other.py"]
    assert "other.py is not on disk any more" in session.before_generation().text
    assert session.memory.files == ()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 99, "a\0b"])
def test_a_session_name_never_leads_out_of_the_folder(desk: Desk, name: str) -> None:
    with pytest.raises(UsageError):
        desk.start(name)


def test_a_session_is_not_started_twice(desk: Desk) -> None:
    desk.start()
    with pytest.raises(UsageError, match="already"):
        desk.start()


@pytest.mark.seed("S0-43", "S4-29")
def test_a_bundle_carries_effects_without_acts_and_shows_conflicts(desk: Desk) -> None:
    first, second = desk.start("search", "find the exporter"), desk.start("code")
    first.open_file("utils/exporter.py", "how rows are streamed")
    first.record(ToolCall("edit", paths=["other.py"], reason="first", result="secret act"))
    second.record(ToolCall("edit", paths=["other.py"], reason="second"))
    data = first.export()
    assert b"secret act" not in data
    conflicts = second.merge(data)
    assert [conflict.what for conflict in conflicts] == ["goal", "change of other.py"]
    entry = second.memory.entry("utils/exporter.py")
    assert entry is not None
    assert (entry.mode, entry.why) == (Mode.DIGEST, "from session search")
    assert second.merge(data) == conflicts
    with pytest.raises(StateFileError):
        second.merge(b"{}")


def test_a_file_that_is_edited_comes_in_full_at_once(desk: Desk) -> None:
    session = desk.start()
    session.record(ToolCall("edit", paths=["other.py"], reason="why not"))
    entry = session.memory.entry("other.py")
    assert entry is not None
    assert (entry.mode, entry.why) == (Mode.FULL, "edited")
    assert "x = 1" in session.before_generation().text
    session.record(ToolCall("edit", paths=["nowhere.py"], failed=True))
    session.record(ToolCall("delete", paths=["user/service.py"]))
    assert [one.path for one in session.memory.files] == ["other.py"]


def test_a_file_that_the_goal_names_comes_in_as_a_digest(desk: Desk) -> None:
    session = desk.start(goal="other.py:1 sets x wrongly, see nowhere.py")
    session.before_generation()
    assert [(entry.path, entry.mode, entry.why) for entry in session.memory.files] == [
        ("other.py", Mode.DIGEST, "predicted: named in the goal")
    ]


def test_the_lines_used_last_are_kept_and_the_latest_is_the_focus(desk: Desk) -> None:
    session = desk.start()
    session.open_file("user/service.py", "look", lines=(3, 4))
    for lines in ((1, 1), (2, 4)):
        session.record(ToolCall("read", paths=["user/service.py"], lines=lines))
    entry = session.memory.entry("user/service.py")
    assert entry is not None
    assert (entry.focus, entry.used_lines) == ((2, 4), ((2, 4), (1, 1)))


@pytest.mark.seed("S2-21")
def test_neighbours_of_an_open_file_come_in_as_digests(desk: Desk) -> None:
    session = desk.start()
    session.open_file("reports/excel.py", "model for csv")
    session.before_generation()
    entry = session.memory.entry("utils/exporter.py")
    assert entry is not None
    assert (entry.mode, entry.why) == (Mode.DIGEST, "predicted: called by reports/excel.py")


@pytest.mark.seed("S1-28", "S1-40")
def test_compacting_the_window_leaves_fields_and_open_questions(desk: Desk) -> None:
    session = desk.start()
    session.record(ToolCall("run", text="pytest", result="src/a.py:3: KeyError: 'x'", failed=True))
    session.record(ToolCall("reply", text="Is the cache shared?"))
    session.record(ToolCall("reply", text="next"))
    result = session.compact()
    assert "src/a.py:3" in result.file
    assert "Is the cache shared?" in session.memory.open_questions[0]
    assert "KeyError" in session.restore(result.handle)
    assert "KeyError: 'x'" in session.before_generation().text


@pytest.mark.seed("S1-30", "S4-31")
def test_the_end_writes_a_note(desk: Desk) -> None:
    session = desk.start()
    session.record(ToolCall("edit", paths=["other.py"], reason="why not"))
    note = session.end("done", conclusion="streaming works")
    assert note is not None
    assert note.files == ("other.py",)
    assert desk.start("next", "CSV export of users again").before_generation().text.count("streaming works") == 1


@pytest.mark.seed("S0-27")
def test_a_block_can_be_hidden(desk: Desk) -> None:
    session = desk.start()
    session.record(ToolCall("edit", paths=["other.py"], reason="why not"))
    session.show_block("changes", shown=False)
    assert "why not" not in session.before_generation().text


@pytest.mark.seed("S2-35", "S2-7")
def test_a_working_memory_has_a_json_form_with_task_files_changes_and_notes() -> None:
    entry = MemoryFile("src/order/service.py", 0.92, Mode.FULL, "create_order, update_status")
    change = FileChange("src/order/service.py", "add cancel_order", "unpaid orders can be cancelled")
    memory = WorkingMemory(
        TaskState("add an endpoint that cancels an order", "implementing", ("do not change payments",)),
        files=(entry,),
        changes=(change,),
        archive_refs=("2025-11-03-order-refactor.md",),
    )
    written = json.loads(json.dumps(memory_as_json(memory)))
    assert written["task"] == {
        "goal": "add an endpoint that cancels an order",
        "status": "implementing",
        "constraints": ["do not change payments"],
    }
    (file,) = written["files"]
    assert (file["path"], file["relevance"], file["mode"]) == ("src/order/service.py", 0.92, "full")
    assert file["digest"] == "create_order, update_status"
    assert written["changes"] == [
        {
            "path": "src/order/service.py",
            "action": "add cancel_order",
            "reason": "unpaid orders can be cancelled",
            "status": "pending_test",
        }
    ]
    assert written["archive_refs"] == ["2025-11-03-order-refactor.md"]


@pytest.mark.seed("S2-8", "S2-48")
def test_a_goal_is_replaced_and_never_appended_to() -> None:
    memory = WorkingMemory(TaskState("old", constraints=("keep",)))
    assert with_task(memory, "new").task.goal == "new"
    assert with_task(memory, "new").task.constraints == ("keep",)


@pytest.mark.seed("S2-10", "S2-48")
def test_a_change_keeps_its_motive_only() -> None:
    memory = with_change(WorkingMemory(TaskState("x")), FileChange("a.py", "edit", "because\n" + "detail " * 100))
    assert len(memory.changes[0].reason) == 200


@pytest.mark.seed("S0-35")
def test_a_memo_can_be_removed(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    session.close_file("other.py")
    assert session.drop_memo("other.py") == "memo of other.py removed"
    assert session.memory.memos == ()
    with pytest.raises(TargetNotFoundError):
        session.drop_memo("other.py")


@pytest.mark.seed("S0-35")
def test_the_memo_notebook_has_a_cap() -> None:
    memory = WorkingMemory(TaskState("x"))
    for number in range(MAX_MEMOS + 5):
        memory = with_memo(memory, ClosedFileSummary(f"{number}.py", "m"))
    assert [memo.path for memo in memory.memos] == [f"{number}.py" for number in range(5, MAX_MEMOS + 5)]


@pytest.mark.seed("S2-32", "S0-40", "S4-28")
def test_a_long_session_stays_small_and_forgets_passing_remarks(desk: Desk) -> None:
    session = desk.start(budget=8_000)
    session.before_generation("what time is it")
    for number in range(30):
        session.record(ToolCall("run", text=f"step {number}", result=f"output of step {number}\n" * 200))
        context = session.before_generation()
        assert estimate_tokens(context.text) <= 8_000
    assert max(len(ledger.lines) for ledger in session.state.ledgers[:-1]) <= 9
    assert all(sum(line.tokens for line in ledger.lines) > 100 for ledger in session.state.ledgers)
    assert "what time is it" not in "\n".join(
        message["content"] for message in context.messages if message["role"] == "user"
    )


@pytest.mark.seed("S0-28", "S0-30")
def test_many_open_files_bring_a_warning(desk: Desk) -> None:
    session = desk.start()
    for number in range(9):
        desk.files[f"f{number}.py"] = f"y = {number}\n"
        session.open_file(f"f{number}.py", "look")
    assert "9 files are open in full: close those you do not need" in session.before_generation().text


@pytest.mark.seed("S1-42", "S1-33", "S2-42")
def test_a_report_tells_what_was_used_of_what_was_shown(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    session.open_file("utils/exporter.py", "look")
    session.before_generation()
    session.record(ToolCall("edit", paths=["other.py"], lines=(1, 1)))
    summary, ratio, alarms = session.report()
    assert summary.n_turns == 1
    assert ratio is not None
    assert 0.1 < ratio < 0.4
    assert alarms == ()  # what was shown only now had no time to be used
    session.before_generation()
    assert session.report()[2] == ("only 27% of the context was used: check routing and recall",)


@pytest.mark.seed("S2-16", "S1-21", "S1-38")
def test_recalled_things_are_folded(desk: Desk) -> None:
    session = desk.start()
    references = session.recall("excel export").references
    assert all(reference.anchor and reference.path and reference.summary for reference in references)
    assert all(not reference.text for reference in references)


@pytest.mark.seed("S0-34")
def test_a_file_in_use_stays_whole_while_there_is_room(desk: Desk) -> None:
    session = desk.start()
    session.open_file("utils/exporter.py", "look")
    for _ in range(10):
        session.record(ToolCall("read", paths=["utils/exporter.py"]))
        assert FILES["utils/exporter.py"].rstrip() in session.before_generation().text


@pytest.mark.parametrize("data", [b"x" * 10, b"\x00\xff", b"{}"])
def test_a_damaged_bundle_changes_nothing(desk: Desk, data: bytes) -> None:
    session = desk.start()
    before = session.state
    with pytest.raises(StateFileError):
        session.merge(data)
    assert desk.again().state == before


@pytest.mark.seed("S2-44")
def test_turn_and_route_agree_on_what_was_on_disk_before_generation(desk: Desk) -> None:
    """A file that changes between two turns is current in each: refresh comes before assembly."""
    session = desk.start()
    session.open_file("other.py", "look")
    for number in range(3):
        desk.files["other.py"] = f"x = {number + 10}\n"
        assert f"x = {number + 10}" in session.before_generation().text


@pytest.mark.seed("S2-25", "S2-54")
@pytest.mark.parametrize("looks_only", [False, True])
def test_every_handle_in_a_context_gives_back_the_whole(desk: Desk, looks_only: bool) -> None:
    session = desk.start()
    for number in range(6):
        session.record(ToolCall("run", text=f"pytest -k case_{number}", result=f"line of output {number}\n" * 400))
    session.open_file("other.py", "see")
    desk.files["other.py"] = "value = 1\n" * 9_000
    asked = "go on with the rows of this table\n" * 900
    context = session.preview(asked) if looks_only else session.before_generation(asked)
    handles = set(HANDLE.findall(context.text))
    assert len(handles) > 2
    wholes = {session.restore(handle) for handle in handles}
    assert asked in wholes
    assert "line of output 5\n" * 400 in wholes
    assert "lines 1-" in context.text or "lines left out" in context.text

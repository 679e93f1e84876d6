"""Sessions: whole tasks, files, memos, notes, reports."""

from pathlib import Path

import pytest

from codecards.errors import BudgetTooSmallError, TargetNotFoundError, UsageError
from codecards.router.compress.excerpts import HANDLE
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.working_memory import (
    Mode,
)
from tests.support.desk import FILES, Desk


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
def test_calls_return_a_status_and_take_effect_in_the_next_context(desk: Desk) -> None:
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
def test_the_result_of_a_read_is_not_shown_as_current_after_an_edit(desk: Desk) -> None:
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
def test_the_goal_is_part_of_each_query_and_only_input_triggers_recall(desk: Desk) -> None:
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


@pytest.mark.seed("S0-44", "S4-30", "S4-33", "S2-3")
def test_a_session_continues_in_another_process(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    session.before_generation("begin")
    other = desk.again()
    assert other.state == session.state
    assert "begin" in other.before_generation().text
    assert desk.store.state_after("task", 1).memory.turn == 1


def test_a_budget_smaller_than_the_task_changes_nothing(desk: Desk) -> None:
    session = desk.start(budget=20)
    with pytest.raises(BudgetTooSmallError):
        session.before_generation("x")
    assert desk.again().memory.turn == 0


@pytest.mark.seed("S2-3")
def test_a_deleted_file_leaves_with_a_notice(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    del desk.files["other.py"]
    assert "other.py is not on disk any more" in session.before_generation().text
    assert "other.py is not on disk any more" in session.before_generation().text
    assert session.memory.files == ()


def test_an_opened_file_survives_a_turn_in_which_it_is_absent(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    text = desk.files.pop("other.py")
    session.before_generation()
    desk.files["other.py"] = text
    session.before_generation()
    assert [(entry.path, entry.purpose) for entry in session.memory.files] == [("other.py", "look")]


def test_a_session_can_not_be_started_twice(desk: Desk) -> None:
    desk.start()
    with pytest.raises(UsageError, match="already"):
        desk.start()


def test_an_edited_file_is_shown_in_full_at_once(desk: Desk) -> None:
    session = desk.start()
    session.record(ToolCall("edit", paths=["other.py"], reason="why not"))
    entry = session.memory.entry("other.py")
    assert entry is not None
    assert (entry.mode, entry.why) == (Mode.FULL, "edited")
    assert "x = 1" in session.before_generation().text
    session.record(ToolCall("edit", paths=["nowhere.py"], failed=True))
    session.record(ToolCall("delete", paths=["user/service.py"]))
    assert [one.path for one in session.memory.files] == ["other.py"]


def test_a_file_that_the_goal_names_enters_as_a_digest(desk: Desk) -> None:
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
def test_neighbours_of_an_open_file_enter_as_digests(desk: Desk) -> None:
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


@pytest.mark.seed("S0-35")
def test_a_memo_can_be_removed(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    session.close_file("other.py")
    assert session.drop_memo("other.py") == "memo of other.py removed"
    assert session.memory.memos == ()
    with pytest.raises(TargetNotFoundError):
        session.drop_memo("other.py")


@pytest.mark.seed("S2-32", "S0-40", "S4-28")
def test_a_long_session_stays_small_and_drops_passing_remarks(desk: Desk) -> None:
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
def test_many_open_files_cause_a_warning(desk: Desk) -> None:
    session = desk.start()
    for number in range(9):
        desk.files[f"f{number}.py"] = f"y = {number}\n"
        session.open_file(f"f{number}.py", "look")
    assert "9 files are open in full: close those you do not need" in session.before_generation().text


@pytest.mark.seed("S1-42", "S1-33", "S2-42")
def test_a_report_has_the_share_of_the_shown_lines_that_was_used(desk: Desk) -> None:
    session = desk.start()
    session.open_file("other.py", "look")
    session.open_file("utils/exporter.py", "look")
    session.before_generation()
    session.record(ToolCall("edit", paths=["other.py"], lines=(1, 1)))
    summary, ratio, alarms = session.report()
    assert summary.n_turns == 1
    assert ratio is not None
    assert 0.1 < ratio < 0.4
    assert alarms == ()  # lines of the current turn are not counted
    session.before_generation()
    assert session.report()[2] == ("only 27% of the context was used: check routing and recall",)


@pytest.mark.seed("S2-16", "S1-21", "S1-38")
def test_recalled_hits_are_folded(desk: Desk) -> None:
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


@pytest.mark.seed("S2-44")
def test_a_turn_shows_the_text_that_is_on_disk_before_generation(desk: Desk) -> None:
    """Refresh comes before assembly, so a file that changes between two turns is current in each."""
    session = desk.start()
    session.open_file("other.py", "look")
    for number in range(3):
        desk.files["other.py"] = f"x = {number + 10}\n"
        assert f"x = {number + 10}" in session.before_generation().text


@pytest.mark.seed("S2-25", "S2-54")
@pytest.mark.parametrize("looks_only", [False, True])
def test_every_handle_in_a_context_restores_its_original(desk: Desk, looks_only: bool) -> None:
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
